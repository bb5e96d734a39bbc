//! The read transaction that a snapshot's lanes share.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;

use crate::index::{FileId, Pooled, Shared, StateKey};
use crate::lexical::Postings;
use crate::vector::{Matrix, Segments};
use crate::{EncoderRevision, ReadError, RevisionId, UnitKey, store};

/// A connection inside a read transaction. Dropping it ends the transaction and gives the connection back.
pub(crate) struct Reader {
    shared: Arc<Shared>,
    pooled: Mutex<Option<Pooled>>,
    file: FileId,
}

impl Reader {
    /// Takes over a connection that is inside a read transaction.
    pub(crate) fn new(shared: Arc<Shared>, pooled: Pooled) -> Self {
        Self {
            shared,
            file: pooled.file,
            pooled: Mutex::new(Some(pooled)),
        }
    }

    /// Reads within the transaction.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, ReadError> {
        let pooled = self.pooled.lock().unwrap_or_else(PoisonError::into_inner);
        let pooled = pooled.as_ref().expect("only dropping takes the connection out");
        read(&pooled.db).map_err(|error| {
            self.shared.note(&error);
            ReadError(Box::new(error))
        })
    }

    /// Returns an encoder's vectors at this revision and generation, shared by all snapshots of them.
    pub(crate) fn matrix(
        &self,
        revision: &RevisionId,
        encoder: &EncoderRevision,
        generation: i64,
        dimension: Option<usize>,
    ) -> Result<Arc<Matrix>, ReadError> {
        let Some(dimension) = dimension else {
            let key = self.key(revision, encoder, generation);
            let load = || self.read(|db| Matrix::load(db, encoder, None));
            return self.shared.matrices().get(key, load);
        };
        let segments = Segments::of(&self.shared.files().vectors, encoder, dimension);
        let key = || self.key(revision, encoder, generation);
        let load = || self.read(|db| Matrix::load_with(db, encoder, dimension, &segments));
        let matrix = self.shared.matrices().get(key(), load)?;
        if matrix.is_troubled() && segments.is_whole() {
            // A build has healed them since.
            self.shared.matrices().forget(&key());
            return self.shared.matrices().get(key(), load);
        }
        Ok(matrix)
    }

    /// Returns the vector of a unit as the database has it, because its segment is damaged.
    pub(crate) fn vector_of(
        &self,
        encoder: &EncoderRevision,
        dimension: Option<usize>,
        unit: &UnitKey,
    ) -> Result<Option<Vec<u8>>, ReadError> {
        if let Some(dimension) = dimension {
            Segments::of(&self.shared.files().vectors, encoder, dimension).note_suspect();
        }
        self.read(|db| store::vector_of_unit(db, encoder, unit))
    }

    /// Returns an encoder's term weights likewise.
    pub(crate) fn postings(
        &self,
        revision: &RevisionId,
        encoder: &EncoderRevision,
        generation: i64,
    ) -> Result<Arc<Postings>, ReadError> {
        let key = self.key(revision, encoder, generation);
        self.shared
            .postings()
            .get(key, || self.read(|db| Postings::load(db, encoder)))
    }

    fn key(&self, revision: &RevisionId, encoder: &EncoderRevision, generation: i64) -> StateKey {
        StateKey {
            file: self.file,
            revision: revision.clone(),
            encoder: encoder.clone(),
            generation,
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let pooled = self.pooled.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(pooled) = pooled.filter(|pooled| pooled.db.execute_batch("ROLLBACK").is_ok()) {
            self.shared.give_back(pooled);
        }
    }
}
