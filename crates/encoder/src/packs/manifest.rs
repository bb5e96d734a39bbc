//! What a model pack says about itself: `pack.json` in the pack's folder.

use serde::{Deserialize, Serialize};

/// Version of `pack.json` that this crate writes and reads.
pub const PACK_FORMAT: u32 = 1;

/// Everything that a pack's vectors or scores depend on, beside the files themselves. All files lie flat in the pack's
/// folder: `config.json` and `tokenizer.json` as Hugging Face writes them, and the weights as `model.safetensors` (f32, f16
/// or bf16) or `model.gguf` (F32, F16, Q4_0 or Q8_0).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackManifest {
    /// [`PACK_FORMAT`].
    pub format: u32,
    /// Name in the store: lower-case ASCII letters, digits, `.`, `_` and `-`; starts with a letter or a digit.
    pub name: String,
    /// Where it came from, for people: `hf:owner/name`, a file name or a folder name.
    pub source: String,
    /// The pinned revision: a commit for `hf:`, else the SHA-256 of what was imported.
    pub revision: String,
    /// SPDX expression of the licence.
    pub licence: String,
    /// Which network it is.
    pub architecture: Architecture,
    /// What it is for.
    pub task: PackTask,
    /// How token vectors become one; of no meaning for a reranker.
    pub pooling: Pooling,
    /// Whether vectors are scaled to norm 1.
    pub normalise: bool,
    /// Put before every query.
    pub query_prefix: String,
    /// Put before every passage.
    pub passage_prefix: String,
    /// Length of a vector; 0 for a reranker.
    pub dimension: usize,
    /// Tokens of one input at most, the special ones included.
    pub max_tokens: usize,
    /// Whether there is a learned sparse head (`sparse_linear.safetensors`: `weight` of 1 x hidden, `bias` of 1).
    pub sparse: bool,
    /// Whether there are mean vectors per language (`means.json`: language to `dimension` numbers).
    pub means: bool,
    /// Every file but `pack.json`, sorted by name.
    pub files: Vec<PackFile>,
}

/// One file of a pack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackFile {
    /// Name in the pack's folder.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// Its SHA-256, in lower-case hex.
    pub sha256: String,
}

/// Networks that can be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Architecture {
    /// BERT: post-norm, learned positions from 0 (multilingual-e5-small, MiniLM, bge-small).
    Bert,
    /// XLM-RoBERTa: as BERT, positions from `pad_token_id + 1` (BGE-M3, multilingual-e5-large, bge-reranker-v2-m3).
    XlmRoberta,
    /// Qwen3: causal, rotary positions, grouped heads (Qwen3-Embedding, Qwen3-Reranker).
    Qwen3,
}

/// What a pack is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PackTask {
    /// Text becomes a vector.
    Embed,
    /// A query and a text become a score.
    Rerank,
}

/// How token vectors become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pooling {
    /// The mean over all tokens, special ones included.
    Mean,
    /// The first token.
    Cls,
    /// The last token.
    Last,
}
