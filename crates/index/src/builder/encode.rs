//! Makes the vectors that the cache lacks, and keeps them as they come.

use std::collections::{BTreeMap, HashSet};

use casebook_corpus::ContentHash;
use rusqlite::{Connection, TransactionBehavior};

use crate::batch::{Effort, LoadedInput, encode_batch, keep};
use crate::builder::failure::Step;
use crate::store::{self, Encoding};
use crate::{BuildError, BuildObserver, BuildStage, EncodeError, Passage, TextEncoder};

/// Inputs given to the encoder at once; also how many are lost where a build is killed.
const BATCH: usize = 64;

/// An input where it lies.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Input<'a> {
    /// Just cut.
    Cut(Passage<'a>),
    /// In the database: a unit that stays as it is.
    Stored(i64),
}

/// What the encoder did.
#[derive(Debug, Default)]
pub(crate) struct Encoded {
    pub(crate) effort: Effort,
    pub(crate) rows: u64,
    /// Why it stopped before the end.
    pub(crate) trouble: Option<EncodeError>,
}

/// Inputs that the cache lacks, by hash: equal ones are encoded once, and the order is always the same.
pub(crate) type Missing<'a> = BTreeMap<ContentHash, Input<'a>>;

/// Adds stored units without a vector, but for those that will not stay.
pub(crate) fn add_stored(
    db: &Connection,
    encoder: &dyn TextEncoder,
    leaving: &HashSet<i64>,
    missing: &mut Missing<'_>,
) -> rusqlite::Result<()> {
    for unit in store::lacking_units(db, Encoding::dense(encoder))? {
        if !leaving.contains(&unit.rowid) {
            missing.entry(unit.input_hash).or_insert(Input::Stored(unit.rowid));
        }
    }
    Ok(())
}

/// Encodes what is missing, batch by batch. An encoder that fails does not fail the build: what it made stays, and the
/// rest is found by words alone.
pub(crate) fn encode(
    db: &mut Connection,
    encoder: &dyn TextEncoder,
    missing: &Missing<'_>,
    observer: &dyn BuildObserver,
) -> Step<Encoded> {
    let mut encoded = Encoded::default();
    let inputs: Vec<(&ContentHash, &Input<'_>)> = missing.iter().collect();
    for (number, batch) in inputs.chunks(BATCH).enumerate() {
        observer.progress(BuildStage::Encoding, number * BATCH, Some(inputs.len()));
        if observer.cancelled() {
            return Err(BuildError::Cancelled.into());
        }
        let batch = load(db, batch)?;
        let results = encode_batch(encoder, &batch, false, observer, &mut encoded.effort);
        let results = match results {
            Ok(results) => results,
            Err(_) if observer.cancelled() => return Err(BuildError::Cancelled.into()),
            Err(trouble) => {
                encoded.trouble = Some(trouble);
                return Ok(encoded);
            }
        };
        let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        encoded.rows += keep(&tx, encoder.revision(), &batch, &results)?;
        tx.commit()?;
    }
    if !inputs.is_empty() {
        observer.progress(BuildStage::Encoding, inputs.len(), Some(inputs.len()));
    }
    Ok(encoded)
}

fn load(db: &Connection, batch: &[(&ContentHash, &Input<'_>)]) -> rusqlite::Result<Vec<LoadedInput>> {
    let loaded = batch.iter().map(|(hash, input)| match **input {
        Input::Cut(passage) => Ok(LoadedInput {
            hash: **hash,
            path: passage.path.to_owned(),
            heading_path: passage.heading_path.to_vec(),
            text: passage.text.to_owned(),
        }),
        Input::Stored(rowid) => LoadedInput::stored(db, rowid),
    });
    loaded.collect()
}
