//! Errors, one enum per family of operations.

use std::path::PathBuf;

/// The catalog as a whole cannot be read or written. A bad line is no error but a
/// [`CatalogProblem`](crate::CatalogProblem).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogError {
    /// The file cannot be read.
    #[error("catalog {path:?} cannot be read")]
    Read {
        /// The catalog.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The file cannot be written.
    #[error("catalog {path:?} cannot be written")]
    Write {
        /// The catalog.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// An entry cannot be put into a line.
    #[error("catalog entry {source_id:?} cannot be written as JSON")]
    Entry {
        /// The entry's id.
        source_id: String,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
}
