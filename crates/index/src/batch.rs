//! A batch of inputs on its way through an encoder into the cache. Builds and fills share it.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use casebook_corpus::ContentHash;
use rusqlite::Connection;

use crate::lexical::weights_to_blob;
use crate::store;
use crate::vector::to_blob;
use crate::{Cancel, EncodeError, EncoderRevision, Passage, PassageVector, TextEncoder, TokenWeight};

/// An input in memory.
pub(crate) struct LoadedInput {
    pub(crate) hash: ContentHash,
    pub(crate) path: String,
    pub(crate) heading_path: Vec<String>,
    pub(crate) text: String,
}

impl LoadedInput {
    /// Loads the input of a stored unit.
    pub(crate) fn stored(db: &Connection, rowid: i64) -> rusqlite::Result<Self> {
        let stored = store::stored_unit(db, rowid)?;
        let resource = store::resource_at(db, &stored.location)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
        Ok(Self {
            hash: stored.input_hash,
            path: resource.meta.path,
            heading_path: stored.unit.heading_path,
            text: stored.unit.text,
        })
    }

    fn passage(&self) -> Passage<'_> {
        Passage {
            path: &self.path,
            heading_path: &self.heading_path,
            text: &self.text,
        }
    }
}

/// What an encoder made of an input.
pub(crate) struct Made {
    vector: PassageVector,
    weights: Weights,
}

/// What became of the term weights of an input.
enum Weights {
    /// None were asked for.
    NotAsked,
    /// The sparse head refused the input.
    Refused,
    Made(Vec<TokenWeight>),
}

impl Made {
    /// Whether the sparse head was asked for term weights and refused.
    pub(crate) fn is_unweighed(&self) -> bool {
        matches!(self.weights, Weights::Refused)
    }
}

/// What an encoder was asked.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Effort {
    /// Inputs that it took.
    pub(crate) inputs: u64,
    pub(crate) calls: u64,
}

/// Returns what the encoder makes of each input; `None` for one that it refuses. A refused input is left out and the
/// others are asked for again.
pub(crate) fn encode_batch(
    encoder: &dyn TextEncoder,
    batch: &[LoadedInput],
    sparse: bool,
    cancel: &dyn Cancel,
    effort: &mut Effort,
) -> Result<Vec<Option<Made>>, EncodeError> {
    let mut refused = HashSet::new();
    loop {
        let asked: Vec<usize> = (0..batch.len()).filter(|index| !refused.contains(index)).collect();
        if asked.is_empty() {
            return Ok(batch.iter().map(|_| None).collect());
        }
        let passages: Vec<Passage<'_>> = asked.iter().map(|index| batch[*index].passage()).collect();
        effort.calls += 1;
        match call(encoder, &passages, sparse, cancel) {
            Err(EncodeError::Input { index, .. }) if index < asked.len() => {
                refused.insert(asked[index]);
            }
            Err(trouble) => return Err(trouble),
            Ok(made) => {
                effort.inputs += passages.len() as u64;
                let mut made = made.into_iter();
                let place = |index| if refused.contains(&index) { None } else { made.next() };
                return Ok((0..batch.len()).map(place).collect());
            }
        }
    }
}

/// Calls the encoder, and checks what it promises.
fn call(
    encoder: &dyn TextEncoder,
    passages: &[Passage<'_>],
    sparse: bool,
    cancel: &dyn Cancel,
) -> Result<Vec<Made>, EncodeError> {
    let ask = || -> Result<Vec<Made>, EncodeError> {
        if sparse {
            let both = encoder.encode_passages_and_weights(passages, cancel)?;
            let made = both.into_iter().map(|(vector, weights)| Made {
                vector,
                weights: weights.map_or(Weights::Refused, Weights::Made),
            });
            return Ok(made.collect());
        }
        let vectors = encoder.encode_passages(passages, cancel)?;
        let made = vectors.into_iter().map(|vector| Made {
            vector,
            weights: Weights::NotAsked,
        });
        Ok(made.collect())
    };
    let answer = catch_unwind(AssertUnwindSafe(ask));
    let made = answer.unwrap_or(Err(EncodeError::Panicked { index: 0 }))?;
    let fits = |made: &Made| made.vector.vector.len() == encoder.dimension();
    if made.len() != passages.len() || !made.iter().all(fits) {
        return Err(EncodeError::Other(
            "the encoder broke its contract: wrong number or length of vectors".into(),
        ));
    }
    Ok(made)
}

/// Keeps a batch; returns the rows written. Meant for a transaction of its own, so that whoever is killed goes on from
/// there.
pub(crate) fn keep(
    tx: &Connection,
    encoder: &EncoderRevision,
    batch: &[LoadedInput],
    results: &[Option<Made>],
) -> rusqlite::Result<u64> {
    let mut rows = 0;
    for (input, made) in batch.iter().zip(results) {
        // A vector that is no direction is as good as a refusal.
        let blob = made.as_ref().and_then(|made| to_blob(&made.vector.vector));
        let windows = made.as_ref().map_or(0, |made| made.vector.input_windows);
        rows += store::keep_vector(tx, encoder, &input.hash, windows, blob.as_deref())?;
        let weights = match made.as_ref().map(|made| &made.weights) {
            None | Some(Weights::NotAsked) => continue,
            // Nothing is kept for it, so that it is not asked for again.
            Some(Weights::Refused) => &[][..],
            Some(Weights::Made(weights)) => weights,
        };
        rows += store::keep_weights(tx, encoder, &input.hash, &weights_to_blob(weights))?;
    }
    Ok(rows)
}
