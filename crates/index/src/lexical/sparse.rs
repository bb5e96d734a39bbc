//! The lane `sparse`: learned term weights, where an encoder offers them.
//!
//! The one thing a newcomer gets wrong: it is asked like a word lane, but its words are the encoder's tokens. It therefore
//! needs the encoder that made the weights, and is made for one question after the other by [`SparseWeights::lane`].

mod postings;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

pub(crate) use self::postings::{Postings, weights_to_blob};
use crate::snapshot::Reader;
use crate::{
    EncodeError, EncoderRevision, LaneAnswer, LaneError, LaneHit, LexicalLane, RevisionId, TextEncoder, TextSide,
};

/// The term weights of one encoder at one revision. Loaded by the first search.
pub(crate) struct SparseWeights {
    reader: Arc<Reader>,
    revision: RevisionId,
    encoder_revision: EncoderRevision,
    generation: i64,
}

impl SparseWeights {
    pub(crate) fn new(
        reader: Arc<Reader>,
        revision: RevisionId,
        encoder_revision: EncoderRevision,
        generation: i64,
    ) -> Self {
        Self {
            reader,
            revision,
            encoder_revision,
            generation,
        }
    }

    /// Returns the lane that weighs questions with this encoder, which has to be the one that weighed the units.
    pub(crate) fn lane<'a>(&'a self, encoder: &'a dyn TextEncoder) -> Option<SparseLane<'a>> {
        (*encoder.revision() == self.encoder_revision).then_some(SparseLane { weights: self, encoder })
    }
}

/// Finds units by the inner product of term weights, of the question and of each unit; only what shares a term is found.
pub(crate) struct SparseLane<'a> {
    weights: &'a SparseWeights,
    encoder: &'a dyn TextEncoder,
}

impl SparseLane<'_> {
    fn failed(&self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> LaneError {
        LaneError::Other {
            lane: self.name(),
            source: source.into(),
        }
    }
}

impl LexicalLane for SparseLane<'_> {
    fn name(&self) -> &'static str {
        "sparse"
    }

    fn revision(&self) -> &RevisionId {
        &self.weights.revision
    }

    fn search(&self, query: &str, limit: usize) -> Result<LaneAnswer, LaneError> {
        let weigh = || self.encoder.sparse_weights(query, TextSide::Query);
        let weighed = catch_unwind(AssertUnwindSafe(weigh)).unwrap_or(Err(EncodeError::Panicked { index: 0 }));
        let Some(query) = weighed.map_err(|error| self.failed(error))? else {
            return Err(self.failed("the encoder has no sparse head"));
        };
        let SparseWeights {
            reader,
            revision,
            encoder_revision,
            generation,
        } = self.weights;
        let postings = reader.postings(revision, encoder_revision, *generation);
        let postings = postings.map_err(|error| self.failed(error))?;
        let hits = postings
            .best(&query, limit)
            .into_iter()
            .map(|(unit_key, score)| LaneHit {
                unit_key: unit_key.clone(),
                score,
            });
        Ok(LaneAnswer {
            hits: hits.collect(),
            degradations: Vec::new(),
        })
    }
}
