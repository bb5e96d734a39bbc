//! What is loaded into memory to answer, shared by all snapshots of one state.

use std::sync::{Arc, Mutex, PoisonError};

use crate::index::database::FileId;
use crate::{EncoderRevision, RevisionId};

/// How many encoders' values are held: that of the builds and the chosen one.
const HELD: usize = 2;

/// The newest value per encoder, for at most two encoders per process; an older one lives on in the snapshots that hold
/// it.
pub(crate) struct Loaded<T>(Mutex<Vec<(StateKey, Arc<T>)>>);

/// What a value was loaded from. A database made anew counts its revisions from the start, and an encoder that is filled
/// in has other vectors without another revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StateKey {
    pub(crate) file: FileId,
    pub(crate) revision: RevisionId,
    pub(crate) encoder: EncoderRevision,
    pub(crate) generation: i64,
}

impl<T> Default for Loaded<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Loaded<T> {
    /// Returns the value of a state, loading it where it is another's. Who asks meanwhile waits rather than loads it
    /// twice.
    pub(crate) fn get<E>(&self, key: StateKey, load: impl FnOnce() -> Result<T, E>) -> Result<Arc<T>, E> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(position) = held.iter().position(|(found, _)| *found == key) {
            let found = held.remove(position);
            let value = Arc::clone(&found.1);
            held.push(found);
            return Ok(value);
        }
        // First, so that the old and the new are not in memory together.
        held.retain(|(found, _)| found.encoder != key.encoder);
        let surplus = held.len().saturating_sub(HELD - 1);
        held.drain(..surplus);
        let value = Arc::new(load()?);
        held.push((key, Arc::clone(&value)));
        Ok(value)
    }

    /// Forgets the value of a state, so that it is loaded anew.
    pub(crate) fn forget(&self, key: &StateKey) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.retain(|(found, _)| found != key);
    }

    pub(crate) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(revision: &str, encoder: &str, generation: i64) -> StateKey {
        StateKey {
            file: None,
            revision: revision.into(),
            encoder: encoder.into(),
            generation,
        }
    }

    #[test]
    fn two_encoders_are_held_and_the_one_not_asked_for_goes() {
        let loaded = Loaded::<String>::default();
        let mut loads = Vec::new();
        let mut ask = |revision: &str, encoder: &str, generation| {
            let name = format!("{revision} {encoder} {generation}");
            let load = || {
                loads.push(name.clone());
                Ok::<_, ()>(name.clone())
            };
            let value = loaded.get(key(revision, encoder, generation), load).unwrap();
            assert_eq!(*value, name);
        };
        ask("1", "base", 0);
        ask("1", "pack", 1);
        ask("1", "base", 0);
        ask("1", "pack", 1);
        ask("1", "pack", 2);
        ask("1", "base", 0);
        ask("1", "other", 1);
        ask("1", "base", 0);
        ask("1", "pack", 2);
        ask("2", "base", 0);
        let expected = ["1 base 0", "1 pack 1", "1 pack 2", "1 other 1", "1 pack 2", "2 base 0"];
        assert_eq!(loads, expected);
    }
}
