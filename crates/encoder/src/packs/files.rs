//! The few lines of disk that packs need: files for their owner alone, copied in pieces, pressed to the disk.
//!
//! Like `casebook-storage`, which this crate must not know: a pack is files, and only the encoder knows which.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::{ImportProgress, ImportStage, OnProgress, PackError};

/// Bytes that are copied at once.
const PIECE: usize = 1 << 20;

/// Creates a folder, and what is missing above it, that only its owner may enter.
pub(crate) fn create_dir(path: &Path) -> Result<(), PackError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(PackError::writing(path))
}

/// Creates a new file for its owner alone; one that is there already is an error.
pub(crate) fn create(path: &Path) -> Result<File, PackError> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map_err(PackError::writing(path))
}

/// Writes a new file and presses it to the disk.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), PackError> {
    let mut file = create(path)?;
    file.write_all(bytes)
        .and_then(|()| file.sync_all())
        .map_err(PackError::writing(path))
}

/// Makes renames in a folder survive a loss of power.
pub(crate) fn sync_dir(path: &Path) -> Result<(), PackError> {
    #[cfg(unix)]
    File::open(path)
        .and_then(|folder| folder.sync_all())
        .map_err(PackError::writing(path))?;
    Ok(())
}

/// Counts bytes of one stage and tells a caller.
pub(crate) struct Meter<'a> {
    stage: ImportStage,
    done: u64,
    total: u64,
    on_progress: OnProgress<'a>,
}

impl<'a> Meter<'a> {
    pub(crate) fn new(stage: ImportStage, total: u64, on_progress: OnProgress<'a>) -> Self {
        let mut meter = Self {
            stage,
            done: 0,
            total,
            on_progress,
        };
        meter.add(0);
        meter
    }

    pub(crate) fn add(&mut self, bytes: u64) {
        self.done += bytes;
        (self.on_progress)(ImportProgress {
            stage: self.stage,
            done: self.done,
            total: self.total.max(self.done),
        });
    }
}

/// Reads to the end in pieces. An error of reading is `read_error`'s, one of writing that of the target.
pub(crate) fn copy(
    from: &mut dyn Read,
    read_error: impl FnOnce(std::io::Error) -> PackError,
    to: &mut dyn Write,
    target: &Path,
    meter: &mut Meter<'_>,
) -> Result<u64, PackError> {
    let mut piece = vec![0; PIECE];
    let mut copied = 0;
    loop {
        match from.read(&mut piece) {
            Ok(0) => return Ok(copied),
            Ok(count) => {
                to.write_all(&piece[..count]).map_err(PackError::writing(target))?;
                copied += count as u64;
                meter.add(count as u64);
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(read_error(error)),
        }
    }
}

/// Takes a file's length and SHA-256.
pub(crate) fn digest(path: &Path, meter: &mut Meter<'_>) -> Result<(u64, String), PackError> {
    let mut file = File::open(path).map_err(PackError::reading(path))?;
    let mut hasher = Hasher(Sha256::new());
    let bytes = copy(&mut file, PackError::reading(path), &mut hasher, path, meter)?;
    Ok((bytes, hex(&hasher.0.finalize())))
}

struct Hasher(Sha256);

impl Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Writes bytes as lower-case hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a String takes every write");
        text
    })
}
