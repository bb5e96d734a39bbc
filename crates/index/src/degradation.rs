//! Codes of what this crate may have to do without.

/// The index of words belongs to another version of the lane, or was left out; the next build writes it.
pub const IMPACT_LANE_BEHIND: &str = "impact_lane_behind";
/// The table of substrings is not the one that this version searches; the next build writes it anew.
pub const FTS5_LANE_BEHIND: &str = "fts5_lane_behind";
/// The index was broken and has been made anew from the sources.
pub const INDEX_REBUILT: &str = "index_rebuilt";
/// FTS5 left frequent terms to the word lane.
pub const LEXICAL_TERMS_SKIPPED: &str = "lexical_terms_skipped";
/// The word index belongs to another revision than the head; the next build repairs it.
pub const TANTIVY_LANE_BEHIND: &str = "tantivy_lane_behind";
/// The word index cannot be opened or written.
pub const TANTIVY_LANE_UNAVAILABLE: &str = "tantivy_lane_unavailable";
/// There are no vectors: no encoder, or it does not work.
pub const VECTOR_LANE_UNAVAILABLE: &str = "vector_lane_unavailable";
/// Some units have no vector.
pub const VECTOR_PARTIAL: &str = "vector_partial";
/// Vectors were read from the database, because their segments are damaged, missing or behind.
pub const VECTOR_SEGMENTS_UNUSABLE: &str = "vector_segments_unusable";
/// Segments of vectors cannot be written.
pub const VECTOR_SEGMENTS_UNWRITTEN: &str = "vector_segments_unwritten";
