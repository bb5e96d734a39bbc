//! Vectors in files beside the database, so that a search need not read them out of it.
//!
//! The one thing a newcomer gets wrong: these files prove nothing. The database says which units have vectors and holds
//! all of them; a segment only saves reading them there. So any file here may be removed at any moment: whoever has it
//! open goes on, everybody else asks the database, and the next build writes it again. A file never changes once it has
//! its name.

mod cover;
mod file;
mod layout;
mod list;

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::path::{Path, PathBuf};

use casebook_corpus::ContentHash;
use casebook_storage::{create_private_dir, create_private_file};

pub(crate) use self::cover::{CoverError, Covered};
pub(crate) use self::file::{Segment, SegmentError};
use self::layout::{HASH, Kind};
use self::list::List;
use crate::EncoderRevision;
use crate::vector::quantise::Step;

/// Names the segments that belong together.
const LIST: &str = "list";
/// There while vectors are made that no segment has yet.
const BEHIND: &str = "behind";
/// There where a reader found a segment damaged, missing or incomplete.
const SUSPECT: &str = "suspect";

/// The segments of one encoder.
#[derive(Clone, Debug)]
pub(crate) struct Segments {
    /// Of all encoders.
    root: PathBuf,
    folder: PathBuf,
    kind: Kind,
}

/// The segments that could be opened, with what every row is multiplied with.
#[derive(Debug, Default)]
pub(crate) struct Opened {
    segments: Vec<(Segment, Vec<layout::RowStep>, Vec<u8>)>,
    /// Why others could not.
    pub(crate) trouble: Vec<String>,
}

/// Where the rows of inputs are: the number of a segment and that of a row.
pub(crate) type Places = HashMap<[u8; HASH], Option<(u32, u32)>, BuildHasherDefault<Start>>;

/// Takes a SHA-256 for what it is: its start is as good as any hash of it.
#[derive(Default)]
pub(crate) struct Start(u64);

impl Hasher for Start {
    fn write(&mut self, bytes: &[u8]) {
        if let Some(start) = bytes.first_chunk() {
            self.0 = u64::from_le_bytes(*start);
        }
    }

    /// The length of an input is always the same.
    fn write_usize(&mut self, _: usize) {}

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Looks for rising inputs in the rising hashes of a segment.
struct Walk<'a> {
    hashes: &'a [[u8; HASH]],
    at: usize,
}

impl<'a> Walk<'a> {
    fn over(segment: &'a Segment) -> Self {
        Self {
            hashes: segment.hashes(),
            at: 0,
        }
    }

    /// Returns the row of an input that is no smaller than any before.
    fn find(&mut self, input: &[u8; HASH]) -> Option<u32> {
        while self.hashes.get(self.at)? < input {
            self.at += 1;
        }
        u32::try_from(self.at).ok().filter(|_| self.hashes[self.at] == *input)
    }
}

/// A row of a segment.
pub(crate) struct Found<'a> {
    pub(crate) segment: u32,
    pub(crate) row: u32,
    pub(crate) step: Step,
    pub(crate) checksum: u32,
    pub(crate) codes: &'a [u8],
}

impl Segments {
    /// Names the segments of an encoder's vectors of so many numbers below `root`.
    pub(crate) fn of(root: &Path, encoder: &EncoderRevision, dimension: usize) -> Self {
        let encoder = ContentHash::of(encoder.as_str());
        Self {
            root: root.to_owned(),
            folder: root.join(folder_name(&encoder)),
            kind: Kind { encoder, dimension },
        }
    }

    /// Returns whether nothing speaks against the segments: all are there at their full length, nobody found one damaged,
    /// and no vectors were made since. Reads one small file and no segment.
    pub(crate) fn is_whole(&self) -> bool {
        let has_length = |name: &str, bytes| {
            let found = std::fs::metadata(self.folder.join(name));
            found.is_ok_and(|found| found.len() == bytes)
        };
        !self.folder.join(BEHIND).exists()
            && !self.folder.join(SUSPECT).exists()
            && List::read(&self.folder.join(LIST))
                .is_some_and(|list| list.entries.iter().all(|entry| has_length(&entry.name, entry.bytes)))
    }

    /// Notes that vectors are about to be made.
    pub(crate) fn note_behind(&self) {
        self.note(BEHIND);
    }

    /// Notes that a reader could not use what it found.
    pub(crate) fn note_suspect(&self) {
        self.note(SUSPECT);
    }

    /// Where no file can be created, no segment can be written either.
    fn note(&self, name: &str) {
        let _ = create_private_dir(&self.folder).and_then(|()| create_private_file(&self.folder.join(name)));
    }

    /// Opens all segments and checks all of them but their f32 rows.
    pub(crate) fn open(&self) -> Opened {
        /// A list may be replaced, and what it named removed, between the two reads.
        const TRIES: u32 = 4;
        let mut opened = Opened::default();
        for _ in 0..TRIES {
            let Some(list) = List::read(&self.folder.join(LIST)) else {
                break;
            };
            opened = Opened::default();
            for entry in &list.entries {
                match self.open_one(&entry.name) {
                    Ok(segment) => opened.segments.push(segment),
                    Err(error) => opened.trouble.push(error.to_string()),
                }
            }
            if opened.trouble.is_empty() || List::read(&self.folder.join(LIST)).as_ref() == Some(&list) {
                break;
            }
        }
        opened
    }

    fn open_one(&self, name: &str) -> Result<(Segment, Vec<layout::RowStep>, Vec<u8>), SegmentError> {
        let segment = Segment::open(&self.folder, name, self.kind)?;
        let steps = segment.steps()?;
        let codes = segment.codes()?;
        Ok((segment, steps, codes))
    }
}

impl Opened {
    /// Returns where the rows of inputs are, which rise; `None` for one that no segment has.
    pub(crate) fn places(&self, inputs: &[[u8; HASH]]) -> Places {
        let mut places = Places::with_capacity_and_hasher(inputs.len(), BuildHasherDefault::default());
        let mut walks: Vec<_> = self.segments.iter().map(|(segment, ..)| Walk::over(segment)).collect();
        for input in inputs {
            let mut found = (0..)
                .zip(&mut walks)
                .filter_map(|(number, walk)| Some((number, walk.find(input)?)));
            // Every walk goes on, also where an earlier one has found the input.
            places.insert(*input, found.by_ref().last());
        }
        places
    }

    /// Returns a row that [`places`](Self::places) named.
    pub(crate) fn row(&self, (segment, row): (u32, u32)) -> Found<'_> {
        let (_, steps, codes) = &self.segments[segment as usize];
        let (found, stride) = (steps[row as usize], codes.len() / steps.len());
        Found {
            segment,
            row,
            step: found.step,
            checksum: found.checksum,
            codes: &codes[row as usize * stride..(row as usize + 1) * stride],
        }
    }

    /// Keeps what f32 rows are read from, and lets go of all else.
    pub(crate) fn into_files(self) -> Vec<Segment> {
        let segments = self.segments.into_iter();
        segments.map(|(segment, ..)| segment.without_hashes()).collect()
    }
}

/// The folder of an encoder's segments.
fn folder_name(encoder: &ContentHash) -> String {
    let mut name = encoder.to_string();
    name.truncate(16);
    name
}
