//! Why a sync, or a look at pushed records, came to nothing.

use std::path::{Path, PathBuf};

use casebook_corpus::{LabelError, ProjectId, RecordVersion, SyncId};
use casebook_storage::DatabaseError;

/// A sync cannot go on, or the records cannot be read. Nothing has changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SyncError {
    /// The sync builds on another version than the one that is here.
    #[error("base version is {}, but the records are at {}", shown(given.as_ref()), shown(current.as_ref()))]
    WrongBase {
        /// The version that the caller built on; `None` for the first sync.
        given: Option<RecordVersion>,
        /// The version that is here; `None` before the first commit.
        current: Option<RecordVersion>,
    },
    /// The sync is not open: it was committed, aborted or replaced by another.
    #[error("sync {sync} is not open; the records are at {}", shown(current.as_ref()))]
    Gone {
        /// The sync.
        sync: SyncId,
        /// The version that is here.
        current: Option<RecordVersion>,
        /// The sync that is open instead.
        open: Option<SyncId>,
    },
    /// A page was left out: they come in order.
    #[error("page {found} came where page {expected} is due")]
    PageGap {
        /// The next page.
        expected: u32,
        /// The page that came.
        found: u32,
    },
    /// Another content came under the number of a staged page.
    #[error("page {number} is staged with another content")]
    PageDiffers {
        /// The page.
        number: u32,
    },
    /// The commit is for another number of pages than are staged.
    #[error("{staged} pages are staged, and the commit is for {said}")]
    PageCount {
        /// Pages that are staged.
        staged: u32,
        /// Pages that the caller sent.
        said: u32,
    },
    /// The new version is the base.
    #[error("new version {:?} is the base version", version.as_str())]
    SameVersion {
        /// The version.
        version: RecordVersion,
    },
    /// A version is no name.
    #[error("version {:?} {problem}", version.as_str())]
    Version {
        /// The version.
        version: RecordVersion,
        /// Why.
        problem: LabelError,
    },
    /// The store is that of another project.
    #[error("{:?} is the project of these records, not {:?}", found.as_str(), expected.as_str())]
    Foreign {
        /// The project that they belong to.
        found: ProjectId,
        /// The project that asks.
        expected: ProjectId,
    },
    /// The store was written by a newer version of this program.
    #[error("{path:?} has schema version {found}, this version knows up to {known}")]
    Newer {
        /// The store.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// Ours.
        known: i64,
    },
    /// The store cannot be opened.
    #[error("{path:?} cannot be opened")]
    Open {
        /// The store.
        path: PathBuf,
        /// Why.
        #[source]
        source: DatabaseError,
    },
    /// The database refused.
    #[error("records cannot be read or written")]
    Database(#[from] rusqlite::Error),
}

impl SyncError {
    pub(super) fn open(path: &Path, error: DatabaseError) -> Self {
        let path = path.to_owned();
        match error {
            DatabaseError::Newer { found, known } => Self::Newer { path, found, known },
            source => Self::Open { path, source },
        }
    }
}

fn shown(version: Option<&RecordVersion>) -> String {
    version.map_or_else(|| "none".to_owned(), |version| format!("{:?}", version.as_str()))
}
