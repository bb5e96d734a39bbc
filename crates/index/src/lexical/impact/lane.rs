//! Asks the segments of words: every posting of every asked term is looked at, and one number is kept per unit.

use std::collections::BTreeSet;
use std::sync::Arc;

use rusqlite::Connection;

use super::FIELDS;
use super::postings::{Entry, LENGTHS, Posting, length_of};
use super::segments::{Counting, Segment, broken, segments};
use crate::lexical::analyzer::{self, AskedTerm};
use crate::lexical::best::best;
use crate::lexical::bounds::{LOOKED_UP, SEARCHED, left_out};
use crate::snapshot::Reader;
use crate::{LaneAnswer, LaneError, LaneHit, LexicalLane, Revision, RevisionId};

/// What the lane finds is determined by this and the analysis of words.
const REVISION: &str = "impact1";

/// BM25's saturation and its share of length, as Lucene and Tantivy have them.
const K1: f32 = 1.2;
const B: f32 = 0.75;

/// What a match in each field adds: all words; title and headings once more; the path once more. Measured.
const WEIGHTS: [f32; FIELDS] = [1.0, 0.6, 1.0];

/// Terms that hold an asked one as their part, where no unit has that itself: how many are asked for, how long it has to
/// be, and what a match adds.
const HOLDING: usize = 32;
const SHORTEST_PART: usize = 3;
const PART_WEIGHT: f32 = 0.5;

/// Finds units by stemmed words and bigrams, by BM25 over path, title, headings and text together. A word that no unit has
/// finds those that have it within a longer word.
pub(crate) struct ImpactLane {
    reader: Arc<Reader>,
    revision: RevisionId,
}

impl ImpactLane {
    pub(crate) fn new(reader: Arc<Reader>, revision: RevisionId) -> Self {
        Self { reader, revision }
    }

    /// Returns everything that determines what the lane finds.
    pub(crate) fn lexical_revision() -> String {
        format!("{REVISION}/{}", analyzer::REVISION)
    }

    /// Returns whether the revision's words are what this lane searches.
    pub(crate) fn is_served_by(revision: &Revision) -> bool {
        let own = Self::lexical_revision();
        revision.lexical_revision.split(' ').any(|lane| lane == own)
    }
}

impl LexicalLane for ImpactLane {
    fn name(&self) -> &'static str {
        "impact"
    }

    fn revision(&self) -> &RevisionId {
        &self.revision
    }

    fn search(&self, query: &str, limit: usize) -> Result<LaneAnswer, LaneError> {
        if limit == 0 {
            return Ok(LaneAnswer::default());
        }
        self.reader
            .read(|db| Search::open(db)?.find(query, limit))
            .map_err(|error| LaneError::Other {
                lane: self.name(),
                source: Box::new(error),
            })
    }
}

/// A segment that is asked.
struct Asked {
    segment: Segment,
    counting: Counting,
}

/// One question to all segments.
pub(super) struct Search<'a> {
    db: &'a Connection,
    segments: Vec<Asked>,
    /// Units that count, in all.
    units: u32,
    /// What a field's length adds to the number of occurrences, by the code of the length.
    norms: [[f32; LENGTHS]; FIELDS],
}

/// A term that units have.
struct Term {
    /// Its place in the question.
    order: usize,
    weight: f32,
    /// Blocks that hold it, with the number of their segment and where it begins in them.
    places: Vec<(usize, Vec<u8>, usize)>,
    /// Units that have it, by field.
    units: [u32; FIELDS],
}

impl<'a> Search<'a> {
    pub(super) fn open(db: &'a Connection) -> rusqlite::Result<Self> {
        let mut asked = Vec::new();
        let (mut units, mut lengths) = (0_u32, [0_u64; FIELDS]);
        for segment in segments(db)? {
            units += segment.units;
            lengths
                .iter_mut()
                .zip(segment.lengths)
                .for_each(|(sum, length)| *sum += length);
            asked.push(Asked {
                counting: segment.counting(db)?,
                segment,
            });
        }
        let norms = lengths.map(|length| {
            let mean = length as f32 / units.max(1) as f32;
            std::array::from_fn(|code| K1 * (1.0 - B + B * length_of(code as u8) as f32 / mean.max(f32::MIN_POSITIVE)))
        });
        Ok(Self {
            db,
            segments: asked,
            units,
            norms,
        })
    }

    pub(super) fn find(&self, query: &str, limit: usize) -> rusqlite::Result<LaneAnswer> {
        let asked = analyzer::asked(query);
        let (mut terms, mut skipped) = (Vec::new(), Vec::new());
        for (order, term) in asked.iter().enumerate().take(LOOKED_UP) {
            terms.extend(self.terms_of(term, order)?);
            if terms.len() >= 2 * SEARCHED {
                leave_out_frequent(&mut terms, &mut skipped);
            }
        }
        leave_out_frequent(&mut terms, &mut skipped);
        // A unit's score is a sum of rounded numbers, so it takes them in one order.
        terms.sort_by_key(|term| term.order);
        Ok(LaneAnswer {
            hits: self.scored(&terms, limit)?,
            degradations: left_out(&asked, skipped).into_iter().collect(),
        })
    }

    /// Returns the term, or those that hold it where no unit has it.
    fn terms_of(&self, asked: &AskedTerm, order: usize) -> rusqlite::Result<Vec<Term>> {
        let AskedTerm {
            text,
            weight,
            has_forms,
        } = asked;
        if let Some(term) = self.term(text, order, *weight)? {
            return Ok(vec![term]);
        }
        if *has_forms || text.chars().count() < SHORTEST_PART {
            return Ok(Vec::new());
        }
        let mut holding = Vec::new();
        for longer in self.holding(text)? {
            holding.extend(self.term(&longer, order, PART_WEIGHT)?);
            if holding.len() == HOLDING {
                break;
            }
        }
        // Together they are one term, so they are as rare as they are together.
        let mut units = [0_u32; FIELDS];
        for term in &holding {
            units
                .iter_mut()
                .zip(term.units)
                .for_each(|(sum, units)| *sum = (*sum + units).min(self.units));
        }
        holding.iter_mut().for_each(|term| term.units = units);
        Ok(holding)
    }

    /// Returns the terms that have the text within them, the shortest first.
    fn holding(&self, text: &str) -> rusqlite::Result<Vec<String>> {
        let mut found = BTreeSet::new();
        for Asked { segment, .. } in &self.segments {
            segment.each_terms(self.db, |terms| {
                let mut from = 0;
                while let Some(at) = terms[from..].find(text) {
                    let start = terms[..from + at].rfind('\n').map_or(0, |end| end + 1);
                    let end = terms[start..].find('\n').map_or(terms.len(), |length| start + length);
                    found.insert((end - start, terms[start..end].to_owned()));
                    from = end;
                }
            })?;
        }
        Ok(found.into_iter().map(|(_, term)| term).collect())
    }

    /// Returns a term with where it is; `None` where no unit has it.
    fn term(&self, text: &str, order: usize, weight: f32) -> rusqlite::Result<Option<Term>> {
        let mut term = Term {
            order,
            weight,
            places: Vec::new(),
            units: [0; FIELDS],
        };
        for (number, Asked { segment, counting }) in self.segments.iter().enumerate() {
            let Some(block) = segment.block_of(self.db, text)? else {
                continue;
            };
            let Some((at, entry)) = entry_of(&block, text)? else {
                continue;
            };
            for (units, list) in term.units.iter_mut().zip(entry.lists) {
                if counting.is_all() {
                    *units += list.units;
                } else {
                    list.each(|posting| *units += u32::from(counting.has(posting.unit)))
                        .ok_or_else(broken)?;
                }
            }
            term.places.push((number, block, at));
        }
        Ok((term.units[0] > 0).then_some(term))
    }

    fn scored(&self, terms: &[Term], limit: usize) -> rusqlite::Result<Vec<LaneHit>> {
        if terms.is_empty() {
            return Ok(Vec::new());
        }
        let sql = "SELECT coalesce(max(unit_rowid), 0) FROM search_word_lengths";
        let last: u32 = self.db.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
        let mut scores = vec![0.0_f32; last as usize + 1];
        for term in terms {
            for (field, norms) in self.norms.iter().enumerate() {
                let weight = term.weight * WEIGHTS[field] * self.rarity(term.units[field]) * (K1 + 1.0);
                let once = norms.map(|norm| weight / (1.0 + norm));
                for (number, block, at) in &term.places {
                    let counting = &self.segments[*number].counting;
                    let entry = Entry::take(&mut &block[*at..]).ok_or_else(broken)?;
                    let mut is_known = true;
                    let score = |posting: Posting| {
                        if !counting.has(posting.unit) {
                            return;
                        }
                        let length = usize::from(posting.length);
                        let added = match posting.count {
                            1 => once[length],
                            count => weight * f32::from(count) / (f32::from(count) + norms[length]),
                        };
                        match scores.get_mut(posting.unit as usize) {
                            Some(score) => *score += added,
                            None => is_known = false,
                        }
                    };
                    entry.lists[field]
                        .each(score)
                        .filter(|()| is_known)
                        .ok_or_else(broken)?;
                }
            }
        }
        let scored = (0..).zip(scores).filter(|(_, score)| *score > 0.0);
        best(self.db, scored.collect(), limit)
    }

    /// Returns BM25's weight of a term that so many units have.
    fn rarity(&self, having: u32) -> f32 {
        let (all, having) = (self.units as f32, having as f32);
        (1.0 + (all - having + 0.5) / (having + 0.5)).ln()
    }
}

/// Leaves out the most frequent terms, and before them those that are no words of the question.
fn leave_out_frequent(terms: &mut Vec<Term>, skipped: &mut Vec<usize>) {
    terms.sort_by_key(|term| (term.weight < 1.0, term.units[0], term.order));
    let left_out = terms.drain(SEARCHED.min(terms.len())..);
    skipped.extend(left_out.map(|term| term.order));
}

/// Returns where a term begins in a block, and what is there.
fn entry_of<'a>(block: &'a [u8], text: &str) -> rusqlite::Result<Option<(usize, Entry<'a>)>> {
    let mut rest = block;
    while !rest.is_empty() {
        let at = block.len() - rest.len();
        let entry = Entry::take(&mut rest).ok_or_else(broken)?;
        if entry.term == text {
            return Ok(Some((at, entry)));
        }
    }
    Ok(None)
}
