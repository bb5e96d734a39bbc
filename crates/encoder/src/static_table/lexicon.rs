//! Pieces of text and their numbers: an open-addressing hash table over the artefact's own bytes.
//!
//! The hash grows character by character, so that all beginnings of a run are looked up in one pass.

use super::StaticTableError;
use super::layout::{Layout, half_word};

/// Characters of a piece at most.
const MAX_CHARACTERS: u32 = 24;
/// Bytes of a piece at most.
pub(super) const MAX_BYTES: usize = 4 * MAX_CHARACTERS as usize;
/// Bits of a slot that hold a piece's number plus 1; the rest hold a part of its hash.
const NUMBER_BITS: u32 = 17;
/// Bits of a hash that tell beginnings apart.
const BEGINNING_BITS: u32 = 15;

/// The pieces. ASCII letters are one whatever their case.
#[derive(Debug)]
pub(super) struct Lexicon {
    slots: Vec<u32>,
    /// How far a hash is shifted to give a slot.
    shift: u32,
    pieces: Vec<Piece>,
    /// Where each piece begins in the texts.
    starts: Vec<u32>,
    texts: &'static [u8],
    /// By the hash of a [beginning](beginning_length): bit `n` is set where a piece that begins so has `n` characters
    /// and goes on past it.
    lengths: Vec<u32>,
}

/// Bytes of a piece that stand beside its cost: most pieces are no longer, and are compared with one look at memory.
const HEAD: usize = 12;

#[derive(Clone, Copy, Debug)]
struct Piece {
    /// First bytes of its text, as a number; 0 past its end.
    head: u64,
    head_rest: u32,
    cost: u16,
    length: u8,
}

/// Hash of the characters pushed so far.
#[derive(Clone, Copy)]
pub(super) struct Key(u64);

impl Key {
    pub(super) const EMPTY: Self = Self(0);

    pub(super) fn push(self, unit: u32) -> Self {
        Self((self.0.rotate_left(26) ^ u64::from(unit)).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    fn of(text: &[u8]) -> Self {
        let mut key = Self::EMPTY;
        let mut at = 0;
        while at < text.len() {
            let (unit, length) = unit(text, at);
            key = key.push(unit);
            at += length;
        }
        key
    }

    fn beginning(self) -> usize {
        (self.0 >> (64 - BEGINNING_BITS)) as usize
    }

    /// Returns the part of the hash that a slot keeps, in its place.
    fn tag(self) -> u32 {
        (self.0 >> 16) as u32 >> NUMBER_BITS << NUMBER_BITS
    }
}

/// Returns a number that stands for the character at a byte, in lower case where it is ASCII, and its bytes.
pub(super) fn unit(text: &[u8], at: usize) -> (u32, usize) {
    let byte = text[at];
    if byte.is_ascii() {
        return (u32::from(byte.to_ascii_lowercase()), 1);
    }
    let length = match byte {
        ..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0.. => 4,
    };
    let bytes = &text[at..at + length];
    (bytes.iter().fold(0, |unit, &byte| unit << 8 | u32::from(byte)), length)
}

impl Lexicon {
    pub(super) fn build(layout: &Layout) -> Result<Self, StaticTableError> {
        let capacity = (layout.pieces * 2).next_power_of_two().max(2);
        let mut lexicon = Self {
            slots: vec![0; capacity],
            shift: 64 - capacity.trailing_zeros(),
            pieces: Vec::with_capacity(layout.pieces),
            starts: Vec::with_capacity(layout.pieces),
            texts: layout.piece_texts,
            lengths: vec![0; 1 << BEGINNING_BITS],
        };
        let wrong = |index, problem| Err(StaticTableError::Piece { index, problem });
        let Ok(texts) = std::str::from_utf8(layout.piece_texts) else {
            return wrong(0, "not UTF-8");
        };
        let mut start = 0;
        for (index, &length) in layout.piece_lengths.iter().enumerate() {
            let end = start + usize::from(length);
            let Some(text) = texts.get(start..end) else {
                return wrong(index, "cut off");
            };
            if text.is_empty() || text.chars().count() > MAX_CHARACTERS as usize {
                return wrong(index, "empty or too long");
            }
            if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
                return wrong(index, "not in lower case");
            }
            let (head, head_rest) = head(text.as_bytes());
            lexicon.pieces.push(Piece {
                head,
                head_rest,
                cost: half_word(layout.costs, index),
                length,
            });
            lexicon.starts.push(start as u32);
            if !lexicon.insert(index as u32, text.as_bytes()) {
                return wrong(index, "there twice");
            }
            start = end;
        }
        if start != texts.len() {
            return wrong(layout.pieces, "not counted");
        }
        Ok(lexicon)
    }

    fn insert(&mut self, number: u32, text: &[u8]) -> bool {
        let key = Key::of(text);
        let mut slot = self.first_slot(key);
        while self.slots[slot] != 0 {
            if self.matches(self.slots[slot], key, text) {
                return false;
            }
            slot = self.next_slot(slot);
        }
        self.slots[slot] = key.tag() | (number + 1);
        let characters = text.iter().filter(|&&byte| !is_continuation(byte)).count();
        let longer = text
            .iter()
            .enumerate()
            .filter(|(_, byte)| !is_continuation(**byte))
            .nth(beginning_length(text[0]));
        if let Some((end, _)) = longer {
            self.lengths[Key::of(&text[..end]).beginning()] |= 1 << characters;
        }
        true
    }

    /// Returns the number of a piece.
    pub(super) fn find(&self, text: &[u8]) -> Option<u32> {
        if text.len() > MAX_BYTES {
            return None;
        }
        self.find_key(Key::of(text), text)
    }

    /// Returns the number of a piece whose hash is known.
    pub(super) fn find_key(&self, key: Key, text: &[u8]) -> Option<u32> {
        let mut slot = self.first_slot(key);
        while self.slots[slot] != 0 {
            if self.matches(self.slots[slot], key, text) {
                return Some(number(self.slots[slot]));
            }
            slot = self.next_slot(slot);
        }
        None
    }

    /// Returns the lengths in characters, as bits, that pieces may have which go on past a beginning.
    pub(super) fn lengths_after(&self, beginning: Key) -> u32 {
        self.lengths[beginning.beginning()]
    }

    /// Returns the bytes of a piece.
    pub(super) fn length(&self, piece: u32) -> usize {
        usize::from(self.pieces[piece as usize].length)
    }

    pub(super) fn cost(&self, piece: u32) -> u64 {
        u64::from(self.pieces[piece as usize].cost)
    }

    fn first_slot(&self, key: Key) -> usize {
        (key.0 >> self.shift) as usize
    }

    fn next_slot(&self, slot: usize) -> usize {
        (slot + 1) & (self.slots.len() - 1)
    }

    fn matches(&self, slot: u32, key: Key, text: &[u8]) -> bool {
        if slot >> NUMBER_BITS != key.tag() >> NUMBER_BITS {
            return false;
        }
        let number = number(slot) as usize;
        let piece = &self.pieces[number];
        if usize::from(piece.length) != text.len() || (piece.head, piece.head_rest) != head(text) {
            return false;
        }
        let rest = text.get(HEAD..).unwrap_or_default();
        let start = self.starts[number] as usize + HEAD;
        rest.is_empty() || self.texts[start..start + rest.len()].eq_ignore_ascii_case(rest)
    }
}

/// Returns the first [`HEAD`] bytes of a run as a number, ASCII letters in lower case.
fn head(text: &[u8]) -> (u64, u32) {
    let text = &text[..text.len().min(HEAD)];
    // Two looks that overlap where the text is shorter than both.
    let number = match (text.first_chunk::<8>(), text.last_chunk::<8>()) {
        (Some(first), Some(last)) => {
            u128::from(u64::from_le_bytes(*first)) | u128::from(u64::from_le_bytes(*last)) << (8 * (text.len() - 8))
        }
        _ => match (text.first_chunk::<4>(), text.last_chunk::<4>()) {
            (Some(first), Some(last)) => {
                let last = u64::from(u32::from_le_bytes(*last)) << (8 * (text.len() - 4));
                u128::from(u64::from(u32::from_le_bytes(*first)) | last)
            }
            _ => text
                .iter()
                .rev()
                .fold(0, |number, &byte| number << 8 | u128::from(byte)),
        },
    };
    // The bit that makes a capital small and leaves a digit.
    let lower = if text.first().is_some_and(u8::is_ascii_alphanumeric) {
        number | (LOWER & ((1 << (8 * text.len())) - 1))
    } else {
        number
    };
    (lower as u64, (lower >> 64) as u32)
}

const LOWER: u128 = u128::from_le_bytes([0x20; 16]);

fn number(slot: u32) -> u32 {
    (slot & ((1 << NUMBER_BITS) - 1)) - 1
}

/// Returns whether a byte of UTF-8 belongs to the character before it.
pub(super) fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// Returns the characters of a beginning, by the first byte: as few as tell most beginnings apart.
pub(super) fn beginning_length(first: u8) -> usize {
    if first.is_ascii() { 3 } else { 2 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_told_apart_at_every_length() {
        let text = b"ABCDEfghijklmnop";
        for length in 1..=text.len() {
            let mut bytes = [0; 16];
            bytes[..length.min(HEAD)].copy_from_slice(&text.to_ascii_lowercase()[..length.min(HEAD)]);
            let number = u128::from_le_bytes(bytes);
            assert_eq!(
                head(&text[..length]),
                (number as u64, (number >> 64) as u32),
                "{length}"
            );
        }
        assert_eq!(head(b"@"), (u64::from(b'@'), 0));
    }

    /// Two texts that share a hash, which none are known to do.
    #[test]
    fn an_equal_hash_is_not_believed() {
        let layout = Layout {
            dimension: 32,
            pieces: 1,
            costs: &[1, 0],
            piece_lengths: &[16],
            piece_texts: b"abcdefghijklmnop",
            fold_codes: &[],
            fold_lengths: &[],
            fold_texts: &[],
            means: &[],
            scales: &[0, 0],
            numbers: &[],
        };
        let lexicon = Lexicon::build(&layout).unwrap();
        let key = Key::of(layout.piece_texts);
        let check = |text: &[u8], expected| assert_eq!(lexicon.find_key(key, text), expected, "{text:?}");
        check(b"abcdefghijklmnop", Some(0));
        check(b"AbcdefghijklmnoP", Some(0));
        check(b"abcdefghijklmnoq", None);
        check(b"bbcdefghijklmnop", None);
        check(b"abcdefghijklmno", None);
    }
}
