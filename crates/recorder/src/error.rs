//! Errors, one enum per family of operations.

use std::path::PathBuf;

use casebook_corpus::{ContentHash, EffectiveHash};
use casebook_storage::{DatabaseError, FileError};

use crate::{EventSeq, InstanceId};

/// History cannot be opened. The files are left as they are: they are the truth and are never moved or deleted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The folder cannot be made private or used.
    #[error("history folder cannot be used")]
    Folder(#[from] FileError),
    /// The database cannot be opened or migrated: damaged, not ours, or of a newer version.
    #[error("history database {path:?} cannot be opened")]
    Database {
        /// The database.
        path: PathBuf,
        /// Why.
        #[source]
        source: DatabaseError,
    },
    /// The instance id cannot be a file name.
    #[error("instance id {id:?} must be 1 to 64 letters, digits, '-' or '_'")]
    InstanceId {
        /// The id.
        id: InstanceId,
    },
    /// A living process records under this instance id.
    #[error("instance id {id} is in use by a running process")]
    InstanceInUse {
        /// The id.
        id: InstanceId,
    },
    /// Runs that an earlier process left unfinished could not be closed.
    #[error("interrupted runs cannot be closed")]
    Recovery(#[source] RecordError),
}

/// Something could not be recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The stream is not where the caller believed it to be; nothing was appended.
    #[error("stream {stream} is at version {found}, expected {expected}")]
    Conflict {
        /// The stream, like `run/<id>`.
        stream: String,
        /// The version that the append built on; 0 for a new stream.
        expected: u64,
        /// The version that the stream has.
        found: u64,
    },
    /// The database refused.
    #[error("history database failed")]
    Database(#[from] rusqlite::Error),
    /// The event has no stored form.
    #[error("event cannot be encoded")]
    Encode(#[from] rmp_serde::encode::Error),
    /// A fragment's text was not stored. The Run itself is recorded.
    #[error("text {hash} cannot be stored")]
    Blob {
        /// The text's hash.
        hash: ContentHash,
        /// Why.
        #[source]
        source: FileError,
    },
    /// The manifest given is not that of the memory searched, and was not stored. The Run itself is recorded.
    #[error("manifest has effective hash {found}, expected {expected}")]
    Manifest {
        /// The hash of the memory that was searched.
        expected: EffectiveHash,
        /// The hash of the manifest.
        found: EffectiveHash,
    },
}

/// History cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The database refused.
    #[error("history database failed")]
    Database(#[from] rusqlite::Error),
    /// An event's payload has no meaning to this version.
    #[error("event {seq} cannot be read")]
    Payload {
        /// The event.
        seq: EventSeq,
        /// Why.
        #[source]
        source: PayloadError,
    },
    /// A row of a projection has a value outside its set; a rebuild repairs it.
    #[error("projection column {column} holds {found:?}")]
    Projection {
        /// The column.
        column: &'static str,
        /// The value.
        found: String,
    },
}

/// A payload has no meaning to this version.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PayloadError {
    /// The payload is not there.
    #[error("payload is missing")]
    Missing,
    /// No version of this program that is known wrote this kind of event.
    #[error("unknown event kind {kind} version {version}")]
    Unknown {
        /// The kind.
        kind: String,
        /// Its version.
        version: u32,
    },
    /// The bytes are not of that kind.
    #[error("payload does not decode")]
    Decode(#[from] rmp_serde::decode::Error),
    /// A value is outside its set.
    #[error("field {field} holds {found:?}")]
    Value {
        /// The field.
        field: &'static str,
        /// The value.
        found: String,
    },
}
