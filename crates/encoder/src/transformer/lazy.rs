//! An encoder that opens its pack when it is first asked for a vector: most commands only compare revisions.

use std::path::PathBuf;
use std::sync::OnceLock;

use casebook_index::{
    Cancel, EncodeError, EncoderRevision, Passage, PassageVector, TextEncoder, TextSide, TokenWeight,
};

use super::{TransformerEncoder, TransformerError, TransformerOptions, open};
use crate::packs::PackManifest;

/// A [`TransformerEncoder`] that is opened on first use. The manifest tells its revision and dimension.
#[derive(Debug)]
pub struct LazyTransformer {
    dir: PathBuf,
    manifest: PackManifest,
    options: TransformerOptions,
    advice: String,
    revision: EncoderRevision,
    opened: OnceLock<Result<TransformerEncoder, TransformerError>>,
}

/// A pack could not be opened; told each time it is asked.
#[derive(Debug, thiserror::Error)]
#[error("model pack {name} cannot be opened: {reason}{advice}")]
struct NotOpened {
    name: String,
    reason: String,
    advice: String,
}

impl LazyTransformer {
    /// Takes a pack's folder; nothing is read yet.
    pub fn new(dir: PathBuf, manifest: PackManifest, options: TransformerOptions) -> Self {
        Self {
            revision: EncoderRevision::new(open::revision(&manifest, options.precision)),
            dir,
            manifest,
            options,
            advice: String::new(),
            opened: OnceLock::new(),
        }
    }

    /// Adds to what is told where the pack cannot be opened: who chose it, and what to do.
    #[must_use]
    pub fn with_advice(mut self, advice: impl Into<String>) -> Self {
        self.advice = advice.into();
        self
    }

    fn encoder(&self) -> Result<&TransformerEncoder, EncodeError> {
        let opened = self
            .opened
            .get_or_init(|| TransformerEncoder::open_with(&self.dir, &self.manifest, &self.options));
        opened.as_ref().map_err(|error| {
            let mut reason = error.to_string();
            let mut source = std::error::Error::source(error);
            while let Some(cause) = source {
                reason = format!("{reason}: {cause}");
                source = cause.source();
            }
            EncodeError::Other(Box::new(NotOpened {
                name: self.manifest.name.clone(),
                reason,
                advice: self.advice.clone(),
            }))
        })
    }
}

impl TextEncoder for LazyTransformer {
    fn is_contextual(&self) -> bool {
        true
    }

    fn revision(&self) -> &EncoderRevision {
        &self.revision
    }

    fn dimension(&self) -> usize {
        self.manifest.dimension
    }

    fn max_input_tokens(&self) -> usize {
        self.manifest.max_tokens
    }

    fn encode_query(&self, query: &str) -> Result<Vec<f32>, EncodeError> {
        self.encoder()?.encode_query(query)
    }

    fn encode_passages(
        &self,
        passages: &[Passage<'_>],
        cancel: &dyn Cancel,
    ) -> Result<Vec<PassageVector>, EncodeError> {
        self.encoder()?.encode_passages(passages, cancel)
    }

    fn sparse_weights(&self, text: &str, side: TextSide) -> Result<Option<Vec<TokenWeight>>, EncodeError> {
        if !self.manifest.sparse {
            return Ok(None);
        }
        self.encoder()?.sparse_weights(text, side)
    }
}
