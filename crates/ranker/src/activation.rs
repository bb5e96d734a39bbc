//! What an activation is asked and what it answers. The answer and the stored trace are made from one [`Activation`].

use casebook_corpus::{ContentHash, Degradation, EffectiveHash, Fidelity, ResourceId, Scope, Timestamp};
use casebook_index::{EncoderRevision, Language, Locator, RevisionId, TextEncoder, UnitKey};

use crate::WordMatch;

/// What is asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ActivationRequest {
    /// The task or question, in a person's or an agent's words.
    pub query: String,
    /// What the caller still holds from earlier answers.
    pub state: ActivationState,
    /// The moment that time labels are worked out for.
    pub as_of: Option<Timestamp>,
    /// Only these scopes; empty means all.
    pub scopes: Vec<Scope>,
    /// Topics the caller thinks are meant. They never exclude.
    pub topics: Vec<String>,
    /// Entities the caller thinks are meant. They never exclude.
    pub entities: Vec<String>,
    /// Audiences that the caller speaks for; decides what is visible.
    pub audiences: Vec<String>,
}

impl ActivationRequest {
    /// Asks this and nothing more: a caller that holds nothing, is in no audience and names no scope.
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            ..Self::default()
        }
    }
}

/// The fragments still in the caller's context.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActivationState {
    /// In the order of the answer that they came from.
    pub held: Vec<HeldFragment>,
}

/// One fragment in the caller's context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldFragment {
    /// The unit.
    pub unit_key: UnitKey,
    /// The content it had.
    pub content_hash: ContentHash,
}

/// The answer with its full trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Activation {
    /// The question as it was asked.
    pub query: String,
    /// Its language, by script.
    pub query_language: Language,
    /// Name of the profile that ranked it.
    pub profile: String,
    /// The revision that was searched.
    pub revision: RevisionId,
    /// The memory that it holds.
    pub effective_hash: EffectiveHash,
    /// Whose vectors the dense list is from; `None` where there is no list.
    pub dense_source: Option<DenseSource>,
    /// The moment that time labels are for.
    pub as_of: Timestamp,
    /// What to have in context now, best first (a history fragment right after its successor).
    pub fragments: Vec<Fragment>,
    /// What should leave the context.
    pub removed: Vec<Removed>,
    /// What the caller holds once it has followed the answer; to be returned verbatim with the next question.
    pub state: ActivationState,
    /// Every candidate of every lane, by fused rank (a redirect's target right after the hit that led there), then those
    /// that fusion cut.
    pub candidates: Vec<Candidate>,
    /// What did not work.
    pub degradations: Vec<Degradation>,
    /// Time per stage, in order of the chain.
    pub latencies: Vec<StageLatency>,
    /// What the budgets allowed and what was used.
    pub budget: BudgetUse,
}

/// The encoder whose vectors a dense list is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DenseSource {
    /// Its revision.
    pub encoder: EncoderRevision,
    /// Whether it sees words in their context, as [`TextEncoder::is_contextual`](casebook_index::TextEncoder::is_contextual)
    /// says.
    pub is_contextual: bool,
}

impl DenseSource {
    /// Returns whether there is a source and it is contextual.
    pub fn is_contextual(source: Option<&Self>) -> bool {
        source.is_some_and(|source| source.is_contextual)
    }

    pub(crate) fn of(encoder: &dyn TextEncoder) -> Self {
        Self {
            encoder: encoder.revision().clone(),
            is_contextual: encoder.is_contextual(),
        }
    }
}

/// Time that a stage took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageLatency {
    /// The stage.
    pub stage: Stage,
    /// Microseconds.
    pub micros: u64,
}

/// Budgets and their use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BudgetUse {
    /// Tokens allowed.
    pub token_budget: usize,
    /// Tokens of all fragments, reused ones included.
    pub tokens_used: usize,
    /// Fragments allowed.
    pub fragment_limit: usize,
    /// Fragments selected.
    pub fragments_used: usize,
}

/// A candidate that made it into the answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Fragment {
    /// The unit.
    pub unit_key: UnitKey,
    /// SHA-256 of its text.
    pub content_hash: ContentHash,
    /// Its resource.
    pub resource_id: ResourceId,
    /// The resource's scope.
    pub scope: Scope,
    /// The resource's kind.
    pub kind: String,
    /// The file, relative to the project root.
    pub path: String,
    /// Headings above it.
    pub heading_path: Vec<String>,
    /// Where it is in the file.
    pub locator: Locator,
    /// The resource's title.
    pub title: String,
    /// How close to the original words it is.
    pub fidelity: Fidelity,
    /// Whether it may be quoted as verbatim.
    pub quotable: bool,
    /// What time has to say about it.
    pub time_labels: Vec<TimeLabel>,
    /// What supports it.
    pub evidence_shape: EvidenceShape,
    /// Why it is here.
    pub role: Role,
    /// Length of `text` in tokens of the chunker's counter.
    pub token_count: usize,
    /// The unit's text; the wire leaves it out where `action` is `Reuse`.
    pub text: String,
    /// What the caller has to do with it.
    pub action: DeltaAction,
}

/// A unit that should leave the caller's context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// The unit.
    pub unit_key: UnitKey,
}

/// Declares a closed set of stable API strings.
macro_rules! api_strings {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$vdoc])* $variant,)+
        }

        impl $name {
            /// Every value, in order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Returns the stable string.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// Returns the value of a stable string.
            pub fn from_str_opt(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.as_str() == text)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

api_strings! {
    /// A stage of the chain.
    Stage {
        /// Identity and lexical lanes.
        Lexical = "lexical",
        /// Query vector and dense lane.
        Dense = "dense",
        /// Fusion of the lists.
        Fusion = "fusion",
        /// Redirects and guards.
        Guard = "guard",
        /// The pair scorer.
        Rerank = "rerank",
        /// Relevance, overlap, budgets, delta.
        Assembly = "assembly",
    }
}

api_strings! {
    /// What became of a candidate. Exactly one each.
    Disposition {
        /// It is in the answer.
        Selected = "selected",
        /// It ranked too low to be looked at closely.
        NotReranked = "not_reranked",
        /// The pair scorer found too little in common.
        BelowRelevance = "below_relevance",
        /// The answer already has its text.
        Overlap = "overlap",
        /// Its resource has its share.
        ResourceCap = "resource_cap",
        /// The tokens left did not hold it.
        TokenCap = "token_cap",
        /// The answer has its number of fragments.
        FragmentCap = "fragment_cap",
        /// Its resource was replaced; the hit went to the successor.
        Superseded = "superseded",
        /// Its file is gone since the revision was built.
        SourceDeleted = "source_deleted",
        /// The audience may not see it.
        NotVisible = "not_visible",
        /// It is outside the scopes asked for.
        OutOfScope = "out_of_scope",
    }
}

api_strings! {
    /// What the caller has to do with a fragment.
    DeltaAction {
        /// Take it in.
        Add = "add",
        /// Take it in instead of the older content of the same unit.
        Replace = "replace",
        /// Keep it.
        Reuse = "reuse",
    }
}

api_strings! {
    /// What supports a fragment: a label, not a probability.
    EvidenceShape {
        /// It names its sources.
        ProvenanceSupported = "provenance_supported",
        /// A topic, entity, state or decision matched.
        StructuredContext = "structured_context",
        /// Words or vectors only.
        LexicalOnly = "lexical_only",
    }
}

api_strings! {
    /// Why a fragment is in the answer.
    Role {
        /// It answers.
        Evidence = "evidence",
        /// It was replaced by the fragment before it.
        History = "history",
    }
}

api_strings! {
    /// What time has to say about a fragment. It changes no rank.
    TimeLabel {
        /// A re-check was expected before `as_of`, and nothing confirmed the state since.
        CheckpointPassed = "checkpoint_passed",
        /// Its interval had ended before `as_of`.
        NoLongerValid = "no_longer_valid",
        /// Its interval had not begun at `as_of`.
        NotYetValid = "not_yet_valid",
        /// The file has changed since the revision was built.
        Stale = "stale",
    }
}

api_strings! {
    /// Why a hit went to another resource.
    Redirect {
        /// Its resource was replaced.
        SupersededBy = "superseded_by",
        /// Its resource was declared wrong.
        RetractedBy = "retracted_by",
    }
}

/// A rank (from 1) and the score that gave it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankedScore {
    /// Position in the stage's list, from 1.
    pub rank: u32,
    /// The stage's own scale.
    pub score: f32,
}

/// A candidate's ranks and scores; `None` where the stage did not have it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageScores {
    /// Identity lane.
    pub exact: Option<RankedScore>,
    /// The merged lexical list: identity hits at 1, then the merge of the word lanes, 0 to 1.
    pub lexical: Option<RankedScore>,
    /// Impact lane.
    pub impact: Option<RankedScore>,
    /// FTS5 lane.
    pub fts5: Option<RankedScore>,
    /// Tantivy lane.
    pub tantivy: Option<RankedScore>,
    /// Dense lane.
    pub dense: Option<RankedScore>,
    /// Sparse lane.
    pub sparse: Option<RankedScore>,
    /// Lanes of an implementer's own, by name.
    pub other: Vec<(String, RankedScore)>,
    /// Reciprocal rank fusion of the lexical and the dense list; absent where the unit is in neither, because the
    /// lexical list was full or the unit came by a redirect.
    pub rrf: Option<RankedScore>,
    /// Weighted fusion of the lexical and the dense list, aware of languages; present where `rrf` is.
    pub weighted: Option<RankedScore>,
    /// The profile's fusion, one of those two; absent where fusion cut the candidate. A redirect's target has its source's.
    pub fused: Option<RankedScore>,
    /// The pair scorer, blended as the profile says.
    pub reranker: Option<RankedScore>,
    /// Position in the answer.
    pub final_: Option<RankedScore>,
}

/// A unit recalled for the query.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The unit.
    pub unit_key: UnitKey,
    /// Its resource.
    pub resource_id: ResourceId,
    /// SHA-256 of the unit's text.
    pub content_hash: ContentHash,
    /// SHA-256 of the canonical resource.
    pub resource_hash: ContentHash,
    /// Its length in tokens.
    pub token_count: usize,
    /// The language of its text, by script.
    pub language: Language,
    /// Ranks and scores.
    pub scores: StageScores,
    /// The pair scorer's own score before blending; for a successor at least that of the replaced unit that led to it.
    pub pair_score: Option<f32>,
    /// The pair scorer's contrast as a share of the best one's, 0 to 1: what the order is made from, beside the fused score.
    pub contrast: Option<f32>,
    /// What became of it.
    pub disposition: Disposition,
    /// Where the hit came from, for a candidate that is here because a superseded one was hit.
    pub redirected_from: Option<(ResourceId, Redirect)>,
    /// The delta action, for a selected candidate.
    pub action: Option<DeltaAction>,
    /// Which words of its text answer which words of the query, for a candidate that the pair scorer saw.
    pub matches: Vec<WordMatch>,
}
