//! Opens a database with the settings that every one of ours has.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::{DatabaseError, create_private_dir, create_private_file};

/// How hard a commit is pressed to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Synchronous {
    /// A loss of power may lose the last commits, never corrupt. For what can be rebuilt.
    Normal,
    /// A commit survives a loss of power. For what cannot.
    Full,
}

/// How to open a database.
#[derive(Clone, Copy, Debug)]
pub struct OpenOptions {
    /// Marks the file as ours; another application's database is refused.
    pub application_id: i32,
    /// How hard a commit is pressed to the disk.
    pub synchronous: Synchronous,
    /// How long a writer waits for another.
    pub busy_timeout: Duration,
}

impl OpenOptions {
    /// How long a writer waits for another where nothing else is said.
    pub const BUSY_TIMEOUT: Duration = Duration::from_secs(30);

    /// Opens with the default busy timeout.
    pub const fn new(application_id: i32, synchronous: Synchronous) -> Self {
        Self {
            application_id,
            synchronous,
            busy_timeout: Self::BUSY_TIMEOUT,
        }
    }
}

/// Opens a database in WAL mode; a missing one is created empty, file and folder for their owner alone. Many processes
/// may do this at once.
///
/// # Errors
/// When the file cannot be used, is no database, or belongs to another application.
pub fn open(path: &Path, options: &OpenOptions) -> Result<Connection, DatabaseError> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        create_private_dir(folder)?;
    }
    // SQLite would create it readable for everyone that the umask allows; its WAL takes over this file's mode.
    drop(create_private_file(path)?);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(options.busy_timeout)?;
    db.pragma_update(None, "trusted_schema", false)?;
    db.pragma_update(None, "foreign_keys", true)?;
    use_wal(&db, options.busy_timeout)?;
    let synchronous = match options.synchronous {
        Synchronous::Normal => "NORMAL",
        Synchronous::Full => "FULL",
    };
    db.pragma_update(None, "synchronous", synchronous)?;
    claim(&db, path, options.application_id)?;
    Ok(db)
}

/// Opens a database that cannot be written, for reading alone: on a read-only disk, or on a full one, where not even the
/// file of shared memory that WAL needs can be made. Where no log lies beside it, it is taken for one that nobody changes
/// meanwhile: whoever holds the connection for long may read what a writer that began later has half copied.
///
/// # Errors
/// When it cannot be read, or belongs to another application.
pub fn open_read_only(path: &Path, application_id: i32) -> Result<Connection, DatabaseError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let has_log = std::fs::metadata(Path::new(&log)).is_ok_and(|log| log.len() > 0);
    let uri = format!("file:{}{}", escaped(path), if has_log { "" } else { "?immutable=1" });
    let db = Connection::open_with_flags(uri, flags)?;
    db.busy_timeout(OpenOptions::BUSY_TIMEOUT)?;
    db.pragma_update(None, "trusted_schema", false)?;
    match db.pragma_query_value(None, "application_id", |row| row.get::<_, i32>(0))? {
        found if found == application_id => Ok(db),
        found => Err(DatabaseError::Foreign {
            path: path.to_owned(),
            found,
            expected: application_id,
        }),
    }
}

/// Returns a path as it stands in a URI.
fn escaped(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes().iter();
    let escaped = bytes.map(|byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => char::from(*byte).to_string(),
        b'\\' if cfg!(windows) => "/".to_owned(),
        byte => format!("%{byte:02X}"),
    });
    let escaped: String = escaped.collect();
    // A drive is a part of the path and no host.
    if cfg!(windows) && !escaped.starts_with('/') {
        format!("/{escaped}")
    } else {
        escaped
    }
}

/// Returns whether the error means that the file, or its folder, cannot be written, while it may well be readable.
pub fn is_unwritable(error: &DatabaseError) -> bool {
    match error {
        DatabaseError::File(_) => true,
        DatabaseError::Sqlite(error) => matches!(
            error.sqlite_error_code(),
            Some(
                ErrorCode::CannotOpen
                    | ErrorCode::DiskFull
                    | ErrorCode::PermissionDenied
                    | ErrorCode::ReadOnly
                    | ErrorCode::SystemIoFailure
            )
        ),
        _ => false,
    }
}

/// Returns whether the error means that the file is broken, rather than busy, full or misused.
pub fn is_corrupt(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
    )
}

/// Switches to WAL where that is not so yet. The switch answers "busy" at once when another process is at it, whatever
/// the timeout, so it is tried again here.
fn use_wal(db: &Connection, limit: Duration) -> rusqlite::Result<()> {
    const PAUSE: Duration = Duration::from_millis(5);
    let mut waited = Duration::ZERO;
    loop {
        match db.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0)) {
            Err(error) if is_busy(&error) && waited < limit => {
                std::thread::sleep(PAUSE);
                waited += PAUSE;
            }
            other => return other.map(drop),
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    )
}

/// Checks whose database it is, and marks a new one.
fn claim(db: &Connection, path: &Path, expected: i32) -> Result<(), DatabaseError> {
    match db.pragma_query_value(None, "application_id", |row| row.get::<_, i32>(0))? {
        found if found == expected => Ok(()),
        0 => Ok(db.pragma_update(None, "application_id", expected)?),
        found => Err(DatabaseError::Foreign {
            path: path.to_owned(),
            found,
            expected,
        }),
    }
}
