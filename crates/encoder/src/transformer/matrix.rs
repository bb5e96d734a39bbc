//! Weight matrices, packed for the processor they were loaded on, and their product with activations.
//!
//! One kernel serves both a query of a few tokens and a document of hundreds: each panel of weights is read from memory once,
//! turned into f32 in the first-level cache where it is kept in half precision, and multiplied with all rows of the
//! activations. So a short input costs one pass over the weights, and a long one runs from the caches. The weights are
//! packed when they are loaded, the activations once for all panels; nothing is padded or reserved while encoding.

pub(super) mod tile;

use std::cell::Cell;

use pulp::{Arch, Simd, WithSimd};

use self::tile::{Start, Target, WIDEST, most_rows, multiply, pack, width};
use super::activation::gelu;
use super::weights::to_half;
use super::{TransformerError, WeightPrecision, Weights, weights::Name};

/// Inputs that are multiplied in one go: a panel of so many fits the first-level cache.
const DEPTH: usize = 256;
/// Numbers that are turned from half precision together.
const DECODED: usize = 16;
/// Exponent that the largest weight of a matrix in half precision is scaled to, so that even one 2^28 times smaller is no
/// subnormal number, which processors handle slowly.
const LARGEST: i32 = 14;

/// Weights from here on are not kept in half precision: turning the bits back would take a factor that no f32 holds.
const LARGEST_HALF: f32 = (1 << 28) as f32;

/// What follows a product.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    /// Nothing.
    Stop,
    /// The Gaussian error linear unit.
    Gelu,
}

/// A matrix of `outputs` times `inputs` numbers, and an optional bias.
pub(super) struct Matrix {
    outputs: usize,
    inputs: usize,
    panels: Panels,
    /// Padded to whole panels.
    bias: Option<Vec<f32>>,
    arch: Arch,
}

enum Panels {
    Full(Vec<f32>),
    /// Half-precision bits of the weights times a power of two, and what turns those bits, moved to where f32 has them,
    /// into the weights.
    Half {
        bits: Vec<u16>,
        factor: f32,
    },
}

impl Matrix {
    /// Reads matrices of the same inputs and stacks their outputs.
    pub(super) fn read(
        weights: &mut Weights,
        names: &[(&Name, usize)],
        inputs: usize,
        bias: bool,
        precision: WeightPrecision,
    ) -> Result<Self, TransformerError> {
        let mut numbers = Vec::new();
        let mut biases = Vec::new();
        for &(name, outputs) in names {
            numbers.extend(weights.numbers(&name.part("weight"), &[outputs, inputs])?);
            if bias {
                biases.extend(weights.numbers(&name.part("bias"), &[outputs])?);
            }
        }
        let outputs = names.iter().map(|(_, outputs)| outputs).sum();
        Ok(Self::new(&numbers, outputs, inputs, bias.then_some(biases), precision))
    }

    /// Packs finite numbers, the inputs of one output after those of another.
    pub(super) fn new(
        numbers: &[f32],
        outputs: usize,
        inputs: usize,
        bias: Option<Vec<f32>>,
        precision: WeightPrecision,
    ) -> Self {
        let arch = Arch::new();
        let width = arch.dispatch(Width);
        let panels = outputs.div_ceil(width);
        let at = |place: usize| {
            let (panel, input, column) = (place / (inputs * width), place / width % inputs, place % width);
            let output = panel * width + column;
            if output < outputs {
                numbers[output * inputs + input]
            } else {
                0.0
            }
        };
        let largest = numbers
            .iter()
            .fold(0.0_f32, |largest, number| largest.max(number.abs()));
        let places = 0..panels * inputs * width;
        let panels_of = match precision {
            WeightPrecision::Half if largest < LARGEST_HALF => {
                let exponent = (largest.to_bits() >> 23) as i32 - 127;
                // Within what an f32 can hold as a power of two, and its inverse times 2^112 as well.
                let shift = (LARGEST - exponent).clamp(-14, 126);
                Panels::Half {
                    bits: places.map(|place| to_half(at(place) * power(shift))).collect(),
                    factor: power(112 - shift),
                }
            }
            _ => Panels::Full(places.map(at).collect()),
        };
        let bias = bias.map(|mut bias| {
            bias.resize(panels * width, 0.0);
            bias
        });
        Self {
            outputs,
            inputs,
            panels: panels_of,
            bias,
            arch,
        }
    }

    /// Returns the length of a result.
    pub(super) fn outputs(&self) -> usize {
        self.outputs
    }

    /// Returns the bytes that it takes in memory.
    pub(super) fn bytes(&self) -> usize {
        match &self.panels {
            Panels::Full(numbers) => numbers.len() * 4,
            Panels::Half { bits, .. } => bits.len() * 2,
        }
    }

    /// Writes the products with rows of activations into `results`, one row after another.
    pub(super) fn apply(&self, activations: &[f32], results: &mut [f32], then: Then) {
        let start = self.bias.as_deref().map_or(Start::Zero, Start::Bias);
        self.run(activations, results, start, then);
    }

    /// Adds the products without the bias to what stands in `results`.
    pub(super) fn add(&self, activations: &[f32], results: &mut [f32]) {
        self.run(activations, results, Start::Keep, Then::Stop);
    }

    fn run(&self, activations: &[f32], results: &mut [f32], start: Start<'_>, then: Then) {
        let rows = activations.len() / self.inputs;
        debug_assert_eq!(results.len(), rows * self.outputs);
        let product = Product {
            matrix: self,
            rows,
            activations,
            results,
            start,
            then,
        };
        Arch::dispatch(self.arch, product);
    }
}

/// Returns 2 to a power between -126 and 127.
fn power(exponent: i32) -> f32 {
    f32::from_bits(((exponent + 127) as u32) << 23)
}

thread_local! {
    /// Packed activations: one buffer for all products of a thread, since a fresh one costs more than filling it.
    static PACKED: Cell<Vec<f32>> = const { Cell::new(Vec::new()) };
}

struct Width;

impl WithSimd for Width {
    type Output = usize;

    fn with_simd<S: Simd>(self, _: S) -> usize {
        width::<S>()
    }
}

struct Product<'a> {
    matrix: &'a Matrix,
    rows: usize,
    activations: &'a [f32],
    results: &'a mut [f32],
    start: Start<'a>,
    then: Then,
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Matrix { outputs, inputs, .. } = *self.matrix;
        let width = width::<S>();
        let mut decoded = [0.0; DEPTH * WIDEST];
        let mut packed = PACKED.take();
        packed.clear();
        // Parts of about one size, so that no part is too small to pay for its decoding.
        let depth = inputs.div_ceil(inputs.div_ceil(DEPTH));
        let together = self.rows.div_ceil(self.rows.div_ceil(most_rows::<S>()));
        for rows in self.activations.chunks(together * inputs) {
            pack(rows, inputs, rows.len() / inputs, inputs, &mut packed);
        }
        for panel in 0..outputs.div_ceil(width) {
            let first = panel * width;
            let columns = width.min(outputs - first);
            for input in (0..inputs).step_by(depth) {
                let depth = depth.min(inputs - input);
                let place = (first * inputs + input * width)..(first * inputs + (input + depth) * width);
                let weights = match &self.matrix.panels {
                    Panels::Full(numbers) => &numbers[place],
                    Panels::Half { bits, factor } => {
                        let decoded = &mut decoded[..depth * width];
                        decode(&bits[place], *factor, decoded);
                        decoded
                    }
                };
                let start = match self.start {
                    _ if input > 0 => Start::Keep,
                    Start::Bias(bias) => Start::Bias(&bias[first..]),
                    start => start,
                };
                for row in (0..self.rows).step_by(together) {
                    let together = together.min(self.rows - row);
                    let rows = &packed[row * inputs + together * input..][..together * depth];
                    let mut target = Target {
                        numbers: &mut self.results[row * outputs + first..],
                        stride: outputs,
                        columns,
                    };
                    multiply(simd, together, rows, weights, &mut target, start);
                    if self.then == Then::Gelu && input + depth == inputs {
                        for row in 0..together {
                            gelu(&mut target.numbers[row * outputs..][..columns]);
                        }
                    }
                }
            }
        }
        PACKED.set(packed);
    }
}

/// Turns half-precision bits of no subnormal number into numbers: sign and magnitude to their place, then the exponent by a
/// multiplication.
#[inline(always)]
fn decode(bits: &[u16], factor: f32, numbers: &mut [f32]) {
    for (bits, numbers) in bits.as_chunks::<DECODED>().0.iter().zip(numbers.as_chunks_mut().0) {
        let moved: [i32; DECODED] = bits.map(|bits| i32::from(bits.cast_signed()) << 13);
        *numbers = moved.map(|moved| f32::from_bits(moved.cast_unsigned() & 0x8FFF_FFFF) * factor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: usize, seed: usize) -> Vec<f32> {
        (0..count)
            .map(|at| ((at * 7919 + seed * 104_729) % 2003) as f32 / 1001.5 - 1.0)
            .collect()
    }

    fn naive(weights: &[f32], activations: &[f32], inputs: usize, bias: &[f32]) -> Vec<f64> {
        activations
            .chunks(inputs)
            .flat_map(|row| {
                weights.chunks(inputs).zip(bias).map(move |(weights, bias)| {
                    let products = row.iter().zip(weights).map(|(a, b)| f64::from(*a) * f64::from(*b));
                    products.sum::<f64>() + f64::from(*bias)
                })
            })
            .collect()
    }

    #[test]
    fn products_are_those_of_the_definition_for_any_shape() {
        for (rows, inputs, outputs) in [(1, 1, 1), (5, 33, 7), (12, 64, 32), (13, 300, 33), (25, 520, 48)] {
            let (weights, activations) = (numbers(inputs * outputs, 1), numbers(rows * inputs, 2));
            let bias = numbers(outputs, 3);
            let expected = naive(&weights, &activations, inputs, &bias);
            for (precision, tolerance) in [(WeightPrecision::Full, 1e-4), (WeightPrecision::Half, 2e-2)] {
                let matrix = Matrix::new(&weights, outputs, inputs, Some(bias.clone()), precision);
                let mut results = vec![f32::NAN; rows * outputs];
                matrix.apply(&activations, &mut results, Then::Stop);
                for (result, expected) in results.iter().zip(&expected) {
                    assert!((f64::from(*result) - expected).abs() < tolerance, "{result} {expected}");
                }
                let mut twice: Vec<f32> = results.clone();
                matrix.add(&activations, &mut twice);
                for ((twice, once), bias) in twice.iter().zip(&results).zip(bias.iter().cycle()) {
                    assert!((twice - (2.0 * once - bias)).abs() < 1e-3);
                }
            }
        }
    }

    #[test]
    fn a_row_has_the_same_bits_alone_and_among_others() {
        let (inputs, outputs) = (300, 40);
        let matrix = Matrix::new(
            &numbers(inputs * outputs, 1),
            outputs,
            inputs,
            None,
            WeightPrecision::Half,
        );
        let activations = numbers(29 * inputs, 2);
        let mut all = vec![0.0; 29 * outputs];
        matrix.apply(&activations, &mut all, Then::Gelu);
        for (row, expected) in activations.chunks(inputs).zip(all.chunks(outputs)) {
            let mut alone = vec![0.0; outputs];
            matrix.apply(row, &mut alone, Then::Gelu);
            assert_eq!(alone, expected);
        }
    }

    #[test]
    fn half_precision_keeps_eleven_bits_of_weights_of_any_size() {
        for size in [1e-36, 1e-20, 6e-5, 1.0, 70_000.0, 1e30] {
            let weights: Vec<f32> = numbers(64, 4).iter().map(|number| number * size).collect();
            let matrix = Matrix::new(&weights, 1, 64, None, WeightPrecision::Half);
            for at in 0..64 {
                let mut one = vec![0.0; 64];
                one[at] = 1.0;
                let mut result = [0.0];
                matrix.apply(&one, &mut result, Then::Stop);
                assert!((result[0] - weights[at]).abs() <= weights[at].abs() / 2048.0, "{size}");
            }
        }
    }
}
