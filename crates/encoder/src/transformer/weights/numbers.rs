//! Numbers as weight files store them, and as they are kept in memory.
//!
//! Q4_0 and Q8_0 are blocks of 32 numbers with one half-precision scale, as llama.cpp's `ggml` lays them out.

/// Numbers in one quantised block.
pub(in crate::transformer) const BLOCK: usize = 32;

/// How a tensor's numbers are stored, little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::transformer) enum Storage {
    F32,
    F16,
    Bf16,
    /// A scale and 32 numbers of 4 bits: the low halves of 16 bytes, then the high ones, each less 8.
    Q4,
    /// A scale and 32 numbers of 8 bits, signed.
    Q8,
}

impl Storage {
    /// Returns how many bytes so many numbers take, or `None` where they do not fill blocks or are too many.
    pub(in crate::transformer) fn bytes(self, numbers: usize) -> Option<usize> {
        let blocks = |bytes: usize| {
            if numbers.is_multiple_of(BLOCK) {
                (numbers / BLOCK).checked_mul(bytes)
            } else {
                None
            }
        };
        match self {
            Self::F32 => numbers.checked_mul(4),
            Self::F16 | Self::Bf16 => numbers.checked_mul(2),
            Self::Q4 => blocks(2 + BLOCK / 2),
            Self::Q8 => blocks(2 + BLOCK),
        }
    }

    /// Writes the numbers that some bytes hold; there are as many as [`Storage::bytes`] asks for.
    pub(in crate::transformer) fn decode(self, bytes: &[u8], numbers: &mut [f32]) {
        match self {
            Self::F32 => {
                for (number, bytes) in numbers.iter_mut().zip(bytes.as_chunks::<4>().0) {
                    *number = f32::from_le_bytes(*bytes);
                }
            }
            Self::F16 => {
                for (number, bytes) in numbers.iter_mut().zip(bytes.as_chunks::<2>().0) {
                    *number = from_half(u16::from_le_bytes(*bytes));
                }
            }
            Self::Bf16 => {
                for (number, bytes) in numbers.iter_mut().zip(bytes.as_chunks::<2>().0) {
                    *number = f32::from_bits(u32::from(u16::from_le_bytes(*bytes)) << 16);
                }
            }
            Self::Q4 => {
                let blocks = bytes.as_chunks::<{ 2 + BLOCK / 2 }>().0;
                for (numbers, block) in numbers.as_chunks_mut::<BLOCK>().0.iter_mut().zip(blocks) {
                    let scale = from_half(u16::from_le_bytes([block[0], block[1]]));
                    let (low, high) = numbers.split_at_mut(BLOCK / 2);
                    for ((low, high), byte) in low.iter_mut().zip(high).zip(&block[2..]) {
                        *low = (f32::from(byte & 15) - 8.0) * scale;
                        *high = (f32::from(byte >> 4) - 8.0) * scale;
                    }
                }
            }
            Self::Q8 => {
                let blocks = bytes.as_chunks::<{ 2 + BLOCK }>().0;
                for (numbers, block) in numbers.as_chunks_mut::<BLOCK>().0.iter_mut().zip(blocks) {
                    let scale = from_half(u16::from_le_bytes([block[0], block[1]]));
                    for (number, byte) in numbers.iter_mut().zip(&block[2..]) {
                        *number = f32::from(byte.cast_signed()) * scale;
                    }
                }
            }
        }
    }
}

/// Returns the number that IEEE half-precision bits stand for.
pub(in crate::transformer) fn from_half(bits: u16) -> f32 {
    let sign = u32::from(bits & 0x8000) << 16;
    let fraction = u32::from(bits & 0x3FF);
    let magnitude = match u32::from(bits >> 10) & 0x1F {
        0 => (fraction as f32 / (1 << 24) as f32).to_bits(),
        0x1F => 0x7F80_0000 | (fraction << 13),
        exponent => ((exponent + 127 - 15) << 23) | (fraction << 13),
    };
    f32::from_bits(sign | magnitude)
}

/// Returns the half-precision bits nearest to a number, ties to even; what is too small for a normal one becomes 0, what is
/// too large an infinity.
pub(in crate::transformer) fn to_half(number: f32) -> u16 {
    const SMALLEST: u32 = (127 - 14) << 23;
    let sign = (number.to_bits() >> 16) as u16 & 0x8000;
    let magnitude = number.to_bits() & 0x7FFF_FFFF;
    if magnitude < SMALLEST {
        return sign;
    }
    let rounded = magnitude + 0xFFF + ((magnitude >> 13) & 1);
    let half = (rounded >> 13) - ((127 - 15) << 10);
    sign | half.min(0x7C00) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_normal_half_is_kept() {
        for bits in 0..=u16::MAX {
            let exponent = (bits >> 10) & 0x1F;
            if exponent != 0 && exponent != 0x1F {
                assert_eq!(to_half(from_half(bits)), bits, "{bits:#x}");
            }
        }
    }

    #[test]
    fn ties_go_to_even_and_the_ends_are_kept() {
        assert_eq!(to_half(1.0 + 1.0 / 2048.0), 0x3C00);
        assert_eq!(to_half(1.0 + 3.0 / 2048.0), 0x3C02);
        assert_eq!(to_half(-65519.0), 0xFBFF);
        assert_eq!(to_half(65520.0), 0x7C00);
        assert_eq!(to_half(f32::INFINITY), 0x7C00);
        assert_eq!(to_half(-1e-6), 0x8000);
        assert_eq!(from_half(0x0001), 2.0_f32.powi(-24));
        assert!(from_half(0x7E00).is_nan());
    }

    #[test]
    fn blocks_are_read_as_they_are_written() {
        let mut block = vec![0x00, 0xC0];
        block.extend((0..16).map(|at| at | ((15 - at) << 4)));
        let mut numbers = [0.0; BLOCK];
        Storage::Q4.decode(&block, &mut numbers);
        assert_eq!(numbers[0], 16.0);
        assert_eq!(numbers[15], -14.0);
        assert_eq!(numbers[16], -14.0);
        assert_eq!(numbers[31], 16.0);
        let mut block = vec![0x00, 0x38];
        block.extend((0..32).map(|at: u8| at.wrapping_sub(16)));
        Storage::Q8.decode(&block, &mut numbers);
        assert_eq!(numbers[0], -8.0);
        assert_eq!(numbers[31], 7.5);
        assert_eq!(Storage::Q8.bytes(33), None);
    }
}
