//! Qwen3: a token sees what stands before it, positions turn queries and keys, several heads share keys and values, and
//! norms precede each part.

use pulp::Arch;

use super::activation::gated;
use super::attention::{Heads, attend};
use super::config::Config;
use super::embedding::Embedding;
use super::matrix::{Matrix, Then};
use super::network::{Input, Scratch};
use super::norm::RootNorm;
use super::weights::Name;
use super::{TransformerError, WeightPrecision, Weights};

/// The network without a head.
pub(super) struct Qwen {
    words: Embedding,
    hidden: usize,
    inner: usize,
    layers: Vec<Layer>,
    norm: RootNorm,
    heads: Heads,
    /// Turns per position, in radians, of each pair of a head's numbers.
    frequencies: Vec<f32>,
    arch: Arch,
}

struct Layer {
    attention_norm: RootNorm,
    fused: Matrix,
    query_norm: RootNorm,
    key_norm: RootNorm,
    attended: Matrix,
    inner_norm: RootNorm,
    gate_and_up: Matrix,
    down: Matrix,
}

/// The name of the table of words; a network that ties it uses it for the words that it predicts, too.
pub(super) fn words() -> Name {
    Name::new("embed_tokens.weight", "token_embd.weight")
}

impl Qwen {
    pub(super) fn read(
        weights: &mut Weights,
        config: &Config,
        precision: WeightPrecision,
    ) -> Result<Self, TransformerError> {
        let heads = Heads {
            queries: config.num_attention_heads,
            keys: config.key_heads(),
            size: config.head_size(),
            causal: true,
        };
        let theta = f64::from(config.rope_theta()?);
        let frequency = |pair: usize| theta.powf(-2.0 * pair as f64 / heads.size as f64) as f32;
        let words = Embedding::read(weights, &words(), config.vocab_size, config.hidden_size, precision)?;
        let layers = (0..config.num_hidden_layers)
            .map(|layer| Layer::read(weights, config, heads, layer, precision))
            .collect::<Result<_, _>>()?;
        let norm = Name::new("norm", "output_norm");
        Ok(Self {
            words,
            hidden: config.hidden_size,
            inner: config.intermediate_size,
            layers,
            norm: RootNorm::read(weights, &norm, config.hidden_size, config.epsilon())?,
            heads,
            frequencies: (0..heads.size / 2).map(frequency).collect(),
            arch: Arch::new(),
        })
    }

    pub(super) fn words(&self) -> &Embedding {
        &self.words
    }

    pub(super) fn bytes(&self) -> usize {
        let layer = |layer: &Layer| {
            [&layer.fused, &layer.attended, &layer.gate_and_up, &layer.down]
                .map(Matrix::bytes)
                .iter()
                .sum::<usize>()
        };
        self.words.bytes() + self.layers.iter().map(layer).sum::<usize>()
    }

    /// Leaves the last norm's rows in `scratch.hidden`.
    pub(super) fn run(&self, input: &Input<'_>, scratch: &mut Scratch) {
        let tokens = input.tokens.len();
        scratch.hidden.resize(tokens * self.hidden, 0.0);
        scratch.other.resize(tokens * self.hidden, 0.0);
        for (row, token) in scratch.hidden.chunks_exact_mut(self.hidden).zip(input.tokens) {
            self.words.row(*token as usize, row);
        }
        let turns = self.turns(tokens);
        for layer in &self.layers {
            layer.attention_norm.apply(&scratch.hidden, &mut scratch.other);
            scratch.wide.resize(tokens * self.heads.fused(), 0.0);
            layer.fused.apply(&scratch.other, &mut scratch.wide, Then::Stop);
            self.place(layer, &turns, &mut scratch.wide);
            scratch.third.resize(tokens * self.heads.results(), 0.0);
            attend(
                self.arch,
                self.heads,
                &scratch.wide,
                &mut scratch.third,
                &mut scratch.attention,
            );
            layer.attended.add(&scratch.third, &mut scratch.hidden);
            layer.inner_norm.apply(&scratch.hidden, &mut scratch.other);
            scratch.wide.resize(tokens * 2 * self.inner, 0.0);
            layer.gate_and_up.apply(&scratch.other, &mut scratch.wide, Then::Stop);
            scratch.third.resize(tokens * self.inner, 0.0);
            self.arch.dispatch(
                #[inline(always)]
                || gated(&scratch.wide, &mut scratch.third, self.inner),
            );
            layer.down.add(&scratch.third, &mut scratch.hidden);
        }
        self.norm.apply(&scratch.hidden, &mut scratch.other);
        std::mem::swap(&mut scratch.hidden, &mut scratch.other);
    }

    /// Returns cosine and sine of each pair's turn, position after position.
    fn turns(&self, tokens: usize) -> Vec<(f32, f32)> {
        let turn = |position: usize, frequency: f32| {
            let (sine, cosine) = (position as f32 * frequency).sin_cos();
            (cosine, sine)
        };
        (0..tokens)
            .flat_map(|position| self.frequencies.iter().map(move |frequency| turn(position, *frequency)))
            .collect()
    }

    /// Norms each head of queries and keys and turns it by its position.
    fn place(&self, layer: &Layer, turns: &[(f32, f32)], fused: &mut [f32]) {
        let size = self.heads.size;
        let rows = fused.chunks_exact_mut(self.heads.fused());
        for (row, turns) in rows.zip(turns.chunks_exact(size / 2)) {
            let placed = &mut row[..(self.heads.queries + self.heads.keys) * size];
            for (head, numbers) in placed.chunks_exact_mut(size).enumerate() {
                let norm = if head < self.heads.queries {
                    &layer.query_norm
                } else {
                    &layer.key_norm
                };
                norm.apply_to(numbers);
                let (left, right) = numbers.split_at_mut(size / 2);
                for ((left, right), (cosine, sine)) in left.iter_mut().zip(right).zip(turns) {
                    (*left, *right) = (*left * cosine - *right * sine, *right * cosine + *left * sine);
                }
            }
        }
    }
}

impl Layer {
    fn read(
        weights: &mut Weights,
        config: &Config,
        heads: Heads,
        layer: usize,
        precision: WeightPrecision,
    ) -> Result<Self, TransformerError> {
        let name =
            |plain: &str, gguf: &str| Name::new(format!("layers.{layer}.{plain}"), format!("blk.{layer}.{gguf}"));
        let (hidden, inner) = (config.hidden_size, config.intermediate_size);
        let (queries, keys) = (heads.queries * heads.size, heads.keys * heads.size);
        let (query, key, value) = (
            name("self_attn.q_proj", "attn_q"),
            name("self_attn.k_proj", "attn_k"),
            name("self_attn.v_proj", "attn_v"),
        );
        let (gate, up) = (name("mlp.gate_proj", "ffn_gate"), name("mlp.up_proj", "ffn_up"));
        let (attended, down) = (
            name("self_attn.o_proj", "attn_output"),
            name("mlp.down_proj", "ffn_down"),
        );
        let mut matrix =
            |names: &[(&Name, usize)], inputs: usize| Matrix::read(weights, names, inputs, false, precision);
        let fused = matrix(&[(&query, queries), (&key, keys), (&value, keys)], hidden)?;
        let attended = matrix(&[(&attended, hidden)], queries)?;
        let gate_and_up = matrix(&[(&gate, inner), (&up, inner)], hidden)?;
        let down = matrix(&[(&down, hidden)], inner)?;
        let mut norm = |plain: &str, gguf: &str, length: usize| {
            RootNorm::read(weights, &name(plain, gguf), length, config.epsilon())
        };
        Ok(Self {
            attention_norm: norm("input_layernorm", "attn_norm", hidden)?,
            fused,
            query_norm: norm("self_attn.q_norm", "attn_q_norm", heads.size)?,
            key_norm: norm("self_attn.k_norm", "attn_k_norm", heads.size)?,
            attended,
            inner_norm: norm("post_attention_layernorm", "ffn_norm", hidden)?,
            gate_and_up,
            down,
        })
    }
}
