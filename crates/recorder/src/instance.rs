//! Which of the processes that recorded something are still alive.
//!
//! Each holds a lock on a file of its own for as long as it lives; the system releases it however the process ends. A
//! file that nobody holds, or that is gone, means that its process is gone.

use std::path::{Path, PathBuf};
use std::time::Duration;

use casebook_storage::{FileError, FileLock, Waited, create_private_dir};

use crate::{InstanceId, OpenError};

/// How long to wait for others that take or sweep locks; each is done in a moment.
const GUARD_LIMIT: Duration = Duration::from_secs(1);

/// How long to wait for our own lock: a process that asks whether we live holds it for a moment.
const OWN_LIMIT: Duration = Duration::from_millis(200);

/// The lock files of all instances.
pub(crate) struct Instances {
    dir: PathBuf,
    /// Held while a lock is taken and while files are removed: else a lock could be taken on a file that is just removed.
    guard: PathBuf,
}

impl Instances {
    pub(crate) fn new(data_dir: &Path) -> Result<Self, FileError> {
        let dir = data_dir.join("instances");
        create_private_dir(&dir)?;
        Ok(Self {
            guard: data_dir.join("instances.lock"),
            dir,
        })
    }

    /// Takes the lock of this process.
    pub(crate) fn enter(&self, id: &InstanceId) -> Result<FileLock, OpenError> {
        let in_use = || OpenError::InstanceInUse { id: id.clone() };
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if !(1..=64).contains(&id.as_str().len()) || !id.as_str().chars().all(plain) {
            return Err(OpenError::InstanceId { id: id.clone() });
        }
        let guard = FileLock::wait(&self.guard, Some(GUARD_LIMIT), &mut || true)?;
        let own = FileLock::wait(&self.path(id), Some(OWN_LIMIT), &mut || true)?;
        match (guard, own) {
            (Waited::Acquired(_guard), Waited::Acquired(lock)) => Ok(lock),
            _ => Err(in_use()),
        }
    }

    /// Returns whether the process is alive.
    pub(crate) fn is_alive(&self, id: &InstanceId) -> Result<bool, FileError> {
        FileLock::is_held(&self.path(id))
    }

    /// Removes the files of processes that are gone, unless another process is at it.
    pub(crate) fn sweep(&self) -> Result<(), FileError> {
        let Some(_guard) = FileLock::try_acquire(&self.guard)? else {
            return Ok(());
        };
        let listing = |source| FileError {
            path: self.dir.clone(),
            source,
        };
        for entry in std::fs::read_dir(&self.dir).map_err(listing)? {
            let path = entry.map_err(listing)?.path();
            if !FileLock::is_held(&path)? {
                std::fs::remove_file(&path).map_err(|source| FileError { path, source })?;
            }
        }
        Ok(())
    }

    fn path(&self, id: &InstanceId) -> PathBuf {
        self.dir.join(format!("{id}.lock"))
    }
}
