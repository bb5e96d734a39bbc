//! Late interaction: every word of the query looks for its nearest word in the passage (Khattab and Zaharia 2020,
//! ColBERT), here with the token vectors of any encoder, beside the sentence that is nearest to the whole query.

use std::collections::HashMap;
use std::sync::Arc;

use casebook_index::{Cancel, EncodeError, EncoderRevision, Passage, TextEncoder, TextSide, TokenVector};
use casebook_ranker::{PairScore, PairScorer, ScoreError};

use crate::passage_text::{context, sentences};
use crate::vector::dot;

/// The constants of late interaction. The weights need not sum to 1; the score is divided by their sum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LateInteractionConfig {
    /// Weight of the mean over the query's words of the best match each.
    pub word_weight: f32,
    /// Weight of the best sentence's cosine to the whole query.
    pub sentence_weight: f32,
    /// Cosine that strangers reach by chance, below 1: a match counts by how far it is above.
    pub chance_cosine: f32,
    /// Power of a word's rarity among the passages of a call, in the contrast of a pair: 0 counts every word by its own
    /// weight alone.
    pub rarity_power: f32,
}

impl Default for LateInteractionConfig {
    fn default() -> Self {
        Self {
            word_weight: 3.0,
            sentence_weight: 1.0,
            chance_cosine: 0.25,
            rarity_power: 1.0,
        }
    }
}

impl LateInteractionConfig {
    /// Returns what determines the scores.
    pub(crate) fn revision(&self, encoder: &EncoderRevision) -> String {
        let Self {
            word_weight,
            sentence_weight,
            chance_cosine,
            rarity_power,
        } = self;
        format!("late-interaction.2({encoder},{word_weight},{sentence_weight},{chance_cosine},{rarity_power})")
    }

    /// Returns how much a word's best match counts, from 0 to 1.
    pub(crate) fn above_chance(&self, cosine: f32) -> f32 {
        ((cosine - self.chance_cosine) / (1.0 - self.chance_cosine)).clamp(0.0, 1.0)
    }

    /// Scores passages by what they have of the query's words, whose own weights are `weights`.
    pub(crate) fn scores(&self, weights: &[f32], passages: &[Met]) -> Vec<PairScore> {
        let rare: Vec<f32> = weights
            .iter()
            .enumerate()
            .map(|(word, weight)| {
                let having = passages.iter().map(|met| met.words[word]).sum();
                weight * rarity(passages.len() as f32, having).powf(self.rarity_power)
            })
            .collect();
        let score = |met: &Met, weights: &[f32]| {
            let sum = self.word_weight * weighted_mean(&met.words, weights) + self.sentence_weight * met.sentence;
            sum / (self.word_weight + self.sentence_weight)
        };
        passages
            .iter()
            .map(|met| PairScore::new(score(met, weights)).with_contrast(score(met, &rare)))
            .collect()
    }
}

/// What one passage has of a query.
pub(crate) struct Met {
    /// How near its nearest word is to each word of the query, from 0 for strangers to 1.
    pub(crate) words: Vec<f32>,
    /// The highest cosine of one of its sentences to the whole query; 0 where it has none.
    pub(crate) sentence: f32,
}

/// The inverse document frequency of BM25 (Robertson and Zaragoza 2009, with 1 added so that it stays above 0), over the
/// candidates instead of a collection; a passage that has half a word counts half.
fn rarity(passages: f32, having: f32) -> f32 {
    ((passages - having + 0.5) / (having + 0.5)).max(0.0).ln_1p()
}

/// Returns 0 where nothing has weight.
fn weighted_mean(numbers: &[f32], weights: &[f32]) -> f32 {
    let total: f32 = weights.iter().sum();
    let sum: f32 = numbers
        .iter()
        .zip(weights)
        .map(|(number, weight)| number * weight)
        .sum();
    if total > 0.0 { sum / total } else { 0.0 }
}

/// Scores passages by the token vectors of an encoder: 0 where nothing matches, 1 where all of the query is there.
pub struct LateInteraction {
    encoder: Arc<dyn TextEncoder>,
    config: LateInteractionConfig,
    revision: String,
}

impl LateInteraction {
    /// Makes a scorer with the usual constants. See [`with_config`](Self::with_config).
    pub fn new(encoder: Arc<dyn TextEncoder>) -> Self {
        Self::with_config(encoder, LateInteractionConfig::default())
    }

    /// Makes a scorer over an encoder that has token vectors; with one that has none every call fails.
    pub fn with_config(encoder: Arc<dyn TextEncoder>, config: LateInteractionConfig) -> Self {
        Self {
            revision: config.revision(encoder.revision()),
            encoder,
            config,
        }
    }

    fn token_vectors(&self, text: &str, side: TextSide) -> Result<Vec<TokenVector>, ScoreError> {
        let vectors = self.encoder.token_vectors(text, side).map_err(score_error)?;
        vectors.ok_or_else(|| ScoreError::Other(Box::new(NoTokenVectors)))
    }

    /// Returns, per passage, the highest cosine of one of its sentences to the query; 0 where it has none.
    fn best_sentences(
        &self,
        query: &str,
        passages: &[Passage<'_>],
        cancel: &dyn Cancel,
    ) -> Result<Vec<f32>, ScoreError> {
        let query = self.encoder.encode_query(query).map_err(score_error)?;
        let mut owners = Vec::new();
        let mut texts = Vec::new();
        for (owner, passage) in passages.iter().enumerate() {
            for text in sentences(passage.text) {
                owners.push(owner);
                texts.push(Passage {
                    path: "",
                    heading_path: &[],
                    text,
                });
            }
        }
        let vectors = self.encoder.encode_passages(&texts, cancel).map_err(score_error)?;
        let mut best = vec![0.0_f32; passages.len()];
        for (owner, sentence) in owners.into_iter().zip(vectors) {
            best[owner] = best[owner].max(dot(&query, &sentence.vector));
        }
        Ok(best)
    }
}

impl PairScorer for LateInteraction {
    fn revision(&self) -> &str {
        &self.revision
    }

    fn score(&self, query: &str, passages: &[Passage<'_>], cancel: &dyn Cancel) -> Result<Vec<PairScore>, ScoreError> {
        let mut words = WordMatcher::new(self.token_vectors(query, TextSide::Query)?, self.config);
        let sentences = self.best_sentences(query, passages, cancel)?;
        let mut met = Vec::with_capacity(passages.len());
        for (passage, sentence) in passages.iter().zip(sentences) {
            if cancel.cancelled() {
                return Err(ScoreError::Cancelled);
            }
            let text = context(passage) + passage.text;
            let words = words.meet(&text, &self.token_vectors(&text, TextSide::Passage)?);
            met.push(Met { words, sentence });
        }
        Ok(self.config.scores(&words.weights(), &met))
    }
}

/// An encoder was given that has no token vectors.
#[derive(Debug)]
struct NoTokenVectors;

impl std::fmt::Display for NoTokenVectors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("encoder has no token vectors")
    }
}

impl std::error::Error for NoTokenVectors {}

fn score_error(error: EncodeError) -> ScoreError {
    match error {
        EncodeError::Cancelled => ScoreError::Cancelled,
        other => ScoreError::Other(Box::new(other)),
    }
}

/// Matches the words of one query against passages.
struct WordMatcher {
    query: Vec<TokenVector>,
    config: LateInteractionConfig,
    /// Cosines to each query word of the tokens met so far, by their letters: candidates of one query share most of
    /// their words. An encoder that gives the same letters another vector elsewhere is computed anew.
    met: HashMap<String, MetToken>,
}

struct MetToken {
    vector: Vec<f32>,
    cosines: Vec<f32>,
}

impl WordMatcher {
    fn new(query: Vec<TokenVector>, config: LateInteractionConfig) -> Self {
        Self {
            query,
            config,
            met: HashMap::new(),
        }
    }

    fn weights(&self) -> Vec<f32> {
        self.query.iter().map(|token| token.weight).collect()
    }

    /// Returns, per word of the query, the best cosine above chance, from 0 to 1.
    fn meet(&mut self, text: &str, passage: &[TokenVector]) -> Vec<f32> {
        let mut best = vec![0.0_f32; self.query.len()];
        for token in passage {
            let cosines = self.cosines(&text[token.span.clone()], &token.vector);
            best.iter_mut()
                .zip(cosines)
                .for_each(|(best, cosine)| *best = best.max(*cosine));
        }
        best.into_iter().map(|best| self.config.above_chance(best)).collect()
    }

    fn cosines(&mut self, letters: &str, vector: &[f32]) -> &[f32] {
        let known = self.met.get(letters).is_some_and(|met| met.vector == vector);
        if !known {
            let met = MetToken {
                cosines: self.query.iter().map(|token| dot(&token.vector, vector)).collect(),
                vector: vector.to_vec(),
            };
            self.met.insert(letters.to_owned(), met);
        }
        &self.met[letters].cosines
    }
}
