//! The artefact cut into its sections. Little-endian; sections begin at multiples of 64 bytes, one after another.
//!
//! | header | bytes |
//! |---|---|
//! | magic | 8 |
//! | version, dimension, pieces, folds | 4 x 4 |
//! | offset and length of each section | 9 x 2 x 4 |
//!
//! | section | bytes |
//! |---|---|
//! | cost of each piece | 2 x pieces |
//! | length of each piece, their texts | pieces, any |
//! | code point of each fold, length of each replacement, their texts | 4 x folds, folds, any |
//! | mean vector of Chinese and of English texts | 2 x 4 x dimension |
//! | scale of each row in half precision | 2 x pieces |
//! | rows | dimension x pieces |

use super::StaticTableError;

const MAGIC: &[u8; 8] = b"CBSTATIC";
const VERSION: u32 = 1;
/// Where sections may begin.
const ALIGNMENT: u64 = 64;
const HEADER: usize = 128;
const SECTIONS: usize = 9;
/// Numbers that are computed side by side; a row is a whole number of them.
const BLOCK: u32 = 32;
const MAX_DIMENSION: u32 = 4096;
/// So many fit the slots of the look-up.
const MAX_PIECES: u32 = (1 << 17) - 2;

/// The sections, each of the length that the counts ask for.
pub(super) struct Layout {
    pub dimension: usize,
    pub pieces: usize,
    pub costs: &'static [u8],
    pub piece_lengths: &'static [u8],
    pub piece_texts: &'static [u8],
    pub fold_codes: &'static [u8],
    pub fold_lengths: &'static [u8],
    pub fold_texts: &'static [u8],
    pub means: &'static [u8],
    pub scales: &'static [u8],
    pub numbers: &'static [u8],
}

impl Layout {
    pub(super) fn cut(bytes: &'static [u8]) -> Result<Self, StaticTableError> {
        let Some(header) = bytes.get(..HEADER).filter(|header| header.starts_with(MAGIC)) else {
            return Err(StaticTableError::Magic);
        };
        let (words, _) = header[MAGIC.len()..].as_chunks::<4>();
        let word = |at: usize| u32::from_le_bytes(words[at]);
        let [version, dimension, pieces, folds] = [0, 1, 2, 3].map(word);
        if version != VERSION {
            return Err(StaticTableError::Version {
                found: version,
                expected: VERSION,
            });
        }
        if dimension == 0 || !dimension.is_multiple_of(BLOCK) || dimension > MAX_DIMENSION || pieces > MAX_PIECES {
            return Err(StaticTableError::Shape { pieces, dimension });
        }
        let spans = std::array::from_fn(|section| [4, 5].map(|at| u64::from(word(2 * section + at))));
        check_spans(spans, [dimension, pieces, folds].map(u64::from), bytes.len() as u64)?;
        let [
            costs,
            piece_lengths,
            piece_texts,
            fold_codes,
            fold_lengths,
            fold_texts,
            means,
            scales,
            numbers,
        ] = spans.map(|[start, length]| &bytes[start as usize..(start + length) as usize]);
        Ok(Self {
            dimension: dimension as usize,
            pieces: pieces as usize,
            costs,
            piece_lengths,
            piece_texts,
            fold_codes,
            fold_lengths,
            fold_texts,
            means,
            scales,
            numbers,
        })
    }
}

/// Checks that sections follow one another to the end and are as long as the counts ask for.
fn check_spans(
    spans: [[u64; 2]; SECTIONS],
    [dimension, pieces, folds]: [u64; 3],
    found: u64,
) -> Result<(), StaticTableError> {
    let lengths = [
        2 * pieces,
        pieces,
        spans[2][1],
        4 * folds,
        folds,
        spans[5][1],
        2 * 4 * dimension,
        2 * pieces,
        dimension * pieces,
    ];
    let mut expected = HEADER as u64;
    for (index, (span, length)) in spans.into_iter().zip(lengths).enumerate() {
        if span != [expected, length] {
            return Err(StaticTableError::Section { index });
        }
        expected += length.next_multiple_of(ALIGNMENT);
    }
    if found == expected {
        Ok(())
    } else {
        Err(StaticTableError::Length { found, expected })
    }
}

/// Returns the `at`th 16-bit number of a section.
pub(super) fn half_word(section: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([section[2 * at], section[2 * at + 1]])
}
