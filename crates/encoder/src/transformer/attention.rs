//! Attention of one text's tokens to each other: per head and a few tokens at a time, so that the scores never leave the
//! caches, with the same innermost product as the weight matrices.

use pulp::{Arch, Simd, WithSimd};

use super::activation::softmax;
use super::matrix::tile::{Start, Target, most_rows, multiply, pack, width};

/// Inputs of one product: as long as the weights' parts, so that a panel stays in the first-level cache.
const DEPTH: usize = 256;

/// How one row of fused queries, keys and values is laid out: all heads of queries, then of keys, then of values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heads {
    /// Heads of queries.
    pub(super) queries: usize,
    /// Heads of keys and of values; each serves `queries / keys` heads of queries.
    pub(super) keys: usize,
    /// Numbers in a head.
    pub(super) size: usize,
    /// Whether a token sees only itself and what stands before it.
    pub(super) causal: bool,
}

impl Heads {
    /// Returns the length of a row of queries, keys and values.
    pub(super) fn fused(self) -> usize {
        (self.queries + 2 * self.keys) * self.size
    }

    /// Returns the length of a row of results.
    pub(super) fn results(self) -> usize {
        self.queries * self.size
    }
}

/// Buffers that are used again.
#[derive(Default)]
pub(super) struct Scratch {
    keys: Vec<f32>,
    values: Vec<f32>,
    scores: Vec<f32>,
    packed: Vec<f32>,
}

/// Writes what each token takes from those that it sees: `fused` rows in, rows of all query heads out.
pub(super) fn attend(arch: Arch, heads: Heads, fused: &[f32], results: &mut [f32], scratch: &mut Scratch) {
    let attention = Attention {
        heads,
        tokens: fused.len() / heads.fused(),
        fused,
        results,
        scratch,
    };
    Arch::dispatch(arch, attention);
}

struct Attention<'a> {
    heads: Heads,
    tokens: usize,
    fused: &'a [f32],
    results: &'a mut [f32],
    scratch: &'a mut Scratch,
}

impl WithSimd for Attention<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Heads {
            queries, keys, size, ..
        } = self.heads;
        let width = width::<S>();
        let stride = self.heads.fused();
        let padded = self.tokens.next_multiple_of(width);
        let (key_panels, value_panels) = (padded / width, size.div_ceil(width));
        self.scratch.keys.clear();
        self.scratch.keys.resize(padded * size, 0.0);
        self.scratch.values.clear();
        self.scratch.values.resize(value_panels * width * self.tokens, 0.0);
        self.scratch.scores.resize(most_rows::<S>() * padded, 0.0);
        let scale = 1.0 / (size as f32).sqrt();
        let together = self.tokens.div_ceil(self.tokens.div_ceil(most_rows::<S>()));
        for key_head in 0..keys {
            let at = (queries + key_head) * size;
            for (token, row) in self.fused.chunks_exact(stride).enumerate() {
                let key = &row[at..at + size];
                let panel = &mut self.scratch.keys[token / width * width * size..][..width * size];
                for (input, number) in key.iter().enumerate() {
                    panel[input * width + token % width] = *number;
                }
                let value = &row[at + keys * size..][..size];
                for (panel, part) in value.chunks(width).enumerate() {
                    self.scratch.values[(panel * self.tokens + token) * width..][..part.len()].copy_from_slice(part);
                }
            }
            let group = queries / keys;
            for head in key_head * group..(key_head + 1) * group {
                for row in (0..self.tokens).step_by(together) {
                    let rows = together.min(self.tokens - row);
                    let seen = if self.heads.causal { row + rows } else { self.tokens };
                    let scores = &mut self.scratch.scores[..rows * padded];
                    let packed = &mut self.scratch.packed;
                    packed.clear();
                    pack(&self.fused[row * stride + head * size..], stride, rows, size, packed);
                    for panel in 0..seen.div_ceil(width).min(key_panels) {
                        let mut target = Target {
                            numbers: &mut scores[panel * width..],
                            stride: padded,
                            columns: width,
                        };
                        let weights = &self.scratch.keys[panel * width * size..][..width * size];
                        multiply(simd, rows, packed, weights, &mut target, Start::Zero);
                    }
                    let mut sums = [1.0; 16];
                    for (at, (scores, sum)) in scores.chunks_exact_mut(padded).zip(&mut sums).enumerate() {
                        let own = if self.heads.causal { row + at + 1 } else { seen };
                        *sum = softmax(&mut scores[..own], scale);
                        scores[own..seen].fill(0.0);
                    }
                    packed.clear();
                    pack(scores, padded, rows, seen, packed);
                    for panel in 0..value_panels {
                        let first = head * size + panel * width;
                        let mut target = Target {
                            numbers: &mut self.results[row * queries * size + first..],
                            stride: queries * size,
                            columns: width.min(size - panel * width),
                        };
                        for token in (0..seen).step_by(DEPTH) {
                            let depth = DEPTH.min(seen - token);
                            let scores = &packed[token * rows..][..depth * rows];
                            let weights = &self.scratch.values[(panel * self.tokens + token) * width..];
                            let start = if token == 0 { Start::Zero } else { Start::Keep };
                            multiply(simd, rows, scores, &weights[..depth * width], &mut target, start);
                        }
                    }
                    for (at, sum) in sums[..rows].iter().enumerate() {
                        let result = &mut self.results[(row + at) * queries * size + head * size..][..size];
                        result.iter_mut().for_each(|number| *number /= sum);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Attention by its definition.
    fn naive(heads: Heads, fused: &[f32]) -> Vec<f64> {
        let rows: Vec<&[f32]> = fused.chunks(heads.fused()).collect();
        let mut results = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            for head in 0..heads.queries {
                let key_head = head / (heads.queries / heads.keys);
                let query = &row[head * heads.size..][..heads.size];
                let seen = if heads.causal { at + 1 } else { rows.len() };
                let part = |row: &[f32], group: usize| -> Vec<f64> {
                    let at = (heads.queries + group * heads.keys + key_head) * heads.size;
                    row[at..at + heads.size]
                        .iter()
                        .map(|number| f64::from(*number))
                        .collect()
                };
                let powers: Vec<f64> = rows[..seen]
                    .iter()
                    .map(|row| {
                        let products = query
                            .iter()
                            .zip(part(row, 0))
                            .map(|(left, right)| f64::from(*left) * right);
                        (products.sum::<f64>() / (heads.size as f64).sqrt()).exp()
                    })
                    .collect();
                let total: f64 = powers.iter().sum();
                for number in 0..heads.size {
                    let parts = rows[..seen].iter().zip(&powers);
                    results.push(parts.map(|(row, power)| part(row, 1)[number] * power / total).sum());
                }
            }
        }
        results
    }

    #[test]
    fn attention_is_that_of_the_definition() {
        for (queries, keys, size, causal) in [(2, 2, 8, false), (4, 2, 16, true), (1, 1, 40, true), (2, 1, 33, false)] {
            for tokens in [1, 2, 13, 50, 300] {
                let heads = Heads {
                    queries,
                    keys,
                    size,
                    causal,
                };
                if tokens == 300 && size > 16 {
                    continue;
                }
                let fused: Vec<f32> = (0..tokens * heads.fused())
                    .map(|at| (at * 7919 % 2003) as f32 / 500.0 - 2.0)
                    .collect();
                let mut results = vec![f32::NAN; tokens * heads.results()];
                let mut scratch = Scratch::default();
                // What an earlier text left behind must not matter.
                scratch.scores.resize(5000, f32::NAN);
                attend(Arch::new(), heads, &fused, &mut results, &mut scratch);
                for (result, expected) in results.iter().zip(naive(heads, &fused)) {
                    assert!((f64::from(*result) - expected).abs() < 1e-5, "{heads:?} {tokens}");
                }
            }
        }
    }
}
