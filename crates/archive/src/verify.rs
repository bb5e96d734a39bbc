//! Compares a raw source with what the catalog says about it.
//!
//! The one thing a newcomer gets wrong: the boundary comes first. A path that leads out of the archive, also through a
//! symbolic link, is never opened.

use std::fs::{File, Metadata};
use std::io::{ErrorKind, Read};
use std::path::{Component, Path, PathBuf};

use casebook_corpus::ContentHash;
use sha2::{Digest as _, Sha256};

use crate::CatalogEntry;

/// Bytes read at once: a raw source may be larger than memory.
const BLOCK: usize = 64 * 1024;

/// One way in which a raw source is not what the catalog says.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Mismatch {
    /// The path leads out of the archive; the file was not opened.
    #[error("path leads out of the archive: {path:?}")]
    Outside {
        /// The path as the catalog has it.
        path: String,
    },
    /// There is nothing at the path, or it cannot be read.
    #[error("file cannot be read: {kind}")]
    Unreadable {
        /// Why.
        kind: ErrorKind,
    },
    /// The path names a directory or a device.
    #[error("not a regular file")]
    NotAFile,
    /// Others than the owner have access.
    #[error("permissions are {found:o}, expected {expected:o}")]
    Permissions {
        /// The mode without the access of others.
        expected: u32,
        /// The mode.
        found: u32,
    },
    /// The length differs.
    #[error("size is {found} bytes, expected {expected}")]
    Size {
        /// The catalog's.
        expected: u64,
        /// The file's.
        found: u64,
    },
    /// The content differs.
    #[error("SHA-256 is {found}, expected {expected}")]
    Sha256 {
        /// The catalog's.
        expected: ContentHash,
        /// The file's.
        found: ContentHash,
    },
    /// The number of records differs.
    #[error("{found} records, expected {expected}")]
    Records {
        /// The catalog's.
        expected: u64,
        /// The file's.
        found: u64,
    },
}

/// Returns in what the raw source of an entry differs from the entry; empty where it is as it should be. `root` is the
/// archive that the entry's path is relative to.
pub fn verify(root: &Path, entry: &CatalogEntry) -> Vec<Mismatch> {
    match open(root, &entry.path) {
        Ok((file, metadata)) => {
            let mut mismatches: Vec<_> = permissions(&metadata).into_iter().collect();
            match Content::read(file) {
                Ok(content) => mismatches.extend(content.compare(entry)),
                Err(error) => mismatches.push(unreadable(&error)),
            }
            mismatches
        }
        Err(mismatch) => vec![mismatch],
    }
}

fn open(root: &Path, path: &str) -> Result<(File, Metadata), Mismatch> {
    let inside = resolve(root, path)?;
    // Looked at before it is opened: opening a pipe would wait for a writer.
    let metadata = inside.metadata().map_err(|error| unreadable(&error))?;
    if !metadata.is_file() {
        return Err(Mismatch::NotAFile);
    }
    let file = File::open(inside).map_err(|error| unreadable(&error))?;
    Ok((file, metadata))
}

/// Returns where the path really leads, if that is inside the archive.
fn resolve(root: &Path, path: &str) -> Result<PathBuf, Mismatch> {
    let outside = || Mismatch::Outside { path: path.to_owned() };
    let relative = Path::new(path);
    if path.is_empty()
        || !relative
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
    {
        return Err(outside());
    }
    let root = root.canonicalize().map_err(|error| unreadable(&error))?;
    let real = root.join(relative).canonicalize().map_err(|error| unreadable(&error))?;
    if real.starts_with(&root) {
        Ok(real)
    } else {
        Err(outside())
    }
}

fn unreadable(error: &std::io::Error) -> Mismatch {
    Mismatch::Unreadable { kind: error.kind() }
}

#[cfg(unix)]
fn permissions(metadata: &Metadata) -> Option<Mismatch> {
    use std::os::unix::fs::PermissionsExt as _;
    let found = metadata.permissions().mode() & 0o777;
    let expected = found & 0o700;
    (found != expected).then_some(Mismatch::Permissions { expected, found })
}

/// Other systems have no modes to compare.
#[cfg(not(unix))]
fn permissions(_metadata: &Metadata) -> Option<Mismatch> {
    None
}

/// What a raw file holds, without its text.
struct Content {
    size: u64,
    sha256: ContentHash,
    records: u64,
}

impl Content {
    fn read(mut file: impl Read) -> std::io::Result<Self> {
        let mut hasher = Sha256::new();
        let mut block = vec![0; BLOCK];
        let (mut size, mut records) = (0, 0);
        let mut in_record = false;
        loop {
            let length = match file.read(&mut block) {
                Ok(0) => break,
                Ok(length) => length,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            hasher.update(&block[..length]);
            size += length as u64;
            for byte in &block[..length] {
                let begins = !in_record && !byte.is_ascii_whitespace();
                records += u64::from(begins);
                in_record = (in_record || begins) && *byte != b'\n';
            }
        }
        Ok(Self {
            size,
            sha256: ContentHash::from_bytes(hasher.finalize().into()),
            records,
        })
    }

    fn compare(self, entry: &CatalogEntry) -> impl Iterator<Item = Mismatch> {
        let size = (self.size != entry.size).then_some(Mismatch::Size {
            expected: entry.size,
            found: self.size,
        });
        let sha256 = (self.sha256 != entry.sha256).then_some(Mismatch::Sha256 {
            expected: entry.sha256,
            found: self.sha256,
        });
        let records = (self.records != entry.record_count).then_some(Mismatch::Records {
            expected: entry.record_count,
            found: self.records,
        });
        [size, sha256, records].into_iter().flatten()
    }
}
