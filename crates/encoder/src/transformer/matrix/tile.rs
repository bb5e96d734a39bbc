//! The innermost product: a few rows of activations times one panel of weights, in registers.
//!
//! A panel holds `width` outputs side by side, input after input, so that one broadcast number of a row meets a whole
//! register of weights. The rows are packed likewise, input after input: then the loop walks over two slices and checks no
//! bound, which would keep the sums out of the registers. Every output is summed over its inputs in rising order with fused multiply-adds, so how many rows
//! are computed together never changes a bit.

use pulp::Simd;

/// Outputs in a panel at most.
pub(in crate::transformer) const WIDEST: usize = 32;

/// What a product starts from.
#[derive(Clone, Copy)]
pub(in crate::transformer) enum Start<'a> {
    /// Nothing.
    Zero,
    /// One number per output.
    Bias(&'a [f32]),
    /// What stands in the output.
    Keep,
}

/// Adds `count` rows of `inputs` numbers, which lie `stride` apart, to what is packed: input after input, the number of
/// each row.
pub(in crate::transformer) fn pack(numbers: &[f32], stride: usize, count: usize, inputs: usize, packed: &mut Vec<f32>) {
    let from = packed.len();
    packed.resize(from + count * inputs, 0.0);
    for (row, numbers) in numbers.chunks(stride).take(count).enumerate() {
        let places = packed[from + row..].iter_mut().step_by(count);
        places
            .zip(&numbers[..inputs])
            .for_each(|(place, number)| *place = *number);
    }
}

/// Rows to be written, a fixed distance apart.
pub(in crate::transformer) struct Target<'a> {
    pub(in crate::transformer) numbers: &'a mut [f32],
    pub(in crate::transformer) stride: usize,
    /// Outputs of the panel that are written; the others are only padding.
    pub(in crate::transformer) columns: usize,
}

/// Returns how many outputs a panel has: two registers where there are 16 or 32 of them, and 16 numbers elsewhere.
#[inline(always)]
pub(in crate::transformer) fn width<S: Simd>() -> usize {
    if S::F32_LANES == 16 { 32 } else { 16 }
}

/// Returns how many rows are computed together at most, so that all sums stay in registers.
#[inline(always)]
pub(in crate::transformer) fn most_rows<S: Simd>() -> usize {
    match S::F32_LANES {
        16 => 12,
        1 => 2,
        _ => 6,
    }
}

/// Multiplies at most [`most_rows`] packed rows with a panel of as many inputs times [`width`] numbers.
#[inline(always)]
pub(in crate::transformer) fn multiply<S: Simd>(
    simd: S,
    rows: usize,
    packed: &[f32],
    panel: &[f32],
    target: &mut Target<'_>,
    start: Start<'_>,
) {
    macro_rules! by_rows {
        ($registers:literal, [$($count:literal)*]) => {
            match rows {
                $($count => tile::<S, $registers, $count>(simd, packed, panel, target, start),)*
                _ => unreachable!("more rows than are computed together"),
            }
        };
    }
    match S::F32_LANES {
        16 => by_rows!(2, [1 2 3 4 5 6 7 8 9 10 11 12]),
        8 => by_rows!(2, [1 2 3 4 5 6]),
        4 => by_rows!(4, [1 2 3 4 5 6]),
        _ => by_rows!(16, [1 2]),
    }
}

#[inline(always)]
fn tile<S: Simd, const REGISTERS: usize, const ROWS: usize>(
    simd: S,
    packed: &[f32],
    panel: &[f32],
    target: &mut Target<'_>,
    start: Start<'_>,
) {
    let inputs = packed.as_chunks::<ROWS>().0;
    let panel = S::as_simd_f32s(panel).0.as_chunks::<REGISTERS>().0;
    let mut sums = [[simd.splat_f32s(0.0); REGISTERS]; ROWS];
    for (numbers, weights) in inputs.iter().zip(panel) {
        for row in 0..ROWS {
            let number = simd.splat_f32s(numbers[row]);
            for register in 0..REGISTERS {
                sums[row][register] = simd.mul_add_e_f32s(number, weights[register], sums[row][register]);
            }
        }
    }
    let columns = target.columns;
    for (row, sums) in sums.iter().enumerate() {
        let target = &mut target.numbers[row * target.stride..][..columns];
        if columns == REGISTERS * S::F32_LANES {
            let target = S::as_mut_simd_f32s(target).0;
            for register in 0..REGISTERS {
                let begun = match start {
                    Start::Zero => sums[register],
                    Start::Bias(bias) => simd.add_f32s(sums[register], S::as_simd_f32s(bias).0[register]),
                    Start::Keep => simd.add_f32s(sums[register], target[register]),
                };
                target[register] = begun;
            }
        } else {
            let mut whole = [0.0; WIDEST];
            for (whole, sums) in S::as_mut_simd_f32s(&mut whole).0.iter_mut().zip(sums) {
                *whole = *sums;
            }
            for (column, target) in target.iter_mut().enumerate() {
                *target = match start {
                    Start::Zero => whole[column],
                    Start::Bias(bias) => whole[column] + bias[column],
                    Start::Keep => whole[column] + *target,
                };
            }
        }
    }
}
