//! The tables of a record store. It is migrated for ever: a released step is never edited.

use std::path::Path;

use casebook_storage::{DatabaseError, Migration, OpenOptions, Synchronous, migrate};
use rusqlite::Connection;

/// Marks the file as a store of pushed records of ours.
const APPLICATION_ID: i32 = i32::from_be_bytes(*b"CbRc");

/// Opens a store; a missing one is created empty. What a host was told is committed has to survive a loss of power.
pub(super) fn open(path: &Path) -> Result<Connection, DatabaseError> {
    let mut db = casebook_storage::open(path, &OpenOptions::new(APPLICATION_ID, Synchronous::Full))?;
    migrate(&mut db, MIGRATIONS)?;
    Ok(db)
}

const MIGRATIONS: &[Migration] = &[Migration { sql: RECORDS }];

/// Contents lie apart from ids and hashes, so that looking for what changed reads few pages. `record` is a
/// `casebook_corpus::PushedRecord` as a MessagePack array, of which a later version may find the end missing. Of the changes
/// that are staged, the last to an id counts; one without `record` is a tombstone.
const RECORDS: &str = "
CREATE TABLE record_store (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    project_id TEXT NOT NULL,
    records INTEGER NOT NULL DEFAULT 0,
    version TEXT,
    committed_at INTEGER,
    sync_id TEXT,
    added INTEGER NOT NULL DEFAULT 0,
    changed INTEGER NOT NULL DEFAULT 0,
    unchanged INTEGER NOT NULL DEFAULT 0,
    removed INTEGER NOT NULL DEFAULT 0,
    unknown INTEGER NOT NULL DEFAULT 0,
    rows_written INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE records (
    id TEXT NOT NULL PRIMARY KEY,
    path TEXT NOT NULL,
    content_hash BLOB NOT NULL,
    changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE record_contents (
    id TEXT NOT NULL PRIMARY KEY,
    record BLOB NOT NULL
) STRICT;

CREATE TABLE sync_open (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    sync_id TEXT NOT NULL,
    base_version TEXT,
    begun_at INTEGER NOT NULL
) STRICT;

CREATE TABLE sync_pages (
    number INTEGER PRIMARY KEY,
    digest BLOB NOT NULL,
    upserts INTEGER NOT NULL,
    tombstones INTEGER NOT NULL
) STRICT;

CREATE TABLE sync_changes (
    id TEXT NOT NULL PRIMARY KEY,
    path TEXT,
    content_hash BLOB,
    record BLOB
) STRICT;
";

#[cfg(test)]
mod tests {
    use casebook_corpus::{ContentHash, PushedRecord};

    use super::*;
    use crate::records::stored;
    use crate::store::unpack;

    #[test]
    fn released_migrations_are_never_edited() {
        let digests: Vec<_> = MIGRATIONS
            .iter()
            .map(|step| ContentHash::of(step.sql).to_string())
            .collect();
        assert_eq!(
            digests,
            ["f805100a8ac68b4562988f45213a3206a035143e66d55bc80f1291c397995e86"]
        );
    }

    #[test]
    fn a_record_that_the_first_version_stored_is_read_for_ever() {
        let mut record = PushedRecord::new("云", "正文 body");
        record.path = Some("notes/云.md".to_owned());
        record.stated.topics = vec!["a".to_owned()];
        record.stated.importance = Some(0.25);
        record.stated.supersedes = vec!["old".into()];
        record.stated.observed_at = Some(casebook_corpus::Timestamp::from_unix_millis(7));
        assert_eq!(
            ContentHash::of(stored(&record)).to_string(),
            "4260cfaae85d091365365e0c5c951b6428adaf7b75882c697979b33f35ae83b3"
        );
        // Without a field of what it says of itself: what a field that is added later has to live with.
        let short = [&[0x94, 0xa1][..], b"a", &[0xc0, 0x90, 0xa1], b"b"].concat();
        assert_eq!(unpack::<PushedRecord>(&short).unwrap(), PushedRecord::new("a", "b"));
    }
}
