//! Where the seeds of a target lie.

use std::path::Path;
use std::{fs, io};

use crate::{TARGETS, Target};

/// Returns the contents of `seeds/<target>/` in order of the files' names.
///
/// # Errors
/// The folder or one of its files cannot be read.
pub fn read_seeds(target: &str) -> io::Result<Vec<Vec<u8>>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(target);
    let mut files = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<Vec<_>>>()?;
    files.sort();
    files.iter().map(fs::read).collect()
}

/// Returns the target of that name, all of them for `all`, none for any other text.
pub fn targets_named(name: &str) -> Vec<Target> {
    let wanted = |target: &&Target| name == "all" || target.0 == name;
    TARGETS.iter().filter(wanted).copied().collect()
}
