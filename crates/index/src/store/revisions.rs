//! Revisions and the head.

use casebook_corpus::{Degradation, EffectiveHash, Timestamp};
use rusqlite::{Connection, OptionalExtension, params};

use crate::degradation::VECTOR_LANE_UNAVAILABLE;
use crate::store::{effective_hash, pack, unpack, vectors_lost};
use crate::vector::partial;
use crate::{EncoderRevision, FailedBuild, Revision, RevisionId, TextEncoder};

/// How many revisions are remembered, failed ones included.
const KEPT: i64 = 100;

/// The head with what only this crate needs of it.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) seq: i64,
    pub(crate) revision: Revision,
    /// Units in the lanes: those of live and of superseded resources.
    pub(crate) units_searched: u64,
    /// Units without a vector of the revision's encoder that may still get one.
    pub(crate) vectors_missing: u64,
    /// Units that the revision's encoder refused.
    pub(crate) vectors_refused: u64,
    /// How many rows of the cache of vectors had been deleted or changed by then, ever; `None` where an earlier version
    /// made it.
    pub(crate) vectors_lost: Option<u64>,
    /// Why the encoder stopped before the end.
    pub(crate) trouble: Option<String>,
    /// Numbers of one vector; `None` without an encoder.
    pub(crate) dimension: Option<usize>,
    /// What its memory was bent to; `None` where an earlier version made it, which did not say.
    pub(crate) degradations: Option<Vec<Degradation>>,
}

impl Head {
    /// Returns how many units in the lanes have no vector.
    pub(crate) fn lacking(&self) -> u64 {
        self.vectors_missing + self.vectors_refused
    }

    /// Returns whether nothing is missing of this encoder's vectors, as far as that can be told without looking at every
    /// unit: nothing was when the head was made, and no vector was lost since.
    pub(crate) fn is_surely_whole(&self, db: &Connection, encoder: &dyn TextEncoder) -> rusqlite::Result<bool> {
        let is_same = self.revision.encoder_revision.as_ref() == Some(encoder.revision())
            && self.dimension == Some(encoder.dimension());
        Ok(is_same && self.vectors_missing == 0 && self.vectors_lost == Some(vectors_lost(db)?))
    }

    /// Tells what is wrong with the vectors. An empty memory lacks none.
    pub(crate) fn vector_degradation(&self) -> Option<Degradation> {
        let detail = match &self.revision.encoder_revision {
            _ if self.units_searched == 0 => return None,
            Some(_) if self.lacking() < self.units_searched => {
                return partial(self.lacking(), self.units_searched, None);
            }
            Some(_) => self.trouble.as_deref().unwrap_or("the encoder refused every unit"),
            None => "the index was built without an encoder",
        };
        Some(Degradation::new(VECTOR_LANE_UNAVAILABLE, detail))
    }
}

/// A revision in the making.
pub(crate) struct RevisionDraft<'a> {
    pub(crate) parent: Option<&'a RevisionId>,
    /// `None` for a build that failed before the memory was put together.
    pub(crate) effective_hash: Option<EffectiveHash>,
    pub(crate) chunker_revision: &'a str,
    pub(crate) encoder_revision: Option<&'a EncoderRevision>,
    pub(crate) lexical_revision: &'a str,
    pub(crate) started_at: Timestamp,
}

/// Returns the head, `None` before the first build.
pub(crate) fn head(db: &Connection) -> rusqlite::Result<Option<Head>> {
    let sql = "SELECT r.seq, r.id, r.parent, r.effective_hash, r.chunker_revision, r.encoder_revision,
                      r.lexical_revision, r.resources, r.units, r.units_searched, r.vectors_missing, r.vectors_refused,
                      r.ended_at, r.error, r.dimension, r.degradations, r.vectors_lost
               FROM search_heads JOIN search_revisions AS r USING (seq)";
    db.prepare_cached(sql)?
        .query_row([], |row| {
            let encoder: Option<String> = row.get(5)?;
            let parent: Option<String> = row.get(2)?;
            Ok(Head {
                seq: row.get(0)?,
                revision: Revision {
                    id: RevisionId::new(row.get::<_, String>(1)?),
                    parent: parent.map(RevisionId::new),
                    effective_hash: effective_hash(row.get_ref(3)?.as_blob()?)?,
                    chunker_revision: row.get(4)?,
                    encoder_revision: encoder.map(EncoderRevision::new),
                    lexical_revision: row.get(6)?,
                    resources: row.get(7)?,
                    units: row.get(8)?,
                    ready_at: Timestamp::from_unix_millis(row.get(12)?),
                },
                units_searched: row.get(9)?,
                vectors_missing: row.get(10)?,
                vectors_refused: row.get(11)?,
                vectors_lost: row.get(16)?,
                trouble: row.get(13)?,
                dimension: row.get(14)?,
                degradations: row.get_ref(15)?.as_blob_or_null()?.map(unpack).transpose()?,
            })
        })
        .optional()
}

/// Writes down that a build is on its way; returns its number and id.
pub(crate) fn begin(db: &Connection, draft: &RevisionDraft<'_>) -> rusqlite::Result<(i64, RevisionId)> {
    let next = "SELECT 1 + ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'search_revisions'), 0)";
    let seq: i64 = db.query_row(next, [], |row| row.get(0))?;
    let start = draft
        .effective_hash
        .map_or("none".to_owned(), |hash| hash.to_string()[..12].to_owned());
    let id = RevisionId::new(format!("{seq}-{start}"));
    db.execute(
        "INSERT INTO search_revisions (seq, id, parent, status, effective_hash, chunker_revision, encoder_revision,
                                       lexical_revision, started_at)
         VALUES (?1, ?2, ?3, 'building', ?4, ?5, ?6, ?7, ?8)",
        params![
            seq,
            id.as_str(),
            draft.parent.map(RevisionId::as_str),
            draft.effective_hash.as_ref().map(|hash| hash.as_bytes()),
            draft.chunker_revision,
            draft.encoder_revision.map(EncoderRevision::as_str),
            draft.lexical_revision,
            draft.started_at.unix_millis(),
        ],
    )?;
    Ok((seq, id))
}

/// Makes a building revision ready, and the head. Returns rows written.
pub(crate) fn finish(db: &Connection, head: &Head, elapsed_ms: u64) -> rusqlite::Result<u64> {
    let rows = db.execute(
        "UPDATE search_revisions
         SET status = 'ready', resources = ?2, units = ?3, units_searched = ?4, vectors_missing = ?5,
             vectors_refused = ?6, ended_at = ?7, elapsed_ms = ?8, error = ?9, dimension = ?10, degradations = ?11,
             vectors_lost = ?12
         WHERE seq = ?1",
        params![
            head.seq,
            head.revision.resources,
            head.revision.units,
            head.units_searched,
            head.vectors_missing,
            head.vectors_refused,
            head.revision.ready_at.unix_millis(),
            elapsed_ms,
            head.trouble,
            head.dimension,
            head.degradations.as_ref().map(pack),
            head.vectors_lost,
        ],
    )?;
    let moved = db.execute(
        "INSERT OR REPLACE INTO search_heads (one, seq) VALUES (1, ?1)",
        [head.seq],
    )?;
    Ok((rows + moved) as u64)
}

/// Writes down why a building revision failed.
pub(crate) fn fail(db: &Connection, seq: i64, reason: &str, at: Timestamp) -> rusqlite::Result<()> {
    let sql = "UPDATE search_revisions SET status = 'failed', error = ?2, ended_at = ?3 WHERE seq = ?1";
    db.execute(sql, params![seq, reason, at.unix_millis()]).map(drop)
}

/// Marks what an earlier process left in the making as failed. Only reads where there is none.
pub(crate) fn abandon(db: &Connection, at: Timestamp) -> rusqlite::Result<()> {
    let left = "SELECT EXISTS (SELECT 1 FROM search_revisions WHERE status = 'building')";
    if db.query_row(left, [], |row| row.get(0))? {
        let sql = "UPDATE search_revisions SET status = 'failed', error = 'build was interrupted', ended_at = ?1
                   WHERE status = 'building'";
        db.execute(sql, [at.unix_millis()])?;
    }
    Ok(())
}

/// Forgets all but the latest revisions and the head. Returns rows deleted.
pub(crate) fn prune(db: &Connection) -> rusqlite::Result<u64> {
    let sql = "DELETE FROM search_revisions
               WHERE seq <= (SELECT max(seq) FROM search_revisions) - ?1 AND seq NOT IN (SELECT seq FROM search_heads)";
    db.execute(sql, [KEPT]).map(|rows| rows as u64)
}

/// Returns the last build where it failed after the head was made.
pub(crate) fn last_failure(db: &Connection) -> rusqlite::Result<Option<FailedBuild>> {
    let sql = "SELECT id, error, ended_at FROM search_revisions
               WHERE status = 'failed' AND seq > ifnull((SELECT seq FROM search_heads), 0) ORDER BY seq DESC LIMIT 1";
    db.query_row(sql, [], |row| {
        Ok(FailedBuild {
            revision: RevisionId::new(row.get::<_, String>(0)?),
            reason: row.get(1)?,
            at: Timestamp::from_unix_millis(row.get(2)?),
        })
    })
    .optional()
}
