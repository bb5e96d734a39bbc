//! `run_succeeded`, version 4: the full trace, without the fragments' texts.
//!
//! A text is private and large and the same in many Runs; it lies in the blob store under its hash and is filled in
//! again on reading.

use casebook_corpus::{ContentHash, Degradation, Fidelity, ResourceId, Scope, Timestamp};
use casebook_ranker::{
    Activation, BudgetUse, Candidate, DeltaAction, DenseSource, Disposition, EncoderRevision, EvidenceShape, Fragment,
    Language, Locator, RankedScore, Redirect, Removed, RevisionId, Role, Stage, StageLatency, StageScores, TimeLabel,
    UnitKey, WordMatch,
};
use serde::{Deserialize, Serialize};

use super::{Digest, StoredHeld, Word, count, restore_state, store_state, word};
use crate::PayloadError;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RunSucceeded {
    query: String,
    profile: String,
    pub(crate) revision: RevisionId,
    pub(crate) effective_hash: Digest,
    as_of: Timestamp,
    pub(crate) fragments: Vec<StoredFragment>,
    removed: Vec<UnitKey>,
    state: Vec<StoredHeld>,
    pub(crate) candidates: Vec<StoredCandidate>,
    degradations: Vec<StoredDegradation>,
    pub(crate) latencies: Vec<StoredLatency>,
    budget: StoredBudget,
    /// Since version 2.
    #[serde(default)]
    query_language: Option<Word>,
    /// Since version 3.
    #[serde(default)]
    dense_source: Option<StoredDenseSource>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct StoredDenseSource {
    encoder: EncoderRevision,
    is_contextual: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StoredFragment {
    unit_key: UnitKey,
    pub(crate) content_hash: Digest,
    resource_id: ResourceId,
    scope: Scope,
    kind: String,
    path: String,
    heading_path: Vec<String>,
    locator: StoredLocator,
    title: String,
    fidelity: Word,
    quotable: bool,
    time_labels: Vec<Word>,
    evidence_shape: Word,
    role: Word,
    token_count: u64,
    pub(crate) text_bytes: u64,
    action: Word,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct StoredLocator {
    start: u64,
    end: u64,
    first_line: u64,
    last_line: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StoredCandidate {
    pub(crate) unit_key: UnitKey,
    pub(crate) resource_id: ResourceId,
    pub(crate) content_hash: Digest,
    pub(crate) resource_hash: Digest,
    pub(crate) token_count: u64,
    pub(crate) scores: StoredScores,
    pub(crate) pair_score: Option<f32>,
    pub(crate) disposition: Word,
    pub(crate) redirected_from: Option<(ResourceId, Word)>,
    pub(crate) action: Option<Word>,
    /// Since version 2.
    #[serde(default)]
    language: Option<Word>,
    /// Since version 2.
    #[serde(default)]
    matches: Vec<StoredMatch>,
    /// Since version 3.
    #[serde(default)]
    contrast: Option<f32>,
}

/// Byte ranges of two words, and how near they are.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct StoredMatch {
    query_start: u64,
    query_end: u64,
    text_start: u64,
    text_end: u64,
    nearness: f32,
    share: f32,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StoredScores {
    exact: Option<StoredRanked>,
    lexical: Option<StoredRanked>,
    fts5: Option<StoredRanked>,
    tantivy: Option<StoredRanked>,
    dense: Option<StoredRanked>,
    sparse: Option<StoredRanked>,
    other: Vec<(String, StoredRanked)>,
    rrf: Option<StoredRanked>,
    fused: Option<StoredRanked>,
    reranker: Option<StoredRanked>,
    last: Option<StoredRanked>,
    /// Since version 2.
    #[serde(default)]
    weighted: Option<StoredRanked>,
    /// Since version 4.
    #[serde(default)]
    impact: Option<StoredRanked>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct StoredRanked {
    pub(crate) rank: u32,
    pub(crate) score: f32,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct StoredDegradation {
    code: Word,
    detail: String,
    path: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StoredLatency {
    stage: Word,
    pub(crate) micros: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct StoredBudget {
    token_budget: u64,
    tokens_used: u64,
    fragment_limit: u64,
    fragments_used: u64,
}

impl RunSucceeded {
    pub(crate) fn from_runtime(activation: &Activation) -> Self {
        Self {
            query: activation.query.clone(),
            profile: activation.profile.clone(),
            revision: activation.revision.clone(),
            effective_hash: activation.effective_hash.into(),
            as_of: activation.as_of,
            fragments: activation.fragments.iter().map(StoredFragment::from_runtime).collect(),
            removed: activation
                .removed
                .iter()
                .map(|removed| removed.unit_key.clone())
                .collect(),
            state: store_state(&activation.state),
            candidates: activation
                .candidates
                .iter()
                .map(StoredCandidate::from_runtime)
                .collect(),
            degradations: activation
                .degradations
                .iter()
                .map(StoredDegradation::from_runtime)
                .collect(),
            latencies: activation.latencies.iter().map(StoredLatency::from_runtime).collect(),
            budget: StoredBudget::from_runtime(&activation.budget),
            query_language: Some(activation.query_language.as_str().into()),
            dense_source: activation.dense_source.as_ref().map(|source| StoredDenseSource {
                encoder: source.encoder.clone(),
                is_contextual: source.is_contextual,
            }),
        }
    }

    /// Converts back; `text_of` returns a fragment's text by its hash.
    pub(crate) fn into_runtime(
        self,
        mut text_of: impl FnMut(&UnitKey, ContentHash) -> String,
    ) -> Result<Activation, PayloadError> {
        let fragments = self.fragments.into_iter().map(|stored| {
            let text = text_of(&stored.unit_key, stored.content_hash.into());
            stored.into_runtime(text)
        });
        Ok(Activation {
            query_language: language(&self.query, self.query_language.as_deref())?,
            query: self.query,
            profile: self.profile,
            revision: self.revision,
            effective_hash: self.effective_hash.into(),
            dense_source: self.dense_source.map(|source| DenseSource {
                encoder: source.encoder,
                is_contextual: source.is_contextual,
            }),
            as_of: self.as_of,
            fragments: fragments.collect::<Result<_, _>>()?,
            removed: self.removed.into_iter().map(|unit_key| Removed { unit_key }).collect(),
            state: restore_state(self.state),
            candidates: restore_all(self.candidates, StoredCandidate::into_runtime)?,
            degradations: self
                .degradations
                .into_iter()
                .map(StoredDegradation::into_runtime)
                .collect(),
            latencies: restore_all(self.latencies, StoredLatency::into_runtime)?,
            budget: self.budget.into_runtime()?,
        })
    }
}

fn restore_all<S, R>(stored: Vec<S>, restore: impl Fn(S) -> Result<R, PayloadError>) -> Result<Vec<R>, PayloadError> {
    stored.into_iter().map(restore).collect()
}

impl StoredFragment {
    fn from_runtime(fragment: &Fragment) -> Self {
        Self {
            unit_key: fragment.unit_key.clone(),
            content_hash: fragment.content_hash.into(),
            resource_id: fragment.resource_id.clone(),
            scope: fragment.scope.clone(),
            kind: fragment.kind.clone(),
            path: fragment.path.clone(),
            heading_path: fragment.heading_path.clone(),
            locator: StoredLocator::from_runtime(&fragment.locator),
            title: fragment.title.clone(),
            fidelity: fragment.fidelity.as_str().into(),
            quotable: fragment.quotable,
            time_labels: fragment.time_labels.iter().map(|label| label.as_str().into()).collect(),
            evidence_shape: fragment.evidence_shape.as_str().into(),
            role: fragment.role.as_str().into(),
            token_count: fragment.token_count as u64,
            text_bytes: fragment.text.len() as u64,
            action: fragment.action.as_str().into(),
        }
    }

    fn into_runtime(self, text: String) -> Result<Fragment, PayloadError> {
        Ok(Fragment {
            unit_key: self.unit_key,
            content_hash: self.content_hash.into(),
            resource_id: self.resource_id,
            scope: self.scope,
            kind: self.kind,
            path: self.path,
            heading_path: self.heading_path,
            locator: self.locator.into_runtime()?,
            title: self.title,
            fidelity: word("fidelity", &self.fidelity, |text| text.parse::<Fidelity>().ok())?,
            quotable: self.quotable,
            time_labels: restore_all(self.time_labels, |label| {
                word("time_label", &label, TimeLabel::from_str_opt)
            })?,
            evidence_shape: word("evidence_shape", &self.evidence_shape, EvidenceShape::from_str_opt)?,
            role: word("role", &self.role, Role::from_str_opt)?,
            token_count: count("token_count", self.token_count)?,
            text,
            action: word("action", &self.action, DeltaAction::from_str_opt)?,
        })
    }
}

impl StoredLocator {
    fn from_runtime(locator: &Locator) -> Self {
        Self {
            start: locator.bytes.start as u64,
            end: locator.bytes.end as u64,
            first_line: locator.first_line as u64,
            last_line: locator.last_line as u64,
        }
    }

    fn into_runtime(self) -> Result<Locator, PayloadError> {
        Ok(Locator {
            bytes: count("start", self.start)?..count("end", self.end)?,
            first_line: count("first_line", self.first_line)?,
            last_line: count("last_line", self.last_line)?,
        })
    }
}

impl StoredCandidate {
    fn from_runtime(candidate: &Candidate) -> Self {
        Self {
            unit_key: candidate.unit_key.clone(),
            resource_id: candidate.resource_id.clone(),
            content_hash: candidate.content_hash.into(),
            resource_hash: candidate.resource_hash.into(),
            token_count: candidate.token_count as u64,
            scores: StoredScores::from_runtime(&candidate.scores),
            pair_score: candidate.pair_score,
            disposition: candidate.disposition.as_str().into(),
            redirected_from: candidate
                .redirected_from
                .as_ref()
                .map(|(resource, redirect)| (resource.clone(), redirect.as_str().into())),
            action: candidate.action.map(|action| action.as_str().into()),
            language: Some(candidate.language.as_str().into()),
            matches: candidate.matches.iter().map(StoredMatch::from_runtime).collect(),
            contrast: candidate.contrast,
        }
    }

    fn into_runtime(self) -> Result<Candidate, PayloadError> {
        let redirected_from = match self.redirected_from {
            None => None,
            Some((resource, reason)) => Some((resource, word("redirect", &reason, Redirect::from_str_opt)?)),
        };
        let action = match self.action {
            None => None,
            Some(action) => Some(word("action", &action, DeltaAction::from_str_opt)?),
        };
        Ok(Candidate {
            unit_key: self.unit_key,
            resource_id: self.resource_id,
            content_hash: self.content_hash.into(),
            resource_hash: self.resource_hash.into(),
            token_count: count("token_count", self.token_count)?,
            language: language("", self.language.as_deref())?,
            scores: self.scores.into_runtime(),
            pair_score: self.pair_score,
            contrast: self.contrast,
            disposition: word("disposition", &self.disposition, Disposition::from_str_opt)?,
            redirected_from,
            action,
            matches: restore_all(self.matches, StoredMatch::into_runtime)?,
        })
    }
}

/// Returns the language that was recorded; before version 2 none was, and it is told from the text where there is one.
fn language(text: &str, recorded: Option<&str>) -> Result<Language, PayloadError> {
    match recorded {
        Some(recorded) => word("language", recorded, Language::from_str_opt),
        None => Ok(Language::of(text)),
    }
}

impl StoredMatch {
    fn from_runtime(met: &WordMatch) -> Self {
        Self {
            query_start: met.query.start as u64,
            query_end: met.query.end as u64,
            text_start: met.text.start as u64,
            text_end: met.text.end as u64,
            nearness: met.nearness,
            share: met.share,
        }
    }

    fn into_runtime(self) -> Result<WordMatch, PayloadError> {
        Ok(WordMatch {
            query: count("query_start", self.query_start)?..count("query_end", self.query_end)?,
            text: count("text_start", self.text_start)?..count("text_end", self.text_end)?,
            nearness: self.nearness,
            share: self.share,
        })
    }
}

impl StoredScores {
    /// Returns the stages that have columns of their own in the projection, in the order of those.
    pub(crate) fn columns(&self) -> [Option<StoredRanked>; 12] {
        [
            self.exact,
            self.lexical,
            self.fts5,
            self.tantivy,
            self.dense,
            self.sparse,
            self.rrf,
            self.fused,
            self.reranker,
            self.last,
            self.weighted,
            self.impact,
        ]
    }

    fn from_runtime(scores: &StageScores) -> Self {
        let store = |ranked: Option<RankedScore>| ranked.map(StoredRanked::from_runtime);
        Self {
            exact: store(scores.exact),
            lexical: store(scores.lexical),
            impact: store(scores.impact),
            fts5: store(scores.fts5),
            tantivy: store(scores.tantivy),
            dense: store(scores.dense),
            sparse: store(scores.sparse),
            other: scores
                .other
                .iter()
                .map(|(lane, ranked)| (lane.clone(), StoredRanked::from_runtime(*ranked)))
                .collect(),
            rrf: store(scores.rrf),
            fused: store(scores.fused),
            reranker: store(scores.reranker),
            last: store(scores.final_),
            weighted: store(scores.weighted),
        }
    }

    fn into_runtime(self) -> StageScores {
        let restore = |ranked: Option<StoredRanked>| ranked.map(StoredRanked::into_runtime);
        StageScores {
            exact: restore(self.exact),
            lexical: restore(self.lexical),
            impact: restore(self.impact),
            fts5: restore(self.fts5),
            tantivy: restore(self.tantivy),
            dense: restore(self.dense),
            sparse: restore(self.sparse),
            other: self
                .other
                .into_iter()
                .map(|(lane, ranked)| (lane, ranked.into_runtime()))
                .collect(),
            rrf: restore(self.rrf),
            fused: restore(self.fused),
            reranker: restore(self.reranker),
            final_: restore(self.last),
            weighted: restore(self.weighted),
        }
    }
}

impl StoredRanked {
    fn from_runtime(ranked: RankedScore) -> Self {
        Self {
            rank: ranked.rank,
            score: ranked.score,
        }
    }

    fn into_runtime(self) -> RankedScore {
        RankedScore {
            rank: self.rank,
            score: self.score,
        }
    }
}

impl StoredDegradation {
    fn from_runtime(degradation: &Degradation) -> Self {
        Self {
            code: degradation.code.clone(),
            detail: degradation.detail.clone(),
            path: degradation.path.clone(),
        }
    }

    fn into_runtime(self) -> Degradation {
        Degradation {
            code: self.code,
            detail: self.detail,
            path: self.path,
        }
    }
}

impl StoredLatency {
    fn from_runtime(latency: &StageLatency) -> Self {
        Self {
            stage: latency.stage.as_str().into(),
            micros: latency.micros,
        }
    }

    fn into_runtime(self) -> Result<StageLatency, PayloadError> {
        Ok(StageLatency {
            stage: word("stage", &self.stage, Stage::from_str_opt)?,
            micros: self.micros,
        })
    }
}

impl StoredBudget {
    fn from_runtime(budget: &BudgetUse) -> Self {
        Self {
            token_budget: budget.token_budget as u64,
            tokens_used: budget.tokens_used as u64,
            fragment_limit: budget.fragment_limit as u64,
            fragments_used: budget.fragments_used as u64,
        }
    }

    fn into_runtime(self) -> Result<BudgetUse, PayloadError> {
        Ok(BudgetUse {
            token_budget: count("token_budget", self.token_budget)?,
            tokens_used: count("tokens_used", self.tokens_used)?,
            fragment_limit: count("fragment_limit", self.fragment_limit)?,
            fragments_used: count("fragments_used", self.fragments_used)?,
        })
    }
}
