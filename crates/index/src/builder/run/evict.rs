//! Keeps the cache of vectors within its bound.
//!
//! The one thing a newcomer gets wrong: the bound is one of what the head does without. Its own vectors stay whatever they
//! take: those of the encoder that builds use, and those of every encoder that is filled in beside, complete or not.

use rusqlite::Connection;

use crate::{EncoderRevision, store};

/// Rows that a build deletes, beside twice those that it made: enough to keep pace, and few enough to be quick.
const ROWS: u64 = 2_000;

/// What the bound is at least, where the options leave it open.
const LEAST_BYTES: u64 = 64 << 20;

/// Deletes the oldest vectors that the new head does without, where they are more than the bound that was told. `base` is
/// the encoder of the build and `made` how many vectors it made. Returns how many were deleted.
pub(super) fn evict(
    tx: &Connection,
    told: Option<u64>,
    base: Option<&EncoderRevision>,
    made: u64,
) -> rusqlite::Result<u64> {
    let least = told.unwrap_or(LEAST_BYTES);
    if file_bytes(tx)? <= least {
        return Ok(0);
    }
    let held = store::cache_bytes(tx, base)?;
    let bound = told.unwrap_or_else(|| least.max(held.needed));
    match held.spare.saturating_sub(bound) {
        0 => Ok(0),
        surplus => store::evict(tx, base, surplus, ROWS + 2 * made),
    }
}

/// Returns the bytes of the whole database, which no part of it exceeds.
fn file_bytes(db: &Connection) -> rusqlite::Result<u64> {
    let pages: u64 = db.pragma_query_value(None, "page_count", |row| row.get(0))?;
    let size: u64 = db.pragma_query_value(None, "page_size", |row| row.get(0))?;
    Ok(pages * size)
}
