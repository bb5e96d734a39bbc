//! The ways to rank that the lab compares.

use casebook_ranker::{Candidate, Fusion, RankedScore};
use serde::Serialize;

/// A way to rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Arm {
    /// The lane of words.
    Impact,
    /// The lane of substrings.
    Fts5,
    /// The lane of words by Tantivy.
    Tantivy,
    /// Identity, then the word lanes merged.
    Lexical,
    /// The lane of vectors.
    Dense,
    /// Reciprocal rank fusion of the lexical and the dense list.
    Rrf,
    /// Weighted fusion of the two, aware of languages.
    Weighted,
    /// The whole chain with reciprocal rank fusion: what was reranked, then the rest as fused.
    V2,
    /// The whole chain with weighted fusion.
    V3,
    /// The whole chain as it is configured.
    Full,
}

impl Arm {
    /// Every arm, in order of the chain.
    pub const ALL: [Self; 10] = [
        Self::Impact,
        Self::Fts5,
        Self::Tantivy,
        Self::Lexical,
        Self::Dense,
        Self::Rrf,
        Self::Weighted,
        Self::V2,
        Self::V3,
        Self::Full,
    ];

    /// Returns the stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Impact => "impact",
            Self::Fts5 => "fts5",
            Self::Tantivy => "tantivy",
            Self::Lexical => "lexical",
            Self::Dense => "dense",
            Self::Rrf => "rrf",
            Self::Weighted => "weighted",
            Self::V2 => "v2",
            Self::V3 => "v3",
            Self::Full => "full",
        }
    }

    /// Returns the lane that the arm is the list of; `None` where it is of more than one, or of vectors.
    pub(crate) const fn word_lane(self) -> Option<&'static str> {
        match self {
            Self::Impact | Self::Fts5 | Self::Tantivy => Some(self.as_str()),
            _ => None,
        }
    }

    /// Returns the fusion that the arm's chain goes on with; `None` where it is the configured one or makes no difference.
    pub(crate) fn fusion(self) -> Option<Fusion> {
        match self {
            Self::V2 => Some(Fusion::Rrf),
            Self::V3 => Some(Fusion::Weighted),
            _ => None,
        }
    }

    /// Returns where the arm puts a candidate, smallest first; `None` where it lacks it.
    pub(crate) fn place(self, candidate: &Candidate) -> Option<[u32; 3]> {
        let scores = &candidate.scores;
        let rank = |ranked: Option<RankedScore>| ranked.map(|ranked| ranked.rank);
        let one = |ranked| rank(ranked).map(|rank| [rank, 0, 0]);
        match self {
            Self::Impact => one(scores.impact),
            Self::Fts5 => one(scores.fts5),
            Self::Tantivy => one(scores.tantivy),
            Self::Lexical => one(scores.lexical),
            Self::Dense => one(scores.dense),
            Self::Rrf => one(scores.rrf),
            Self::Weighted => one(scores.weighted),
            Self::V2 | Self::V3 | Self::Full => {
                Some([scores.reranker, scores.fused, scores.rrf].map(|ranked| rank(ranked).unwrap_or(u32::MAX)))
            }
        }
    }
}

impl std::fmt::Display for Arm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

/// The text names no arm.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown arm {found:?}; expected one of impact, fts5, tantivy, lexical, dense, rrf, weighted, v2, v3, full")]
pub struct ParseArmError {
    found: String,
}

impl std::str::FromStr for Arm {
    type Err = ParseArmError;

    fn from_str(text: &str) -> Result<Self, ParseArmError> {
        let found = Self::ALL.into_iter().find(|arm| arm.as_str() == text);
        found.ok_or_else(|| ParseArmError { found: text.to_owned() })
    }
}
