//! Rows where they lie, and the arithmetic on them.

use super::StaticTableError;
use super::layout::{Layout, half_word};

/// Numbers that are computed side by side; the compiler turns them into vector registers.
const LANES: usize = 32;
/// The first half-precision bits that are no finite number of at least 0.
const HALF_INFINITY: u16 = 0x7C00;

/// Rows of 8-bit numbers, each to be multiplied with the scale of its row.
#[derive(Debug)]
pub(crate) struct Rows {
    dimension: usize,
    scales: &'static [u8],
    numbers: &'static [u8],
    arch: pulp::Arch,
}

impl Rows {
    pub(super) fn new(layout: &Layout) -> Result<Self, StaticTableError> {
        if let Some(index) = (0..layout.pieces).find(|&at| half_word(layout.scales, at) >= HALF_INFINITY) {
            return Err(StaticTableError::Scale { index });
        }
        Ok(Self {
            dimension: layout.dimension,
            scales: layout.scales,
            numbers: layout.numbers,
            arch: pulp::Arch::new(),
        })
    }

    pub(crate) fn dimension(&self) -> usize {
        self.dimension
    }

    pub(crate) fn len(&self) -> usize {
        self.scales.len() / 2
    }

    /// Returns the scale of a row.
    pub(crate) fn scale(&self, row: u32) -> f32 {
        from_half(half_word(self.scales, row as usize))
    }

    /// Returns the L2 norm of a row before scaling.
    pub(crate) fn length(&self, row: u32) -> f32 {
        let row = self.widened(row);
        let mut square = [0];
        self.dots(&row, &row, &mut square);
        (square[0] as f32).sqrt()
    }

    /// Writes the sum of rows before scaling, each times an amount.
    pub(crate) fn sum(&self, rows: &[(u32, f32)], sum: &mut [f32]) {
        let (blocks, _) = self.numbers.as_chunks::<LANES>();
        self.arch.dispatch(
            #[inline(always)]
            || {
                for (block, sum) in sum.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
                    let mut sums = [0.0; LANES];
                    for &(row, amount) in rows {
                        let numbers = &blocks[row as usize * (self.dimension / LANES) + block];
                        for lane in 0..LANES {
                            sums[lane] += amount * f32::from(numbers[lane].cast_signed());
                        }
                    }
                    *sum = sums;
                }
            },
        );
    }

    /// Returns a row before scaling, as numbers that can be multiplied fast.
    pub(crate) fn widened(&self, row: u32) -> Vec<i16> {
        let mut wide = vec![0; self.dimension];
        self.widen(row, &mut wide);
        wide
    }

    /// Writes such a row.
    pub(crate) fn widen(&self, row: u32, wide: &mut [i16]) {
        let start = row as usize * self.dimension;
        let row = &self.numbers[start..start + self.dimension];
        for (wide, number) in wide.iter_mut().zip(row) {
            *wide = i16::from(number.cast_signed());
        }
    }

    /// Writes the dot products of a widened row with many, which stand one after another.
    pub(crate) fn dots(&self, row: &[i16], many: &[i16], dots: &mut [i32]) {
        let others = many.chunks_exact(row.len()).zip(dots);
        #[cfg(target_arch = "x86_64")]
        if let Some(simd) = v3(self.arch) {
            return self.arch.dispatch(
                #[inline(always)]
                || others.for_each(|(other, result)| *result = dot_v3(simd, row, other)),
            );
        }
        others.for_each(|(other, result)| *result = dot(row, other));
    }
}

/// Returns the instructions of the third level where the processor has them, or more.
#[cfg(target_arch = "x86_64")]
fn v3(arch: pulp::Arch) -> Option<pulp::x86::V3> {
    match arch {
        pulp::Arch::V3(simd) => Some(simd),
        pulp::Arch::V4(simd) => Some(*simd),
        _ => None,
    }
}

fn dot(left: &[i16], right: &[i16]) -> i32 {
    let products = left
        .iter()
        .zip(right)
        .map(|(&left, &right)| i32::from(left) * i32::from(right));
    products.sum()
}

/// The same with an instruction that the compiler uses at half its width only.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn dot_v3(simd: pulp::x86::V3, left: &[i16], right: &[i16]) -> i32 {
    let mut sums = simd.avx._mm256_setzero_si256();
    for (left, right) in left.as_chunks::<16>().0.iter().zip(right.as_chunks::<16>().0) {
        let products = simd.avx2._mm256_madd_epi16(pulp::cast(*left), pulp::cast(*right));
        sums = simd.avx2._mm256_add_epi32(sums, products);
    }
    let sums: [i32; 8] = pulp::cast(sums);
    sums.iter().sum()
}

/// Returns a half-precision number of at least 0.
fn from_half(bits: u16) -> f32 {
    let fraction = u32::from(bits & 0x3FF);
    match u32::from(bits >> 10) {
        0 => fraction as f32 / (1 << 24) as f32,
        exponent => f32::from_bits(((exponent + 127 - 15) << 23) | (fraction << 13)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_is_read() {
        for (bits, expected) in [
            (0x0000, 0.0),
            (0x0001, 2.0_f32.powi(-24)),
            (0x0400, 2.0_f32.powi(-14)),
            (0x3C00, 1.0),
            (0x3555, 0.333_251_95),
            (0x7BFF, 65504.0),
        ] {
            assert_eq!(from_half(bits), expected, "{bits:#x}");
        }
    }

    #[test]
    fn rows_are_signed_summed_and_multiplied() {
        let numbers: Vec<u8> = (0..3 * 64_u32).map(|at| (at * 37 % 256) as u8).collect();
        let rows = Rows {
            dimension: 64,
            scales: &[0; 6],
            numbers: numbers.leak(),
            arch: pulp::Arch::new(),
        };
        let wide = [0, 1, 2].map(|row| rows.widened(row));
        assert_eq!(wide[0][4], 148 - 256);
        let mut sum = vec![1.0; 64];
        rows.sum(&[(0, 0.5), (2, 2.0)], &mut sum);
        let expected = wide[0].iter().zip(&wide[2]);
        let expected: Vec<f32> = expected
            .map(|(&left, &right)| f32::from(left) * 0.5 + f32::from(right) * 2.0)
            .collect();
        assert_eq!(sum, expected);
        let mut dots = [0; 3];
        rows.dots(&wide[0], &wide.concat(), &mut dots);
        assert_eq!(dots, [0, 1, 2].map(|row| dot(&wide[0], &wide[row])));
    }
}
