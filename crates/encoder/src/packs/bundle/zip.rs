//! A zip archive's files.
//!
//! The one thing a newcomer gets wrong: a length in the directory is a claim. It bounds what is refused before anything
//! is unpacked; what comes out is counted against it again.

use std::collections::HashSet;
use std::io::{BufReader, Cursor, Read, Seek, SeekFrom};

use zip::ZipArchive;
use zip::result::ZipError;

use super::{BundleEntry, check_count, check_total};
use crate::packs::names::{check_path, unsafe_path};
use crate::packs::{ImportLimits, PackError};

/// Files below this many unpacked bytes may be packed as tightly as they like.
const SMALL: u64 = 1 << 20;

/// Returns the files of an archive that passes every check on its names and declared lengths. Pure: for tests and fuzzing.
///
/// # Errors
/// When it is no zip, is cut off, or one of its entries is refused.
pub fn zip_listing(bytes: &[u8], limits: &ImportLimits) -> Result<Vec<BundleEntry>, PackError> {
    check(&mut open(Cursor::new(bytes))?, limits)
}

pub(super) fn open<R: Read + Seek>(reader: R) -> Result<ZipArchive<R>, PackError> {
    let archive = ZipArchive::new(reader).map_err(|error| broken(&error))?;
    if archive.has_duplicate_names() {
        let start = archive.central_directory_start();
        let name = duplicate(archive.into_inner(), start);
        return Err(twice(name.as_deref().unwrap_or("a file")));
    }
    Ok(archive)
}

fn twice(path: &str) -> PackError {
    unsafe_path(path, "the archive has it twice")
}

/// Looks through a directory for a name that is there twice: the reader above keeps the last of them alone.
fn duplicate<R: Read + Seek>(mut reader: R, start: u64) -> Option<String> {
    const HEADER: usize = 46;
    const SIGNATURE: [u8; 4] = *b"PK\x01\x02";
    let mut seen = HashSet::new();
    reader.seek(SeekFrom::Start(start)).ok()?;
    let mut reader = BufReader::new(reader);
    loop {
        let mut header = [0; HEADER];
        reader.read_exact(&mut header).ok()?;
        if header[..4] != SIGNATURE {
            return None;
        }
        let length = |at: usize| usize::from(u16::from_le_bytes([header[at], header[at + 1]]));
        let mut rest = vec![0; length(28) + length(30) + length(32)];
        reader.read_exact(&mut rest).ok()?;
        rest.truncate(length(28));
        let name = String::from_utf8_lossy(&rest).into_owned();
        if !seen.insert(name.clone()) {
            return Some(name);
        }
    }
}

pub(super) fn broken(error: &ZipError) -> PackError {
    PackError::ArchiveBroken { why: error.to_string() }
}

/// Checks all entries, also those that nobody will ask for: an archive with one bad entry was made to harm.
pub(super) fn check<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    limits: &ImportLimits,
) -> Result<Vec<BundleEntry>, PackError> {
    check_count(archive.len(), limits)?;
    let mut entries = Vec::new();
    let mut total = 0_u64;
    let mut seen = HashSet::new();
    for index in 0..archive.len() {
        let entry = archive.by_index_data(index).map_err(|error| broken(&error))?;
        let raw = String::from_utf8_lossy(entry.name_raw()).into_owned();
        let path = std::str::from_utf8(entry.name_raw())
            .map_err(|_| unsafe_path(&raw, "its name is not UTF-8"))?
            .to_owned();
        let is_dir = path.ends_with('/');
        check_path(path.strip_suffix('/').unwrap_or(&path))?;
        // Some file systems do not tell upper and lower case apart.
        if !seen.insert(path.trim_end_matches('/').to_lowercase()) {
            return Err(twice(&path));
        }
        if is_special(entry.unix_mode()) {
            return Err(unsafe_path(&path, "it is a symbolic link or a device"));
        }
        if entry.encrypted() {
            return Err(unsafe_path(&path, "it is encrypted"));
        }
        let (bytes, packed) = (entry.size(), entry.compressed_size());
        total = total.saturating_add(bytes);
        check_total(total, limits)?;
        let ratio = bytes / packed.max(1);
        if bytes > SMALL && ratio > limits.ratio {
            return Err(PackError::TooLarge {
                what: format!("what each packed byte of {path} unpacks to"),
                found: ratio,
                unit: "bytes",
                limit: limits.ratio,
            });
        }
        if !is_dir {
            entries.push(BundleEntry { path, bytes, index });
        }
    }
    if archive.has_overlapping_entries().map_err(|error| broken(&error))? {
        return Err(PackError::ArchiveBroken {
            why: "entries share bytes".to_owned(),
        });
    }
    entries.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(entries)
}

/// Whether a Unix mode names something that is neither a file nor a folder: a link, a device, a pipe.
fn is_special(mode: Option<u32>) -> bool {
    const KIND: u32 = 0o170_000;
    !matches!(mode.unwrap_or_default() & KIND, 0 | 0o100_000 | 0o040_000)
}
