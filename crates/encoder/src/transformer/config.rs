//! `config.json` as Hugging Face writes it, for the three networks.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::TransformerError;
use crate::packs::{Architecture, PackManifest, PackTask};

pub(super) const FILE: &str = "config.json";
/// Layers, heads and lengths that are believed.
const MOST: usize = 1 << 20;

/// What all three networks say about themselves, and what some do.
#[derive(Debug, Deserialize)]
pub(super) struct Config {
    model_type: String,
    pub(super) hidden_size: usize,
    pub(super) num_hidden_layers: usize,
    pub(super) num_attention_heads: usize,
    pub(super) intermediate_size: usize,
    pub(super) vocab_size: usize,
    pub(super) max_position_embeddings: usize,
    hidden_act: String,
    #[serde(default)]
    pub(super) pad_token_id: Option<usize>,
    #[serde(default)]
    pub(super) type_vocab_size: Option<usize>,
    #[serde(default)]
    layer_norm_eps: Option<f32>,
    #[serde(default)]
    position_embedding_type: Option<String>,
    #[serde(default)]
    num_key_value_heads: Option<usize>,
    #[serde(default)]
    head_dim: Option<usize>,
    #[serde(default)]
    rms_norm_eps: Option<f32>,
    #[serde(default)]
    rope_theta: Option<f32>,
    #[serde(default)]
    rope_scaling: Option<Value>,
    #[serde(default)]
    rope_parameters: Option<Value>,
    #[serde(default)]
    attention_bias: Option<bool>,
    #[serde(default)]
    use_sliding_window: Option<bool>,
    #[serde(default)]
    pub(super) tie_word_embeddings: Option<bool>,
}

impl Config {
    /// Reads `config.json` and compares it with the manifest.
    pub(super) fn read(dir: &Path, manifest: &PackManifest) -> Result<Self, TransformerError> {
        let text = std::fs::read(dir.join(FILE)).map_err(|source| TransformerError::read(FILE, source))?;
        let config: Self =
            serde_json::from_slice(&text).map_err(|error| TransformerError::format(FILE, error.to_string()))?;
        config.check(manifest)?;
        Ok(config)
    }

    fn check(&self, manifest: &PackManifest) -> Result<(), TransformerError> {
        let (model_type, activation) = match manifest.architecture {
            Architecture::Bert => ("bert", "gelu"),
            Architecture::XlmRoberta => ("xlm-roberta", "gelu"),
            Architecture::Qwen3 => ("qwen3", "silu"),
        };
        let unfit = |key: &str, found: &dyn ToString, expected: &dyn ToString| {
            Err(TransformerError::setting(
                FILE,
                key,
                found.to_string(),
                expected.to_string(),
            ))
        };
        if self.model_type != model_type {
            return unfit("model_type", &self.model_type, &model_type);
        }
        if self.hidden_act != activation {
            return unfit("hidden_act", &self.hidden_act, &activation);
        }
        for (key, size) in [
            ("hidden_size", self.hidden_size),
            ("num_hidden_layers", self.num_hidden_layers),
            ("num_attention_heads", self.num_attention_heads),
            ("num_key_value_heads", self.key_heads()),
            ("intermediate_size", self.intermediate_size),
            ("vocab_size", self.vocab_size),
            ("max_position_embeddings", self.max_position_embeddings),
            ("head_dim", self.head_size()),
        ] {
            if size == 0 || size > MOST {
                return unfit(key, &size, &"a number from 1 to 1048576");
            }
        }
        let epsilon = self.epsilon();
        if !(epsilon > 0.0 && epsilon < 1.0) {
            return unfit(
                "layer_norm_eps or rms_norm_eps",
                &epsilon,
                &"a number above 0 and below 1",
            );
        }
        if let Some(kind) = self
            .position_embedding_type
            .as_deref()
            .filter(|kind| *kind != "absolute")
        {
            return unfit("position_embedding_type", &kind, &"absolute");
        }
        let heads = self.num_attention_heads;
        if manifest.architecture == Architecture::Qwen3 {
            if !heads.is_multiple_of(self.key_heads()) {
                return unfit(
                    "num_key_value_heads",
                    &self.key_heads(),
                    &"a divisor of num_attention_heads",
                );
            }
            if !self.head_size().is_multiple_of(2) {
                return unfit("head_dim", &self.head_size(), &"an even number");
            }
            if self.attention_bias == Some(true) || self.use_sliding_window == Some(true) {
                return unfit("attention_bias or use_sliding_window", &true, &false);
            }
            self.rope_theta()?;
        } else if !self.hidden_size.is_multiple_of(heads) {
            return unfit("num_attention_heads", &heads, &"a divisor of hidden_size");
        }
        if manifest.task == PackTask::Embed && manifest.dimension != self.hidden_size {
            return unfit("hidden_size", &self.hidden_size, &manifest.dimension);
        }
        let positions = self
            .max_position_embeddings
            .saturating_sub(self.first_position(manifest.architecture));
        if manifest.max_tokens > positions {
            return unfit(
                "max_position_embeddings",
                &self.max_position_embeddings,
                &format!("room for {} tokens", manifest.max_tokens),
            );
        }
        Ok(())
    }

    /// Returns the position of the first token.
    pub(super) fn first_position(&self, architecture: Architecture) -> usize {
        match architecture {
            Architecture::XlmRoberta => self.pad_token_id.unwrap_or(1) + 1,
            Architecture::Bert | Architecture::Qwen3 => 0,
        }
    }

    /// Returns how many heads of keys there are.
    pub(super) fn key_heads(&self) -> usize {
        self.num_key_value_heads.unwrap_or(self.num_attention_heads)
    }

    /// Returns the numbers in a head.
    pub(super) fn head_size(&self) -> usize {
        self.head_dim
            .unwrap_or(self.hidden_size / self.num_attention_heads.max(1))
    }

    /// Returns what a norm adds to a variance.
    pub(super) fn epsilon(&self) -> f32 {
        self.layer_norm_eps.or(self.rms_norm_eps).unwrap_or(1e-12)
    }

    /// Returns the base of the rotary angles. It stands in one of two places; scaled ones are refused.
    pub(super) fn rope_theta(&self) -> Result<f32, TransformerError> {
        const DEFAULT: f32 = 10_000.0;
        let mut theta = self.rope_theta;
        for (key, parameters) in [
            ("rope_scaling", &self.rope_scaling),
            ("rope_parameters", &self.rope_parameters),
        ] {
            let Some(parameters) = parameters.as_ref().filter(|parameters| !parameters.is_null()) else {
                continue;
            };
            let kind = parameters.get("rope_type").or(parameters.get("type"));
            if kind.is_some_and(|kind| kind != "default") {
                return Err(TransformerError::setting(FILE, key, parameters, "default"));
            }
            let inner = parameters.get("rope_theta").and_then(Value::as_f64);
            theta = inner.map(|theta| theta as f32).or(theta);
        }
        let theta = theta.unwrap_or(DEFAULT);
        if theta.is_finite() && theta >= 1.0 {
            Ok(theta)
        } else {
            Err(TransformerError::setting(
                FILE,
                "rope_theta",
                theta,
                "a number of at least 1",
            ))
        }
    }
}
