//! What callers of the archive may rely on.

use casebook_archive::CatalogEntry;
use casebook_corpus::{ContentHash, Timestamp};

#[cfg(test)]
mod catalog;
#[cfg(test)]
mod verify;

/// Describes a raw source of this content as a catalog should.
fn entry(path: &str, content: &str) -> CatalogEntry {
    CatalogEntry {
        source_id: path.into(),
        source_type: "generic".into(),
        from: Some(Timestamp::from_unix_millis(1_000)),
        to: None,
        curated: Some("notes/会议.md".into()),
        path: path.into(),
        size: content.len() as u64,
        sha256: ContentHash::of(content),
        record_count: content.lines().filter(|line| !line.trim().is_empty()).count() as u64,
        imported_at: Timestamp::from_unix_millis(2_500),
        other: Default::default(),
    }
}
