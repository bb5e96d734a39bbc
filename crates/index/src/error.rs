//! Errors, one enum per family of operations.

use std::path::PathBuf;

use casebook_corpus::{SourceError, SupersessionError};

use crate::EncodeError;

/// An index cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// It was written by a newer version.
    #[error("index {path:?} has schema version {found}, this version knows up to {known}")]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// Ours.
        known: i64,
    },
    /// The folder cannot be made or used.
    #[error("index folder {path:?} cannot be used")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The database's own trouble.
    #[error("index database cannot be opened")]
    Database(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// A build failed; the head is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The observer asked to stop.
    #[error("build was cancelled")]
    Cancelled,
    /// Another builder held the lock for longer than the caller wanted to wait.
    #[error("another process is building this index")]
    Busy,
    /// The memory cannot be read.
    #[error("memory cannot be read")]
    Source(#[from] SourceError),
    /// The memory contradicts itself.
    #[error("memory cannot be published")]
    Supersession(#[from] SupersessionError),
    /// The encoder failed.
    #[error("memory cannot be encoded")]
    Encode(#[source] EncodeError),
    /// The index cannot be written.
    #[error("index cannot be written")]
    Write(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// The index cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("index cannot be read")]
pub struct ReadError(#[source] pub Box<dyn std::error::Error + Send + Sync>);

/// Returns an error and its causes in one line, for a record that outlives it.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let texts: Vec<String> = causes.map(ToString::to_string).collect();
    texts.join(": ")
}
