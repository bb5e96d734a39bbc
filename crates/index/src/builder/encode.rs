//! Makes the vectors that the cache lacks, and keeps them as they come.

use std::collections::{BTreeMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use casebook_corpus::ContentHash;
use rusqlite::{Connection, TransactionBehavior, params};

use crate::builder::failure::Step;
use crate::store;
use crate::vector::to_blob;
use crate::{BuildError, BuildObserver, BuildStage, EncodeError, EncoderRevision, Passage, PassageVector, TextEncoder};

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
    pub(crate) inputs: u64,
    pub(crate) calls: u64,
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
    for (rowid, hash) in store::units_without_vector(db, encoder)? {
        if !leaving.contains(&rowid) {
            missing.entry(hash).or_insert(Input::Stored(rowid));
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
        let results = encode_batch(encoder, &batch, observer, &mut encoded);
        let results = match results {
            Ok(results) => results,
            Err(_) if observer.cancelled() => return Err(BuildError::Cancelled.into()),
            Err(trouble) => {
                encoded.trouble = Some(trouble);
                return Ok(encoded);
            }
        };
        encoded.rows += keep(db, encoder.revision(), &batch, &results)?;
    }
    if !inputs.is_empty() {
        observer.progress(BuildStage::Encoding, inputs.len(), Some(inputs.len()));
    }
    Ok(encoded)
}

/// An input in memory.
struct Loaded {
    hash: ContentHash,
    path: String,
    heading_path: Vec<String>,
    text: String,
}

impl Loaded {
    fn passage(&self) -> Passage<'_> {
        Passage {
            path: &self.path,
            heading_path: &self.heading_path,
            text: &self.text,
        }
    }
}

fn load(db: &Connection, batch: &[(&ContentHash, &Input<'_>)]) -> rusqlite::Result<Vec<Loaded>> {
    let loaded = batch.iter().map(|(hash, input)| match **input {
        Input::Cut(passage) => Ok(Loaded {
            hash: **hash,
            path: passage.path.to_owned(),
            heading_path: passage.heading_path.to_vec(),
            text: passage.text.to_owned(),
        }),
        Input::Stored(rowid) => {
            let stored = store::stored_unit(db, rowid)?;
            let resource = store::resource_at(db, &stored.location)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
            Ok(Loaded {
                hash: **hash,
                path: resource.meta.path,
                heading_path: stored.unit.heading_path,
                text: stored.unit.text,
            })
        }
    });
    loaded.collect()
}

/// Returns a vector per input; `None` for one that the encoder refuses. A refused input is left out and the others are
/// asked for again.
fn encode_batch(
    encoder: &dyn TextEncoder,
    batch: &[Loaded],
    observer: &dyn BuildObserver,
    encoded: &mut Encoded,
) -> Result<Vec<Option<PassageVector>>, EncodeError> {
    let mut refused = HashSet::new();
    loop {
        let asked: Vec<usize> = (0..batch.len()).filter(|index| !refused.contains(index)).collect();
        if asked.is_empty() {
            return Ok(batch.iter().map(|_| None).collect());
        }
        let passages: Vec<Passage<'_>> = asked.iter().map(|index| batch[*index].passage()).collect();
        encoded.calls += 1;
        match call(encoder, &passages, observer) {
            Err(EncodeError::Input { index, .. }) if index < asked.len() => {
                refused.insert(asked[index]);
            }
            Err(trouble) => return Err(trouble),
            Ok(vectors) => {
                encoded.inputs += passages.len() as u64;
                let mut vectors = vectors.into_iter();
                let place = |index| if refused.contains(&index) { None } else { vectors.next() };
                return Ok((0..batch.len()).map(place).collect());
            }
        }
    }
}

/// Calls the encoder, and checks what it promises.
fn call(
    encoder: &dyn TextEncoder,
    passages: &[Passage<'_>],
    observer: &dyn BuildObserver,
) -> Result<Vec<PassageVector>, EncodeError> {
    let as_cancel = Watching(observer);
    let answer = catch_unwind(AssertUnwindSafe(|| encoder.encode_passages(passages, &as_cancel)));
    let vectors = answer.unwrap_or(Err(EncodeError::Panicked { index: 0 }))?;
    let fits = |vector: &PassageVector| vector.vector.len() == encoder.dimension();
    if vectors.len() != passages.len() || !vectors.iter().all(fits) {
        return Err(EncodeError::Other(
            "the encoder broke its contract: wrong number or length of vectors".into(),
        ));
    }
    Ok(vectors)
}

/// Shows the encoder no more of the observer than it needs.
struct Watching<'a>(&'a dyn BuildObserver);

impl crate::Cancel for Watching<'_> {
    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}

/// Keeps a batch in a transaction of its own, so that a build that is killed goes on from there.
fn keep(
    db: &mut Connection,
    encoder: &EncoderRevision,
    batch: &[Loaded],
    results: &[Option<PassageVector>],
) -> rusqlite::Result<u64> {
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let sql = "INSERT OR REPLACE INTO search_vector_cache (input_hash, encoder_revision, input_windows, vector)
               VALUES (?1, ?2, ?3, ?4)";
    let mut insert = tx.prepare_cached(sql)?;
    let mut rows = 0;
    for (input, result) in batch.iter().zip(results) {
        // A vector that is no direction is as good as a refusal.
        let blob = result.as_ref().and_then(|result| to_blob(&result.vector));
        let windows = result.as_ref().map_or(0, |result| result.input_windows);
        rows += insert.execute(params![input.hash.as_bytes(), encoder.as_str(), windows, blob])? as u64;
    }
    drop(insert);
    tx.commit()?;
    Ok(rows)
}
