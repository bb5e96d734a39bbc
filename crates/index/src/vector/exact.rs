//! Looks at every vector of the revision.

use std::sync::{Arc, OnceLock};

use casebook_corpus::Degradation;

use crate::degradation::VECTOR_PARTIAL;
use crate::snapshot::Reader;
use crate::vector::Matrix;
use crate::vector::dot::inverse_norm;
use crate::{EncoderRevision, LaneAnswer, LaneError, LaneHit, RevisionId, VectorLane};

/// Exact cosine. The vectors are loaded by the first search and shared by all snapshots of the revision.
pub(crate) struct ExactLane {
    reader: Arc<Reader>,
    revision: RevisionId,
    encoder_revision: EncoderRevision,
    dimension: Option<usize>,
    matrix: OnceLock<Arc<Matrix>>,
}

impl ExactLane {
    /// `dimension` is `None` where the head does not say it.
    pub(crate) fn new(
        reader: Arc<Reader>,
        revision: RevisionId,
        encoder_revision: EncoderRevision,
        dimension: Option<usize>,
    ) -> Self {
        Self {
            reader,
            revision,
            encoder_revision,
            dimension,
            matrix: OnceLock::new(),
        }
    }

    fn matrix(&self) -> Result<&Arc<Matrix>, LaneError> {
        if let Some(matrix) = self.matrix.get() {
            return Ok(matrix);
        }
        let loaded = self
            .reader
            .matrix(&self.revision, &self.encoder_revision, self.dimension);
        let loaded = loaded.map_err(|error| LaneError::Other {
            lane: self.name(),
            source: Box::new(error),
        })?;
        Ok(self.matrix.get_or_init(|| loaded))
    }
}

/// Tells how many units have no vector; the same words wherever it is told.
pub(crate) fn partial(missing: u64, total: u64) -> Option<Degradation> {
    (missing > 0).then(|| Degradation::new(VECTOR_PARTIAL, format!("{missing} of {total} units have no vector")))
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

    fn search(&self, query: &[f32], limit: usize) -> Result<LaneAnswer, LaneError> {
        let matrix = self.matrix()?;
        let mut answer = LaneAnswer {
            hits: Vec::new(),
            degradations: partial(matrix.missing, matrix.total).into_iter().collect(),
        };
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
        let hit = |(unit_key, score): (&casebook_chunker::UnitKey, f32)| LaneHit {
            unit_key: unit_key.clone(),
            score,
        };
        answer.hits = matrix.best(&query, limit).into_iter().map(hit).collect();
        Ok(answer)
    }
}
