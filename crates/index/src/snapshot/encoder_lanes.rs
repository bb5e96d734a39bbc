//! The lanes of an encoder that is filled in beside the one of the builds.

use std::sync::Arc;

use rusqlite::Connection;

use crate::lexical::SparseWeights;
use crate::snapshot::Snapshot;
use crate::store::{self, StoredEncoder};
use crate::vector::{ExactLane, Role};
use crate::{EncoderRevision, LexicalLane, ReadError, TextEncoder, VectorLane};

/// How many units an encoder has vectors of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Units in the lanes: those of live and of superseded resources.
    pub total: u64,
    /// Units without a vector that may still get one.
    pub missing: u64,
    /// Units that the encoder refused; they never get one.
    pub refused: u64,
    /// Whether none was missing at some revision, this one or an earlier one.
    pub was_complete: bool,
}

impl Coverage {
    /// Returns how many units have a vector.
    pub const fn vectors(&self) -> u64 {
        self.total.saturating_sub(self.missing + self.refused)
    }

    /// Returns whether none is missing.
    pub const fn is_complete(&self) -> bool {
        self.missing == 0
    }

    /// Counts what the connection sees. At the revision at which an encoder was found complete, nothing is counted.
    pub(crate) fn count(
        db: &Connection,
        stored: Option<&StoredEncoder>,
        seq: i64,
        total: u64,
    ) -> rusqlite::Result<Self> {
        let (missing, refused) = match stored {
            None => (total, 0),
            Some(stored) if stored.complete_seq == Some(seq) => (0, stored.refused),
            Some(stored) => store::count_lacking(db, stored.encoding())?,
        };
        Ok(Self {
            total,
            missing,
            refused,
            was_complete: stored.is_some_and(|stored| stored.complete_seq.is_some()),
        })
    }
}

/// What an encoder that is filled in offers at one revision.
pub struct EncoderLanes {
    coverage: Coverage,
    dense: ExactLane,
    sparse: Option<SparseWeights>,
}

impl EncoderLanes {
    pub(super) fn of(snapshot: &Snapshot, encoder: &EncoderRevision) -> Result<Self, ReadError> {
        let (stored, coverage) = snapshot.reader.read(|db| {
            let stored = store::encoder(db, encoder)?;
            let coverage = Coverage::count(db, stored.as_ref(), snapshot.seq, snapshot.units_searched)?;
            Ok((stored, coverage))
        })?;
        let id = &snapshot.revision.id;
        let generation = stored.as_ref().map_or(0, |stored| stored.generation);
        let dense = ExactLane::new(
            Arc::clone(&snapshot.reader),
            id.clone(),
            encoder.clone(),
            stored.as_ref().map(|stored| stored.dimension),
            Role::Filled { generation },
        );
        let offers = stored.is_some_and(|stored| stored.sparse);
        let sparse = || SparseWeights::new(Arc::clone(&snapshot.reader), id.clone(), encoder.clone(), generation);
        Ok(Self {
            coverage,
            dense,
            sparse: offers.then(sparse),
        })
    }

    /// Returns how many units have vectors.
    pub fn coverage(&self) -> Coverage {
        self.coverage
    }

    /// Returns the lane that finds units by the encoder's vectors, those that are there.
    pub fn dense(&self) -> &dyn VectorLane {
        &self.dense
    }

    /// Returns the lane that finds units by the encoder's term weights, where it offers them. Questions are weighed by
    /// `encoder`; `None` also where that is another one.
    pub fn sparse<'a>(&'a self, encoder: &'a dyn TextEncoder) -> Option<Box<dyn LexicalLane + 'a>> {
        let lane = self.sparse.as_ref()?.lane(encoder)?;
        Some(Box::new(lane))
    }
}
