//! One error for every surface: a stable code, a message that says what to do, details.

use casebook_corpus::SourceError;
use casebook_index::{BuildError, FillError, OpenError};
use casebook_ranker::ActivateError;

/// Who is at fault, for exit codes and statuses. The outermost crate maps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The request or the configuration is wrong.
    Input,
    /// There is nothing to answer from yet.
    NotReady,
    /// The request collides with something that exists.
    Conflict,
    /// A check that was asked for found a fault.
    CheckFailed,
    /// Everything else.
    Internal,
}

/// Why a request was not answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    /// Stable code, `snake_case`.
    pub code: &'static str,
    /// Who is at fault.
    pub kind: ErrorKind,
    /// What happened and what to do.
    pub message: String,
    /// Causes and places, outermost first.
    pub details: Vec<String>,
}

impl ApiError {
    /// Makes an error without details.
    pub fn new(code: &'static str, kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            code,
            kind,
            message: message.into(),
            details: Vec::new(),
        }
    }

    /// Adds the chain of causes of `error` to the details.
    pub fn because(mut self, error: &(dyn std::error::Error + 'static)) -> Self {
        self.details.extend(chain(error));
        self
    }

    /// As [`because`](Self::because), for an error whose own text the message repeats: one without causes adds nothing.
    fn because_of_causes(self, error: &(dyn std::error::Error + 'static)) -> Self {
        match error.source() {
            Some(_) => self.because(error),
            None => self,
        }
    }
}

impl ApiError {
    /// Returns the message and the details in one line.
    pub fn summary(&self) -> String {
        let parts = std::iter::once(&self.message).chain(&self.details);
        parts.map(String::as_str).collect::<Vec<_>>().join(": ")
    }
}

/// Returns an error's own text and those of its causes, outermost first.
pub(crate) fn chain(error: &(dyn std::error::Error + 'static)) -> Vec<String> {
    std::iter::successors(Some(error), |error| error.source())
        .map(ToString::to_string)
        .collect()
}

impl From<BuildError> for ApiError {
    fn from(error: BuildError) -> Self {
        let (code, kind, message) = match &error {
            BuildError::Cancelled => (
                "cancelled",
                ErrorKind::NotReady,
                "the build was stopped; the index is as it was, and vectors that were made are kept: run it again to go on",
            ),
            BuildError::Busy => (
                "index_preparing",
                ErrorKind::NotReady,
                "another process is building this index; try again shortly",
            ),
            BuildError::Source(SourceError::Other(_)) => (
                "records_unreadable",
                ErrorKind::Internal,
                "the pushed records cannot be read; the index stays as it is until they can",
            ),
            BuildError::Source(_) => (
                "memory_unreadable",
                ErrorKind::Input,
                "the memory folder cannot be read; check --root and [[sources]]",
            ),
            BuildError::Supersession(_) => (
                "supersession_invalid",
                ErrorKind::Input,
                "the memory was not published: fix `supersedes` and `retracts` in the files or pushed records named below",
            ),
            BuildError::Encode(_) => ("encoder_failed", ErrorKind::Internal, "the memory could not be encoded"),
            _ => (
                "index_unwritable",
                ErrorKind::Internal,
                "the index cannot be written; check free space and permissions of its folder",
            ),
        };
        Self::new(code, kind, message).because_of_causes(&error)
    }
}

impl From<FillError> for ApiError {
    fn from(error: FillError) -> Self {
        let (code, kind, message) = match &error {
            FillError::Cancelled => (
                "cancelled",
                ErrorKind::NotReady,
                "filling was cancelled; what was made stays, run it again to go on",
            ),
            FillError::Busy => (
                "fill_running",
                ErrorKind::Conflict,
                "another process is filling this index; `casebook models status` shows how far it is",
            ),
            FillError::NoHead => (
                "index_preparing",
                ErrorKind::NotReady,
                "there is no index yet; run `casebook index` first",
            ),
            FillError::Encode(_) => (
                "encoder_failed",
                ErrorKind::Internal,
                "the chosen encoder failed; what it made before stays, and the embedded encoder answers meanwhile",
            ),
            _ => (
                "index_unwritable",
                ErrorKind::Internal,
                "the index cannot be written; check free space and permissions of its folder",
            ),
        };
        Self::new(code, kind, message).because_of_causes(&error)
    }
}

impl From<OpenError> for ApiError {
    fn from(error: OpenError) -> Self {
        let (code, kind, message) = match &error {
            OpenError::Newer { .. } => (
                "index_newer",
                ErrorKind::Conflict,
                "a newer version of casebook wrote this index; use that version, or delete the folder `.casebook`",
            ),
            _ => (
                "index_unusable",
                ErrorKind::Internal,
                "the index cannot be opened; check permissions of its folder",
            ),
        };
        Self::new(code, kind, message).because(&error)
    }
}

impl From<ActivateError> for ApiError {
    fn from(error: ActivateError) -> Self {
        let kind = match error.code() {
            "query_empty" | "config_invalid" => ErrorKind::Input,
            "deadline_exceeded" => ErrorKind::NotReady,
            _ => ErrorKind::Internal,
        };
        Self::new(error.code(), kind, error.to_string()).because(&error)
    }
}

impl From<casebook_index::ReadError> for ApiError {
    fn from(error: casebook_index::ReadError) -> Self {
        Self::new(
            "index_unreadable",
            ErrorKind::Internal,
            "the index cannot be read; `casebook index` rebuilds it",
        )
        .because(&error)
    }
}
