//! Rows become values and values become rows.
//!
//! The one thing a newcomer gets wrong: a stored value that cannot be read back is a broken index, not a bug to panic
//! on; it comes out as a database error for which [`is_broken`] is true, and the index is made anew.

mod encoders;
mod resources;
mod revisions;
mod units;
mod vectors;

use casebook_corpus::{ContentHash, EffectiveHash, Stamp};
use rusqlite::ErrorCode;
use rusqlite::types::Type;

use crate::lexical::impact::BrokenWords;

pub(crate) use encoders::{
    StoredEncoder, choose, complete, encoder, encoders, forget_some, kept_beside, register, touch,
};
pub(crate) use resources::{
    ItemState, StoredItem, StoredResource, all_items, body, manifest, resource_at, resource_by_id, resources, totals,
};
pub(crate) use revisions::{Head, RevisionDraft, abandon, begin, fail, finish, head, last_failure, prune};
pub(crate) use units::{StoredUnit, stored_unit, unit_by_key, units_at};
pub(crate) use vectors::{
    Encoding, LackingUnit, bytes_of_input, cache_bytes, count_lacking, count_lacking_among, evict, forget_vectors,
    inputs_with_vectors, is_cached, keep_vector, keep_weights, lacking_units, note_spare_bytes, spare_bytes,
    vector_of_input, vector_of_unit, vectors_lost,
};

/// Returns whether the error means that the index cannot be trusted any more.
pub(crate) fn is_broken(error: &rusqlite::Error) -> bool {
    use rusqlite::Error::{FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, QueryReturnedNoRows};
    casebook_storage::is_corrupt(error)
        || matches!(
            error,
            FromSqlConversionFailure(..) | IntegralValueOutOfRange(..) | InvalidColumnType(..) | QueryReturnedNoRows
        )
}

/// Returns whether the error means that the tables of words or of substrings alone cannot be trusted any more.
pub(crate) fn is_full_text_broken(error: &rusqlite::Error) -> bool {
    /// What FTS5 answers where its own tables do not fit together.
    const SQLITE_CORRUPT_VTAB: i32 = 267;
    if let rusqlite::Error::FromSqlConversionFailure(.., source) = error {
        return source.is::<BrokenWords>();
    }
    match error.sqlite_error_code() {
        // A garbled length makes FTS5 ask for memory that there is not; none of our statements needs more than a little.
        Some(ErrorCode::OutOfMemory) => true,
        // Where one of its tables is gone, SQLite has no other code than that of a wrong statement.
        Some(ErrorCode::Unknown) => ["search_units_fts", "search_word_"]
            .iter()
            .any(|name| error.to_string().contains(name)),
        _ => error
            .sqlite_error()
            .is_some_and(|found| found.extended_code == SQLITE_CORRUPT_VTAB),
    }
}

/// Returns a conversion from any error to that of a stored value that cannot be read back.
pub(crate) fn unreadable<E>(error: E) -> rusqlite::Error
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    rusqlite::Error::FromSqlConversionFailure(0, Type::Blob, error.into())
}

pub(crate) fn pack<T: serde::Serialize>(value: &T) -> Vec<u8> {
    rmp_serde::to_vec_named(value).expect("plain data is always serialisable")
}

pub(crate) fn unpack<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> rusqlite::Result<T> {
    rmp_serde::from_slice(bytes).map_err(unreadable)
}

pub(crate) fn pack_stamp(stamp: Option<Stamp>) -> Option<Vec<u8>> {
    stamp.map(|stamp| stamp.words().iter().flat_map(|word| word.to_le_bytes()).collect())
}

/// A stamp of another form is no stamp: the item is simply read again.
pub(crate) fn unpack_stamp(bytes: Option<&[u8]>) -> Option<Stamp> {
    let bytes: [u8; 32] = bytes?.try_into().ok()?;
    let mut words = [0; 4];
    for (word, chunk) in words.iter_mut().zip(bytes.chunks_exact(8)) {
        *word = u64::from_le_bytes(chunk.try_into().ok()?);
    }
    Some(Stamp::new(words))
}

pub(crate) fn content_hash(bytes: &[u8]) -> rusqlite::Result<ContentHash> {
    bytes.try_into().map(ContentHash::from_bytes).map_err(unreadable)
}

/// Returns the bytes of an input's hash.
pub(crate) fn input_hash(bytes: &[u8]) -> rusqlite::Result<[u8; 32]> {
    bytes.try_into().map_err(unreadable)
}

pub(crate) fn effective_hash(bytes: &[u8]) -> rusqlite::Result<EffectiveHash> {
    bytes.try_into().map(EffectiveHash::from_bytes).map_err(unreadable)
}

#[cfg(test)]
mod tests {
    use rusqlite::{Error, ffi};

    use super::*;

    #[test]
    fn what_a_garbled_table_of_substrings_answers_is_its_fault_alone() {
        let failed = |code, told: &str| Error::SqliteFailure(ffi::Error::new(code), Some(told.to_owned()));
        for broken in [
            failed(267, "database disk image is malformed"),
            failed(ffi::SQLITE_NOMEM, "out of memory"),
            failed(ffi::SQLITE_ERROR, "no such table: main.search_units_fts_data"),
        ] {
            assert!(is_full_text_broken(&broken), "{broken}");
        }
        for other in [
            failed(ffi::SQLITE_ERROR, "no such table: search_units"),
            failed(ffi::SQLITE_CORRUPT, "database disk image is malformed"),
            failed(ffi::SQLITE_FULL, "database or disk is full"),
        ] {
            assert!(!is_full_text_broken(&other), "{other}");
        }
    }
}
