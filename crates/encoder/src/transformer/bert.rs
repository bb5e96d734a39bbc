//! BERT and XLM-RoBERTa: every token sees every other, and norms follow what is added.

use pulp::Arch;

use super::attention::{Heads, attend};
use super::config::{Config, FILE};
use super::embedding::Embedding;
use super::matrix::{Matrix, Then};
use super::network::{Input, Scratch};
use super::norm::LayerNorm;
use super::weights::Name;
use super::{TransformerError, WeightPrecision, Weights};
use crate::packs::Architecture;

/// The network without a head.
pub(super) struct Bert {
    words: Embedding,
    positions: Embedding,
    first_position: usize,
    types: Embedding,
    norm: LayerNorm,
    layers: Vec<Layer>,
    heads: Heads,
    arch: Arch,
}

struct Layer {
    fused: Matrix,
    attended: Matrix,
    attention_norm: LayerNorm,
    up: Matrix,
    down: Matrix,
    norm: LayerNorm,
}

impl Bert {
    pub(super) fn read(
        weights: &mut Weights,
        config: &Config,
        architecture: Architecture,
        precision: WeightPrecision,
    ) -> Result<Self, TransformerError> {
        let hidden = config.hidden_size;
        let name = |plain: &str, gguf: &str| Name::new(format!("embeddings.{plain}"), gguf);
        let words = name("word_embeddings.weight", "token_embd.weight");
        let words = Embedding::read(weights, &words, config.vocab_size, hidden, precision)?;
        let positions = name("position_embeddings.weight", "position_embd.weight");
        // llama.cpp leaves out the rows before the first position.
        let mut first_position = config.first_position(architecture);
        let mut rows = config.max_position_embeddings;
        if weights.shape(&positions)?.first() == Some(&(rows - first_position)) {
            rows -= first_position;
            first_position = 0;
        }
        let positions = Embedding::read(weights, &positions, rows, hidden, precision)?;
        let types = name("token_type_embeddings.weight", "token_types.weight");
        let rows = config.type_vocab_size.unwrap_or(2);
        if rows == 0 {
            return Err(TransformerError::setting(FILE, "type_vocab_size", rows, "at least 1"));
        }
        let types = Embedding::read(weights, &types, rows, hidden, precision)?;
        let norm = LayerNorm::read(weights, &name("LayerNorm", "token_embd_norm"), hidden, config.epsilon())?;
        let layers = (0..config.num_hidden_layers)
            .map(|layer| Layer::read(weights, config, layer, precision))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            words,
            positions,
            first_position,
            types,
            norm,
            layers,
            heads: Heads {
                queries: config.num_attention_heads,
                keys: config.num_attention_heads,
                size: hidden / config.num_attention_heads,
                causal: false,
            },
            arch: Arch::new(),
        })
    }

    pub(super) fn words(&self) -> &Embedding {
        &self.words
    }

    pub(super) fn bytes(&self) -> usize {
        let tables = self.words.bytes() + self.positions.bytes() + self.types.bytes();
        let layer = |layer: &Layer| {
            [&layer.fused, &layer.attended, &layer.up, &layer.down]
                .map(Matrix::bytes)
                .iter()
                .sum::<usize>()
        };
        tables + self.layers.iter().map(layer).sum::<usize>()
    }

    /// Leaves the last layer's rows in `scratch.hidden`.
    pub(super) fn run(&self, input: &Input<'_>, scratch: &mut Scratch) {
        let hidden = self.heads.results();
        let tokens = input.tokens.len();
        scratch.hidden.resize(tokens * hidden, 0.0);
        scratch.other.resize(tokens * hidden, 0.0);
        let rows = scratch.hidden.chunks_exact_mut(hidden);
        let mut row = vec![0.0; hidden];
        for (at, (sum, others)) in rows.zip(scratch.other.chunks_exact_mut(hidden)).enumerate() {
            self.words.row(input.tokens[at] as usize, sum);
            self.positions.row(self.first_position + at, others);
            let second = usize::from(at >= input.second_part);
            self.types.row(second.min(self.types.rows() - 1), &mut row);
            for (other, number) in others.iter_mut().zip(&row) {
                *other += number;
            }
        }
        self.norm.apply(&mut scratch.hidden, &scratch.other);
        for layer in &self.layers {
            scratch.wide.resize(tokens * layer.fused.outputs(), 0.0);
            layer.fused.apply(&scratch.hidden, &mut scratch.wide, Then::Stop);
            attend(
                self.arch,
                self.heads,
                &scratch.wide,
                &mut scratch.other,
                &mut scratch.attention,
            );
            scratch.third.resize(tokens * hidden, 0.0);
            layer.attended.apply(&scratch.other, &mut scratch.third, Then::Stop);
            layer.attention_norm.apply(&mut scratch.hidden, &scratch.third);
            scratch.wide.resize(tokens * layer.up.outputs(), 0.0);
            layer.up.apply(&scratch.hidden, &mut scratch.wide, Then::Gelu);
            layer.down.apply(&scratch.wide, &mut scratch.other, Then::Stop);
            layer.norm.apply(&mut scratch.hidden, &scratch.other);
        }
    }
}

impl Layer {
    fn read(
        weights: &mut Weights,
        config: &Config,
        layer: usize,
        precision: WeightPrecision,
    ) -> Result<Self, TransformerError> {
        let name = |plain: &str, gguf: &str| {
            Name::new(format!("encoder.layer.{layer}.{plain}"), format!("blk.{layer}.{gguf}"))
        };
        let (hidden, inner) = (config.hidden_size, config.intermediate_size);
        let (query, key, value) = (
            name("attention.self.query", "attn_q"),
            name("attention.self.key", "attn_k"),
            name("attention.self.value", "attn_v"),
        );
        let fused = [(&query, hidden), (&key, hidden), (&value, hidden)];
        let mut one = |name: &Name, outputs: usize, inputs: usize| {
            Matrix::read(weights, &[(name, outputs)], inputs, true, precision)
        };
        let attended = one(&name("attention.output.dense", "attn_output"), hidden, hidden)?;
        let up = one(&name("intermediate.dense", "ffn_up"), inner, hidden)?;
        let down = one(&name("output.dense", "ffn_down"), hidden, inner)?;
        let fused = Matrix::read(weights, &fused, hidden, true, precision)?;
        let attention_norm = name("attention.output.LayerNorm", "attn_output_norm");
        let norm = name("output.LayerNorm", "layer_output_norm");
        Ok(Self {
            fused,
            attended,
            attention_norm: LayerNorm::read(weights, &attention_norm, hidden, config.epsilon())?,
            up,
            down,
            norm: LayerNorm::read(weights, &norm, hidden, config.epsilon())?,
        })
    }
}
