//! A network of any architecture, and the buffers that it works in.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::bert::Bert;
use super::config::Config;
use super::embedding::Embedding;
use super::qwen::Qwen;
use super::{TransformerError, WeightPrecision, Weights, attention};
use crate::packs::{Architecture, PackManifest};

/// Numbers in the widest buffer of those that are kept, 64 MiB: one very long text must not hold memory for ever.
const MOST_KEPT: usize = 16 << 20;

/// Tokens of one window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input<'a> {
    pub(super) tokens: &'a [u32],
    /// Where the second of two texts begins, or any number past the end where there is one text.
    pub(super) second_part: usize,
}

/// Buffers that one text after the other is computed in, so that no page is touched for the first time again.
#[derive(Default)]
pub(super) struct Scratch {
    /// Rows that the network ends with.
    pub(super) hidden: Vec<f32>,
    pub(super) other: Vec<f32>,
    pub(super) third: Vec<f32>,
    pub(super) wide: Vec<f32>,
    pub(super) attention: attention::Scratch,
}

enum Body {
    Bert(Bert),
    Qwen(Qwen),
}

/// A network without a head, ready to run on any thread.
pub(super) struct Network {
    body: Body,
    hidden: usize,
    /// Buffers of threads that are not at work.
    idle: Mutex<Vec<Scratch>>,
}

impl Network {
    /// Reads the body of a network; the weights stay open for its head.
    pub(super) fn read(
        dir: &Path,
        manifest: &PackManifest,
        precision: WeightPrecision,
    ) -> Result<(Self, Config, Weights), TransformerError> {
        let config = Config::read(dir, manifest)?;
        let mut weights = Weights::open_model(dir)?;
        let body = match manifest.architecture {
            Architecture::Bert | Architecture::XlmRoberta => {
                Body::Bert(Bert::read(&mut weights, &config, manifest.architecture, precision)?)
            }
            Architecture::Qwen3 => Body::Qwen(Qwen::read(&mut weights, &config, precision)?),
        };
        let network = Self {
            body,
            hidden: config.hidden_size,
            idle: Mutex::new(Vec::new()),
        };
        Ok((network, config, weights))
    }

    /// Returns the table of words.
    pub(super) fn words(&self) -> &Embedding {
        match &self.body {
            Body::Bert(bert) => bert.words(),
            Body::Qwen(qwen) => qwen.words(),
        }
    }

    /// Returns the bytes of tables and matrices in memory.
    pub(super) fn bytes(&self) -> usize {
        match &self.body {
            Body::Bert(bert) => bert.bytes(),
            Body::Qwen(qwen) => qwen.bytes(),
        }
    }

    /// Returns what `read` makes of the last layer's rows: `tokens` times the hidden size.
    ///
    /// There has to be a token, each of them one of the table of words, and no more than there are positions.
    pub(super) fn run<T>(&self, input: &Input<'_>, read: impl FnOnce(&[f32]) -> T) -> T {
        let scratch = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut scratch = scratch.unwrap_or_default();
        match &self.body {
            Body::Bert(bert) => bert.run(input, &mut scratch),
            Body::Qwen(qwen) => qwen.run(input, &mut scratch),
        }
        let result = read(&scratch.hidden[..input.tokens.len() * self.hidden]);
        if scratch.wide.capacity() <= MOST_KEPT {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
        }
        result
    }
}
