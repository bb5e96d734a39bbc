//! Lanes that recall by words. Each has a file of its own; `tests/it/lanes.rs` holds what all of them promise.

mod analyzer;
mod best;
mod bounds;
mod fts5;
mod identity;
pub(crate) mod impact;
mod irregular;
mod sparse;
mod tantivy;

use casebook_chunker::UnitKey;
use casebook_corpus::ResourceId;
use unicode_normalization::UnicodeNormalization;

use crate::IndexOptions;

pub(crate) use self::fts5::Fts5Lane;
pub(crate) use self::identity::IdentityLane;
pub(crate) use self::impact::{ImpactLane, ImpactWriter};
pub(crate) use self::sparse::{Postings, SparseWeights, weights_to_blob};
pub(crate) use self::tantivy::{TantivyError, TantivyLane, TantivyStore};

/// A unit as the lexical lanes index it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaneDocument<'a> {
    pub(crate) unit_key: &'a UnitKey,
    pub(crate) resource_id: &'a ResourceId,
    /// Position among the units of its resource.
    pub(crate) order: u32,
    pub(crate) path: &'a str,
    pub(crate) title: &'a str,
    /// Headings above the text, outermost first, joined by line feeds.
    pub(crate) headings: &'a str,
    pub(crate) text: &'a str,
}

/// Returns everything that determines what this crate's lexical lanes find.
pub(crate) fn lexical_revision(options: &IndexOptions) -> String {
    let lanes = [
        (true, identity::REVISION.to_owned()),
        (options.impact, ImpactLane::lexical_revision()),
        (options.fts5, fts5::REVISION.to_owned()),
        (options.tantivy, TantivyStore::lexical_revision()),
    ];
    let present: Vec<_> = lanes
        .into_iter()
        .filter_map(|(present, revision)| present.then_some(revision))
        .collect();
    present.join(" ")
}

/// Folds what people do not tell apart: NFKC, lower case.
pub(crate) fn fold(text: &str) -> String {
    text.nfkc().flat_map(char::to_lowercase).collect()
}

/// Returns a text as the trigram table stores it: NFKC, for the table folds case by itself.
pub(crate) fn normalise(text: &str) -> String {
    text.nfkc().collect()
}
