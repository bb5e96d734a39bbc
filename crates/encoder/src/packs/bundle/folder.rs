//! A folder's files. Symbolic links are refused, for they lead anywhere; hidden folders are not looked into.

use std::path::Path;

use super::{BundleEntry, check_count, check_total};
use crate::packs::names::{check_path, unsafe_path};
use crate::packs::{ImportLimits, PackError};

/// Folders within folders at most.
const DEPTH: usize = 8;

/// Returns every file below a folder, in order of paths.
pub(super) fn entries(root: &Path, limits: &ImportLimits) -> Result<Vec<BundleEntry>, PackError> {
    let mut found = Vec::new();
    walk(root, "", 0, limits, &mut found)?;
    found.sort_by(|one, other| one.path.cmp(&other.path));
    let total = found.iter().fold(0_u64, |sum, entry| sum.saturating_add(entry.bytes));
    check_total(total, limits)?;
    Ok(found)
}

fn walk(
    folder: &Path,
    prefix: &str,
    depth: usize,
    limits: &ImportLimits,
    found: &mut Vec<BundleEntry>,
) -> Result<(), PackError> {
    if depth > DEPTH {
        return Err(unsafe_path(prefix, "its folders are nested too deep"));
    }
    for entry in std::fs::read_dir(folder).map_err(PackError::reading(folder))? {
        let entry = entry.map_err(PackError::reading(folder))?;
        let name = entry.file_name();
        let name = name
            .to_str()
            .ok_or_else(|| unsafe_path(&name.to_string_lossy(), "its name is not Unicode"))?;
        if name.starts_with('.') {
            continue;
        }
        let path = format!("{prefix}{name}");
        check_path(&path)?;
        // Of the entry itself, not of what a link leads to.
        let kind = entry.metadata().map_err(PackError::reading(&entry.path()))?;
        if kind.is_symlink() {
            return Err(unsafe_path(
                &path,
                "it is a symbolic link; copy the folder with its links followed (cp -rL) and add the copy",
            ));
        }
        if kind.is_dir() {
            walk(&entry.path(), &format!("{path}/"), depth + 1, limits, found)?;
        } else if kind.is_file() {
            check_count(found.len() + 1, limits)?;
            found.push(BundleEntry {
                path,
                bytes: kind.len(),
                index: 0,
            });
        } else {
            return Err(unsafe_path(&path, "it is neither a file nor a folder"));
        }
    }
    Ok(())
}
