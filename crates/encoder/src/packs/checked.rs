//! Whether a pack's files are those of its manifest, remembered so that not every question reads a gigabyte.
//!
//! The one thing a newcomer gets wrong: what is remembered is no proof. It says that files of this length, these times and
//! this inode had the right hashes once; anything that writes to one of them changes a time.

use std::fmt::Write as _;
use std::fs::{self, Metadata};
use std::path::Path;

use super::files::{self, Meter};
use super::{ImportStage, PackError, PackManifest};

/// The file in a pack's folder that remembers it. It is in no manifest, and may be deleted at any time.
pub(crate) const CHECKED: &str = ".checked";

/// Returns the name of the first file that has not the content that the manifest says.
///
/// # Errors
/// When a file cannot be read.
pub(crate) fn differing(dir: &Path, manifest: &PackManifest) -> Result<Option<String>, PackError> {
    let seen = look(dir, manifest)?;
    if fs::read_to_string(dir.join(CHECKED)).is_ok_and(|checked| checked == seen) {
        return Ok(None);
    }
    let mut silent = |_| {};
    let mut meter = Meter::new(ImportStage::Hashing, 0, &mut silent);
    for file in &manifest.files {
        if files::digest(&dir.join(&file.name), &mut meter)? != (file.bytes, file.sha256.clone()) {
            return Ok(Some(file.name.clone()));
        }
    }
    keep(dir, &seen);
    Ok(None)
}

/// Remembers that the files are those of the manifest, for whoever has just taken their hashes.
pub(crate) fn remember(dir: &Path, manifest: &PackManifest) {
    if let Ok(seen) = look(dir, manifest) {
        keep(dir, &seen);
    }
}

/// What cannot be kept is found out again: a pack may lie on a disk that is only read.
fn keep(dir: &Path, seen: &str) {
    // Written beside and renamed: two processes may do so at once.
    let beside = dir.join(format!("{CHECKED}.{}", std::process::id()));
    let written = fs::write(&beside, seen).and_then(|()| fs::rename(&beside, dir.join(CHECKED)));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
}

/// Returns what the system says of each file, with the hash that the manifest says.
fn look(dir: &Path, manifest: &PackManifest) -> Result<String, PackError> {
    let mut seen = String::new();
    for file in &manifest.files {
        let path = dir.join(&file.name);
        let metadata = fs::metadata(&path).map_err(PackError::reading(&path))?;
        let _ = writeln!(seen, "{} {} {}", file.sha256, stamp(&metadata), file.name);
    }
    Ok(seen)
}

#[cfg(unix)]
fn stamp(metadata: &Metadata) -> String {
    use std::os::unix::fs::MetadataExt as _;
    format!(
        "{} {}.{} {}.{} {} {}",
        metadata.len(),
        metadata.mtime(),
        metadata.mtime_nsec(),
        metadata.ctime(),
        metadata.ctime_nsec(),
        metadata.dev(),
        metadata.ino()
    )
}

#[cfg(not(unix))]
fn stamp(metadata: &Metadata) -> String {
    format!(
        "{} {:?} {:?}",
        metadata.len(),
        metadata.modified().ok(),
        metadata.created().ok()
    )
}
