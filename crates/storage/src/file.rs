//! Owner-only folders and files, and writes that leave the old content or the new, never a part.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

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

/// A file in the making that nobody finds by its name until it is whole. Dropped before, it is gone; a process that is
/// killed leaves a file whose name begins with `.tmp`.
#[derive(Debug)]
pub struct NewFile {
    file: tempfile::NamedTempFile,
    folder: PathBuf,
}

impl NewFile {
    /// Begins a file, for its owner alone, in the folder where it will lie.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn create_in(folder: &Path) -> Result<Self, FileError> {
        let file = tempfile::NamedTempFile::new_in(folder).map_err(FileError::at(folder))?;
        Ok(Self {
            file,
            folder: folder.to_owned(),
        })
    }

    /// Writes at a place; what lies before it and was not written is zero.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<(), FileError> {
        let written = self
            .file
            .seek(SeekFrom::Start(offset))
            .and_then(|_| self.file.write_all(bytes));
        written.map_err(FileError::at(&self.folder))
    }

    /// Gives the file its name, in one step that survives a loss of power. A file of this name is replaced.
    ///
    /// # Errors
    /// When it cannot be written; then there is no file, or the old one.
    pub fn publish(self, name: &str) -> Result<(), FileError> {
        let path = self.folder.join(name);
        self.file.as_file().sync_all().map_err(FileError::at(&path))?;
        let published = self.file.persist(&path);
        published.map_err(|error| FileError::at(&path)(error.error))?;
        sync_dir(&self.folder)
    }
}

/// Reads as many bytes as the buffer holds, from a place in the file. Several threads may read one file at once.
///
/// # Errors
/// When there are fewer, or they cannot be read.
#[cfg(unix)]
pub fn read_at(file: &File, offset: u64, buffer: &mut [u8]) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

/// The same where a read names its place, and may give fewer bytes than were asked for.
#[cfg(windows)]
pub fn read_at(file: &File, mut offset: u64, mut buffer: &mut [u8]) -> std::io::Result<()> {
    while !buffer.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, buffer, offset)? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            read => {
                buffer = &mut buffer[read..];
                offset += read as u64;
            }
        }
    }
    Ok(())
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

/// Returns the bytes of all files below a folder. A file that vanishes while it is counted counts as nothing.
pub fn bytes_below(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(found) if found.is_dir() => bytes_below(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    });
    sizes.sum()
}
