//! Text becomes a vector: windows through the network, token rows into one, windows into one.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use casebook_index::{
    Cancel, EncodeError, EncoderRevision, Language, Passage, PassageVector, TextEncoder, TextSide, TokenWeight,
};

use super::network::{Input, Network};
use super::tokens::{Tokens, Window};
use super::weights::Name;
use super::workers::{Workers, guarded};
use super::{TransformerError, TransformerOptions, Weights, open};
use crate::packs::{PackManifest, PackTask, Pooling};
use crate::passage_text::context;
use crate::vector::{add_scaled, dot, normalise};

const MEANS_FILE: &str = "means.json";
const SPARSE_FILE: &str = "sparse_linear.safetensors";

/// Texts become vectors by a transformer.
///
/// A text that is longer than the network's input is read in windows; its vector is their mean, each by its tokens.
pub struct TransformerEncoder {
    network: Network,
    tokens: Tokens,
    workers: Workers,
    revision: EncoderRevision,
    query_prefix: String,
    passage_prefix: String,
    pooling: Pooling,
    normalise: bool,
    dimension: usize,
    most: usize,
    means: BTreeMap<String, Vec<f32>>,
    sparse: Option<Sparse>,
}

/// One number per token row: how much the token counts.
struct Sparse {
    weight: Vec<f32>,
    bias: f32,
}

impl std::fmt::Debug for TransformerEncoder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("TransformerEncoder")
            .field("revision", &self.revision)
            .finish_non_exhaustive()
    }
}

impl TransformerEncoder {
    /// Opens the pack in a folder, with [`TransformerOptions::default`].
    ///
    /// # Errors
    /// When a file is missing, malformed or does not fit the manifest; the error names it.
    pub fn open(dir: &Path, manifest: &PackManifest) -> Result<Self, TransformerError> {
        Self::open_with(dir, manifest, &TransformerOptions::default())
    }

    /// Opens the pack in a folder.
    ///
    /// # Errors
    /// When a file is missing, malformed or does not fit the manifest; the error names it.
    pub fn open_with(
        dir: &Path,
        manifest: &PackManifest,
        options: &TransformerOptions,
    ) -> Result<Self, TransformerError> {
        open::check(dir, manifest, PackTask::Embed)?;
        let (network, config, _) = Network::read(dir, manifest, options.precision)?;
        let tokens = Tokens::read(dir, manifest, network.words().rows())?;
        let means = if manifest.means {
            read_means(dir, manifest.dimension)?
        } else {
            BTreeMap::new()
        };
        let sparse = if manifest.sparse {
            Some(Sparse::read(dir, config.hidden_size)?)
        } else {
            None
        };
        Ok(Self {
            network,
            tokens,
            workers: Workers::start(options.threads)?,
            revision: EncoderRevision::new(open::revision(manifest, options.precision)),
            query_prefix: manifest.query_prefix.clone(),
            passage_prefix: manifest.passage_prefix.clone(),
            pooling: manifest.pooling,
            normalise: manifest.normalise,
            dimension: manifest.dimension,
            most: manifest.max_tokens,
            means,
            sparse,
        })
    }

    /// Returns the bytes of weights in memory.
    pub fn weight_bytes(&self) -> usize {
        self.network.bytes()
    }

    /// Returns how many of the model's own tokens a text has, without special ones.
    ///
    /// # Errors
    /// When the tokenizer cannot cut the text.
    pub fn count_tokens(&self, text: &str) -> Result<usize, EncodeError> {
        guarded(0, || self.tokens.encode(text)).map(|tokens| tokens.len())
    }

    /// Returns one window's vector.
    fn pool(&self, window: &Window) -> Result<Vec<f32>, String> {
        let mut vector = vec![0.0; self.dimension];
        if window.tokens.is_empty() {
            return Ok(vector);
        }
        let input = Input {
            tokens: &window.tokens,
            second_part: usize::MAX,
        };
        let last = window.tokens.len() - 1;
        self.network.run(&input, |rows| {
            let mut rows = rows.chunks_exact(self.dimension);
            let one = match self.pooling {
                Pooling::Mean => {
                    let share = 1.0 / window.tokens.len() as f32;
                    rows.for_each(|row| add_scaled(&mut vector, share, row));
                    return;
                }
                Pooling::Cls => rows.next(),
                Pooling::Last => rows.nth(last),
            };
            vector.copy_from_slice(one.expect("there is a row for every token"));
        });
        self.finish(vector)
    }

    /// Scales a vector as the pack says.
    fn finish(&self, mut vector: Vec<f32>) -> Result<Vec<f32>, String> {
        // A large norm would overflow before the numbers themselves do.
        if !dot(&vector, &vector).is_finite() {
            return Err("the model's numbers overflow on it".to_owned());
        }
        if self.normalise {
            normalise(&mut vector);
        }
        Ok(vector)
    }

    /// Takes the mean of its language off a vector. Without it, some models put every text nearer to any text in its own
    /// language than to its translation.
    fn centred(&self, mut vector: Vec<f32>, text: &str) -> Vec<f32> {
        let mean = self.means.get(Language::of(text).as_str());
        if let Some(mean) = mean.filter(|_| vector.iter().any(|number| *number != 0.0)) {
            add_scaled(&mut vector, -1.0, mean);
            if self.normalise {
                normalise(&mut vector);
            }
        }
        vector
    }

    /// Returns the mean of windows' vectors, each by its tokens.
    fn join(&self, windows: &[Window], vectors: &[Vec<f32>]) -> Result<PassageVector, String> {
        let input_windows = windows.len() as u32;
        if let [vector] = vectors {
            let vector = vector.clone();
            return Ok(PassageVector { vector, input_windows });
        }
        let total = windows.iter().map(|window| window.own).sum::<usize>() as f32;
        let mut sum = vec![0.0; self.dimension];
        for (window, vector) in windows.iter().zip(vectors) {
            add_scaled(&mut sum, window.own as f32 / total, vector);
        }
        let vector = self.finish(sum)?;
        Ok(PassageVector { vector, input_windows })
    }
}

impl TextEncoder for TransformerEncoder {
    fn is_contextual(&self) -> bool {
        true
    }

    fn revision(&self) -> &EncoderRevision {
        &self.revision
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn max_input_tokens(&self) -> usize {
        self.most
    }

    fn encode_query(&self, query: &str) -> Result<Vec<f32>, EncodeError> {
        guarded(0, || {
            let windows = self.tokens.windows(&self.query_prefix, "", query)?;
            let vectors: Vec<_> = windows
                .iter()
                .map(|window| self.pool(window))
                .collect::<Result<_, _>>()?;
            let passage = self.join(&windows, &vectors)?;
            Ok(self.centred(passage.vector, query))
        })
    }

    fn encode_passages(
        &self,
        passages: &[Passage<'_>],
        cancel: &dyn Cancel,
    ) -> Result<Vec<PassageVector>, EncodeError> {
        let cut = |index: usize| {
            let passage = &passages[index];
            self.tokens
                .windows(&self.passage_prefix, &open::context_of(passage, context), passage.text)
        };
        let cut = self.workers.run(passages.len(), cancel, |index| index, cut)?;
        let pieces: Vec<(usize, &Window)> = cut
            .iter()
            .enumerate()
            .flat_map(|(index, windows)| windows.iter().map(move |window| (index, window)))
            .collect();
        let vectors = self.workers.run(
            pieces.len(),
            cancel,
            |piece| pieces[piece].0,
            |piece| self.pool(pieces[piece].1),
        )?;
        let mut rest = vectors.as_slice();
        let joined = cut.iter().enumerate().map(|(index, windows)| {
            let (own, others) = rest.split_at(windows.len());
            rest = others;
            guarded(index, || {
                let mut passage = self.join(windows, own)?;
                passage.vector = self.centred(passage.vector, passages[index].text);
                Ok(passage)
            })
        });
        joined.collect()
    }

    fn sparse_weights(&self, text: &str, side: TextSide) -> Result<Option<Vec<TokenWeight>>, EncodeError> {
        let Some(sparse) = &self.sparse else {
            return Ok(None);
        };
        let prefix = match side {
            TextSide::Query => &self.query_prefix,
            TextSide::Passage => &self.passage_prefix,
        };
        guarded(0, || {
            let mut largest: HashMap<u32, f32> = HashMap::new();
            for window in self.tokens.windows(prefix, "", text)? {
                if window.tokens.is_empty() {
                    continue;
                }
                let input = Input {
                    tokens: &window.tokens,
                    second_part: usize::MAX,
                };
                self.network.run(&input, |rows| {
                    for (token, row) in window.tokens.iter().zip(rows.chunks_exact(self.dimension)) {
                        let weight = dot(row, &sparse.weight) + sparse.bias;
                        if !weight.is_finite() {
                            return Err("the model's numbers overflow on it".to_owned());
                        }
                        if weight > 0.0 && !self.tokens.is_special(*token) {
                            let largest = largest.entry(*token).or_default();
                            *largest = largest.max(weight);
                        }
                    }
                    Ok(())
                })?;
            }
            let weights = largest.into_iter().map(|(token, weight)| TokenWeight { token, weight });
            let mut weights: Vec<_> = weights.collect();
            weights.sort_unstable_by_key(|weight| weight.token);
            Ok(Some(weights))
        })
    }
}

impl Sparse {
    fn read(dir: &Path, hidden: usize) -> Result<Self, TransformerError> {
        let mut weights = Weights::open(dir, SPARSE_FILE)?;
        let bias = weights.numbers(&Name::new("bias", "bias"), &[1])?;
        Ok(Self {
            weight: weights.numbers(&Name::new("weight", "weight"), &[1, hidden])?,
            bias: bias[0],
        })
    }
}

fn read_means(dir: &Path, dimension: usize) -> Result<BTreeMap<String, Vec<f32>>, TransformerError> {
    let bytes = std::fs::read(dir.join(MEANS_FILE)).map_err(|source| TransformerError::read(MEANS_FILE, source))?;
    let means: BTreeMap<String, Vec<f32>> =
        serde_json::from_slice(&bytes).map_err(|error| TransformerError::format(MEANS_FILE, error.to_string()))?;
    for (language, mean) in &means {
        if mean.len() != dimension || !mean.iter().all(|number| number.is_finite()) {
            let found = format!("{} numbers", mean.len());
            let expected = format!("{dimension} finite numbers");
            return Err(TransformerError::setting(MEANS_FILE, language, found, expected));
        }
    }
    Ok(means)
}
