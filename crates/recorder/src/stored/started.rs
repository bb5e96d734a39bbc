//! `run_started`, version 4: what was asked, under which constants, by which process.

use casebook_corpus::{ProjectId, Scope, Timestamp};
use casebook_ranker::{ActivationRequest, Fusion, FusionWeights, HistoryMode, LexicalWeights, RankerConfig};
use serde::{Deserialize, Serialize};

use super::{StoredHeld, Word, count, restore_state, store_state, word};
use crate::{InstanceId, PayloadError};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RunStarted {
    pub(crate) project: ProjectId,
    pub(crate) instance: InstanceId,
    pub(crate) request: StoredRequest,
    pub(crate) config: StoredConfig,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StoredRequest {
    pub(crate) query: String,
    state: Vec<StoredHeld>,
    as_of: Option<Timestamp>,
    scopes: Vec<Scope>,
    topics: Vec<String>,
    entities: Vec<String>,
    audiences: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StoredConfig {
    pub(crate) profile: String,
    lexical_limit: u64,
    lexical_weights: StoredWeights,
    dense_limit: u64,
    rrf_k: f32,
    fused_keep: u64,
    rerank_depth: u64,
    rerank_weight: f32,
    phrase_bonus: f32,
    min_relevance: f32,
    relevance_share: f32,
    max_overlap: f32,
    per_resource: u64,
    token_budget: u64,
    fragment_limit: u64,
    history: Word,
    deadline_ms: u64,
    /// Since version 2; before, fusion was by reciprocal ranks.
    #[serde(default)]
    fusion: Option<StoredFusion>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct StoredFusion {
    mode: Word,
    dense: f32,
    foreign_dense: f32,
    foreign_lexical: f32,
    /// Since version 3; before, all encoders had one share.
    #[serde(default)]
    contextual_dense: Option<f32>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct StoredWeights {
    fts5: f32,
    tantivy: f32,
    other: f32,
    /// Since version 4; before, there was no such lane.
    #[serde(default)]
    impact: Option<f32>,
}

impl StoredRequest {
    pub(crate) fn from_runtime(request: &ActivationRequest) -> Self {
        Self {
            query: request.query.clone(),
            state: store_state(&request.state),
            as_of: request.as_of,
            scopes: request.scopes.clone(),
            topics: request.topics.clone(),
            entities: request.entities.clone(),
            audiences: request.audiences.clone(),
        }
    }

    pub(crate) fn into_runtime(self) -> ActivationRequest {
        ActivationRequest {
            query: self.query,
            state: restore_state(self.state),
            as_of: self.as_of,
            scopes: self.scopes,
            topics: self.topics,
            entities: self.entities,
            audiences: self.audiences,
        }
    }
}

impl StoredConfig {
    pub(crate) fn from_runtime(config: &RankerConfig) -> Self {
        Self {
            profile: config.profile.clone(),
            lexical_limit: config.lexical_limit as u64,
            lexical_weights: StoredWeights {
                impact: Some(config.lexical_weights.impact),
                fts5: config.lexical_weights.fts5,
                tantivy: config.lexical_weights.tantivy,
                other: config.lexical_weights.other,
            },
            dense_limit: config.dense_limit as u64,
            rrf_k: config.rrf_k,
            fused_keep: config.fused_keep as u64,
            rerank_depth: config.rerank_depth as u64,
            rerank_weight: config.rerank_weight,
            phrase_bonus: config.phrase_bonus,
            min_relevance: config.min_relevance,
            relevance_share: config.relevance_share,
            max_overlap: config.max_overlap,
            per_resource: config.per_resource as u64,
            token_budget: config.token_budget as u64,
            fragment_limit: config.fragment_limit as u64,
            history: match config.history {
                HistoryMode::Off => "off".into(),
                HistoryMode::Attach => "attach".into(),
            },
            deadline_ms: config.deadline_ms,
            fusion: Some(StoredFusion {
                mode: config.fusion.as_str().into(),
                dense: config.fusion_weights.dense,
                foreign_dense: config.fusion_weights.foreign_dense,
                foreign_lexical: config.fusion_weights.foreign_lexical,
                contextual_dense: Some(config.fusion_weights.contextual_dense),
            }),
        }
    }

    pub(crate) fn into_runtime(self) -> Result<RankerConfig, PayloadError> {
        let (fusion, fusion_weights) = match self.fusion {
            None => (Fusion::Rrf, FusionWeights::default()),
            Some(fusion) => (
                word("fusion", &fusion.mode, Fusion::from_str_opt)?,
                FusionWeights {
                    dense: fusion.dense,
                    foreign_dense: fusion.foreign_dense,
                    foreign_lexical: fusion.foreign_lexical,
                    contextual_dense: fusion.contextual_dense.unwrap_or(fusion.dense),
                },
            ),
        };
        Ok(RankerConfig {
            fusion,
            fusion_weights,
            profile: self.profile,
            lexical_limit: count("lexical_limit", self.lexical_limit)?,
            lexical_weights: LexicalWeights {
                impact: self.lexical_weights.impact.unwrap_or(self.lexical_weights.other),
                fts5: self.lexical_weights.fts5,
                tantivy: self.lexical_weights.tantivy,
                other: self.lexical_weights.other,
            },
            dense_limit: count("dense_limit", self.dense_limit)?,
            rrf_k: self.rrf_k,
            fused_keep: count("fused_keep", self.fused_keep)?,
            rerank_depth: count("rerank_depth", self.rerank_depth)?,
            rerank_weight: self.rerank_weight,
            phrase_bonus: self.phrase_bonus,
            min_relevance: self.min_relevance,
            relevance_share: self.relevance_share,
            max_overlap: self.max_overlap,
            per_resource: count("per_resource", self.per_resource)?,
            token_budget: count("token_budget", self.token_budget)?,
            fragment_limit: count("fragment_limit", self.fragment_limit)?,
            history: word("history", &self.history, |text| match text {
                "off" => Some(HistoryMode::Off),
                "attach" => Some(HistoryMode::Attach),
                _ => None,
            })?,
            deadline_ms: self.deadline_ms,
        })
    }
}
