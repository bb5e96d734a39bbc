//! One built state of the index.

use casebook_corpus::{EffectiveHash, Timestamp, string_id};

use crate::EncoderRevision;

string_id! {
    /// Identity of a built state, unique within a project: a rising number and the start of the effective hash.
    RevisionId
}

/// One built state of the index. Everything that determines results is here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    /// Identity.
    pub id: RevisionId,
    /// The revision that it was built from.
    pub parent: Option<RevisionId>,
    /// What memory it holds.
    pub effective_hash: EffectiveHash,
    /// Strategy and token counter that cut the units.
    pub chunker_revision: String,
    /// Whose vectors it holds; `None` where it was built without an encoder.
    pub encoder_revision: Option<EncoderRevision>,
    /// Tokenizers and schemas of the lexical lanes.
    pub lexical_revision: String,
    /// Live resources.
    pub resources: u64,
    /// Units of live resources.
    pub units: u64,
    /// When it became the head.
    pub ready_at: Timestamp,
}
