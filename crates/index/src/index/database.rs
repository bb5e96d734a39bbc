//! Connections to the database, and the database made anew where it is broken.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use casebook_corpus::Degradation;
use casebook_storage::{DatabaseError, FileLock, OpenOptions, Waited, is_unwritable};
use rusqlite::Connection;

use crate::OpenError;
use crate::degradation::INDEX_REBUILT;
use crate::index::files::Files;
use crate::schema::{open_database, open_database_to_read};
use crate::store::is_broken;

/// Connections that rest between two uses.
const IDLE: usize = 8;

/// How long an opener waits for a builder before it gives a broken database up.
const HEAL_WAIT: Duration = Duration::from_secs(10);

/// A connection and the file that it leads to.
pub(crate) struct Pooled {
    pub(crate) db: Connection,
    pub(crate) file: FileId,
    /// Whether it can be written. One that cannot is for a moment: it is blind to what a writer does meanwhile.
    is_writable: bool,
}

/// Tells one file from another of the same name: another process may have made the database anew.
pub(crate) type FileId = Option<(u64, u64)>;

/// Open connections of one process. Opening one costs about a millisecond, so they are used again.
pub(crate) struct Pool {
    idle: Mutex<Vec<Pooled>>,
}

impl Pool {
    /// Opens a first connection; a broken database is made anew.
    pub(crate) fn open(files: &Files) -> Result<(Self, Option<Degradation>), OpenError> {
        let pool = Self { idle: Mutex::default() };
        match connect(files) {
            Ok(first) => {
                pool.give_back(first);
                Ok((pool, None))
            }
            Err(error) if is_broken_database(&error) => {
                let degradation = pool.heal(files, error)?;
                Ok((pool, degradation))
            }
            Err(error) => Err(open_error(files, error)),
        }
    }

    /// Opens a first connection to a database that has to be there and need not be writable.
    pub(crate) fn open_to_read(files: &Files) -> Result<Self, OpenError> {
        let pool = Self { idle: Mutex::default() };
        let first = pool.take(files)?;
        pool.give_back(first);
        Ok(pool)
    }

    /// Makes the database anew unless another process has done so meanwhile.
    fn heal(&self, files: &Files, error: DatabaseError) -> Result<Option<Degradation>, OpenError> {
        let waited = FileLock::wait(&files.lock, Some(HEAL_WAIT), &mut || true);
        let Ok(Waited::Acquired(_lock)) = waited else {
            return Err(open_error(files, error));
        };
        match connect(files) {
            Ok(healed) => {
                self.give_back(healed);
                Ok(None)
            }
            Err(error) if is_broken_database(&error) => self.replace(files).map(Some),
            Err(error) => Err(open_error(files, error)),
        }
    }

    /// Moves the database aside and makes an empty one. Only for who holds the build lock.
    pub(crate) fn replace(&self, files: &Files) -> Result<Degradation, OpenError> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let aside = files.set_aside().map_err(|source| OpenError::Folder {
            path: files.dir.clone(),
            source,
        })?;
        self.give_back(connect(files).map_err(|error| open_error(files, error))?);
        let name = aside.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let detail = format!("the index was broken; it is kept as {name}, and the next build makes it anew");
        Ok(Degradation::new(INDEX_REBUILT, detail))
    }

    /// Returns a connection to the file that is there now; where that cannot be written, one that reads alone.
    pub(crate) fn take(&self, files: &Files) -> Result<Pooled, OpenError> {
        let current = file_id(files);
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|pooled| pooled.file == current);
        let rested = idle.pop();
        drop(idle);
        let opened = rested.map_or_else(|| connect(files).or_else(|error| connect_to_read(files, error)), Ok);
        opened.map_err(|error| open_error(files, error))
    }

    pub(crate) fn give_back(&self, pooled: Pooled) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE && pooled.is_writable {
            idle.push(pooled);
        }
    }
}

/// A connection that writes much, back in the pool when it is dropped: where the last one is closed, SQLite copies its log
/// into the database and removes it, which takes longer than a small build.
pub(crate) struct Lent<'a> {
    pool: &'a Pool,
    /// Only dropping takes it out.
    pooled: Option<Pooled>,
}

impl<'a> Lent<'a> {
    /// Bytes of pages that a build keeps in memory: without them each page of an index on hashes is read and written again
    /// and again. SQLite counts in KiB where the number is negative.
    const CACHE: i64 = -(64 << 10);
    /// What SQLite takes by itself.
    const USUAL_CACHE: i64 = -2000;

    /// Takes a connection that waits so long for another writer of the file.
    pub(crate) fn take(pool: &'a Pool, files: &Files, busy_timeout: Duration) -> Result<Self, OpenError> {
        let lent = Self {
            pool,
            pooled: Some(pool.take(files)?),
        };
        let set = lent.set(busy_timeout, Self::CACHE);
        set.map_err(|error| open_error(files, error.into()))?;
        Ok(lent)
    }

    fn set(&self, busy_timeout: Duration, cache: i64) -> rusqlite::Result<()> {
        self.busy_timeout(busy_timeout)?;
        self.pragma_update(None, "cache_size", cache)
    }
}

impl Deref for Lent<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.pooled.as_ref().expect("only dropping takes it out").db
    }
}

impl DerefMut for Lent<'_> {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.pooled.as_mut().expect("only dropping takes it out").db
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let is_usual = self.set(OpenOptions::BUSY_TIMEOUT, Self::USUAL_CACHE).is_ok();
        if let Some(pooled) = self.pooled.take().filter(|_| is_usual) {
            self.pool.give_back(pooled);
        }
    }
}

fn connect(files: &Files) -> Result<Pooled, DatabaseError> {
    files.renew_folder()?;
    let db = open_database(&files.database)?;
    Ok(Pooled {
        db,
        file: file_id(files),
        is_writable: true,
    })
}

/// Opens what cannot be written because of `error`, which is returned where it cannot be read either.
fn connect_to_read(files: &Files, error: DatabaseError) -> Result<Pooled, DatabaseError> {
    let opened = is_unwritable(&error).then(|| open_database_to_read(&files.database));
    match opened {
        Some(Ok(db)) => Ok(Pooled {
            db,
            file: file_id(files),
            is_writable: false,
        }),
        _ => Err(error),
    }
}

#[cfg(unix)]
fn file_id(files: &Files) -> FileId {
    use std::os::unix::fs::MetadataExt;
    let found = std::fs::metadata(&files.database).ok()?;
    Some((found.dev(), found.ino()))
}

/// Elsewhere a file that is open cannot be moved away, so the name says enough.
#[cfg(not(unix))]
fn file_id(_files: &Files) -> FileId {
    None
}

fn is_broken_database(error: &DatabaseError) -> bool {
    matches!(error, DatabaseError::Sqlite(error) if is_broken(error))
}

fn open_error(files: &Files, error: DatabaseError) -> OpenError {
    match error {
        DatabaseError::Newer { found, known } => OpenError::Newer {
            path: files.database.clone(),
            found,
            known,
        },
        DatabaseError::File(error) => OpenError::Folder {
            path: error.path,
            source: error.source,
        },
        other => OpenError::Database(Box::new(other)),
    }
}
