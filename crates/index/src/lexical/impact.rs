//! The word lane's own index, in the tables of the database: words with stemming, bigrams and single characters of scripts
//! without spaces.
//!
//! Segments are written once and merged as they become many, as in any full-text engine. But they are rows, written by the
//! transaction that moves the head: a reader sees the words of its revision and never those of another. And every figure
//! that a score is made of counts the units of the revision alone, so an index that grew by edits answers as one made anew.
//!
//! The one thing a newcomer gets wrong: a unit is known here by its row id in `search_units`, and has postings that count
//! in one segment only. One that changes keeps its number and moves to another segment.

mod gather;
mod lane;
mod merge;
mod postings;
mod segments;
#[cfg(test)]
mod tests;

use rusqlite::Connection;

use self::gather::Gather;
pub(crate) use self::lane::ImpactLane;
pub(crate) use self::segments::TABLES;
use crate::builder::Document;

/// Fields: all words of a unit, those of title and headings, those of the path.
const FIELDS: usize = 3;
/// How many words each field has.
type Lengths = [u32; FIELDS];

/// Bytes that are gathered in memory before a segment is written.
const GATHERED: usize = 64 << 20;

/// Writes the difference between two revisions, inside the caller's transaction.
pub(crate) struct ImpactWriter<'a, E> {
    db: &'a Connection,
    /// Asked now and then, so that long work can be stopped.
    stay: &'a dyn Fn() -> Result<(), E>,
    gather: Gather,
    gathered: usize,
}

impl<'a, E: From<rusqlite::Error>> ImpactWriter<'a, E> {
    /// Goes on from what is there.
    pub(crate) fn new(db: &'a Connection, stay: &'a dyn Fn() -> Result<(), E>) -> Self {
        Self {
            db,
            stay,
            gather: Gather::default(),
            gathered: GATHERED,
        }
    }

    /// Removes units; those that are not there are no error.
    pub(crate) fn remove(&mut self, units: impl Iterator<Item = i64>) -> Result<(), E> {
        let segments = segments::segments(self.db)?;
        for unit in units {
            segments::remove(self.db, &segments, number(unit)?)?;
        }
        Ok(())
    }

    /// Adds a unit that is not there and whose row id is above all that were added before.
    pub(crate) fn add(&mut self, document: &Document) -> Result<(), E> {
        self.gather.add(number(document.rowid)?, document);
        if self.gather.bytes() >= self.gathered {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes what was added, and merges.
    pub(crate) fn finish(mut self) -> Result<(), E> {
        if !self.gather.is_empty() {
            self.flush()?;
        }
        merge::merge(self.db, self.stay)
    }

    fn flush(&mut self) -> Result<(), E> {
        self.gather.write(self.db, self.stay)?;
        merge::merge(self.db, self.stay)
    }
}

/// Removes everything; also where the tables are broken.
pub(crate) fn clear(db: &Connection) -> rusqlite::Result<()> {
    segments::clear(db)
}

fn number(unit: i64) -> rusqlite::Result<u32> {
    u32::try_from(unit).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(0, unit))
}

/// What the tables of words hold is not what was written.
#[derive(Debug, thiserror::Error)]
#[error("the index of words is damaged")]
pub(crate) struct BrokenWords;
