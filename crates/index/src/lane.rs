//! The contracts of lanes. A lane is one way to recall; it serves one revision and says which.

use casebook_chunker::UnitKey;
use casebook_corpus::Degradation;

use crate::{EncoderRevision, RevisionId};

/// A unit that a lane recalled. Its rank is its position in the answer, from 1.
#[derive(Clone, Debug, PartialEq)]
pub struct LaneHit {
    /// The unit.
    pub unit_key: UnitKey,
    /// The lane's own score, higher is better, finite. Scores of different lanes are not on one scale.
    pub score: f32,
}

/// What a lane found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LaneAnswer {
    /// Best first; ties by resource id, then unit order. Each unit at most once.
    pub hits: Vec<LaneHit>,
    /// What the lane left out to bound its own work, or could not do.
    pub degradations: Vec<Degradation>,
}

/// Recalls units by words.
///
/// Contract: the text is a person's, never query syntax; no text is an error. A lane never blocks a build and is never
/// blocked by one. Hits are units of its own revision only.
pub trait LexicalLane: Send + Sync {
    /// Returns the lane's name in traces: `identity`, `fts5`, `tantivy`, `sparse`, or a name of the implementer's own.
    fn name(&self) -> &'static str;

    /// Returns the revision that it serves.
    fn revision(&self) -> &RevisionId;

    /// Returns at most `limit` units for the query.
    ///
    /// # Errors
    /// When the lane is broken; the others then answer alone.
    fn search(&self, query: &str, limit: usize) -> Result<LaneAnswer, LaneError>;
}

/// Recalls units by the cosine of vectors.
///
/// Contract: exact (every vector of the revision is looked at); identical from run to run and for any thread count.
pub trait VectorLane: Send + Sync {
    /// Returns the lane's name in traces.
    fn name(&self) -> &'static str;

    /// Returns the revision that it serves.
    fn revision(&self) -> &RevisionId;

    /// Returns whose vectors it holds; a query must be encoded by the same.
    fn encoder_revision(&self) -> &EncoderRevision;

    /// Returns whether it has no vector of the unit, so that another lane has to find it. Asked after a search; before
    /// one, or where the lane cannot tell, it is `false`.
    fn lacks(&self, unit: &UnitKey) -> bool {
        let _ = unit;
        false
    }

    /// Returns at most `limit` units by falling cosine to `query`; a zero query finds nothing. A half-encoded corpus
    /// answers with what it has and a `vector_partial` degradation.
    ///
    /// # Errors
    /// When the lane is broken or the query has another dimension.
    fn search(&self, query: &[f32], limit: usize) -> Result<LaneAnswer, LaneError>;
}

/// A lane is broken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaneError {
    /// The query vector does not fit.
    #[error("query vector has {found} dimensions, the lane has {expected}")]
    Dimension {
        /// The lane's.
        expected: usize,
        /// The query's.
        found: usize,
    },
    /// A lane's own trouble.
    #[error("lane {lane} failed")]
    Other {
        /// The lane's name.
        lane: &'static str,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}
