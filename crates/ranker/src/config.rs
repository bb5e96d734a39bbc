//! The constants of a profile, as defaults of one validated struct.

use crate::DenseSource;

/// Whether a replaced memory may follow its successor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HistoryMode {
    /// Never shown.
    #[default]
    Off,
    /// Adjacent to its selected direct successor, marked as history.
    Attach,
}

/// How the lexical and the dense list become one. Both are always recorded; this one is gone on with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fusion {
    /// Reciprocal ranks: only the order in each list counts.
    Rrf,
    /// Scores, weighted by whether the candidate is in the query's language.
    Weighted,
}

impl Fusion {
    /// Returns the stable string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rrf => "rrf",
            Self::Weighted => "weighted",
        }
    }

    /// Returns the value of a stable string.
    pub fn from_str_opt(text: &str) -> Option<Self> {
        [Self::Rrf, Self::Weighted]
            .into_iter()
            .find(|fusion| fusion.as_str() == text)
    }
}

/// What the two lists count in weighted fusion, each scaled to 0 to 1. A candidate in another language than the query's
/// shares no words with it, so that missing words must not count against it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FusionWeights {
    /// Share of the dense list for a candidate in the query's language, 0 to 1; the lexical list has the rest.
    pub dense: f32,
    /// The same where the vectors are of an encoder that sees words in their context.
    pub contextual_dense: f32,
    /// Weight of the dense list for a candidate in another language.
    pub foreign_dense: f32,
    /// Weight of the lexical list for a candidate in another language.
    pub foreign_lexical: f32,
}

impl FusionWeights {
    /// Returns the share of the dense list for a candidate in the query's language, given whose vectors it is from.
    pub fn dense_share(&self, source: Option<&DenseSource>) -> f32 {
        if DenseSource::is_contextual(source) {
            self.contextual_dense
        } else {
            self.dense
        }
    }
}

impl Default for FusionWeights {
    fn default() -> Self {
        Self {
            dense: 0.4,
            contextual_dense: 0.65,
            foreign_dense: 1.0,
            foreign_lexical: 0.05,
        }
    }
}

/// What the word lanes count in the merged lexical list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LexicalWeights {
    /// The lane `impact`.
    pub impact: f32,
    /// The lane `fts5`.
    pub fts5: f32,
    /// The lane `tantivy`.
    pub tantivy: f32,
    /// Every other lane.
    pub other: f32,
}

impl LexicalWeights {
    /// Returns the weight of a lane.
    pub fn of(&self, lane: &str) -> f32 {
        match lane {
            "impact" => self.impact,
            "fts5" => self.fts5,
            "tantivy" => self.tantivy,
            _ => self.other,
        }
    }
}

impl Default for LexicalWeights {
    /// The trigram lane finds substrings, but ranks questions worse than the word lanes do.
    fn default() -> Self {
        Self {
            impact: 8.0,
            fts5: 1.0,
            tantivy: 8.0,
            other: 1.0,
        }
    }
}

/// The constants of a profile. Any value passes through [`RankerConfig::validate`] before it is used.
#[derive(Clone, Debug, PartialEq)]
pub struct RankerConfig {
    /// Name of the profile; recorded in every Run.
    pub profile: String,
    /// Units that the lexical list holds at most.
    pub lexical_limit: usize,
    /// What the word lanes count in the merged lexical list.
    pub lexical_weights: LexicalWeights,
    /// Units that the dense list holds at most; four times as many where a contextual encoder answers.
    pub dense_limit: usize,
    /// Which fusion is gone on with.
    pub fusion: Fusion,
    /// The weights of weighted fusion.
    pub fusion_weights: FusionWeights,
    /// The `k` of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009).
    pub rrf_k: f32,
    /// Candidates that fusion keeps.
    pub fused_keep: usize,
    /// Candidates that the pair scorer sees, of those that fusion keeps.
    pub rerank_depth: usize,
    /// Weight of the pair scorer's contrast beside the fused score, each as a share of the best one.
    pub rerank_weight: f32,
    /// Added in full where the text holds the whole query contiguously, in part where it holds a piece.
    pub phrase_bonus: f32,
    /// Pair score below which a candidate is `below_relevance`; identity hits are exempt.
    pub min_relevance: f32,
    /// Share of the best pair score below which a candidate is `below_relevance`: beside a clear answer the faint ones
    /// are noise. 0 turns it off.
    pub relevance_share: f32,
    /// Share of the shorter of two spans of one file that may be shared before the later is `overlap`.
    pub max_overlap: f32,
    /// Fragments of one resource at most.
    pub per_resource: usize,
    /// Tokens of all fragments at most, reused ones included.
    pub token_budget: usize,
    /// Fragments at most.
    pub fragment_limit: usize,
    /// Whether replaced memories may follow their successors.
    pub history: HistoryMode,
    /// Time for the whole activation, in milliseconds.
    pub deadline_ms: u64,
}

impl Default for RankerConfig {
    /// [`RankerConfig::v3`].
    fn default() -> Self {
        Self::v3()
    }
}

impl RankerConfig {
    /// The profile `agent_activation.v3`: weighted fusion that knows languages, and all that it keeps reranked: the more
    /// candidates there are, the better a contrast tells which words are rare.
    pub fn v3() -> Self {
        Self {
            profile: "agent_activation.v3".into(),
            fusion: Fusion::Weighted,
            rerank_depth: 40,
            ..Self::v2()
        }
    }

    /// The profile `agent_activation.v2`: reciprocal rank fusion.
    pub fn v2() -> Self {
        Self {
            profile: "agent_activation.v2".into(),
            lexical_limit: 60,
            lexical_weights: LexicalWeights::default(),
            dense_limit: 60,
            fusion: Fusion::Rrf,
            fusion_weights: FusionWeights::default(),
            rrf_k: 60.0,
            fused_keep: 40,
            rerank_depth: 24,
            rerank_weight: 1.0,
            phrase_bonus: 0.1,
            min_relevance: 0.15,
            relevance_share: 0.6,
            max_overlap: 0.5,
            per_resource: 2,
            token_budget: 2400,
            fragment_limit: 12,
            history: HistoryMode::Off,
            deadline_ms: 60_000,
        }
    }
}

impl RankerConfig {
    /// Checks every constant.
    ///
    /// # Errors
    /// The first one, in order of declaration, that is out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let weights = &self.lexical_weights;
        if self.profile.trim().is_empty() {
            return Err(ConfigError::new("profile", "a name", &self.profile));
        }
        count("lexical_limit", self.lexical_limit, MAX_LIST, "1 to 10000")?;
        for (field, weight) in [
            ("lexical_weights.impact", weights.impact),
            ("lexical_weights.fts5", weights.fts5),
            ("lexical_weights.tantivy", weights.tantivy),
            ("lexical_weights.other", weights.other),
        ] {
            check(field, weight, (0.001..=1000.0).contains(&weight), "0.001 to 1000")?;
        }
        count("dense_limit", self.dense_limit, MAX_LIST, "1 to 10000")?;
        for (field, share) in [
            ("fusion_weights.dense", self.fusion_weights.dense),
            ("fusion_weights.contextual_dense", self.fusion_weights.contextual_dense),
            ("fusion_weights.foreign_dense", self.fusion_weights.foreign_dense),
            ("fusion_weights.foreign_lexical", self.fusion_weights.foreign_lexical),
        ] {
            check(field, share, (0.0..=1.0).contains(&share), "0 to 1")?;
        }
        check(
            "rrf_k",
            self.rrf_k,
            (0.001..=10_000.0).contains(&self.rrf_k),
            "0.001 to 10000",
        )?;
        let recalled = self.lexical_limit + self.dense_limit;
        count(
            "fused_keep",
            self.fused_keep,
            recalled,
            "1 to lexical_limit + dense_limit",
        )?;
        count("rerank_depth", self.rerank_depth, MAX_LIST, "1 to 10000")?;
        for (field, weight) in [
            ("rerank_weight", self.rerank_weight),
            ("phrase_bonus", self.phrase_bonus),
        ] {
            check(field, weight, (0.0..=1000.0).contains(&weight), "0 to 1000")?;
        }
        check(
            "min_relevance",
            self.min_relevance,
            self.min_relevance.is_finite(),
            "a finite number",
        )?;
        for (field, share) in [
            ("relevance_share", self.relevance_share),
            ("max_overlap", self.max_overlap),
        ] {
            check(field, share, (0.0..=1.0).contains(&share), "0 to 1")?;
        }
        count("per_resource", self.per_resource, usize::MAX, "at least 1")?;
        count("token_budget", self.token_budget, usize::MAX, "at least 1")?;
        count("fragment_limit", self.fragment_limit, usize::MAX, "at least 1")?;
        check("deadline_ms", self.deadline_ms, self.deadline_ms > 0, "at least 1")
    }
}

impl RankerConfig {
    /// Returns the pair score that a candidate needs, given those of all candidates that were scored.
    pub fn relevance_floor(&self, pair_scores: impl IntoIterator<Item = f32>) -> f32 {
        let best = pair_scores.into_iter().fold(0.0, f32::max);
        self.min_relevance.max(self.relevance_share * best)
    }
}

/// Units that one list may hold: a bound for mistyped values, far above what a reranker looks at.
const MAX_LIST: usize = 10_000;

fn count(field: &'static str, found: usize, most: usize, expected: &'static str) -> Result<(), ConfigError> {
    check(field, found, (1..=most).contains(&found), expected)
}

fn check(
    field: &'static str,
    found: impl std::fmt::Display,
    holds: bool,
    expected: &'static str,
) -> Result<(), ConfigError> {
    if holds {
        Ok(())
    } else {
        Err(ConfigError::new(field, expected, found))
    }
}

/// A constant is out of its range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} must be {expected}, found {found}")]
pub struct ConfigError {
    /// The field's name.
    pub field: &'static str,
    /// Its range.
    pub expected: &'static str,
    /// What it was.
    pub found: String,
}

impl ConfigError {
    fn new(field: &'static str, expected: &'static str, found: impl std::fmt::Display) -> Self {
        Self {
            field,
            expected,
            found: found.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(change: impl FnOnce(&mut RankerConfig)) -> Option<&'static str> {
        let mut config = RankerConfig::default();
        change(&mut config);
        config.validate().err().map(|error| error.field)
    }

    #[test]
    fn the_default_profile_is_valid() {
        assert_eq!(refused(|_| ()), None);
    }

    #[test]
    fn every_constant_has_a_range() {
        assert_eq!(refused(|c| c.profile = "  ".into()), Some("profile"));
        assert_eq!(refused(|c| c.lexical_limit = 0), Some("lexical_limit"));
        assert_eq!(refused(|c| c.lexical_limit = usize::MAX), Some("lexical_limit"));
        assert_eq!(
            refused(|c| c.lexical_weights.impact = f32::INFINITY),
            Some("lexical_weights.impact")
        );
        assert_eq!(refused(|c| c.lexical_weights.fts5 = 0.0), Some("lexical_weights.fts5"));
        assert_eq!(
            refused(|c| c.lexical_weights.tantivy = f32::NAN),
            Some("lexical_weights.tantivy")
        );
        assert_eq!(
            refused(|c| c.lexical_weights.other = -1.0),
            Some("lexical_weights.other")
        );
        assert_eq!(refused(|c| c.dense_limit = 0), Some("dense_limit"));
        assert_eq!(refused(|c| c.fusion_weights.dense = 1.5), Some("fusion_weights.dense"));
        assert_eq!(
            refused(|c| c.fusion_weights.contextual_dense = -0.5),
            Some("fusion_weights.contextual_dense")
        );
        assert_eq!(
            refused(|c| c.fusion_weights.foreign_dense = f32::NAN),
            Some("fusion_weights.foreign_dense")
        );
        assert_eq!(
            refused(|c| c.fusion_weights.foreign_lexical = -0.1),
            Some("fusion_weights.foreign_lexical")
        );
        assert_eq!(refused(|c| c.rrf_k = f32::INFINITY), Some("rrf_k"));
        assert_eq!(refused(|c| c.rrf_k = 0.0), Some("rrf_k"));
        assert_eq!(refused(|c| c.fused_keep = 0), Some("fused_keep"));
        assert_eq!(refused(|c| c.fused_keep = 121), Some("fused_keep"));
        assert_eq!(refused(|c| c.rerank_depth = 0), Some("rerank_depth"));
        assert_eq!(refused(|c| c.rerank_weight = f32::NAN), Some("rerank_weight"));
        assert_eq!(refused(|c| c.phrase_bonus = -0.1), Some("phrase_bonus"));
        assert_eq!(refused(|c| c.min_relevance = f32::NAN), Some("min_relevance"));
        assert_eq!(refused(|c| c.max_overlap = 1.1), Some("max_overlap"));
        assert_eq!(refused(|c| c.per_resource = 0), Some("per_resource"));
        assert_eq!(refused(|c| c.token_budget = 0), Some("token_budget"));
        assert_eq!(refused(|c| c.fragment_limit = 0), Some("fragment_limit"));
        assert_eq!(refused(|c| c.deadline_ms = 0), Some("deadline_ms"));
    }

    #[test]
    fn an_error_says_what_was_expected() {
        let config = RankerConfig {
            rerank_depth: 20_000,
            ..RankerConfig::default()
        };
        assert_eq!(
            config.validate().unwrap_err().to_string(),
            "rerank_depth must be 1 to 10000, found 20000"
        );
    }
}
