//! The vector cache beside the units.

use rusqlite::Connection;

use crate::EncoderRevision;

/// Returns how many units have no vector of the encoder yet, and how many it refused. `may_miss` says that an encoder
/// stopped early; without that only refusals are possible, and those are rare enough to look for first.
pub(crate) fn lacking_vectors(
    db: &Connection,
    encoder: &EncoderRevision,
    may_miss: bool,
) -> rusqlite::Result<(u64, u64)> {
    let refused = "SELECT EXISTS (SELECT 1 FROM search_vector_cache WHERE encoder_revision = ?1 AND vector IS NULL)";
    if !may_miss && !db.query_row(refused, [encoder.as_str()], |row| row.get(0))? {
        return Ok((0, 0));
    }
    let sql = "SELECT count(*) FILTER (WHERE c.input_hash IS NULL),
                      count(*) FILTER (WHERE c.input_hash IS NOT NULL AND c.vector IS NULL)
               FROM search_units AS u
               LEFT JOIN search_vector_cache AS c ON c.input_hash = u.input_hash AND c.encoder_revision = ?1";
    db.query_row(sql, [encoder.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Forgets vectors of inputs that no unit has. Returns rows deleted.
pub(crate) fn forget_vectors(db: &Connection) -> rusqlite::Result<u64> {
    let sql = "DELETE FROM search_vector_cache WHERE input_hash NOT IN (SELECT input_hash FROM search_units)";
    db.execute(sql, []).map(|rows| rows as u64)
}
