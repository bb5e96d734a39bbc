//! A segment's rows: blocks of terms with their postings, its terms alone, and which of its units still count.
//!
//! The one thing a newcomer gets wrong: blocks never change. A unit that leaves is taken off its segment's list of units,
//! and its postings mean nothing from then on.

use rusqlite::{Connection, OptionalExtension, params};

use super::postings::{List, put_entry};
use super::{BrokenWords, FIELDS, Lengths};
use crate::store::unreadable;

/// The tables. They are dropped and made anew where they cannot be trusted.
pub(crate) const TABLES: &str = "
CREATE TABLE search_word_segments (
    segment INTEGER PRIMARY KEY,
    written INTEGER NOT NULL,
    units INTEGER NOT NULL,
    words INTEGER NOT NULL,
    names INTEGER NOT NULL,
    path INTEGER NOT NULL
) STRICT;

CREATE TABLE search_word_blocks (
    block INTEGER PRIMARY KEY,
    segment INTEGER NOT NULL,
    first TEXT NOT NULL,
    entries BLOB NOT NULL
) STRICT;
CREATE INDEX search_word_blocks_first ON search_word_blocks (segment, first);

CREATE TABLE search_word_terms (
    number INTEGER PRIMARY KEY,
    segment INTEGER NOT NULL,
    terms BLOB NOT NULL
) STRICT;
CREATE INDEX search_word_terms_segment ON search_word_terms (segment);

CREATE TABLE search_word_units (
    segment INTEGER NOT NULL,
    chunk INTEGER NOT NULL,
    bits BLOB NOT NULL,
    PRIMARY KEY (segment, chunk)
) STRICT, WITHOUT ROWID;

CREATE TABLE search_word_lengths (
    unit_rowid INTEGER PRIMARY KEY,
    words INTEGER NOT NULL,
    names INTEGER NOT NULL,
    path INTEGER NOT NULL
) STRICT;
";

const NAMES: [&str; 5] = [
    "search_word_segments",
    "search_word_blocks",
    "search_word_terms",
    "search_word_units",
    "search_word_lengths",
];

/// Bytes of a block: with them a row fits a page of the database. A term with more has a block of its own.
const BLOCK: usize = 3_900;
/// Bytes of terms in a row.
const TERMS: usize = 32 << 10;
/// Units that one row of `search_word_units` speaks of.
const CHUNK: u32 = 4_096;

/// A segment as it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub(super) id: i64,
    /// Units that it was written with.
    pub(super) written: u32,
    /// Units that still count.
    pub(super) units: u32,
    /// How long the fields of all units that count are together.
    pub(super) lengths: [u64; FIELDS],
}

/// The units of a segment that count; `None` where all do that it was written with.
pub(super) struct Counting(Option<Vec<u8>>);

impl Counting {
    /// Returns whether a unit's postings count.
    pub(super) fn has(&self, unit: u32) -> bool {
        match &self.0 {
            None => true,
            Some(bits) => bits
                .get(unit as usize / 8)
                .is_some_and(|byte| byte >> (unit % 8) & 1 == 1),
        }
    }

    /// Returns whether all count.
    pub(super) fn is_all(&self) -> bool {
        self.0.is_none()
    }
}

/// Makes the tables anew, empty.
pub(super) fn clear(db: &Connection) -> rusqlite::Result<()> {
    for name in NAMES {
        db.execute_batch(&format!("DROP TABLE IF EXISTS {name}"))?;
    }
    db.execute_batch(TABLES)
}

/// Returns all segments, oldest first.
pub(super) fn segments(db: &Connection) -> rusqlite::Result<Vec<Segment>> {
    let sql = "SELECT segment, written, units, words, names, path FROM search_word_segments ORDER BY segment";
    let mut statement = db.prepare_cached(sql)?;
    let found = statement.query_map([], |row| {
        Ok(Segment {
            id: row.get(0)?,
            written: row.get(1)?,
            units: row.get(2)?,
            lengths: [row.get(3)?, row.get(4)?, row.get(5)?],
        })
    });
    found?.collect()
}

impl Segment {
    /// Returns the block in which the term is, if anywhere.
    pub(super) fn block_of(&self, db: &Connection, term: &str) -> rusqlite::Result<Option<Vec<u8>>> {
        let sql = "SELECT entries FROM search_word_blocks WHERE segment = ?1 AND first <= ?2
                   ORDER BY first DESC LIMIT 1";
        let mut statement = db.prepare_cached(sql)?;
        let sealed = statement.query_row(params![self.id, term], |row| opened(row.get_ref(0)?.as_blob()?));
        sealed.optional()
    }

    /// Returns the block with the first terms.
    pub(super) fn first_block(&self, db: &Connection) -> rusqlite::Result<Option<Vec<u8>>> {
        // No term is empty, so all are above the empty one.
        self.block_after(db, "")
    }

    /// Returns the first of the blocks that begin above the term.
    pub(super) fn block_after(&self, db: &Connection, term: &str) -> rusqlite::Result<Option<Vec<u8>>> {
        let sql = "SELECT entries FROM search_word_blocks WHERE segment = ?1 AND first > ?2 ORDER BY first LIMIT 1";
        let mut statement = db.prepare_cached(sql)?;
        let sealed = statement.query_row(params![self.id, term], |row| opened(row.get_ref(0)?.as_blob()?));
        sealed.optional()
    }

    /// Gives its terms, many at a time, each after a line feed.
    pub(super) fn each_terms(&self, db: &Connection, mut take: impl FnMut(&str)) -> rusqlite::Result<()> {
        let sql = "SELECT terms FROM search_word_terms WHERE segment = ?1";
        let mut statement = db.prepare_cached(sql)?;
        let mut rows = statement.query([self.id])?;
        while let Some(row) = rows.next()? {
            let terms = opened(row.get_ref(0)?.as_blob()?)?;
            take(std::str::from_utf8(&terms).map_err(|_| broken())?);
        }
        Ok(())
    }

    /// Returns which units count.
    pub(super) fn counting(&self, db: &Connection) -> rusqlite::Result<Counting> {
        if self.units == self.written {
            return Ok(Counting(None));
        }
        let mut all = Vec::new();
        self.each_chunk(db, |first, bits| {
            all.resize(first as usize / 8, 0);
            all.extend_from_slice(bits);
        })?;
        Ok(Counting(Some(all)))
    }

    /// Returns the units that count, by rising number.
    pub(super) fn units(&self, db: &Connection) -> rusqlite::Result<Vec<u32>> {
        let mut units = Vec::with_capacity(self.units as usize);
        self.each_chunk(db, |first, bits| {
            let counts = |unit: &u32| {
                let (byte, bit) = place(*unit);
                bits.get(byte).is_some_and(|byte| byte & bit != 0)
            };
            units.extend((first..first.saturating_add(CHUNK)).filter(counts));
        })?;
        Ok(units)
    }

    /// Gives the first unit of each chunk and the bits of all that are in it.
    fn each_chunk(&self, db: &Connection, mut give: impl FnMut(u32, &[u8])) -> rusqlite::Result<()> {
        let sql = "SELECT chunk, bits FROM search_word_units WHERE segment = ?1 ORDER BY chunk";
        let mut statement = db.prepare_cached(sql)?;
        let mut rows = statement.query([self.id])?;
        while let Some(row) = rows.next()? {
            let first = row.get::<_, u32>(0)?.checked_mul(CHUNK).ok_or_else(broken)?;
            give(first, row.get_ref(1)?.as_blob()?);
        }
        Ok(())
    }

    /// Takes a unit off the list; `false` where it was not on it.
    fn remove(&self, db: &Connection, unit: u32, lengths: Lengths) -> rusqlite::Result<bool> {
        let chunk = unit / CHUNK;
        let sql = "SELECT bits FROM search_word_units WHERE segment = ?1 AND chunk = ?2";
        let bits: Option<Vec<u8>> = db
            .prepare_cached(sql)?
            .query_row(params![self.id, chunk], |row| row.get(0))
            .optional()?;
        let Some(mut bits) = bits else {
            return Ok(false);
        };
        let (byte, bit) = place(unit);
        let Some(byte) = bits.get_mut(byte).filter(|byte| **byte & bit != 0) else {
            return Ok(false);
        };
        *byte &= !bit;
        let sql = "UPDATE search_word_units SET bits = ?3 WHERE segment = ?1 AND chunk = ?2";
        db.prepare_cached(sql)?.execute(params![self.id, chunk, bits])?;
        let sql = "UPDATE search_word_segments
                   SET units = units - 1, words = words - ?2, names = names - ?3, path = path - ?4 WHERE segment = ?1";
        let [words, names, path] = lengths;
        db.prepare_cached(sql)?.execute(params![self.id, words, names, path])?;
        Ok(true)
    }

    /// Removes the segment. Lengths of units stay.
    pub(super) fn delete(&self, db: &Connection) -> rusqlite::Result<()> {
        for table in &NAMES[..4] {
            let sql = format!("DELETE FROM {table} WHERE segment = ?1");
            db.prepare_cached(&sql)?.execute([self.id])?;
        }
        Ok(())
    }
}

/// Takes a unit off the segment that has it; one that none has is no error.
pub(super) fn remove(db: &Connection, segments: &[Segment], unit: u32) -> rusqlite::Result<()> {
    let Some(lengths) = lengths_of(db, unit)? else {
        return Ok(());
    };
    for segment in segments {
        if segment.remove(db, unit, lengths)? {
            db.prepare_cached("DELETE FROM search_word_lengths WHERE unit_rowid = ?1")?
                .execute([unit])?;
            return Ok(());
        }
    }
    Err(broken())
}

/// Returns how long the fields of a unit are.
fn lengths_of(db: &Connection, unit: u32) -> rusqlite::Result<Option<Lengths>> {
    let sql = "SELECT words, names, path FROM search_word_lengths WHERE unit_rowid = ?1";
    let found = db
        .prepare_cached(sql)?
        .query_row([unit], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?]));
    found.optional()
}

/// A segment that is being written, its terms rising.
pub(super) struct NewSegment<'a> {
    db: &'a Connection,
    id: i64,
    first: String,
    block: Vec<u8>,
    terms: Vec<u8>,
}

impl<'a> NewSegment<'a> {
    pub(super) fn new(db: &'a Connection) -> rusqlite::Result<Self> {
        let sql = "INSERT INTO search_word_segments (written, units, words, names, path) VALUES (0, 0, 0, 0, 0)";
        db.prepare_cached(sql)?.execute([])?;
        Ok(Self {
            db,
            id: db.last_insert_rowid(),
            first: String::new(),
            block: Vec::new(),
            terms: Vec::new(),
        })
    }

    /// Adds a term above all before. Returns whether a row was written.
    pub(super) fn put(&mut self, term: &str, lists: &[List; FIELDS]) -> rusqlite::Result<bool> {
        let bytes: usize = lists.iter().map(List::len).sum();
        let is_full = !self.block.is_empty() && self.block.len() + term.len() + bytes > BLOCK;
        if is_full {
            self.end_block()?;
        }
        if self.block.is_empty() {
            term.clone_into(&mut self.first);
        }
        put_entry(&mut self.block, term, lists);
        self.terms.extend_from_slice(term.as_bytes());
        self.terms.push(b'\n');
        if self.terms.len() > TERMS {
            self.end_terms()?;
        }
        Ok(is_full)
    }

    fn end_block(&mut self) -> rusqlite::Result<()> {
        let sql = "INSERT INTO search_word_blocks (segment, first, entries) VALUES (?1, ?2, ?3)";
        let sealed = sealed(std::mem::take(&mut self.block));
        self.db
            .prepare_cached(sql)?
            .execute(params![self.id, self.first, sealed])?;
        Ok(())
    }

    fn end_terms(&mut self) -> rusqlite::Result<()> {
        let sql = "INSERT INTO search_word_terms (segment, terms) VALUES (?1, ?2)";
        let sealed = sealed(std::mem::take(&mut self.terms));
        self.db.prepare_cached(sql)?.execute(params![self.id, sealed])?;
        Ok(())
    }

    /// Ends the segment, which has these units by rising number, whose fields together are so long.
    pub(super) fn finish(mut self, units: &[u32], lengths: [u64; FIELDS]) -> rusqlite::Result<()> {
        if !self.block.is_empty() {
            self.end_block()?;
            self.end_terms()?;
        }
        let sql = "INSERT INTO search_word_units (segment, chunk, bits) VALUES (?1, ?2, ?3)";
        let mut chunk = self.db.prepare_cached(sql)?;
        for of_chunk in units.chunk_by(|left, right| left / CHUNK == right / CHUNK) {
            let mut bits = vec![0_u8; CHUNK as usize / 8];
            for unit in of_chunk {
                let (byte, bit) = place(*unit);
                bits[byte] |= bit;
            }
            chunk.execute(params![self.id, of_chunk[0] / CHUNK, bits])?;
        }
        let [words, names, path] = lengths;
        let sql = "UPDATE search_word_segments SET written = ?2, units = ?2, words = ?3, names = ?4, path = ?5
                   WHERE segment = ?1";
        let mut segment = self.db.prepare_cached(sql)?;
        segment.execute(params![self.id, units.len(), words, names, path])?;
        Ok(())
    }
}

/// Writes how long the fields of a unit are.
pub(super) fn put_lengths(db: &Connection, unit: u32, [words, names, path]: Lengths) -> rusqlite::Result<()> {
    let sql = "INSERT INTO search_word_lengths (unit_rowid, words, names, path) VALUES (?1, ?2, ?3, ?4)";
    db.prepare_cached(sql)?.execute(params![unit, words, names, path])?;
    Ok(())
}

/// Returns where the bit of a unit is in its chunk.
const fn place(unit: u32) -> (usize, u8) {
    ((unit % CHUNK) as usize / 8, 1 << (unit % 8))
}

/// Puts a checksum behind the bytes.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let checksum = crc32fast::hash(&bytes);
    bytes.extend(checksum.to_le_bytes());
    bytes
}

/// Returns the bytes before a checksum that is theirs.
fn opened(sealed: &[u8]) -> rusqlite::Result<Vec<u8>> {
    match sealed.split_last_chunk() {
        Some((bytes, checksum)) if crc32fast::hash(bytes) == u32::from_le_bytes(*checksum) => Ok(bytes.to_vec()),
        _ => Err(broken()),
    }
}

/// The tables hold something else than what was written.
pub(super) fn broken() -> rusqlite::Error {
    unreadable(BrokenWords)
}
