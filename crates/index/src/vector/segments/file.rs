//! One segment that is read.
//!
//! The one thing a newcomer gets wrong: two kinds of damage show at two moments. Header, hashes, steps and 8-bit rows are
//! checked whole when they are read, which is once per process. f32 rows are read one by one and each is checked by itself,
//! every time: checking all of them at the start would read four times as much as a search does.

use std::fs::File;
use std::path::Path;

use casebook_storage::read_at;

use super::layout::{HASH, HEADER, Header, Kind, NoHeader, RowStep, STEP};

/// Why a segment cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SegmentError {
    #[error("{name} is missing")]
    Missing { name: String },
    #[error("{name} cannot be read: {source}")]
    Unreadable { name: String, source: std::io::Error },
    #[error("{name} is damaged: {what}")]
    Damaged { name: String, what: &'static str },
    #[error("{name} has version {found} of the format")]
    Foreign { name: String, found: u32 },
}

/// An open segment. What it was opened with stays readable, also where the file is removed meanwhile.
#[derive(Debug)]
pub(crate) struct Segment {
    file: File,
    name: String,
    header: Header,
    hashes: Vec<u8>,
}

impl Segment {
    /// Opens a segment and checks its header, its size and its hashes.
    pub(super) fn open(folder: &Path, name: &str, kind: Kind) -> Result<Self, SegmentError> {
        let name = name.to_owned();
        let file = match File::open(folder.join(&name)) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Err(SegmentError::Missing { name }),
            Err(source) => return Err(SegmentError::Unreadable { name, source }),
        };
        let damaged = |what| SegmentError::Damaged {
            name: name.clone(),
            what,
        };
        let mut bytes = [0; HEADER];
        if read_at(&file, 0, &mut bytes).is_err() {
            return Err(damaged("its header is cut off"));
        }
        let header = Header::from_bytes(&bytes).map_err(|no_header| match no_header {
            NoHeader::Damaged => damaged("its header"),
            NoHeader::Foreign(found) => SegmentError::Foreign {
                name: name.clone(),
                found,
            },
        })?;
        let length = file.metadata().map(|found| found.len());
        if length.ok() != Some(header.bytes()) {
            return Err(damaged("its length"));
        }
        if header.kind != kind || header.name() != name {
            return Err(damaged("it is another one"));
        }
        let mut segment = Self {
            file,
            name,
            header,
            hashes: Vec::new(),
        };
        segment.hashes = segment.section(header.hashes_at(), HASH, header.checksums[0], "its hashes")?;
        Ok(segment)
    }

    /// Reads a whole part of the file and checks it.
    fn section(&self, at: u64, row: usize, checksum: u32, what: &'static str) -> Result<Vec<u8>, SegmentError> {
        let mut bytes = vec![0; self.header.rows * row];
        self.read(at, &mut bytes)?;
        if crc32fast::hash(&bytes) != checksum {
            return Err(self.damaged(what));
        }
        Ok(bytes)
    }

    fn read(&self, at: u64, bytes: &mut [u8]) -> Result<(), SegmentError> {
        read_at(&self.file, at, bytes).map_err(|source| SegmentError::Unreadable {
            name: self.name.clone(),
            source,
        })
    }

    fn damaged(&self, what: &'static str) -> SegmentError {
        SegmentError::Damaged {
            name: self.name.clone(),
            what,
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn rows(&self) -> usize {
        self.header.rows
    }

    pub(super) fn bytes(&self) -> u64 {
        self.header.bytes()
    }

    /// Returns the input hashes of all rows, rising.
    pub(crate) fn hashes(&self) -> &[[u8; HASH]] {
        self.hashes.as_chunks().0
    }

    /// Forgets the hashes, where they were asked for the last time.
    pub(super) fn without_hashes(mut self) -> Self {
        self.hashes = Vec::new();
        self
    }

    /// Reads and checks what a row is multiplied with, for all rows.
    pub(super) fn steps(&self) -> Result<Vec<RowStep>, SegmentError> {
        let bytes = self.section(self.header.steps_at(), STEP, self.header.checksums[1], "its steps")?;
        Ok(bytes.as_chunks().0.iter().map(RowStep::from_bytes).collect())
    }

    /// Reads and checks all 8-bit rows.
    pub(super) fn codes(&self) -> Result<Vec<u8>, SegmentError> {
        let row = self.header.kind.stride();
        self.section(self.header.codes_at(), row, self.header.checksums[2], "its 8-bit rows")
    }

    /// Reads an f32 row and checks it.
    pub(crate) fn vector(&self, row: u32, checksum: u32) -> Result<Vec<u8>, SegmentError> {
        let size = 4 * self.header.kind.dimension;
        let mut bytes = vec![0; size];
        self.read(self.header.vectors_at() + u64::from(row) * size as u64, &mut bytes)?;
        if crc32fast::hash(&bytes) != checksum {
            return Err(self.damaged("an f32 row"));
        }
        Ok(bytes)
    }

    /// Reads the whole file and checks all of it.
    pub(super) fn check(&self) -> Result<(), SegmentError> {
        self.codes()?;
        for (row, step) in (0..).zip(self.steps()?) {
            self.vector(row, step.checksum)?;
        }
        Ok(())
    }
}
