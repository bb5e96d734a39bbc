//! Keeps the cache of vectors within its bound.
//!
//! The one thing a newcomer gets wrong: the bound is one of what the head does without. Its own vectors stay whatever they
//! take: those of the encoder that builds use, and those of every encoder that is filled in beside, complete or not.

use rusqlite::Connection;

use crate::{TextEncoder, store};

/// Rows that a build deletes, beside twice those that it made: enough to keep pace, and few enough to be quick.
const ROWS: u64 = 2_000;

/// What the bound is at least, where the options leave it open.
const LEAST_BYTES: u64 = 64 << 20;

/// What a build did to the cache.
pub(super) struct Turnover {
    /// Vectors that it made.
    pub(super) made: u64,
    /// Units that left or changed, at most; `None` where that says nothing of what is spare now.
    pub(super) left: Option<u64>,
}

/// Deletes the oldest vectors that the new head does without, where they are more than the bound that was told. `base` is
/// the encoder of the build. Returns how many were deleted.
///
/// What is spare is counted only where it may be too much: until then it is known how much it can be at most.
pub(super) fn evict(
    tx: &Connection,
    told: Option<u64>,
    base: Option<&dyn TextEncoder>,
    turnover: &Turnover,
) -> rusqlite::Result<u64> {
    let least = told.unwrap_or(LEAST_BYTES);
    let bytes = store::bytes_of_input(tx, base.map_or(0, TextEncoder::dimension))?;
    let most = match (store::spare_bytes(tx)?, turnover.left) {
        (Some(before), Some(left)) => Some(before + left * bytes),
        _ => None,
    };
    if most.is_some_and(|most| most <= least) || file_bytes(tx)? <= least {
        store::note_spare_bytes(tx, most)?;
        return Ok(0);
    }
    let base = base.map(TextEncoder::revision);
    let held = store::cache_bytes(tx, base)?;
    store::note_spare_bytes(tx, Some(held.spare))?;
    let bound = told.unwrap_or_else(|| least.max(held.needed));
    match held.spare.saturating_sub(bound) {
        0 => Ok(0),
        surplus => store::evict(tx, base, surplus, ROWS + 2 * turnover.made),
    }
}

/// Returns the bytes of the whole database, which no part of it exceeds.
fn file_bytes(db: &Connection) -> rusqlite::Result<u64> {
    let pages: u64 = db.pragma_query_value(None, "page_count", |row| row.get(0))?;
    let size: u64 = db.pragma_query_value(None, "page_size", |row| row.get(0))?;
    Ok(pages * size)
}
