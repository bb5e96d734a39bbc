//! `casebook models`. Doc comments are the help texts.

use clap::{Args, Subcommand, ValueEnum};

use super::FillCommand;

#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// Add a model: from a folder, a wheel, a zip, a GGUF file, or the Hugging Face hub
    ///
    /// What is added is checked and copied into the data folder; the source may go afterwards. Weights are read from
    /// safetensors and GGUF; pickle (.bin, .pt, .ckpt) is never read. Networks that can be run: BERT, XLM-RoBERTa, Qwen3.
    /// Only a source that begins with `hf:` uses the network.
    Add(AddModelArgs),
    /// List the models that were added, and which are in use
    List,
    /// Compare models with their manifests: length and SHA-256 of every file
    Verify {
        /// Only this model
        name: Option<String>,
    },
    /// Choose the model that encodes, or the one that reranks
    ///
    /// Writes the setting into the project's casebook.toml and leaves the rest of the file as it is.
    Use(UseModelArgs),
    #[command(flatten)]
    Fill(FillCommand),
    /// Remove a model and its files
    Remove {
        /// The model, or hf:OWNER/NAME for what waits of a download
        name: String,
        /// Also when this project uses it
        #[arg(long)]
        force: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct AddModelArgs {
    /// A folder as Hugging Face lays it out, a .whl, a .zip, a .gguf, or hf:OWNER/NAME, with @REVISION where one is meant
    pub(crate) source: String,
    /// Name to use it by [default: made from the source]
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// The weights that are meant, where the source has several models
    #[arg(long, value_name = "PATH")]
    pub(crate) file: Option<String>,
    /// Of `hf:`, the branch, tag or commit to take; of other sources, what to write down [default: `main`; the SHA-256]
    #[arg(long)]
    pub(crate) revision: Option<String>,
    /// The model's licence in SPDX form, where the source does not say it or is wrong
    #[arg(long, value_name = "SPDX")]
    pub(crate) licence: Option<String>,
    /// Take a model whose licence is not known to allow every use, such as a non-commercial one
    #[arg(long)]
    pub(crate) allow_licence: bool,
    /// Put before every question, instead of what the model says
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) query_prefix: Option<String>,
    /// Put before every passage, instead of what the model says
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) passage_prefix: Option<String>,
    /// How token vectors become one, instead of what the model says
    #[arg(long)]
    pub(crate) pooling: Option<PoolingArg>,
    /// Keep only a part of the vocabulary: smaller, and the same vectors for texts of that part
    #[arg(long)]
    pub(crate) prune: Option<PruneArg>,
    /// Refuse a model with more bytes than this
    #[arg(long, value_name = "BYTES", default_value_t = 8 << 30)]
    pub(crate) max_bytes: u64,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum PoolingArg {
    /// The mean over all tokens
    Mean,
    /// The first token
    Cls,
    /// The last token
    Last,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum PruneArg {
    /// Chinese, English and code
    ZhEn,
}

#[derive(Debug, Args)]
pub(crate) struct UseModelArgs {
    /// The model that encodes, or `embedded`
    #[arg(required_unless_present = "reranker")]
    pub(crate) name: Option<String>,
    /// The model that reranks, or `embedded`
    #[arg(long, value_name = "NAME")]
    pub(crate) reranker: Option<String>,
    /// Write the user's settings, for all projects, instead of this project's
    #[arg(long)]
    pub(crate) user: bool,
}
