//! What an activation works with: the lanes of one snapshot, and tools that are injected.

use casebook_corpus::{Clock, Degradation, ResourceMeta};
use casebook_index::{LexicalLane, Revision, Snapshot, TextEncoder, UnitSource, VectorLane};

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
    /// Looks units up.
    pub units: &'a dyn UnitSource,
    /// What is wrong with the snapshot; carried into the answer.
    pub degradations: Vec<Degradation>,
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
