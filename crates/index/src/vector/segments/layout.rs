//! Where what lies in a segment. All numbers are little-endian.
//!
//! | bytes | content |
//! |---|---|
//! | 0..8 | `CBvector` |
//! | 8..12 | version of the format, u32 |
//! | 12..16 | dimension, u32 |
//! | 16..24 | rows, u64 |
//! | 24..28 | bytes of a row of 8-bit numbers, u32: the dimension, rounded up to 64 |
//! | 28..32, 32..36, 36..40 | CRC-32 of hashes, of steps, of 8-bit rows |
//! | 40..72 | SHA-256 of the encoder's revision |
//! | 72..124 | zero |
//! | 124..128 | CRC-32 of the bytes before |
//! | then | hashes: per row the SHA-256 of what the encoder received, rising |
//! | then | steps: per row scale and error, f32, and the CRC-32 of its f32 row |
//! | then | 8-bit rows, each padded with zeros |
//! | then | f32 rows |
//!
//! A step with scale 0 and error 0 is an all-zero row; one whose error is no number is a row that holds none either.

use casebook_corpus::ContentHash;

use crate::vector::quantise::{Step, stride};

/// Bytes of the header.
pub(super) const HEADER: usize = 128;
/// Bytes of an input hash.
pub(super) const HASH: usize = 32;
/// Bytes of a step.
pub(super) const STEP: usize = 12;

const MAGIC: [u8; 8] = *b"CBvector";
const VERSION: u32 = 1;
/// The header's own checksum stands here.
const SEAL: usize = HEADER - 4;
/// What no segment is larger than; so no size below overflows.
const MOST_BYTES: u64 = 1 << 50;

/// What a segment holds of each row beside its numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RowStep {
    pub(super) step: Step,
    /// Checksum of the f32 row.
    pub(super) checksum: u32,
}

impl RowStep {
    pub(super) fn to_bytes(self) -> [u8; STEP] {
        let mut bytes = [0; STEP];
        bytes[..4].copy_from_slice(&self.step.scale.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.step.error.to_le_bytes());
        bytes[8..].copy_from_slice(&self.checksum.to_le_bytes());
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8; STEP]) -> Self {
        Self {
            step: Step {
                scale: f32::from_bits(word(bytes, 0)),
                error: f32::from_bits(word(bytes, 4)),
            },
            checksum: word(bytes, 8),
        }
    }
}

/// Whose vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    pub(super) encoder: ContentHash,
    pub(super) dimension: usize,
}

impl Kind {
    pub(super) fn stride(&self) -> usize {
        stride(self.dimension)
    }
}

/// Everything about a segment but its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) kind: Kind,
    pub(super) rows: usize,
    /// Checksums of hashes, steps and 8-bit rows.
    pub(super) checksums: [u32; 3],
}

/// Why bytes are no header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoHeader {
    Damaged,
    /// Of another version of the format.
    Foreign(u32),
}

impl Header {
    pub(super) fn to_bytes(self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..8].copy_from_slice(&MAGIC);
        put(&mut bytes, 8, VERSION);
        put(&mut bytes, 12, self.kind.dimension as u32);
        bytes[16..24].copy_from_slice(&(self.rows as u64).to_le_bytes());
        put(&mut bytes, 24, self.kind.stride() as u32);
        for (at, checksum) in self.checksums.into_iter().enumerate() {
            put(&mut bytes, 28 + 4 * at, checksum);
        }
        bytes[40..72].copy_from_slice(self.kind.encoder.as_bytes());
        let seal = crc32fast::hash(&bytes[..SEAL]);
        put(&mut bytes, SEAL, seal);
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8; HEADER]) -> Result<Self, NoHeader> {
        if bytes[..8] != MAGIC || word(bytes, SEAL) != crc32fast::hash(&bytes[..SEAL]) {
            return Err(NoHeader::Damaged);
        }
        if word(bytes, 8) != VERSION {
            return Err(NoHeader::Foreign(word(bytes, 8)));
        }
        let rows = bytes[16..24].try_into().map(u64::from_le_bytes).unwrap_or(u64::MAX);
        let encoder = bytes[40..72].try_into().map(ContentHash::from_bytes);
        let header = Self {
            kind: Kind {
                encoder: encoder.map_err(|_| NoHeader::Damaged)?,
                dimension: word(bytes, 12) as usize,
            },
            rows: usize::try_from(rows).map_err(|_| NoHeader::Damaged)?,
            checksums: [word(bytes, 28), word(bytes, 32), word(bytes, 36)],
        };
        let row = (HASH + STEP + header.kind.stride() + 4 * header.kind.dimension) as u64;
        let fits = rows.checked_mul(row).is_some_and(|bytes| bytes < MOST_BYTES);
        // A row is found by a u32.
        if !fits || rows > u64::from(u32::MAX) || word(bytes, 24) as usize != header.kind.stride() {
            return Err(NoHeader::Damaged);
        }
        Ok(header)
    }

    /// Returns the name of the file: as the header holds the checksums of all else, it stands for the content.
    pub(super) fn name(&self) -> String {
        let mut name = ContentHash::of(self.to_bytes()).to_string();
        name.truncate(32);
        name.push_str(".seg");
        name
    }

    pub(super) fn hashes_at(&self) -> u64 {
        HEADER as u64
    }

    pub(super) fn steps_at(&self) -> u64 {
        self.hashes_at() + (self.rows * HASH) as u64
    }

    pub(super) fn codes_at(&self) -> u64 {
        self.steps_at() + (self.rows * STEP) as u64
    }

    pub(super) fn vectors_at(&self) -> u64 {
        self.codes_at() + (self.rows * self.kind.stride()) as u64
    }

    /// Returns the bytes of the whole file.
    pub(super) fn bytes(&self) -> u64 {
        self.vectors_at() + (self.rows * self.kind.dimension * 4) as u64
    }
}

fn put<const N: usize>(bytes: &mut [u8; N], at: usize, word: u32) {
    bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
}

fn word<const N: usize>(bytes: &[u8; N], at: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_as_it_was_written_and_any_changed_bit_shows() {
        let header = Header {
            kind: Kind {
                encoder: ContentHash::of("an encoder"),
                dimension: 100,
            },
            rows: 7,
            checksums: [1, 2, 3],
        };
        let bytes = header.to_bytes();
        assert_eq!(Header::from_bytes(&bytes), Ok(header));
        assert_eq!(header.bytes(), 128 + 7 * (32 + 12 + 128 + 400));
        for bit in 0..HEADER * 8 {
            let mut flipped = bytes;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Header::from_bytes(&flipped), Err(NoHeader::Damaged), "bit {bit}");
        }
    }

    #[test]
    fn another_version_and_impossible_sizes_are_told() {
        let header = Header {
            kind: Kind {
                encoder: ContentHash::of("an encoder"),
                dimension: 64,
            },
            rows: 1,
            checksums: [0; 3],
        };
        let change = |at: usize, word: u32| {
            let mut bytes = header.to_bytes();
            put(&mut bytes, at, word);
            let seal = crc32fast::hash(&bytes[..SEAL]);
            put(&mut bytes, SEAL, seal);
            Header::from_bytes(&bytes)
        };
        assert_eq!(change(8, 2), Err(NoHeader::Foreign(2)));
        assert_eq!(change(20, u32::MAX), Err(NoHeader::Damaged), "rows");
        assert_eq!(change(12, u32::MAX), Err(NoHeader::Damaged), "dimension");
        assert_eq!(change(24, 128), Err(NoHeader::Damaged), "bytes of a row");
    }
}
