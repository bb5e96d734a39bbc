//! What encoders made of the units' inputs: vectors, and term weights where there are any.
//!
//! The one thing a newcomer gets wrong: a row without a vector is an input that the encoder refused, and is not tried
//! again; a row whose vector has another length than the encoder's is as good as no row. An input whose term weights are
//! wanted and missing lacks its vector as well: the two are made together.

use casebook_chunker::UnitKey;
use casebook_corpus::ContentHash;
use rusqlite::{Connection, OptionalExtension, params};

use crate::store::{content_hash, input_hash};
use crate::{EncoderRevision, TextEncoder};

/// Which rows of the caches are meant, and what a whole one looks like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Encoding<'a> {
    pub(crate) encoder: &'a EncoderRevision,
    /// Numbers in a vector.
    pub(crate) dimension: usize,
    /// Whether an input has term weights as well.
    pub(crate) sparse: bool,
}

impl<'a> Encoding<'a> {
    /// The vectors alone.
    pub(crate) fn dense(encoder: &'a dyn TextEncoder) -> Self {
        Self {
            encoder: encoder.revision(),
            dimension: encoder.dimension(),
            sparse: false,
        }
    }

    /// Returns the bytes of one vector.
    fn bytes(&self) -> usize {
        self.dimension * size_of::<f32>()
    }
}

/// Units beside what the caches know of their inputs. The index is named because it holds all that is asked for, and
/// SQLite would look into the table.
const UNITS_AND_VECTORS: &str = "
FROM search_units AS u
LEFT JOIN search_vector_cache AS c INDEXED BY search_vector_cache_length
    ON c.encoder_revision = ?1 AND c.input_hash = u.input_hash";

/// Whether the unit may still get something; ?2 is the length of a vector, ?3 whether term weights are wanted.
const LACKS: &str = "(c.input_hash IS NULL OR length(c.vector) <> ?2 OR (?3 AND length(c.vector) = ?2 AND NOT EXISTS (
    SELECT 1 FROM search_sparse_cache AS s WHERE s.input_hash = u.input_hash AND s.encoder_revision = ?1)))";

/// A unit that may still get a vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LackingUnit {
    pub(crate) rowid: i64,
    pub(crate) location: String,
    pub(crate) order: u32,
    pub(crate) input_hash: ContentHash,
}

/// Returns whether the cache knows the input: its vector, or that the encoder refused it.
pub(crate) fn is_cached(db: &Connection, encoder: &dyn TextEncoder, input: &ContentHash) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM search_vector_cache
               WHERE input_hash = ?1 AND encoder_revision = ?2 AND ifnull(length(vector), ?3) = ?3";
    let encoding = Encoding::dense(encoder);
    let values = params![input.as_bytes(), encoding.encoder.as_str(), encoding.bytes()];
    let found = db.prepare_cached(sql)?.query_row(values, |_| Ok(()));
    Ok(found.optional()?.is_some())
}

/// Returns the units that lack something, in order of their inputs.
pub(crate) fn lacking_units(db: &Connection, encoding: Encoding<'_>) -> rusqlite::Result<Vec<LackingUnit>> {
    let sql = format!(
        "SELECT u.unit_rowid, u.location, u.ord, u.input_hash {UNITS_AND_VECTORS}
         WHERE {LACKS} ORDER BY u.input_hash, u.unit_rowid"
    );
    let mut statement = db.prepare_cached(&sql)?;
    let values = params![encoding.encoder.as_str(), encoding.bytes(), encoding.sparse];
    let units = statement.query_map(values, |row| {
        Ok(LackingUnit {
            rowid: row.get(0)?,
            location: row.get(1)?,
            order: row.get(2)?,
            input_hash: content_hash(row.get_ref(3)?.as_blob()?)?,
        })
    })?;
    units.collect()
}

/// Returns how many units lack something that they may still get, and how many the encoder refused.
pub(crate) fn count_lacking(db: &Connection, encoding: Encoding<'_>) -> rusqlite::Result<(u64, u64)> {
    let sql = format!(
        "SELECT count(*) FILTER (WHERE {LACKS}),
                count(*) FILTER (WHERE c.input_hash IS NOT NULL AND length(c.vector) IS NULL)
         {UNITS_AND_VECTORS}"
    );
    let values = params![encoding.encoder.as_str(), encoding.bytes(), encoding.sparse];
    db.prepare_cached(&sql)?
        .query_row(values, |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Returns how many of these inputs lack a vector that they may still get, and how many the encoder refused.
pub(crate) fn count_lacking_among<'a>(
    db: &Connection,
    encoding: Encoding<'_>,
    inputs: impl Iterator<Item = &'a ContentHash>,
) -> rusqlite::Result<(u64, u64)> {
    let sql = "SELECT length(vector) FROM search_vector_cache WHERE input_hash = ?1 AND encoder_revision = ?2";
    let mut statement = db.prepare_cached(sql)?;
    let (mut missing, mut refused) = (0, 0);
    for input in inputs {
        let values = params![input.as_bytes(), encoding.encoder.as_str()];
        let found = statement.query_row(values, |row| row.get::<_, Option<usize>>(0));
        match found.optional()? {
            Some(None) => refused += 1,
            Some(Some(bytes)) if encoding.bytes() == bytes => {}
            _ => missing += 1,
        }
    }
    Ok((missing, refused))
}

/// Returns how many rows of the cache were ever deleted or changed: where it did not rise, nothing was lost.
pub(crate) fn vectors_lost(db: &Connection) -> rusqlite::Result<u64> {
    db.prepare_cached("SELECT lost FROM search_vector_counts")?
        .query_row([], |row| row.get(0))
}

/// Returns how many bytes of the cache the head does without at most; `None` where nobody knows.
pub(crate) fn spare_bytes(db: &Connection) -> rusqlite::Result<Option<u64>> {
    db.prepare_cached("SELECT spare_bytes FROM search_vector_counts")?
        .query_row([], |row| row.get(0))
}

/// Notes how many bytes of the cache the head does without at most.
pub(crate) fn note_spare_bytes(db: &Connection, bytes: Option<u64>) -> rusqlite::Result<()> {
    db.prepare_cached("UPDATE search_vector_counts SET spare_bytes = ?1 WHERE spare_bytes IS NOT ?1")?
        .execute([bytes])
        .map(drop)
}

/// Returns the bytes that the cache holds of one input at most: those of an encoder of the builds and of all that are filled
/// in beside.
pub(crate) fn bytes_of_input(db: &Connection, dimension: usize) -> rusqlite::Result<u64> {
    let sql = "SELECT count(*), ifnull(sum(dimension), 0) FROM search_encoders";
    let (others, numbers): (u64, u64) = db
        .prepare_cached(sql)?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok((numbers + dimension as u64) * size_of::<f32>() as u64 + (others + 1) * ROW)
}

/// Returns the inputs that have a vector of this length, rising. Reads the index alone, and no vector.
pub(crate) fn inputs_with_vectors(
    db: &Connection,
    encoder: &EncoderRevision,
    dimension: usize,
) -> rusqlite::Result<Vec<[u8; 32]>> {
    let sql = "SELECT input_hash FROM search_vector_cache INDEXED BY search_vector_cache_length
               WHERE encoder_revision = ?1 AND length(vector) = ?2 ORDER BY input_hash";
    let mut statement = db.prepare_cached(sql)?;
    let inputs = statement.query_map(params![encoder.as_str(), dimension * size_of::<f32>()], |row| {
        input_hash(row.get_ref(0)?.as_blob()?)
    })?;
    inputs.collect()
}

/// Returns the vector of an input.
pub(crate) fn vector_of_input(
    db: &Connection,
    encoder: &EncoderRevision,
    input: &[u8; 32],
) -> rusqlite::Result<Vec<u8>> {
    let sql = "SELECT vector FROM search_vector_cache WHERE input_hash = ?1 AND encoder_revision = ?2";
    db.prepare_cached(sql)?
        .query_row(params![input, encoder.as_str()], |row| row.get(0))
}

/// Returns the vector of a unit; `None` where there is none.
pub(crate) fn vector_of_unit(
    db: &Connection,
    encoder: &EncoderRevision,
    unit: &UnitKey,
) -> rusqlite::Result<Option<Vec<u8>>> {
    let sql = "SELECT c.vector FROM search_units AS u JOIN search_vector_cache AS c USING (input_hash)
               WHERE u.unit_key = ?1 AND c.encoder_revision = ?2";
    let mut statement = db.prepare_cached(sql)?;
    let found = statement.query_row(params![unit.as_str(), encoder.as_str()], |row| row.get(0));
    found.optional().map(Option::flatten)
}

/// Bytes that a row takes beside its vector: the input's hash and the encoder's revision, in the table and its indexes.
const ROW: u64 = 256;

/// Rows that the head does without: those of inputs that no unit has, and, where builds use encoder ?1, those of encoders
/// that neither builds use nor anybody fills in.
const SPARE: &str = "NOT (EXISTS (SELECT 1 FROM search_units AS u WHERE u.input_hash = c.input_hash)
    AND (?1 IS NULL OR c.encoder_revision = ?1
         OR c.encoder_revision IN (SELECT encoder_revision FROM search_encoders)))";

/// What the cache of vectors takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CacheBytes {
    /// Of what the head needs.
    pub(crate) needed: u64,
    /// Of all else.
    pub(crate) spare: u64,
}

/// Returns what the cache takes. Reads indexes alone, and no vector.
pub(crate) fn cache_bytes(db: &Connection, base: Option<&EncoderRevision>) -> rusqlite::Result<CacheBytes> {
    let sql = format!(
        "SELECT ifnull(length(c.vector), 0), {SPARE}
         FROM search_vector_cache AS c INDEXED BY search_vector_cache_length"
    );
    let mut statement = db.prepare_cached(&sql)?;
    let mut rows = statement.query([base.map(EncoderRevision::as_str)])?;
    let mut held = CacheBytes { needed: 0, spare: 0 };
    while let Some(row) = rows.next()? {
        let bytes = row.get::<_, u64>(0)? + ROW;
        if row.get(1)? {
            held.spare += bytes;
        } else {
            held.needed += bytes;
        }
    }
    Ok(held)
}

/// Deletes what the head does without, oldest first, until `bytes` are freed or `most` rows are gone. Returns rows of the
/// cache deleted.
pub(crate) fn evict(db: &Connection, base: Option<&EncoderRevision>, bytes: u64, most: u64) -> rusqlite::Result<u64> {
    let sql = format!(
        "SELECT c.rowid, ifnull(length(c.vector), 0), c.input_hash, c.encoder_revision
         FROM search_vector_cache AS c INDEXED BY search_vector_cache_length
         WHERE {SPARE} ORDER BY c.rowid LIMIT ?2"
    );
    let mut oldest = db.prepare_cached(&sql)?;
    let oldest = oldest.query_map(params![base.map(EncoderRevision::as_str), most], |row| {
        let (rowid, length): (i64, u64) = (row.get(0)?, row.get(1)?);
        let (input, encoder): (Vec<u8>, String) = (row.get(2)?, row.get(3)?);
        Ok((rowid, length, input, encoder))
    })?;
    // Before the first is deleted: a statement does not see its own table change.
    let oldest: Vec<_> = oldest.collect::<rusqlite::Result<_>>()?;
    let (mut freed, mut evicted) = (0, 0);
    for (rowid, length, input, encoder) in oldest {
        if freed >= bytes {
            break;
        }
        let sql = "DELETE FROM search_sparse_cache WHERE input_hash = ?1 AND encoder_revision = ?2";
        db.prepare_cached(sql)?.execute(params![input, encoder])?;
        let sql = "DELETE FROM search_vector_cache WHERE rowid = ?1";
        evicted += db.prepare_cached(sql)?.execute([rowid])? as u64;
        freed += length + ROW;
    }
    Ok(evicted)
}

/// Keeps what an encoder made of an input: no vector where it refused it. Returns rows written.
pub(crate) fn keep_vector(
    db: &Connection,
    encoder: &EncoderRevision,
    input: &ContentHash,
    windows: u32,
    vector: Option<&[u8]>,
) -> rusqlite::Result<u64> {
    let sql = "INSERT OR REPLACE INTO search_vector_cache (input_hash, encoder_revision, input_windows, vector)
               VALUES (?1, ?2, ?3, ?4)";
    let values = params![input.as_bytes(), encoder.as_str(), windows, vector];
    db.prepare_cached(sql)?.execute(values).map(|rows| rows as u64)
}

/// Keeps the term weights of an input. Returns rows written.
pub(crate) fn keep_weights(
    db: &Connection,
    encoder: &EncoderRevision,
    input: &ContentHash,
    weights: &[u8],
) -> rusqlite::Result<u64> {
    let sql = "INSERT OR REPLACE INTO search_sparse_cache (input_hash, encoder_revision, weights) VALUES (?1, ?2, ?3)";
    let values = params![input.as_bytes(), encoder.as_str(), weights];
    db.prepare_cached(sql)?.execute(values).map(|rows| rows as u64)
}

/// Forgets what any encoder made of inputs that no unit has. Returns rows deleted.
pub(crate) fn forget_vectors(db: &Connection) -> rusqlite::Result<u64> {
    let mut rows = 0;
    for table in ["search_vector_cache", "search_sparse_cache"] {
        let sql = format!("DELETE FROM {table} WHERE input_hash NOT IN (SELECT input_hash FROM search_units)");
        rows += db.execute(&sql, [])? as u64;
    }
    Ok(rows)
}
