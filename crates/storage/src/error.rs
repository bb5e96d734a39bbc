//! Errors: databases apart from plain files.

use std::path::{Path, PathBuf};

/// A database cannot be opened or migrated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatabaseError {
    /// Its file or folder cannot be used.
    #[error("database file cannot be used")]
    File(#[from] FileError),
    /// It belongs to another application.
    #[error("{path:?} is a database of another application ({found:#x}, expected {expected:#x})")]
    Foreign {
        /// The database.
        path: PathBuf,
        /// Its application id.
        found: i32,
        /// Ours.
        expected: i32,
    },
    /// It was written by a newer version.
    #[error("database has schema version {found}, this version knows up to {known}")]
    Newer {
        /// Its version.
        found: i64,
        /// Ours.
        known: i64,
    },
    /// SQLite's own trouble.
    #[error("database failed")]
    Sqlite(#[from] rusqlite::Error),
}

/// A file or folder cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{path:?} cannot be used")]
pub struct FileError {
    /// The file or folder.
    pub path: PathBuf,
    /// Why.
    #[source]
    pub source: std::io::Error,
}

impl FileError {
    /// Returns a conversion from an I/O error at this path.
    pub(crate) fn at(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self {
            path: path.to_owned(),
            source,
        }
    }
}
