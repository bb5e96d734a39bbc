//! Recalls resources by what they are called: their id, path or title.

use std::sync::Arc;

use casebook_chunker::UnitKey;
use rusqlite::{Connection, params};

use crate::lexical::fold;
use crate::snapshot::Reader;
use crate::{LaneAnswer, LaneError, LaneHit, LexicalLane, RevisionId};

/// What the lane finds is determined by this.
pub(crate) const REVISION: &str = "identity1";

/// Units per resource: who asks for a file by name wants its start.
const UNITS_PER_RESOURCE: u32 = 4;

/// A name cannot be longer than this many bytes.
const LONGEST_NAME: usize = 4096;

/// Characters from which a query may be the start of a name.
const SHORTEST_PREFIX: usize = 2;

/// Exact resource id (score 3), then exact path or title (2), then prefix of the three (1). A path also matches without
/// its extension. NFKC, case-insensitive.
pub(crate) struct IdentityLane {
    reader: Arc<Reader>,
    revision: RevisionId,
}

impl IdentityLane {
    pub(crate) fn new(reader: Arc<Reader>, revision: RevisionId) -> Self {
        Self { reader, revision }
    }
}

impl LexicalLane for IdentityLane {
    fn name(&self) -> &'static str {
        "identity"
    }

    fn revision(&self) -> &RevisionId {
        &self.revision
    }

    fn search(&self, query: &str, limit: usize) -> Result<LaneAnswer, LaneError> {
        let name = fold(query.trim());
        if name.is_empty() || name.len() > LONGEST_NAME {
            return Ok(LaneAnswer::default());
        }
        let found = self.reader.read(|db| find(db, &name, limit));
        let hits = found.map_err(|error| LaneError::Other {
            lane: self.name(),
            source: Box::new(error),
        })?;
        Ok(LaneAnswer {
            hits,
            degradations: Vec::new(),
        })
    }
}

/// Names that start with `?1` lie between it and `?2` in the order of bytes. A short prefix has many, so each kind of name
/// gives only its first ones, in the order of its index.
const SQL: &str = "
WITH named (location, score) AS (
    SELECT location, 3 FROM search_resources WHERE id_key = ?1
    UNION ALL SELECT location, 2 FROM search_resources WHERE path_key = ?1
    UNION ALL SELECT location, 2 FROM search_resources WHERE stem_key = ?1
    UNION ALL SELECT location, 2 FROM search_resources WHERE title_key = ?1
    UNION ALL SELECT * FROM (
        SELECT location, 1 FROM search_resources
        WHERE ?3 AND id_key >= ?1 AND id_key < ?2 ORDER BY id_key, location LIMIT ?5)
    UNION ALL SELECT * FROM (
        SELECT location, 1 FROM search_resources
        WHERE ?3 AND path_key >= ?1 AND path_key < ?2 ORDER BY path_key, location LIMIT ?5)
    UNION ALL SELECT * FROM (
        SELECT location, 1 FROM search_resources
        WHERE ?3 AND title_key >= ?1 AND title_key < ?2 ORDER BY title_key, location LIMIT ?5)
), best (location, score) AS (
    SELECT location, max(score) FROM named GROUP BY location
)
SELECT u.unit_key, best.score
FROM best
JOIN search_resources AS r USING (location)
JOIN search_units AS u USING (location)
WHERE u.ord < ?4
ORDER BY best.score DESC, r.id, u.ord
LIMIT ?5";

fn find(db: &Connection, name: &str, limit: usize) -> rusqlite::Result<Vec<LaneHit>> {
    let past = format!("{name}{}", char::MAX);
    let may_be_prefix = name.chars().count() >= SHORTEST_PREFIX;
    let mut statement = db.prepare_cached(SQL)?;
    let hits = statement.query_map(params![name, past, may_be_prefix, UNITS_PER_RESOURCE, limit], |row| {
        Ok(LaneHit {
            unit_key: UnitKey::new(row.get::<_, String>(0)?),
            score: row.get(1)?,
        })
    })?;
    hits.collect()
}
