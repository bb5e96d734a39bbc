//! What an activation works with: the lanes of one snapshot, and tools that are injected.

use casebook_corpus::{Clock, Degradation, ResourceMeta};
use casebook_index::{Coverage, LexicalLane, Revision, Snapshot, TextEncoder, UnitSource, VectorLane};

use crate::PairScorer;

/// The lanes of one revision. A lane that serves another revision is left out of the answer.
#[derive(Clone)]
pub struct Lanes<'a> {
    /// The revision that is searched.
    pub revision: &'a Revision,
    /// Finds resources by id, path and title; its hits lead the lexical list.
    pub identity: Option<&'a dyn LexicalLane>,
    /// Find units by words; merged into one list.
    pub lexical: Vec<&'a dyn LexicalLane>,
    /// Finds units by vector.
    pub dense: Option<&'a dyn VectorLane>,
    /// Makes the query's vector.
    pub encoder: Option<&'a dyn TextEncoder>,
    /// A further encoder that answers in the place of `encoder`, where its vectors allow it.
    pub preferred: Option<Preferred<'a>>,
    /// Looks units up.
    pub units: &'a dyn UnitSource,
    /// What is wrong with the snapshot; carried into the answer.
    pub degradations: Vec<Degradation>,
}

/// An encoder that is preferred to that of the builds, and its lanes. Its vectors are filled in beside, so they may lag
/// behind.
#[derive(Clone, Copy)]
pub struct Preferred<'a> {
    /// Makes the query's vector.
    pub encoder: &'a dyn TextEncoder,
    /// Finds units by its vectors.
    pub dense: &'a dyn VectorLane,
    /// Finds units by its term weights, where it offers them; the lane counts as a word lane.
    pub sparse: Option<&'a dyn LexicalLane>,
    /// How many units it has vectors of.
    pub coverage: Coverage,
}

impl Preferred<'_> {
    /// Units that may be missing at least before it stops answering.
    const FEW_UNITS: u64 = 16;
    /// One in so many units may be missing.
    const FEW_SHARE: u64 = 50;

    /// Returns whether it answers; see [`is_enough`](Self::is_enough). Until then the encoder of the builds does.
    pub fn answers(&self) -> bool {
        Self::is_enough(&self.coverage)
    }

    /// Returns whether so many vectors are enough to answer from: they were complete once, and of those no more than a
    /// few are missing now, 16 or 2 %.
    pub fn is_enough(coverage: &Coverage) -> bool {
        let few = Self::FEW_UNITS.max(coverage.total / Self::FEW_SHARE);
        coverage.was_complete && coverage.missing <= few
    }
}

/// All lanes of the snapshot, and no encoder.
impl<'a> From<&'a Snapshot> for Lanes<'a> {
    fn from(snapshot: &'a Snapshot) -> Self {
        Self {
            revision: snapshot.revision(),
            identity: Some(snapshot.identity()),
            lexical: snapshot.lexical(),
            dense: snapshot.dense(),
            encoder: None,
            preferred: None,
            units: snapshot,
            degradations: snapshot.degradations().to_vec(),
        }
    }
}

/// What an activation uses beside the lanes.
#[derive(Clone, Copy)]
pub struct Tools<'a> {
    /// Scores passages against the query; without one the fused order stays.
    pub scorer: Option<&'a dyn PairScorer>,
    /// Tells times, for latencies, the deadline and a missing `as_of`.
    pub clock: &'a dyn Clock,
    /// Tells whether a resource is still what the revision holds; asked once per resource.
    pub freshness: &'a dyn Fn(&ResourceMeta) -> SourceState,
}

/// How a resource's source compares with the revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceState {
    /// As the revision holds it.
    Present,
    /// Changed since.
    Changed,
    /// Deleted since, or changed so that the caller may not see it any more.
    Gone,
}
