//! Functions of single numbers, written so that the compiler turns their loops into vector registers wherever they are
//! inlined into code that was dispatched to the processor's own.

use std::f32::consts::{FRAC_1_SQRT_2, LOG2_E};

/// Numbers that are computed side by side.
pub(super) const LANES: usize = 16;
/// Below this the exponential is 0 as far as a softmax is concerned.
const LOWEST: f32 = -87.0;
/// Above this an f32 has no exponential.
const HIGHEST: f32 = 88.0;

/// Returns e to a power, within 2e-7 of the value for powers from -87 to 88 and the nearest of these elsewhere.
///
/// e^x = 2^n e^r, n the integer nearest x / ln 2, e^r by its series up to the 7th power: |r| is at most ln 2 / 2, so what
/// is left out is below 6e-9 of the value, less than rounding.
#[inline(always)]
pub(super) fn exp(power: f32) -> f32 {
    /// Adding this leaves the nearest integer in the lowest bits.
    const ROUND: f32 = 12_582_912.0;
    // ln 2 in two parts, so that n times the first one is exact.
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    // Written so that what is no number stays none.
    let power = if power < LOWEST { LOWEST } else { power };
    let power = if power > HIGHEST { HIGHEST } else { power };
    let shifted = power * LOG2_E + ROUND;
    let integer = shifted - ROUND;
    let rest = power - integer * LN_2_HIGH - integer * LN_2_LOW;
    let mut sum = 1.0 / 5040.0;
    sum = sum * rest + 1.0 / 720.0;
    sum = sum * rest + 1.0 / 120.0;
    sum = sum * rest + 1.0 / 24.0;
    sum = sum * rest + 1.0 / 6.0;
    sum = sum * rest + 0.5;
    sum = sum * rest + 1.0;
    sum = sum * rest + 1.0;
    let scale = f32::from_bits((shifted.to_bits() << 23).wrapping_add(127 << 23));
    sum * scale
}

/// Returns the error function, within 5e-7: Abramowitz and Stegun, formula 7.1.26.
#[inline(always)]
fn erf(number: f32) -> f32 {
    let positive = number.abs();
    let t = 1.0 / (1.0 + 0.327_591_1 * positive);
    let mut sum = 1.061_405_4;
    sum = sum * t - 1.453_152;
    sum = sum * t + 1.421_413_7;
    sum = sum * t - 0.284_496_74;
    sum = sum * t + 0.254_829_6;
    let positive = 1.0 - sum * t * exp(-positive * positive);
    f32::from_bits(positive.to_bits() | (number.to_bits() & 0x8000_0000))
}

/// Applies a function to every number.
#[inline(always)]
fn map(numbers: &mut [f32], function: impl Fn(f32) -> f32) {
    let (blocks, rest) = numbers.as_chunks_mut::<LANES>();
    for block in blocks {
        for number in block {
            *number = function(*number);
        }
    }
    for number in rest {
        *number = function(*number);
    }
}

/// Applies the Gaussian error linear unit, x (1 + erf(x / sqrt 2)) / 2.
#[inline(always)]
pub(super) fn gelu(numbers: &mut [f32]) {
    map(numbers, |number| 0.5 * number * (1.0 + erf(number * FRAC_1_SQRT_2)));
}

/// Multiplies the second half of each row with the sigmoid linear unit of the first, x / (1 + e^-x); writes half rows.
#[inline(always)]
pub(super) fn gated(rows: &[f32], results: &mut [f32], inner: usize) {
    for (row, results) in rows.chunks_exact(2 * inner).zip(results.chunks_exact_mut(inner)) {
        let (gate, up) = row.split_at(inner);
        for ((result, gate), up) in results.iter_mut().zip(gate).zip(up) {
            *result = gate / (1.0 + exp(-gate)) * up;
        }
    }
}

/// Turns numbers into e to the power of each times `scale`, less the largest; returns the sum of these powers.
#[inline(always)]
pub(super) fn softmax(numbers: &mut [f32], scale: f32) -> f32 {
    let (blocks, rest) = numbers.as_chunks_mut::<LANES>();
    let mut largest = [f32::NEG_INFINITY; LANES];
    for block in blocks.iter() {
        for lane in 0..LANES {
            largest[lane] = if block[lane] > largest[lane] {
                block[lane]
            } else {
                largest[lane]
            };
        }
    }
    let largest = largest
        .iter()
        .chain(rest.iter())
        .fold(f32::NEG_INFINITY, |left, right| left.max(*right));
    let mut sums = [0.0; LANES];
    for block in blocks {
        for lane in 0..LANES {
            block[lane] = exp((block[lane] - largest) * scale);
            sums[lane] += block[lane];
        }
    }
    let mut sum: f32 = sums.iter().sum();
    for number in rest {
        *number = exp((*number - largest) * scale);
        sum += *number;
    }
    sum
}

/// Returns 1 / (1 + e^-x) of a logit.
pub(super) fn sigmoid(logit: f32) -> f32 {
    1.0 / (1.0 + exp(-logit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_e_are_within_two_of_ten_million() {
        for step in -87_000..=88_000 {
            let power = step as f32 / 1000.0;
            let expected = f64::from(power).exp();
            let relative = (f64::from(exp(power)) - expected).abs() / expected;
            assert!(relative < 2e-7, "{power}: {relative}");
        }
        assert_eq!(exp(f32::NEG_INFINITY), exp(LOWEST));
        assert_eq!(exp(0.0), 1.0);
        assert!(exp(f32::NAN).is_nan());
    }

    #[test]
    fn the_error_function_is_within_five_of_ten_million() {
        // By its series, which converges for all numbers; 60 terms are enough up to 3.
        let series = |x: f64| {
            let mut term = x;
            let mut sum = x;
            for n in 1..60 {
                term *= -x * x / f64::from(n);
                sum += term / f64::from(2 * n + 1);
            }
            sum * 2.0 / std::f64::consts::PI.sqrt()
        };
        for step in -3000..=3000 {
            let x = step as f32 / 1000.0;
            assert!((f64::from(erf(x)) - series(f64::from(x))).abs() < 5e-7, "{x}");
        }
        assert_eq!(erf(9.0), 1.0);
        assert_eq!(erf(-9.0), -1.0);
    }

    #[test]
    fn a_softmax_has_the_ratios_of_the_powers() {
        let mut numbers: Vec<f32> = (0..37).map(|at| (at * 7 % 37) as f32).collect();
        let sum = softmax(&mut numbers, 0.5);
        let expected: f64 = (0..37).map(|at| (-f64::from(at) / 2.0).exp()).sum();
        assert!((f64::from(sum) - expected).abs() < 1e-5);
        assert!((f64::from(numbers[0]) - (-18.0_f64).exp()).abs() < 1e-7);
    }
}
