//! Encoders whose vectors are filled in beside those of the builds.
//!
//! The one thing a newcomer gets wrong: whether an encoder's vectors were complete once is remembered apart from whether
//! they are now. An edit leaves a few units without; that is no reason to answer from another encoder again.

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::store::Encoding;
use crate::{EncoderRevision, TextEncoder};

/// An encoder as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredEncoder {
    pub(crate) revision: EncoderRevision,
    pub(crate) dimension: usize,
    /// Whether it offers term weights.
    pub(crate) sparse: bool,
    /// Whether it is the one that was filled last.
    pub(crate) chosen: bool,
    /// Rises with every change of what is kept of it.
    pub(crate) generation: i64,
    /// The revision of the index at which nothing was lacking, 0 where more is wanted of the encoder since; `None` where
    /// that was never so.
    pub(crate) complete_seq: Option<i64>,
    /// Units that it refused then.
    pub(crate) refused: u64,
}

impl StoredEncoder {
    pub(crate) fn encoding(&self) -> Encoding<'_> {
        Encoding {
            encoder: &self.revision,
            dimension: self.dimension,
            sparse: self.sparse,
        }
    }
}

const COLUMNS: &str =
    "SELECT encoder_revision, dimension, sparse, chosen, generation, complete_seq, refused FROM search_encoders";

fn stored(row: &Row<'_>) -> rusqlite::Result<StoredEncoder> {
    Ok(StoredEncoder {
        revision: EncoderRevision::new(row.get::<_, String>(0)?),
        dimension: row.get(1)?,
        sparse: row.get(2)?,
        chosen: row.get(3)?,
        generation: row.get(4)?,
        complete_seq: row.get(5)?,
        refused: row.get(6)?,
    })
}

/// Returns an encoder that was ever filled.
pub(crate) fn encoder(db: &Connection, revision: &EncoderRevision) -> rusqlite::Result<Option<StoredEncoder>> {
    let mut statement = db.prepare_cached(&format!("{COLUMNS} WHERE encoder_revision = ?1"))?;
    statement.query_row([revision.as_str()], stored).optional()
}

/// Returns every encoder that was ever filled, by revision.
pub(crate) fn encoders(db: &Connection) -> rusqlite::Result<Vec<StoredEncoder>> {
    let mut statement = db.prepare_cached(&format!("{COLUMNS} ORDER BY encoder_revision"))?;
    let encoders = statement.query_map([], stored)?;
    encoders.collect()
}

/// Writes an encoder down where something about it is new. `sparse` is `None` where it could not be found out. Returns
/// rows written.
pub(crate) fn register(db: &Connection, encoder: &dyn TextEncoder, sparse: Option<bool>) -> rusqlite::Result<u64> {
    let sql = "INSERT INTO search_encoders (encoder_revision, dimension, sparse) VALUES (?1, ?2, ifnull(?3, 0))
               ON CONFLICT (encoder_revision) DO UPDATE
               SET dimension = ?2, sparse = ifnull(?3, sparse), generation = generation + 1,
                   complete_seq = iif(complete_seq IS NULL, NULL, 0)
               WHERE dimension <> ?2 OR sparse <> ifnull(?3, sparse)";
    let values = params![encoder.revision().as_str(), encoder.dimension(), sparse];
    db.execute(sql, values).map(|rows| rows as u64)
}

/// Makes a registered encoder the chosen one; `only_first` leaves one that was chosen before. Returns rows written.
pub(crate) fn choose(db: &Connection, revision: &EncoderRevision, only_first: bool) -> rusqlite::Result<u64> {
    let sql = "UPDATE search_encoders SET chosen = (encoder_revision = ?1)
               WHERE chosen <> (encoder_revision = ?1)
                 AND NOT (?2 AND EXISTS (SELECT 1 FROM search_encoders WHERE chosen))";
    db.execute(sql, params![revision.as_str(), only_first])
        .map(|rows| rows as u64)
}

/// Notes that what is kept of an encoder has changed. Returns rows written.
pub(crate) fn touch(db: &Connection, revision: &EncoderRevision) -> rusqlite::Result<u64> {
    let sql = "UPDATE search_encoders SET generation = generation + 1 WHERE encoder_revision = ?1";
    db.prepare_cached(sql)?
        .execute([revision.as_str()])
        .map(|rows| rows as u64)
}

/// Notes that nothing is lacking at this revision of the index, but for `refused` units. Returns rows written.
pub(crate) fn complete(db: &Connection, revision: &EncoderRevision, seq: i64, refused: u64) -> rusqlite::Result<u64> {
    let sql = "UPDATE search_encoders SET complete_seq = ?2, refused = ?3
               WHERE encoder_revision = ?1 AND (complete_seq IS NOT ?2 OR refused <> ?3)";
    db.execute(sql, params![revision.as_str(), seq, refused])
        .map(|rows| rows as u64)
}

/// Returns the encoders other than those named of which anything is kept.
pub(crate) fn kept_beside(db: &Connection, named: &[&EncoderRevision]) -> rusqlite::Result<Vec<EncoderRevision>> {
    let mut kept = Vec::new();
    // One step per encoder, where `DISTINCT` would read the whole index.
    for table in ["search_vector_cache", "search_sparse_cache"] {
        let sql = format!("SELECT min(encoder_revision) FROM {table} WHERE encoder_revision > ?1");
        let mut statement = db.prepare_cached(&sql)?;
        let mut last = String::new();
        while let Some(next) = statement.query_row([&last], |row| row.get::<_, Option<String>>(0))? {
            kept.push(EncoderRevision::new(next.clone()));
            last = next;
        }
    }
    kept.sort_unstable();
    kept.dedup();
    kept.retain(|revision| !named.contains(&revision));
    Ok(kept)
}

/// Forgets some of what is kept of an encoder, at most `limit` rows of each kind. Returns rows deleted; 0 when nothing is
/// left.
pub(crate) fn forget_some(db: &Connection, revision: &EncoderRevision, limit: u32) -> rusqlite::Result<u64> {
    let mut rows = 0;
    for table in ["search_vector_cache", "search_sparse_cache"] {
        let sql = format!(
            "DELETE FROM {table} WHERE rowid IN (SELECT rowid FROM {table} WHERE encoder_revision = ?1 LIMIT ?2)"
        );
        rows += db.prepare_cached(&sql)?.execute(params![revision.as_str(), limit])? as u64;
    }
    let sql = "UPDATE search_encoders SET complete_seq = NULL, generation = generation + 1 WHERE encoder_revision = ?1";
    db.prepare_cached(sql)?.execute([revision.as_str()])?;
    Ok(rows)
}
