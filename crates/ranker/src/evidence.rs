//! Labels of a fragment: what supports it, and what time has to say. They change no rank.

use casebook_corpus::{ResourceMeta, Timestamp};

use crate::hit::Hit;
use crate::phrase::Terms;
use crate::{ActivationRequest, EvidenceShape, TimeLabel};

/// What supports a hit, for one request.
pub(crate) struct Structure {
    query: Terms,
    hints: Vec<Terms>,
}

impl Structure {
    pub(crate) fn of(request: &ActivationRequest) -> Self {
        let hints = request.topics.iter().chain(&request.entities);
        Self {
            query: Terms::of(&request.query),
            hints: hints.map(|hint| Terms::of(hint)).collect(),
        }
    }

    /// Returns the strongest shape that holds.
    pub(crate) fn shape(&self, hit: &Hit) -> EvidenceShape {
        let meta = &hit.record.resource;
        let structured_kind = matches!(meta.kind.as_str(), "state" | "decision");
        if !meta.sources.is_empty() {
            EvidenceShape::ProvenanceSupported
        } else if self.matches_label(meta) || (structured_kind && hit.named) {
            EvidenceShape::StructuredContext
        } else {
            EvidenceShape::LexicalOnly
        }
    }

    /// A label matches a hint of the caller's, or stands in the query.
    fn matches_label(&self, meta: &ResourceMeta) -> bool {
        let labels = meta.topics.iter().chain(&meta.entities);
        labels
            .map(|label| Terms::of(label))
            .any(|label| self.hints.contains(&label) || self.query.contains(&label))
    }
}

/// Returns what time has to say about a resource at `as_of`, in order of declaration.
pub(crate) fn time_labels(meta: &ResourceMeta, as_of: Timestamp, stale: bool) -> Vec<TimeLabel> {
    let unconfirmed_since = |expected| meta.last_confirmed_at.is_none_or(|confirmed| confirmed <= expected);
    let overdue = |expected| expected < as_of && unconfirmed_since(expected);
    [
        (
            TimeLabel::CheckpointPassed,
            meta.expected_resolution_at.is_some_and(overdue),
        ),
        (TimeLabel::NoLongerValid, meta.valid_to.is_some_and(|end| end < as_of)),
        (
            TimeLabel::NotYetValid,
            meta.valid_from.is_some_and(|start| start > as_of),
        ),
        (TimeLabel::Stale, stale),
    ]
    .into_iter()
    .filter_map(|(label, holds)| holds.then_some(label))
    .collect()
}
