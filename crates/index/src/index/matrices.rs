//! The vectors of the newest revision asked for, shared by all its snapshots.

use std::sync::{Arc, Mutex, PoisonError};

use crate::RevisionId;
use crate::index::database::FileId;
use crate::vector::Matrix;

/// One matrix per process; an older one lives on in the snapshots that hold it.
#[derive(Default)]
pub(crate) struct Matrices(Mutex<Option<(Key, Arc<Matrix>)>>);

/// A database made anew counts its revisions from the start.
type Key = (FileId, RevisionId);

impl Matrices {
    /// Returns the revision's matrix, loading it where it is another's. Who asks meanwhile waits rather than loads it twice.
    pub(crate) fn get<E>(&self, key: Key, load: impl FnOnce() -> Result<Matrix, E>) -> Result<Arc<Matrix>, E> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, matrix)) = held.as_ref().filter(|(id, _)| *id == key) {
            return Ok(Arc::clone(matrix));
        }
        let matrix = Arc::new(load()?);
        *held = Some((key, Arc::clone(&matrix)));
        Ok(matrix)
    }

    pub(crate) fn clear(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
