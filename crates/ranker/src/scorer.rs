//! The contract of a reranker.

use std::ops::Range;

use casebook_index::{Cancel, Passage};

/// How well one passage answers the query.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PairScore {
    /// The scorer's own scale, higher is better, finite. For late interaction 0 (nothing matches) to about 1. Does not
    /// depend on the other passages: relevance is judged by it.
    pub score: f32,
    /// The same in the company of the other passages of the call: what all of them have tells none apart. Comparable
    /// within one call only: the order is made by it.
    pub contrast: f32,
}

impl PairScore {
    /// Wraps the score of a scorer that looks at each passage alone.
    pub const fn new(score: f32) -> Self {
        Self { score, contrast: score }
    }

    /// Adds what a scorer says that compared the passages.
    pub const fn with_contrast(self, contrast: f32) -> Self {
        Self { contrast, ..self }
    }
}

/// A word of the query and the word of a text that is nearest to it.
#[derive(Clone, Debug, PartialEq)]
pub struct WordMatch {
    /// Where the word first stands in the query, in bytes.
    pub query: Range<usize>,
    /// Where its match first stands in the text, in bytes.
    pub text: Range<usize>,
    /// How near the two are on the scorer's own scale; for late interaction their cosine.
    pub nearness: f32,
    /// Share of the word in the query's weight, above 0; all words together have 1.
    pub share: f32,
}

/// Scores passages against a query.
///
/// Contract: deterministic; one score per passage, in order; any text is allowed.
pub trait PairScorer: Send + Sync {
    /// Returns what determines the scores: method and weights.
    fn revision(&self) -> &str;

    /// Returns one score per passage, in order. Asks `cancel` between passages.
    ///
    /// # Errors
    /// When cancelled (the deadline passed) or when the scorer cannot work; the ranker then goes on without it.
    fn score(&self, query: &str, passages: &[Passage<'_>], cancel: &dyn Cancel) -> Result<Vec<PairScore>, ScoreError>;

    /// Returns, per text, which of its words answer which words of the query, in order of the query; none where the
    /// scorer does not work by words. For showing, not for ranking.
    fn matches(&self, query: &str, texts: &[&str]) -> Vec<Vec<WordMatch>> {
        let _ = query;
        vec![Vec::new(); texts.len()]
    }
}

/// A scorer cannot work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScoreError {
    /// The caller asked to stop.
    #[error("scoring was cancelled")]
    Cancelled,
    /// A scorer's own trouble.
    #[error("scorer failed")]
    Other(#[source] Box<dyn std::error::Error + Send + Sync>),
}
