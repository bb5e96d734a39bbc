//! Opens SQLite databases, runs migrations, writes files atomically. Knows no domain.
//!
//! The one thing a newcomer gets wrong: SQLite's busy timeout does not cover everything. Switching a new file to WAL can
//! answer "busy" at once, and a transaction that starts as a reader can never wait to become a writer. [`open`] retries
//! the first by itself; writers must begin with `BEGIN IMMEDIATE`.

mod database;
mod error;
mod file;
mod lock;
mod migrate;

pub use database::{OpenOptions, Synchronous, is_corrupt, is_unwritable, open, open_read_only};
pub use error::{DatabaseError, FileError};
pub use file::{NewFile, bytes_below, create_private_dir, create_private_file, read_at, write_atomic};
pub use lock::{FileLock, Waited};
pub use migrate::{Migration, migrate};
