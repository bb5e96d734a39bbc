//! Keeps segments few: the newest takes in those that are at most twice its size, and what mostly counts no more is
//! written again without it.
//!
//! So sizes rise about geometrically, and a unit's share of all writes is logarithmic in their number.

use rusqlite::Connection;

use super::FIELDS;
use super::postings::{Entry, List, Posting};
use super::segments::{Counting, NewSegment, Segment, broken, segments};

/// Merges where there is something to merge.
pub(super) fn merge<E: From<rusqlite::Error>>(db: &Connection, stay: &dyn Fn() -> Result<(), E>) -> Result<(), E> {
    let (empty, present) = segments(db)?.into_iter().partition(|segment| segment.units == 0);
    let empty: Vec<Segment> = empty;
    empty.iter().try_for_each(|segment| segment.delete(db))?;
    let taken = taken(present);
    if taken.is_empty() {
        return Ok(());
    }
    let sources = taken.iter().map(|segment| Source::open(db, *segment));
    let mut sources = sources.collect::<rusqlite::Result<Vec<_>>>()?;
    let mut merged = NewSegment::new(db)?;
    while let Some(term) = sources.iter().filter_map(Source::term).min().map(str::to_owned) {
        let mut postings: [Vec<Posting>; FIELDS] = Default::default();
        for source in sources.iter_mut().filter(|source| source.term() == Some(&term)) {
            source.take(db, &mut postings)?;
        }
        if postings[0].is_empty() {
            // No unit that counts has it.
            continue;
        }
        let lists = postings.map(|mut postings| {
            postings.sort_unstable();
            let mut list = List::default();
            postings.into_iter().for_each(|posting| list.push(posting));
            list
        });
        if merged.put(&term, &lists)? {
            stay()?;
        }
    }
    let mut units = Vec::new();
    let mut lengths = [0; FIELDS];
    for segment in &taken {
        units.extend(segment.units(db)?);
        lengths
            .iter_mut()
            .zip(segment.lengths)
            .for_each(|(sum, length)| *sum += length);
    }
    units.sort_unstable();
    merged.finish(&units, lengths)?;
    taken.iter().try_for_each(|segment| segment.delete(db))?;
    Ok(())
}

/// Returns the segments that become one.
fn taken(mut present: Vec<Segment>) -> Vec<Segment> {
    let newest = present.iter().map(|segment| segment.id).max();
    present.sort_by_key(|segment| (segment.units, segment.id));
    let (mostly_dead, present): (Vec<_>, Vec<_>) = present
        .into_iter()
        .partition(|segment| segment.units * 2 < segment.written);
    let mut taken = mostly_dead;
    let mut units: u32 = taken.iter().map(|segment| segment.units).sum();
    let mut others = Vec::new();
    for segment in present {
        if Some(segment.id) == newest {
            units += segment.units;
            taken.push(segment);
        } else {
            others.push(segment);
        }
    }
    for segment in others {
        if segment.units > 2 * units {
            break;
        }
        units += segment.units;
        taken.push(segment);
    }
    let is_one_whole = matches!(taken.as_slice(), [segment] if segment.units * 2 >= segment.written);
    if is_one_whole { Vec::new() } else { taken }
}

/// A segment that is read from its first term to its last.
struct Source {
    segment: Segment,
    counting: Counting,
    block: Vec<u8>,
    /// Where the term after `term` begins in the block.
    next: usize,
    /// Where `term` itself begins.
    at: usize,
    term: Option<String>,
}

impl Source {
    fn open(db: &Connection, segment: Segment) -> rusqlite::Result<Self> {
        let mut source = Self {
            segment,
            counting: segment.counting(db)?,
            block: segment.first_block(db)?.unwrap_or_default(),
            next: 0,
            at: 0,
            term: None,
        };
        source.advance(db)?;
        Ok(source)
    }

    fn term(&self) -> Option<&str> {
        self.term.as_deref()
    }

    /// Adds the postings that count, and goes on to the next term.
    fn take(&mut self, db: &Connection, postings: &mut [Vec<Posting>; FIELDS]) -> rusqlite::Result<()> {
        let entry = Entry::take(&mut &self.block[self.at..]).ok_or_else(broken)?;
        for (list, postings) in entry.lists.into_iter().zip(postings) {
            let counting = &self.counting;
            let counts = |posting: Posting| {
                if counting.has(posting.unit) {
                    postings.push(posting);
                }
            };
            list.each(counts).ok_or_else(broken)?;
        }
        self.advance(db)
    }

    fn advance(&mut self, db: &Connection) -> rusqlite::Result<()> {
        if self.next == self.block.len() {
            let last = self.term.take();
            self.block = match last {
                Some(last) => self.segment.block_after(db, &last)?.unwrap_or_default(),
                None => std::mem::take(&mut self.block),
            };
            self.next = 0;
        }
        self.at = self.next;
        let mut rest = &self.block[self.at..];
        if rest.is_empty() {
            self.term = None;
            return Ok(());
        }
        let entry = Entry::take(&mut rest).ok_or_else(broken)?;
        self.term = Some(entry.term.to_owned());
        self.next = self.block.len() - rest.len();
        Ok(())
    }
}
