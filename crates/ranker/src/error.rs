//! Errors of an activation. What a lane or a scorer does wrong is a degradation, not an error.

use casebook_index::UnitSourceError;

use crate::{ConfigError, Stage};

/// An activation cannot answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ActivateError {
    /// Nothing was asked.
    #[error("query is empty")]
    QueryEmpty,
    /// The profile is not valid.
    #[error("profile is not valid")]
    Config(#[from] ConfigError),
    /// A stage that the answer cannot do without ended after the deadline.
    #[error("deadline of {deadline_ms} ms passed in stage {stage}")]
    Deadline {
        /// The stage.
        stage: Stage,
        /// The time that there was, in milliseconds.
        deadline_ms: u64,
    },
    /// The units that the lanes found cannot be read.
    #[error("units cannot be read in stage {stage}")]
    Units {
        /// The stage.
        stage: Stage,
        /// Why.
        #[source]
        source: UnitSourceError,
    },
}

impl ActivateError {
    /// Returns the stage that failed; `request` where none had begun.
    pub const fn stage(&self) -> &'static str {
        match self {
            Self::QueryEmpty | Self::Config(_) => "request",
            Self::Deadline { stage, .. } | Self::Units { stage, .. } => stage.as_str(),
        }
    }

    /// Returns the stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::QueryEmpty => "query_empty",
            Self::Config(_) => "config_invalid",
            Self::Deadline { .. } => "deadline_exceeded",
            Self::Units { .. } => "units_unreadable",
        }
    }

    /// Returns what happened, causes included, in one line.
    pub fn summary(&self) -> String {
        with_causes(self)
    }
}

/// Returns an error's text and its causes', outermost first.
pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}
