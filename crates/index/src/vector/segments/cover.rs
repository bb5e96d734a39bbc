//! Writes what no segment has, and merges what has become small.
//!
//! A new segment takes in those that are at most twice its size, smallest first, until one is larger: so there are few, their
//! sizes rise about geometrically, and a vector is written again only when its segment grows by half. Its share of all
//! writes is logarithmic in the number of vectors.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use casebook_corpus::ContentHash;
use casebook_storage::{FileError, FileLock, NewFile, Waited, create_private_dir};
use crc32fast::Hasher;
use rusqlite::Connection;

use super::layout::{HASH, HEADER, Header, Kind, RowStep};
use super::list::{Entry, List};
use super::{LIST, SUSPECT, Segment, Segments, Walk, folder_name};
use crate::EncoderRevision;
use crate::store;
use crate::vector::quantise::Step;
use crate::vector::scan::Codes;

/// Held by who writes segments, of any encoder.
const LOCK: &str = "lock";
/// How long another writer is waited for. A merge of a million vectors takes seconds.
const LOCK_WAIT: Duration = Duration::from_secs(30);
/// Rows that are made and written together.
const BLOCK: usize = 1024;

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Covered {
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
}

/// Segments could not be written. What there was before is still there.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CoverError {
    #[error("another process writes vectors")]
    Busy,
    #[error("the caller asked to stop")]
    Cancelled,
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Database(#[from] rusqlite::Error),
}

/// Where a row comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Segment { number: usize, row: u32 },
    Database,
}

impl Segments {
    /// Sees to it that every vector that the database has of this encoder is in a segment, once. What no list names is
    /// removed, also what a writer left that was killed. Before every block it tells how many rows of how many are written,
    /// and stops where `go_on` says no.
    pub(crate) fn cover(
        &self,
        db: &Connection,
        encoder: &EncoderRevision,
        go_on: &dyn Fn(usize, usize) -> bool,
    ) -> Result<Covered, CoverError> {
        create_private_dir(&self.folder)?;
        let _lock = match FileLock::wait(&self.root.join(LOCK), Some(LOCK_WAIT), &mut || go_on(0, 0))? {
            Waited::Acquired(lock) => lock,
            Waited::TimedOut => return Err(CoverError::Busy),
            Waited::GivenUp => return Err(CoverError::Cancelled),
        };
        let moment = db.unchecked_transaction()?;
        let wanted = store::inputs_with_vectors(&moment, encoder, self.kind.dimension)?;
        let list = List::read(&self.folder.join(LIST));
        let present = self.present(list.as_ref());
        let (kept, merged, plan) = plan(&wanted, present);
        let mut entries: Vec<Entry> = kept.iter().map(entry).collect();
        let mut covered = Covered::default();
        if !plan.is_empty() {
            let vector = |hash: &[u8; HASH]| store::vector_of_input(&moment, encoder, hash);
            let header = write(&self.folder, self.kind, &plan, &merged, &vector, go_on)?;
            covered = Covered {
                rows: plan.len() as u64,
                bytes: header.bytes(),
            };
            entries.push(Entry {
                name: header.name(),
                bytes: header.bytes(),
            });
        }
        entries.sort_by(|left, right| left.name.cmp(&right.name));
        let new = List { entries };
        if list.as_ref() != Some(&new) {
            new.write(&self.folder.join(LIST))?;
        }
        drop((kept, merged));
        self.tidy(&new);
        self.remove_others(&store::kept_beside(&moment, &[])?);
        Ok(covered)
    }

    /// Opens what the list names. Where a reader found something amiss, everything is checked.
    fn present(&self, list: Option<&List>) -> Vec<Segment> {
        let is_suspect = self.folder.join(SUSPECT).exists();
        let entries = list.map(|list| list.entries.as_slice()).unwrap_or_default();
        let opened = entries.iter().map(|entry| {
            let segment = Segment::open(&self.folder, &entry.name, self.kind)?;
            if is_suspect {
                segment.check()?;
            }
            Ok::<_, super::SegmentError>(segment)
        });
        // What cannot be used is written again from the database.
        let present = opened.filter_map(Result::ok).collect();
        for entry in entries {
            let path = self.folder.join(&entry.name);
            if path.is_dir() {
                // A file takes the place of a damaged one, and of no folder.
                let _ = fs::remove_dir_all(path);
            }
        }
        present
    }

    /// Removes what the list does not name, and the markers, which were true until now. Who has it open goes on reading it. What cannot be removed is no harm.
    fn tidy(&self, list: &List) {
        let named: HashSet<&str> = list.entries.iter().map(|entry| entry.name.as_str()).collect();
        for found in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = found.file_name();
            if name != LIST && !name.to_str().is_some_and(|name| named.contains(name)) {
                let _ = fs::remove_file(found.path());
            }
        }
    }

    /// Removes the segments of encoders that the database has nothing of.
    fn remove_others(&self, encoders: &[EncoderRevision]) {
        let names: HashSet<String> = encoders
            .iter()
            .map(|encoder| folder_name(&ContentHash::of(encoder.as_str())))
            .collect();
        for found in fs::read_dir(&self.root).into_iter().flatten().flatten() {
            let is_named =
                found.path() == self.folder || found.file_name().to_str().is_some_and(|name| names.contains(name));
            if !is_named && found.file_type().is_ok_and(|kind| kind.is_dir()) {
                let _ = fs::remove_dir_all(found.path());
            }
        }
    }
}

fn entry(segment: &Segment) -> Entry {
    Entry {
        name: segment.name().to_owned(),
        bytes: segment.bytes(),
    }
}

/// Decides which segments stay, which are merged, and what the new one holds, by rising hash.
type Plan = Vec<([u8; HASH], Source)>;

fn plan(wanted: &[[u8; HASH]], mut present: Vec<Segment>) -> (Vec<Segment>, Vec<Segment>, Plan) {
    present.sort_by_key(Segment::rows);
    // Both sides rise, so one walk over each segment finds what is in it.
    let mut walks: Vec<_> = present.iter().map(Walk::over).collect();
    let mut live = 0;
    let mut fresh = Vec::new();
    for hash in wanted {
        let found = walks.iter_mut().filter_map(|walk| walk.find(hash)).count();
        live += found;
        if found == 0 {
            fresh.push((*hash, Source::Database));
        }
    }
    let total: usize = present.iter().map(Segment::rows).sum();
    let mostly_dead = live * 2 < total;
    if fresh.is_empty() && !mostly_dead {
        return (present, Vec::new(), Vec::new());
    }
    let mut rows = fresh.len();
    let taken = present.iter().take_while(|segment| {
        let takes = mostly_dead || segment.rows() <= 2 * rows;
        rows += segment.rows();
        takes
    });
    let taken = taken.count();
    let kept = present.split_off(taken);
    let mut plan = fresh;
    for (number, segment) in present.iter().enumerate() {
        let rows = (0..).zip(segment.hashes());
        let rows = rows.filter(|(_, hash)| wanted.binary_search(hash).is_ok());
        plan.extend(rows.map(|(row, hash)| (*hash, Source::Segment { number, row })));
    }
    plan.sort_unstable();
    plan.dedup_by(|left, right| left.0 == right.0);
    (kept, present, plan)
}

/// Writes a segment, block by block, and gives it its name.
fn write(
    folder: &Path,
    kind: Kind,
    plan: &Plan,
    merged: &[Segment],
    from_database: &dyn Fn(&[u8; HASH]) -> rusqlite::Result<Vec<u8>>,
    go_on: &dyn Fn(usize, usize) -> bool,
) -> Result<Header, CoverError> {
    let steps: Vec<_> = merged.iter().map(|segment| segment.steps().ok()).collect();
    let from_segment = |number: usize, row: u32| {
        let checksum = steps[number].as_ref()?.get(row as usize)?.checksum;
        merged[number].vector(row, checksum).ok()
    };
    let mut header = Header {
        kind,
        rows: plan.len(),
        checksums: [0; 3],
    };
    let mut file = NewFile::create_in(folder)?;
    let mut places = [
        header.hashes_at(),
        header.steps_at(),
        header.codes_at(),
        header.vectors_at(),
    ];
    let mut hashers = [(); 3].map(|()| Hasher::new());
    for (number, block) in plan.chunks(BLOCK).enumerate() {
        if !go_on(number * BLOCK, plan.len()) {
            return Err(CoverError::Cancelled);
        }
        let mut parts: [Vec<u8>; 4] = Default::default();
        let mut codes = Codes::new(kind.dimension);
        for (hash, source) in block {
            let bytes = match *source {
                Source::Segment { number, row } => from_segment(number, row),
                Source::Database => None,
            };
            // A damaged row is taken from where it came from.
            let bytes = bytes.map_or_else(|| from_database(hash), Ok)?;
            let step = push(&mut codes, &bytes);
            let checksum = crc32fast::hash(&bytes);
            parts[0].extend_from_slice(hash);
            parts[1].extend_from_slice(&RowStep { step, checksum }.to_bytes());
            parts[3].extend_from_slice(&bytes);
        }
        parts[2].extend_from_slice(codes.bytes());
        for (part, hasher) in parts.iter().zip(&mut hashers) {
            hasher.update(part);
        }
        for (part, place) in parts.iter().zip(&mut places) {
            file.write_at(*place, part)?;
            *place += part.len() as u64;
        }
    }
    header.checksums = hashers.map(Hasher::finalize);
    let bytes: [u8; HEADER] = header.to_bytes();
    file.write_at(0, &bytes)?;
    file.publish(&header.name())?;
    Ok(header)
}

/// Adds the 8-bit numbers of a row. One that holds something else than numbers is kept as a row of zeros that says so.
fn push(codes: &mut Codes, bytes: &[u8]) -> Step {
    let row: Vec<f32> = bytes
        .as_chunks()
        .0
        .iter()
        .map(|bytes| f32::from_le_bytes(*bytes))
        .collect();
    if row.iter().all(|number| number.is_finite()) {
        return codes.push(&row);
    }
    codes.push(&vec![0.0; row.len()]);
    Step {
        scale: 0.0,
        error: f32::NAN,
    }
}
