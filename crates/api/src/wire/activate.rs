//! An answer on the wire.

use std::collections::BTreeMap;

use casebook_ranker as ranker;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of [`ActivationState`] that this code writes.
const STATE_VERSION: u32 = 1;

/// What to have in context now, and what it was made from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ActivateResponse {
    /// The Run that recorded this answer; null where the history could not be written.
    pub run_id: Option<String>,
    /// The question as it was asked.
    pub query: String,
    /// The revision that was searched.
    pub revision: String,
    /// SHA-256 of the manifest of the memory that it holds.
    pub effective_hash: String,
    /// The encoder whose vectors answered; absent where none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoder: Option<String>,
    /// Name of the profile that ranked the candidates.
    pub profile: String,
    /// The moment that time labels are for, RFC 3339.
    pub as_of: String,
    /// Fragments to have in context, best first.
    pub fragments: Vec<Fragment>,
    /// Unit keys of fragments that should leave the context.
    pub removed: Vec<String>,
    /// To be given back verbatim with the next question.
    pub state: ActivationState,
    /// What did not work while this answer was made.
    pub degradations: Vec<Degradation>,
    /// What the budgets allowed and what was used.
    pub budget: Budget,
    /// How many candidates ended how, by disposition: what a cap left out is not "nothing found". What the audience may
    /// not see is not counted.
    pub dispositions: BTreeMap<String, usize>,
    /// Every candidate with its ranks and scores; only where an explanation was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidates: Option<Vec<Candidate>>,
    /// Time per stage; only where an explanation was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stages: Option<Vec<StageTime>>,
}

/// The fragments still in the caller's context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActivationState {
    /// Version of this form.
    pub version: u32,
    /// What is held.
    pub held: Vec<HeldFragment>,
}

/// One fragment in the caller's context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeldFragment {
    /// The unit.
    pub unit_key: String,
    /// SHA-256 of the text it had.
    pub content_hash: String,
}

/// A fragment of the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fragment {
    /// Stable identity of the unit.
    pub unit_key: String,
    /// SHA-256 of its text.
    pub content_hash: String,
    /// Its resource.
    pub resource_id: String,
    /// The resource's scope.
    pub scope: String,
    /// The resource's kind.
    pub kind: String,
    /// The file, relative to the project root; of a pushed record what its host gave as its path.
    pub path: String,
    /// The resource's title.
    pub title: String,
    /// Headings above it, outermost first.
    pub heading_path: Vec<String>,
    /// Where it is in the file.
    pub lines: Lines,
    /// `add`, `replace` or `reuse`.
    pub action: String,
    /// `evidence` or `history`.
    pub role: String,
    /// How close to the original words it is.
    pub fidelity: String,
    /// Whether it may be quoted as verbatim.
    pub quotable: bool,
    /// `provenance_supported`, `structured_context` or `lexical_only`.
    pub evidence_shape: String,
    /// What time has to say about it.
    pub time_labels: Vec<String>,
    /// Length of the text in tokens.
    pub token_count: usize,
    /// The text; left out where the caller has it already (`reuse`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Lines of a file, 1-based, inclusive; both 0 for a pushed record, which has no file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Lines {
    /// First line.
    pub first: usize,
    /// Last line.
    pub last: usize,
}

/// A named thing that did not work while the call still answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Degradation {
    /// Stable code.
    pub code: String,
    /// What happened.
    pub detail: String,
    /// The file it is about, relative to the project root.
    pub path: Option<String>,
}

/// Budgets and their use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Budget {
    /// Tokens allowed.
    pub token_budget: usize,
    /// Tokens of all fragments, reused ones included.
    pub tokens_used: usize,
    /// Fragments allowed.
    pub fragment_limit: usize,
    /// Fragments selected.
    pub fragments_used: usize,
}

/// A rank from 1 and the score that gave it, on the stage's own scale.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scored {
    /// Position in the stage's list.
    pub rank: u32,
    /// The score.
    pub score: f32,
}

/// A unit recalled for the question, and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Candidate {
    /// The unit.
    pub unit_key: String,
    /// Its resource.
    pub resource_id: String,
    /// SHA-256 of its text.
    pub content_hash: String,
    /// Length of its text in tokens.
    pub token_count: usize,
    /// Identity lane.
    pub exact: Option<Scored>,
    /// Merged lexical list.
    pub lexical: Option<Scored>,
    /// Impact lane, the words.
    pub impact: Option<Scored>,
    /// FTS5 lane.
    pub fts5: Option<Scored>,
    /// Tantivy lane.
    pub tantivy: Option<Scored>,
    /// Dense lane.
    pub dense: Option<Scored>,
    /// Sparse lane.
    pub sparse: Option<Scored>,
    /// Lanes of other names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub other: BTreeMap<String, Scored>,
    /// Reciprocal rank fusion.
    pub rrf: Option<Scored>,
    /// Weighted fusion, aware of languages.
    pub weighted: Option<Scored>,
    /// The profile's fusion, one of the two.
    pub fused: Option<Scored>,
    /// The reranker, blended as the profile says.
    pub reranker: Option<Scored>,
    /// The reranker's own score.
    pub pair_score: Option<f32>,
    /// How it compares with the other candidates that the reranker saw, as a share of the best; the order goes by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contrast: Option<f32>,
    /// Position in the answer.
    #[serde(rename = "final")]
    pub final_: Option<Scored>,
    /// What became of it: exactly one stable word.
    pub disposition: String,
    /// Where the hit came from, where a replaced memory was hit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirected_from: Option<Redirected>,
    /// `add`, `replace` or `reuse`, where selected.
    pub action: Option<String>,
    /// The language of its text by script: `zh`, `en` or `other`.
    pub language: String,
    /// Which words of its text answer which words of the question, for a candidate that the reranker saw.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matches: Vec<WordMatch>,
}

/// A word of the question and the word of a text that is nearest to it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WordMatch {
    /// First and end byte of the word in the question.
    pub query: [usize; 2],
    /// First and end byte of its match in the unit's text.
    pub text: [usize; 2],
    /// How near the two are: a cosine for the embedded reranker.
    pub nearness: f32,
    /// Share of the word in the question's weight.
    pub share: f32,
}

/// A hit that was led to another resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Redirected {
    /// The resource that was hit.
    pub resource_id: String,
    /// `superseded_by` or `retracted_by`.
    pub reason: String,
}

/// Time that a stage took.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StageTime {
    /// The stage.
    pub stage: String,
    /// Microseconds.
    pub micros: u64,
}

impl ActivateResponse {
    /// Converts an answer; `explain` adds the candidates and the stage times.
    pub fn new(run_id: Option<&str>, activation: &ranker::Activation, explain: bool) -> Self {
        Self {
            run_id: run_id.map(Into::into),
            query: activation.query.clone(),
            revision: activation.revision.to_string(),
            effective_hash: activation.effective_hash.to_string(),
            encoder: activation
                .dense_source
                .as_ref()
                .map(|source| source.encoder.to_string()),
            profile: activation.profile.clone(),
            as_of: activation.as_of.to_string(),
            fragments: activation.fragments.iter().map(Into::into).collect(),
            removed: activation
                .removed
                .iter()
                .map(|removed| removed.unit_key.to_string())
                .collect(),
            state: (&activation.state).into(),
            degradations: activation.degradations.iter().map(Into::into).collect(),
            budget: activation.budget.into(),
            dispositions: count_dispositions(&activation.candidates),
            candidates: explain.then(|| activation.candidates.iter().map(Into::into).collect()),
            stages: explain.then(|| activation.latencies.iter().map(Into::into).collect()),
        }
    }
}

fn count_dispositions(candidates: &[ranker::Candidate]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    let told = |candidate: &&ranker::Candidate| candidate.disposition != ranker::Disposition::NotVisible;
    for candidate in candidates.iter().filter(told) {
        *counts.entry(candidate.disposition.to_string()).or_default() += 1;
    }
    counts
}

impl From<&ranker::ActivationState> for ActivationState {
    fn from(state: &ranker::ActivationState) -> Self {
        let held = state.held.iter().map(|held| HeldFragment {
            unit_key: held.unit_key.to_string(),
            content_hash: held.content_hash.to_string(),
        });
        Self {
            version: STATE_VERSION,
            held: held.collect(),
        }
    }
}

impl ActivationState {
    /// Converts what a client gave back. What cannot have come from us (an unknown version, a hash that is none) is
    /// left out and named: a wrong state costs tokens, never an answer.
    pub fn into_ranker(self) -> (ranker::ActivationState, Vec<String>) {
        if self.version != STATE_VERSION {
            let problem = format!("state has version {}, this version knows {STATE_VERSION}", self.version);
            return (ranker::ActivationState::default(), vec![problem]);
        }
        let mut problems = Vec::new();
        let held = self
            .held
            .into_iter()
            .filter_map(|held| match held.content_hash.parse() {
                Ok(content_hash) => Some(ranker::HeldFragment {
                    unit_key: held.unit_key.as_str().into(),
                    content_hash,
                }),
                Err(_) => {
                    problems.push(format!("content hash of {:?} is none", held.unit_key));
                    None
                }
            });
        let held = held.collect();
        (ranker::ActivationState { held }, problems)
    }
}

impl From<&ranker::Fragment> for Fragment {
    fn from(fragment: &ranker::Fragment) -> Self {
        let keeps_text = fragment.action != ranker::DeltaAction::Reuse;
        Self {
            unit_key: fragment.unit_key.to_string(),
            content_hash: fragment.content_hash.to_string(),
            resource_id: fragment.resource_id.to_string(),
            scope: fragment.scope.to_string(),
            kind: fragment.kind.clone(),
            path: fragment.path.clone(),
            title: fragment.title.clone(),
            heading_path: fragment.heading_path.clone(),
            lines: Lines {
                first: fragment.locator.first_line,
                last: fragment.locator.last_line,
            },
            action: fragment.action.to_string(),
            role: fragment.role.to_string(),
            fidelity: fragment.fidelity.to_string(),
            quotable: fragment.quotable,
            evidence_shape: fragment.evidence_shape.to_string(),
            time_labels: fragment.time_labels.iter().map(ToString::to_string).collect(),
            token_count: fragment.token_count,
            text: keeps_text.then(|| fragment.text.clone()),
        }
    }
}

impl From<&casebook_corpus::Degradation> for Degradation {
    fn from(degradation: &casebook_corpus::Degradation) -> Self {
        Self {
            code: degradation.code.to_string(),
            detail: degradation.detail.clone(),
            path: degradation.path.clone(),
        }
    }
}

impl From<ranker::BudgetUse> for Budget {
    fn from(budget: ranker::BudgetUse) -> Self {
        Self {
            token_budget: budget.token_budget,
            tokens_used: budget.tokens_used,
            fragment_limit: budget.fragment_limit,
            fragments_used: budget.fragments_used,
        }
    }
}

impl From<ranker::RankedScore> for Scored {
    fn from(scored: ranker::RankedScore) -> Self {
        Self {
            rank: scored.rank,
            score: scored.score,
        }
    }
}

/// Stands for what a caller may not see.
const HIDDEN: &str = "(hidden)";

impl Candidate {
    /// That there was one, and nothing of what it is: its headings, its hash and its scores would tell.
    fn hidden() -> Self {
        Self {
            unit_key: HIDDEN.into(),
            resource_id: HIDDEN.into(),
            content_hash: HIDDEN.into(),
            token_count: 0,
            exact: None,
            lexical: None,
            impact: None,
            fts5: None,
            tantivy: None,
            dense: None,
            sparse: None,
            other: BTreeMap::new(),
            rrf: None,
            weighted: None,
            fused: None,
            reranker: None,
            pair_score: None,
            contrast: None,
            final_: None,
            disposition: ranker::Disposition::NotVisible.to_string(),
            redirected_from: None,
            action: None,
            language: HIDDEN.into(),
            matches: Vec::new(),
        }
    }
}

impl From<&ranker::Candidate> for Candidate {
    fn from(candidate: &ranker::Candidate) -> Self {
        if candidate.disposition == ranker::Disposition::NotVisible {
            return Self::hidden();
        }
        let scores = &candidate.scores;
        let scored = |value: Option<ranker::RankedScore>| value.map(Into::into);
        Self {
            unit_key: candidate.unit_key.to_string(),
            resource_id: candidate.resource_id.to_string(),
            content_hash: candidate.content_hash.to_string(),
            token_count: candidate.token_count,
            exact: scored(scores.exact),
            lexical: scored(scores.lexical),
            impact: scored(scores.impact),
            fts5: scored(scores.fts5),
            tantivy: scored(scores.tantivy),
            dense: scored(scores.dense),
            sparse: scored(scores.sparse),
            other: scores
                .other
                .iter()
                .map(|(name, score)| (name.clone(), (*score).into()))
                .collect(),
            rrf: scored(scores.rrf),
            weighted: scored(scores.weighted),
            fused: scored(scores.fused),
            reranker: scored(scores.reranker),
            pair_score: candidate.pair_score,
            contrast: candidate.contrast,
            final_: scored(scores.final_),
            disposition: candidate.disposition.to_string(),
            redirected_from: candidate
                .redirected_from
                .as_ref()
                .map(|(resource_id, reason)| Redirected {
                    resource_id: resource_id.to_string(),
                    reason: reason.to_string(),
                }),
            action: candidate.action.map(|action| action.to_string()),
            language: candidate.language.to_string(),
            matches: candidate.matches.iter().map(Into::into).collect(),
        }
    }
}

impl From<&ranker::WordMatch> for WordMatch {
    fn from(met: &ranker::WordMatch) -> Self {
        Self {
            query: [met.query.start, met.query.end],
            text: [met.text.start, met.text.end],
            nearness: met.nearness,
            share: met.share,
        }
    }
}

impl From<&ranker::StageLatency> for StageTime {
    fn from(latency: &ranker::StageLatency) -> Self {
        Self {
            stage: latency.stage.to_string(),
            micros: latency.micros,
        }
    }
}
