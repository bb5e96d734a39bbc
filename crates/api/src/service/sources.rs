//! Where a project's memory comes from: pushed records, and files above them.

use casebook_corpus::{
    Clock, FileSources, FileState, KnownItems, MemorySource, PushedRecord, ResourceId, ResourceMeta, Scan, SourceError,
    Stack, visible,
};
use casebook_index::{Place, RecordStore};
use casebook_ranker::SourceState;

/// The memory of one project. Records are a snapshot of what another program holds, so every file lies above them.
pub(super) struct Sources {
    pub(super) files: FileSources,
    pub(super) records: RecordStore,
}

impl MemorySource for Sources {
    fn ranks(&self) -> u32 {
        1 + self.files.ranks()
    }

    fn scan(
        &self,
        known: &dyn KnownItems,
        clock: &dyn Clock,
        found: &dyn Fn(usize) -> bool,
    ) -> Result<Scan, SourceError> {
        let is_control_plane = |path: &str| self.files.is_control_plane(path);
        let records = self.records.source(&is_control_plane);
        Stack::new(vec![&records, &self.files]).scan(known, clock, found)
    }
}

impl Sources {
    /// Tells how what was read from a place stands now: one look, and where it has changed, who may see it now.
    pub(super) fn state_of(&self, place: &Place, audiences: &[String]) -> SourceState {
        let record = PushedRecord::id_at(&place.location);
        let state = match &record {
            Some(id) => self.record_state(id, place),
            None => self.files.state_of(&place.location, place.stamp),
        };
        let may_see = || {
            let now = match &record {
                Some(id) => self.record_now(id),
                None => self.files.meta_now(&place.location),
            };
            now.is_some_and(|now| visible(&now, audiences))
        };
        match state {
            FileState::Present => SourceState::Present,
            FileState::Changed if may_see() => SourceState::Changed,
            FileState::Changed | FileState::Gone => SourceState::Gone,
        }
    }

    /// Where the records cannot be read it is not known who may see one, so it counts as gone.
    fn record_state(&self, id: &ResourceId, place: &Place) -> FileState {
        match self.records.stamp_of(id) {
            Ok(Some(now)) if place.stamp == Some(now) => FileState::Present,
            Ok(Some(_)) => FileState::Changed,
            // The store is lost, which is no word of the host: builds keep its records as well.
            Ok(None) if matches!(self.records.is_new(), Ok(true)) => FileState::Present,
            Ok(None) | Err(_) => FileState::Gone,
        }
    }

    fn record_now(&self, id: &ResourceId) -> Option<ResourceMeta> {
        let record = self.records.record(id).ok()??;
        Some(record.into_resource().meta)
    }
}
