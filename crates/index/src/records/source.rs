//! The records as a source of memory: what did not change is not read.

use casebook_corpus::{
    Clock, ContentHash, Degradation, Found, KnownItem, KnownItems, KnownState, MemorySource, PushedRecord, ResourceId,
    Scan, ScanItem, SourceError, Stamp, codes,
};
use rusqlite::Connection;

use super::sync::current;
use super::{RecordStore, SyncError, content};
use crate::error::chain;
use crate::store::content_hash;

/// Nanoseconds of a millisecond: a stamp holds the former.
const NANOS_PER_MILLI: i64 = 1_000_000;

/// The records of a store, as one layer of the memory.
pub struct StoredRecords<'a> {
    store: &'a RecordStore,
    is_excluded: &'a (dyn Fn(&str) -> bool + Sync),
}

impl<'a> StoredRecords<'a> {
    pub(super) fn new(store: &'a RecordStore, is_excluded: &'a (dyn Fn(&str) -> bool + Sync)) -> Self {
        Self { store, is_excluded }
    }
}

/// Returns the stamp of a record: its content, and when it came, so that the newest are known.
pub(super) fn stamp(hash: ContentHash, changed_at: i64) -> Stamp {
    let [first, second, third, _] = hash.words();
    let moment = changed_at.saturating_mul(NANOS_PER_MILLI).cast_unsigned();
    Stamp::new([first, moment, second, third])
}

impl MemorySource for StoredRecords<'_> {
    fn scan(
        &self,
        known: &dyn KnownItems,
        _clock: &dyn Clock,
        found: &dyn Fn(usize) -> bool,
    ) -> Result<Scan, SourceError> {
        // One transaction, so that a commit beside it is seen whole or not at all.
        let scan = self.store.read(|db| match current(db)? {
            Some(_) => Ok(Some(scan(db, known, self.is_excluded, found)?)),
            None => Ok(None),
        });
        match scan.map(Option::flatten) {
            Ok(None) => Ok(kept(known)),
            Ok(Some(scan)) => scan.ok_or(SourceError::Stopped),
            Err(error) => Err(SourceError::Other(Box::new(error))),
        }
    }
}

/// Returns the records that are known already, where nothing was ever committed here: the store that they came from is gone,
/// and that is no word of their host.
fn kept(known: &dyn KnownItems) -> Scan {
    let locations = known.beginning_with(PushedRecord::LOCATION_PREFIX);
    let mut scan = Scan::default();
    if !locations.is_empty() {
        let detail = format!(
            "the store of pushed records is gone; the {} records that the index holds stay until their host pushes again",
            locations.len()
        );
        scan.degradations.push(Degradation::new(codes::RECORDS_LOST, detail));
    }
    let unchanged = |location: String| ScanItem {
        rank: 0,
        stamp: known.get(&location).and_then(|item| item.stamp),
        found: Found::Unchanged,
        location,
    };
    scan.items = locations.into_iter().map(unchanged).collect();
    scan
}

/// Returns `None` where `found` stopped it.
fn scan(
    db: &Connection,
    known: &dyn KnownItems,
    is_excluded: &dyn Fn(&str) -> bool,
    found: &dyn Fn(usize) -> bool,
) -> rusqlite::Result<Option<Scan>> {
    let mut scan = Scan::default();
    let mut statement = db.prepare_cached("SELECT id, path, content_hash, changed_at FROM records ORDER BY id")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let id = ResourceId::new(row.get::<_, String>(0)?);
        let path: String = row.get(1)?;
        if is_excluded(&path) {
            let detail = format!(
                "record {:?} calls itself a file that instructs the assistant",
                id.as_str()
            );
            scan.degradations
                .push(Degradation::at(codes::RECORD_CONTROL_PLANE, detail, path));
            continue;
        }
        let hash = content_hash(row.get_ref(2)?.as_blob()?)?;
        let stamp = stamp(hash, row.get(3)?);
        let location = PushedRecord::location_of(&id);
        let found_now = match untouched(known.get(&location), &id, hash, stamp) {
            Some(found) => found,
            None => read(db, &id, path, &mut scan.bytes_read),
        };
        scan.items.push(ScanItem {
            location,
            rank: 0,
            stamp: Some(stamp),
            found: found_now,
        });
        if !found(scan.items.len()) {
            return Ok(None);
        }
    }
    Ok(Some(scan))
}

/// Returns what is at a record where its stamp, or its hash, alone decides.
fn untouched(known: Option<KnownItem>, id: &ResourceId, hash: ContentHash, stamp: Stamp) -> Option<Found> {
    let known = known?;
    match known.state {
        KnownState::Resource { id: then, content_hash } if then == *id && content_hash == hash => {
            Some(Found::Unchanged)
        }
        KnownState::Resource { .. } if known.stamp == Some(stamp) => Some(Found::Unchanged),
        KnownState::Skipped(degradation) if known.stamp == Some(stamp) => Some(Found::Skipped(degradation)),
        _ => None,
    }
}

/// Reads a record. One that cannot be read back is named and left out, as a file would be.
fn read(db: &Connection, id: &ResourceId, path: String, bytes_read: &mut u64) -> Found {
    match content(db, id.as_str()) {
        Ok(record) => {
            *bytes_read += record.body.len() as u64;
            Found::Resource(Box::new(record.into_resource()))
        }
        Err(error) => {
            let error = SyncError::from(error);
            let detail = format!("record {:?}: {}", id.as_str(), chain(&error));
            Found::Skipped(Degradation::at(codes::RECORD_UNREADABLE, detail, path))
        }
    }
}
