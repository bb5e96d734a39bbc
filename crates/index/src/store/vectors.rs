//! The vector cache beside the units.
//!
//! The one thing a newcomer gets wrong: a row without a vector is an input that the encoder refused, and is not tried
//! again; a row whose vector has another length than the encoder's is as good as no row.

use casebook_corpus::ContentHash;
use rusqlite::{Connection, OptionalExtension, params};

use crate::TextEncoder;
use crate::store::content_hash;

/// Units beside what the cache knows of their inputs. The index is named because it holds all that is asked for, and
/// SQLite would look into the table.
const UNITS_AND_VECTORS: &str = "
FROM search_units AS u
LEFT JOIN search_vector_cache AS c INDEXED BY search_vector_cache_length
    ON c.encoder_revision = ?1 AND c.input_hash = u.input_hash";

/// Returns the bytes of one vector.
fn vector_bytes(encoder: &dyn TextEncoder) -> usize {
    encoder.dimension() * size_of::<f32>()
}

/// Returns whether the cache knows the input: its vector, or that the encoder refused it.
pub(crate) fn is_cached(db: &Connection, encoder: &dyn TextEncoder, input: &ContentHash) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM search_vector_cache
               WHERE input_hash = ?1 AND encoder_revision = ?2 AND ifnull(length(vector), ?3) = ?3";
    let values = params![input.as_bytes(), encoder.revision().as_str(), vector_bytes(encoder)];
    let found = db.prepare_cached(sql)?.query_row(values, |_| Ok(()));
    Ok(found.optional()?.is_some())
}

/// Returns the rows and inputs of units that the cache does not know.
pub(crate) fn units_without_vector(
    db: &Connection,
    encoder: &dyn TextEncoder,
) -> rusqlite::Result<Vec<(i64, ContentHash)>> {
    let sql = format!(
        "SELECT u.unit_rowid, u.input_hash {UNITS_AND_VECTORS}
         WHERE c.input_hash IS NULL OR length(c.vector) <> ?2 ORDER BY u.input_hash, u.unit_rowid"
    );
    let mut statement = db.prepare_cached(&sql)?;
    let values = params![encoder.revision().as_str(), vector_bytes(encoder)];
    let units = statement.query_map(values, |row| {
        Ok((row.get(0)?, content_hash(row.get_ref(1)?.as_blob()?)?))
    })?;
    units.collect()
}

/// Returns how many units have no vector of the encoder yet, and how many it refused.
pub(crate) fn lacking_vectors(db: &Connection, encoder: &dyn TextEncoder) -> rusqlite::Result<(u64, u64)> {
    let sql = format!(
        "SELECT count(*) FILTER (WHERE c.input_hash IS NULL OR length(c.vector) <> ?2),
                count(*) FILTER (WHERE c.input_hash IS NOT NULL AND length(c.vector) IS NULL)
         {UNITS_AND_VECTORS}"
    );
    let values = params![encoder.revision().as_str(), vector_bytes(encoder)];
    db.prepare_cached(&sql)?
        .query_row(values, |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Forgets vectors of inputs that no unit has. Returns rows deleted.
pub(crate) fn forget_vectors(db: &Connection) -> rusqlite::Result<u64> {
    let sql = "DELETE FROM search_vector_cache WHERE input_hash NOT IN (SELECT input_hash FROM search_units)";
    db.execute(sql, []).map(|rows| rows as u64)
}
