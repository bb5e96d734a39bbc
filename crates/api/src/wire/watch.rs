//! What a follower tells, on the wire: one document for each event.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Degradation, ErrorBody, IndexResponse};
use crate::Told;

/// What happened while a memory was watched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum WatchEvent {
    /// Watching began; the first `head` follows when the index is up to date.
    Watching {
        /// The project's folder.
        root: String,
    },
    /// There is a head: the first, another one, or the same with other problems or after a failure.
    Head(IndexResponse),
    /// There is no other head, and the old one stays. It is tried again when something changes.
    Failed {
        /// Why.
        error: ErrorBody,
    },
    /// Not every change is noticed; the memory is looked at now and then instead.
    Degraded {
        /// Why.
        degradation: Degradation,
    },
}

impl From<Told<'_>> for WatchEvent {
    fn from(told: Told<'_>) -> Self {
        match told {
            Told::Head(report) => Self::Head(report.into()),
            Told::Failed(error) => Self::Failed { error: error.into() },
            Told::Degraded(degradation) => Self::Degraded {
                degradation: degradation.into(),
            },
        }
    }
}
