//! Owner-only folders and files, and writes that leave the old content or the new, never a part.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use crate::FileError;

/// Creates a folder, and what is missing above it, that only its owner may enter. An existing folder keeps its mode.
///
/// # Errors
/// When it cannot be created or something else is there.
pub fn create_private_dir(path: &Path) -> Result<(), FileError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(FileError::at(path))
}

/// Opens a file for reading and writing; a missing one is created empty, for its owner alone. Never truncates.
///
/// # Errors
/// When it cannot be opened or created.
pub fn create_private_file(path: &Path) -> Result<File, FileError> {
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map_err(FileError::at(path))
}

/// Replaces a file's content in one step, for its owner alone: a reader, and a machine that loses power, see the old
/// content or the new. The folder must exist.
///
/// # Errors
/// When it cannot be written; the old content is then untouched.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    // In the same folder: a rename across file systems would not be atomic. `tempfile` creates it with mode 0600.
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(FileError::at(folder))?;
    file.write_all(bytes).map_err(FileError::at(path))?;
    file.as_file().sync_all().map_err(FileError::at(path))?;
    file.persist(path).map_err(|error| FileError::at(path)(error.error))?;
    sync_dir(folder)
}

/// Makes a rename in the folder survive a loss of power.
#[cfg(unix)]
fn sync_dir(folder: &Path) -> Result<(), FileError> {
    let handle = File::open(folder).map_err(FileError::at(folder))?;
    handle.sync_all().map_err(FileError::at(folder))
}

/// Elsewhere a folder cannot be flushed; the rename is journaled by the file system.
#[cfg(not(unix))]
fn sync_dir(_folder: &Path) -> Result<(), FileError> {
    Ok(())
}
