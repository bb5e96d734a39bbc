//! Why a build stops early, while it is still open whether the index is to blame.

use casebook_corpus::{SourceError, SupersessionError};
use casebook_storage::{DatabaseError, FileError};

use crate::error::chain;
use crate::store::{is_broken, is_full_text_broken};
use crate::{BuildError, OpenError};

/// A build stops.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The database's own trouble.
    Database(rusqlite::Error),
    /// Anything else.
    Build(BuildError),
}

pub(crate) type Step<T> = Result<T, Failure>;

impl Failure {
    /// Returns whether the database cannot be trusted any more.
    pub(crate) fn is_broken_index(&self) -> bool {
        matches!(self, Self::Database(error) if is_broken(error))
    }

    /// Returns what says that the table of substrings alone cannot be trusted any more.
    pub(crate) fn broken_full_text(&self) -> Option<&rusqlite::Error> {
        match self {
            Self::Database(error) if is_full_text_broken(error) => Some(error),
            _ => None,
        }
    }

    /// Returns the failure and its causes in one line.
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::Database(error) => format!("index cannot be written: {}", chain(error)),
            Self::Build(error) => chain(error),
        }
    }

    pub(crate) fn into_error(self) -> BuildError {
        match self {
            Self::Database(error) => BuildError::Write(Box::new(error)),
            Self::Build(error) => error,
        }
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Self {
        Self::Build(error)
    }
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Self {
        Self::Build(match error {
            SourceError::Stopped => BuildError::Cancelled,
            error => error.into(),
        })
    }
}

impl From<SupersessionError> for Failure {
    fn from(error: SupersessionError) -> Self {
        Self::Build(error.into())
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        Self::Build(BuildError::Write(Box::new(error)))
    }
}

impl From<DatabaseError> for Failure {
    fn from(error: DatabaseError) -> Self {
        match error {
            DatabaseError::Sqlite(error) => Self::Database(error),
            other => Self::Build(BuildError::Write(Box::new(other))),
        }
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        Self::Build(BuildError::Write(Box::new(error)))
    }
}
