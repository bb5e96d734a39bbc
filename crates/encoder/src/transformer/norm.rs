//! Layer norms. Sums run in sixteen lanes in one fixed order.

use pulp::Arch;

use super::activation::LANES;
use super::{TransformerError, Weights, weights::Name};

/// A layer norm with mean, as BERT has it.
pub(super) struct LayerNorm {
    weight: Vec<f32>,
    bias: Vec<f32>,
    epsilon: f32,
    arch: Arch,
}

impl LayerNorm {
    pub(super) fn read(
        weights: &mut Weights,
        name: &Name,
        length: usize,
        epsilon: f32,
    ) -> Result<Self, TransformerError> {
        Ok(Self {
            weight: weights.numbers(&name.part("weight"), &[length])?,
            bias: weights.numbers(&name.part("bias"), &[length])?,
            epsilon,
            arch: Arch::new(),
        })
    }

    /// Norms each row of `rows` plus the same row of `added`, in place.
    pub(super) fn apply(&self, rows: &mut [f32], added: &[f32]) {
        let length = self.weight.len();
        self.arch.dispatch(
            #[inline(always)]
            || {
                for (row, added) in rows.chunks_exact_mut(length).zip(added.chunks_exact(length)) {
                    for (number, added) in row.iter_mut().zip(added) {
                        *number += added;
                    }
                    let mean = sum(row, |number| number) / length as f32;
                    let variance = sum(row, |number| (number - mean) * (number - mean)) / length as f32;
                    let scale = 1.0 / (variance + self.epsilon).sqrt();
                    for ((number, weight), bias) in row.iter_mut().zip(&self.weight).zip(&self.bias) {
                        *number = (*number - mean) * scale * weight + bias;
                    }
                }
            },
        );
    }
}

/// A norm by the root of the mean square, as Qwen has it.
pub(super) struct RootNorm {
    weight: Vec<f32>,
    epsilon: f32,
    arch: Arch,
}

impl RootNorm {
    pub(super) fn read(
        weights: &mut Weights,
        name: &Name,
        length: usize,
        epsilon: f32,
    ) -> Result<Self, TransformerError> {
        Ok(Self {
            weight: weights.numbers(&name.part("weight"), &[length])?,
            epsilon,
            arch: Arch::new(),
        })
    }

    /// Writes the normed rows.
    pub(super) fn apply(&self, rows: &[f32], results: &mut [f32]) {
        let length = self.weight.len();
        self.arch.dispatch(
            #[inline(always)]
            || {
                for (row, result) in rows.chunks_exact(length).zip(results.chunks_exact_mut(length)) {
                    let square = sum(row, |number| number * number) / length as f32;
                    let scale = 1.0 / (square + self.epsilon).sqrt();
                    for ((result, number), weight) in result.iter_mut().zip(row).zip(&self.weight) {
                        *result = number * scale * weight;
                    }
                }
            },
        );
    }

    /// Norms one row in place.
    pub(super) fn apply_to(&self, row: &mut [f32]) {
        let square = sum(row, |number| number * number) / row.len() as f32;
        let scale = 1.0 / (square + self.epsilon).sqrt();
        for (number, weight) in row.iter_mut().zip(&self.weight) {
            *number = *number * scale * weight;
        }
    }
}

#[inline(always)]
fn sum(numbers: &[f32], function: impl Fn(f32) -> f32) -> f32 {
    let (blocks, rest) = numbers.as_chunks::<LANES>();
    let mut sums = [0.0_f32; LANES];
    for block in blocks {
        for lane in 0..LANES {
            sums[lane] += function(block[lane]);
        }
    }
    sums.iter().sum::<f32>() + rest.iter().map(|&number| function(number)).sum::<f32>()
}
