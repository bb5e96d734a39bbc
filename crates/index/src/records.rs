//! Pushed records of one project: a store that a host's syncs fill, and a source that builds read.
//!
//! The one thing a newcomer gets wrong: this is no part of the index. Nothing here can be made again from elsewhere, so it
//! lies in the user's data folder, is migrated and never made anew, and a damaged one is told and left as it is.

mod error;
mod schema;
mod source;
mod sync;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use casebook_corpus::{ContentHash, ProjectId, PushedRecord, ResourceId, Stamp};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};

pub use self::error::SyncError;
pub use self::source::StoredRecords;
use self::sync::check_project;
pub use self::sync::{Begun, Committed, OpenSync, Staged, StagedPage, SyncStatus};
use crate::store::{content_hash, unpack};

/// The pushed records of one project, in a file of their own. Many processes may have it open; one writes at a time.
///
/// A call that changes something returns when the change survives a loss of power, or with an error after which nothing
/// has changed. Readers see one version, whole.
pub struct RecordStore {
    path: PathBuf,
    project: ProjectId,
    db: Mutex<Option<Connection>>,
}

impl RecordStore {
    /// Names the store at `path` for this project. Nothing is opened, and a missing file is an empty store that stays
    /// missing until a sync begins.
    pub fn at(path: &Path, project: &ProjectId) -> Self {
        Self {
            path: path.to_owned(),
            project: project.clone(),
            db: Mutex::default(),
        }
    }

    /// Returns the records as a source of memory. A record whose path is excluded is named and left out.
    pub fn source<'a>(&'a self, is_excluded: &'a (dyn Fn(&str) -> bool + Sync)) -> StoredRecords<'a> {
        StoredRecords::new(self, is_excluded)
    }

    /// Returns the stamp of the record with this id as it is now; `None` where there is none.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn stamp_of(&self, id: &ResourceId) -> Result<Option<Stamp>, SyncError> {
        let found = self.read(|db| {
            let mut statement = db.prepare_cached("SELECT content_hash, changed_at FROM records WHERE id = ?1")?;
            let stamp = statement.query_row([id.as_str()], |row| {
                Ok(source::stamp(content_hash(row.get_ref(0)?.as_blob()?)?, row.get(1)?))
            });
            Ok(stamp.optional()?)
        })?;
        Ok(found.flatten())
    }

    /// Returns whether nothing was ever committed: there is no store, or it is a new one. What an index holds of records
    /// came from a store that is gone then.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn is_new(&self) -> Result<bool, SyncError> {
        let version = self.read(|db| Ok(sync::current(db)?))?;
        Ok(version.flatten().is_none())
    }

    /// Returns the record with this id as it is now; `None` where there is none.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn record(&self, id: &ResourceId) -> Result<Option<PushedRecord>, SyncError> {
        let found = self.read(|db| Ok(content(db, id.as_str()).optional()?))?;
        Ok(found.flatten())
    }

    /// Reads of one moment; `None` where there is no store.
    fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, SyncError>) -> Result<Option<T>, SyncError> {
        if !self.path.exists() {
            *self.db.lock().unwrap_or_else(PoisonError::into_inner) = None;
            return Ok(None);
        }
        self.with_connection(|db| {
            let moment = db.unchecked_transaction()?;
            check_project(&moment, &self.project)?;
            work(&moment).map(Some)
        })
    }

    /// Writes in one step, or not at all.
    fn write<T>(&self, work: impl FnOnce(&Transaction<'_>) -> Result<T, SyncError>) -> Result<T, SyncError> {
        self.with_connection(|db| {
            let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
            check_project(&tx, &self.project)?;
            let outcome = work(&tx)?;
            tx.commit()?;
            Ok(outcome)
        })
    }

    fn with_connection<T>(&self, work: impl FnOnce(&mut Connection) -> Result<T, SyncError>) -> Result<T, SyncError> {
        let mut held = self.db.lock().unwrap_or_else(PoisonError::into_inner);
        let db = match &mut *held {
            Some(db) => db,
            none => none.insert(schema::open(&self.path).map_err(|error| SyncError::open(&self.path, error))?),
        };
        work(db)
    }
}

/// Returns the record as it is stored.
fn content(db: &Connection, id: &str) -> rusqlite::Result<PushedRecord> {
    let mut statement = db.prepare_cached("SELECT record FROM record_contents WHERE id = ?1")?;
    statement.query_row([id], |row| unpack(row.get_ref(0)?.as_blob()?))
}

/// Returns the record as it is to be stored: by position, as most of its fields say nothing.
fn stored(record: &PushedRecord) -> Vec<u8> {
    rmp_serde::to_vec(record).expect("plain data is always serialisable")
}

/// Returns the hash of the resource that a record is.
fn hash_of(record: &PushedRecord) -> ContentHash {
    record.clone().into_resource().meta.content_hash
}
