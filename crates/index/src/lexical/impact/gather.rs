//! Units that are about to be written, turned from words per unit into units per word.

use std::collections::HashMap;

use rusqlite::Connection;

use super::postings::{List, Posting, length_code, length_of};
use super::segments::{NewSegment, put_lengths};
use super::{FIELDS, Lengths};
use crate::builder::Document;
use crate::lexical::analyzer::Stems;
use crate::words::{WordSide, words};

/// What a term takes in memory beside its letters and postings, about.
const TERM_OVERHEAD: usize = 240;

/// Gathers units by rising number.
#[derive(Default)]
pub(super) struct Gather {
    stems: Stems,
    /// The number of the term that a word as it stands in a text belongs to.
    words: HashMap<String, u32>,
    numbers: HashMap<String, u32>,
    lists: Vec<[List; FIELDS]>,
    units: Vec<(u32, Lengths)>,
    bytes: usize,
}

impl Gather {
    /// Adds a unit whose number is above all before.
    pub(super) fn add(&mut self, unit: u32, document: &Document) {
        let path = self.terms(&document.path);
        let mut names = self.terms(&document.title);
        names.extend(self.terms(&document.headings));
        let mut all = self.terms(&document.text);
        all.extend(names.iter().chain(&path));
        let lengths = [all, names, path]
            .into_iter()
            .enumerate()
            .map(|(field, terms)| self.push(unit, field, terms));
        let lengths: Vec<u32> = lengths.collect();
        let lengths = lengths.try_into().expect("there is a length for each field");
        self.units.push((unit, lengths));
    }

    /// Adds what a unit has in a field. Returns how long the field is held to be.
    fn push(&mut self, unit: u32, field: usize, mut terms: Vec<u32>) -> u32 {
        let length = length_code(terms.len());
        terms.sort_unstable();
        for same in terms.chunk_by(|left, right| left == right) {
            let list = &mut self.lists[same[0] as usize][field];
            let before = list.len();
            list.push(Posting {
                unit,
                length,
                count: u8::try_from(same.len()).unwrap_or(u8::MAX),
            });
            self.bytes += list.len() - before;
        }
        length_of(length)
    }

    fn terms(&mut self, text: &str) -> Vec<u32> {
        let words = words(text, WordSide::Stored);
        words.into_iter().map(|word| self.term(word)).collect()
    }

    fn term(&mut self, word: String) -> u32 {
        if let Some(number) = self.words.get(&word) {
            return *number;
        }
        let stem = self.stems.of(&word);
        let number = match self.numbers.get(&stem) {
            Some(number) => *number,
            None => {
                let number = self.lists.len() as u32;
                self.bytes += stem.len() + TERM_OVERHEAD;
                self.numbers.insert(stem, number);
                self.lists.push(Default::default());
                number
            }
        };
        self.bytes += word.len() + TERM_OVERHEAD / 4;
        self.words.insert(word, number);
        number
    }

    /// Returns about how much memory it takes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns whether it holds no unit.
    pub(super) fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// Writes everything and is empty again.
    pub(super) fn write<E: From<rusqlite::Error>>(
        &mut self,
        db: &Connection,
        stay: &dyn Fn() -> Result<(), E>,
    ) -> Result<(), E> {
        let gathered = std::mem::take(self);
        let mut segment = NewSegment::new(db)?;
        let mut terms: Vec<(String, u32)> = gathered.numbers.into_iter().collect();
        terms.sort_unstable();
        for (term, number) in terms {
            if segment.put(&term, &gathered.lists[number as usize])? {
                stay()?;
            }
        }
        let mut sums = [0; FIELDS];
        for (unit, lengths) in &gathered.units {
            put_lengths(db, *unit, *lengths)?;
            sums.iter_mut()
                .zip(lengths)
                .for_each(|(sum, length)| *sum += u64::from(*length));
        }
        let units: Vec<u32> = gathered.units.iter().map(|(unit, _)| *unit).collect();
        segment.finish(&units, sums)?;
        Ok(())
    }
}
