//! Looks at every vector of the revision.

use std::sync::{Arc, OnceLock};

use casebook_chunker::UnitKey;
use casebook_corpus::Degradation;

use crate::degradation::{VECTOR_PARTIAL, VECTOR_SEGMENTS_UNUSABLE};
use crate::snapshot::Reader;
use crate::vector::Matrix;
use crate::vector::dot::inverse_norm;
use crate::{EncoderRevision, LaneAnswer, LaneError, LaneHit, ReadError, RevisionId, VectorLane};

/// Exact cosine. The 8-bit vectors are loaded by the first search and shared by all snapshots of the revision.
pub(crate) struct ExactLane {
    reader: Arc<Reader>,
    revision: RevisionId,
    encoder_revision: EncoderRevision,
    dimension: Option<usize>,
    role: Role,
    matrix: OnceLock<Arc<Matrix>>,
}

/// Whose vectors a lane holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Those of the encoder that the revision was built with: they change with the revision alone.
    Base,
    /// Those of an encoder that is filled in: they change with the generation, too.
    Filled {
        /// As `search_encoders` tells it.
        generation: i64,
    },
}

impl ExactLane {
    /// `dimension` is `None` where the head does not say it.
    pub(crate) fn new(
        reader: Arc<Reader>,
        revision: RevisionId,
        encoder_revision: EncoderRevision,
        dimension: Option<usize>,
        role: Role,
    ) -> Self {
        Self {
            reader,
            revision,
            encoder_revision,
            dimension,
            role,
            matrix: OnceLock::new(),
        }
    }

    fn matrix(&self) -> Result<&Arc<Matrix>, LaneError> {
        if let Some(matrix) = self.matrix.get() {
            return Ok(matrix);
        }
        let generation = match self.role {
            Role::Base => 0,
            Role::Filled { generation } => generation,
        };
        let loaded = self
            .reader
            .matrix(&self.revision, &self.encoder_revision, generation, self.dimension);
        let loaded = loaded.map_err(|error| self.failed(error))?;
        Ok(self.matrix.get_or_init(|| loaded))
    }

    fn failed(&self, error: ReadError) -> LaneError {
        LaneError::Other {
            lane: self.name(),
            source: Box::new(error),
        }
    }
}

/// Tells how many units have no vector, of an encoder where it is not the one of the builds; the same words wherever it
/// is told.
pub(crate) fn partial(missing: u64, total: u64, of: Option<&EncoderRevision>) -> Option<Degradation> {
    let of = of.map_or_else(String::new, |encoder| format!(" of {encoder}"));
    let detail = || format!("{missing} of {total} units have no vector{of}");
    (missing > 0).then(|| Degradation::new(VECTOR_PARTIAL, detail()))
}

fn unusable(detail: impl Into<String>) -> Degradation {
    Degradation::new(VECTOR_SEGMENTS_UNUSABLE, detail)
}

impl VectorLane for ExactLane {
    fn name(&self) -> &'static str {
        "dense"
    }

    fn revision(&self) -> &RevisionId {
        &self.revision
    }

    fn encoder_revision(&self) -> &EncoderRevision {
        &self.encoder_revision
    }

    fn lacks(&self, unit: &UnitKey) -> bool {
        self.matrix.get().is_some_and(|matrix| matrix.lacks(unit))
    }

    fn search(&self, query: &[f32], limit: usize) -> Result<LaneAnswer, LaneError> {
        let matrix = self.matrix()?;
        let of = matches!(self.role, Role::Filled { .. }).then_some(&self.encoder_revision);
        let mut answer = LaneAnswer {
            hits: Vec::new(),
            degradations: partial(matrix.missing(), matrix.total, of).into_iter().collect(),
        };
        answer.degradations.extend(matrix.trouble().map(unusable));
        let Some(expected) = matrix.dimension() else {
            return Ok(answer);
        };
        if query.len() != expected {
            return Err(LaneError::Dimension {
                expected,
                found: query.len(),
            });
        }
        let is_zero = query.iter().all(|number| *number == 0.0);
        let Some(scale) = inverse_norm(query).filter(|_| !is_zero) else {
            return Ok(answer);
        };
        let query: Vec<f32> = query.iter().map(|number| number * scale).collect();
        let hit = |(unit_key, score): (&UnitKey, f32)| LaneHit {
            unit_key: unit_key.clone(),
            score,
        };
        let instead = |unit: &UnitKey| self.reader.vector_of(&self.encoder_revision, self.dimension, unit);
        let best = matrix
            .best(&query, limit, instead)
            .map_err(|error| self.failed(error))?;
        answer.degradations.extend(best.trouble.map(unusable));
        answer.hits = best.rows.into_iter().map(hit).collect();
        Ok(answer)
    }
}
