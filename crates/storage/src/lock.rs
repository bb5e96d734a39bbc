//! A lock between processes that a crash releases.
//!
//! The operating system holds it for the open file, so it also excludes two holders within one process. The file itself
//! says nothing and stays: removing it would let two processes hold locks on two files of one name, unless everyone who
//! takes it asks [`FileLock::is_at`].

use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::Duration;

use crate::{FileError, create_private_file};

/// How often a waiter looks again.
const POLL: Duration = Duration::from_millis(20);

/// A held lock; dropping it, or the end of the process, releases it.
#[derive(Debug)]
pub struct FileLock {
    file: File,
}

/// The outcome of waiting for a lock.
#[derive(Debug)]
pub enum Waited {
    /// It is ours.
    Acquired(FileLock),
    /// Another held it for the whole limit.
    TimedOut,
    /// The caller gave up.
    GivenUp,
}

impl FileLock {
    /// Takes the lock where it is free; `None` where another holds it. Creates the file where it is missing.
    ///
    /// # Errors
    /// When the file cannot be opened or locked at all.
    pub fn try_acquire(path: &Path) -> Result<Option<Self>, FileError> {
        let file = create_private_file(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(FileError::at(path)(source)),
        }
    }

    /// Returns whether the lock's file is still the one of this name. Where lock files are removed, whoever takes a lock has
    /// to ask: it may have been taken on a file that was removed a moment before.
    pub fn is_at(&self, path: &Path) -> bool {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            let id = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
            let ours = self.file.metadata().map(id);
            ours.is_ok_and(|ours| std::fs::metadata(path).is_ok_and(|named| id(named) == ours))
        }
        // Elsewhere an open file keeps its name.
        #[cfg(not(unix))]
        {
            self.file.metadata().is_ok() && path.exists()
        }
    }

    /// Waits until the lock is free, at most `limit` (`None`: for ever). Asks `go_on` before every further look.
    ///
    /// # Errors
    /// When the file cannot be opened or locked at all.
    pub fn wait(path: &Path, limit: Option<Duration>, go_on: &mut dyn FnMut() -> bool) -> Result<Waited, FileError> {
        let mut waited = Duration::ZERO;
        loop {
            if let Some(lock) = Self::try_acquire(path)? {
                return Ok(Waited::Acquired(lock));
            }
            if limit.is_some_and(|limit| waited >= limit) {
                return Ok(Waited::TimedOut);
            }
            if !go_on() {
                return Ok(Waited::GivenUp);
            }
            let pause = limit.map_or(POLL, |limit| POLL.min(limit - waited));
            std::thread::sleep(pause);
            waited += pause;
        }
    }

    /// Returns whether someone holds the lock now, without taking it from anyone who wants it for longer.
    ///
    /// # Errors
    /// When the file exists and cannot be opened or locked at all.
    pub fn is_held(path: &Path) -> Result<bool, FileError> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
            Err(source) => return Err(FileError::at(path)(source)),
        };
        match file.try_lock_shared() {
            Ok(()) => Ok(false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(source)) => Err(FileError::at(path)(source)),
        }
    }
}
