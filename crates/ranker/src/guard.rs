//! The last guards before an answer: standing, visibility, scope, freshness. They trust no lane and no index.

use std::collections::BTreeMap;

use casebook_corpus::{Degradation, ResourceId, ResourceMeta, Standing, visible};

use casebook_index::UnitRecord;

use crate::hit::Hit;
use crate::{ActivationRequest, Disposition, SourceState};

/// A file that was hit has changed or is gone since the revision was built.
pub const INDEX_STALE: &str = "index_stale";

/// Decides who may pass, for one request.
pub(crate) struct Guard<'a> {
    request: &'a ActivationRequest,
    freshness: &'a dyn Fn(&ResourceMeta) -> SourceState,
    asked: BTreeMap<ResourceId, SourceState>,
    pub(crate) degradations: Vec<Degradation>,
}

impl<'a> Guard<'a> {
    pub(crate) fn new(request: &'a ActivationRequest, freshness: &'a dyn Fn(&ResourceMeta) -> SourceState) -> Self {
        Self {
            request,
            freshness,
            asked: BTreeMap::new(),
            degradations: Vec::new(),
        }
    }

    /// Returns why a recalled unit may take no place in a list: it is not the caller's to see, or not asked for. A replaced
    /// one is judged by visibility alone, since its successor may lie in another scope.
    pub(crate) fn admit(request: &ActivationRequest, record: &UnitRecord) -> Option<Disposition> {
        let meta = &record.resource;
        if !visible(meta, &request.audiences) {
            return Some(Disposition::NotVisible);
        }
        let live = record.standing == Standing::Live;
        let asked_for = request.scopes.is_empty() || request.scopes.contains(&meta.scope);
        (live && !asked_for).then_some(Disposition::OutOfScope)
    }

    /// Decides on a hit that is still open. Only a live resource passes.
    pub(crate) fn check(&mut self, hit: &mut Hit) {
        if !hit.is_open() {
            return;
        }
        if hit.record.standing != Standing::Live {
            hit.disposition = Some(Disposition::Superseded);
            return;
        }
        hit.disposition = self.refusal(hit);
    }

    /// Returns why a hit may not be shown, whatever its standing, and notes whether it is stale.
    pub(crate) fn refusal(&mut self, hit: &mut Hit) -> Option<Disposition> {
        let meta = &hit.record.resource;
        if !visible(meta, &self.request.audiences) {
            return Some(Disposition::NotVisible);
        }
        if !self.request.scopes.is_empty() && !self.request.scopes.contains(&meta.scope) {
            return Some(Disposition::OutOfScope);
        }
        // Last, because it may look at the file: nobody learns of one that is not theirs to see.
        match self.state_of(meta) {
            SourceState::Present => None,
            SourceState::Changed => {
                hit.stale = true;
                None
            }
            SourceState::Gone => Some(Disposition::SourceDeleted),
        }
    }

    fn state_of(&mut self, meta: &ResourceMeta) -> SourceState {
        if let Some(state) = self.asked.get(&meta.id) {
            return *state;
        }
        let state = (self.freshness)(meta);
        self.asked.insert(meta.id.clone(), state);
        let detail = match state {
            SourceState::Present => return state,
            SourceState::Changed => "its source has changed since it was indexed",
            SourceState::Gone => "its source is gone since it was indexed, or may not be shown any more",
        };
        self.degradations
            .push(Degradation::at(INDEX_STALE, detail, meta.path.as_str()));
        state
    }
}
