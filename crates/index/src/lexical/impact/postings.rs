//! The lists of one term: which units have it, how often, and how long they are.
//!
//! A posting is the distance to the unit before as a varint, then a byte with the unit's length, whose highest bit says
//! that a byte with the number of occurrences follows. Where it is not set, the term occurs once.

use super::FIELDS;

/// Says that the term occurs more than once.
const REPEATED: u8 = 0x80;
/// Lengths below this have a code of their own; each octave above has eight.
const EXACT: u32 = 64;
/// Bits of a length that count in an octave above [`EXACT`].
const FINE: u32 = 3;

/// How many codes of lengths there are.
pub(super) const LENGTHS: usize = REPEATED as usize;

/// A unit that has a term in a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Posting {
    pub(super) unit: u32,
    /// How long the field is, see [`length_code`].
    pub(super) length: u8,
    /// How often the field has the term; 255 stands for more as well.
    pub(super) count: u8,
}

/// The postings of a term in a field, by rising unit, as they are written.
#[derive(Clone, Debug, Default)]
pub(super) struct List {
    bytes: Vec<u8>,
    units: u32,
    last: u32,
}

impl List {
    /// Adds a posting whose unit is above all before.
    pub(super) fn push(&mut self, posting: Posting) {
        put_varint(&mut self.bytes, posting.unit - self.last);
        self.last = posting.unit;
        self.units += 1;
        if posting.count > 1 {
            self.bytes.extend([posting.length | REPEATED, posting.count]);
        } else {
            self.bytes.push(posting.length);
        }
    }

    /// Returns how many bytes it takes.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    fn write(&self, out: &mut Vec<u8>) {
        put_varint(out, self.units);
        put_varint(out, self.bytes.len() as u32);
        out.extend_from_slice(&self.bytes);
    }
}

/// Writes a term with its lists.
pub(super) fn put_entry(out: &mut Vec<u8>, term: &str, lists: &[List; FIELDS]) {
    put_varint(out, term.len() as u32);
    out.extend_from_slice(term.as_bytes());
    lists.iter().for_each(|list| list.write(out));
}

/// A term with its lists, read where it lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<'a> {
    pub(super) term: &'a str,
    pub(super) lists: [Postings<'a>; FIELDS],
}

/// The postings of a term in a field.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Postings<'a> {
    /// How many there are.
    pub(super) units: u32,
    bytes: &'a [u8],
}

impl<'a> Entry<'a> {
    /// Takes an entry off the front; `None` where there is no whole one.
    pub(super) fn take(bytes: &mut &'a [u8]) -> Option<Self> {
        let length = take_varint(bytes)?;
        let term = std::str::from_utf8(take_slice(bytes, length)?).ok()?;
        let mut lists = [Postings::default(); FIELDS];
        for list in &mut lists {
            let units = take_varint(bytes)?;
            let length = take_varint(bytes)?;
            *list = Postings {
                units,
                bytes: take_slice(bytes, length)?,
            };
        }
        Some(Self { term, lists })
    }
}

impl Postings<'_> {
    /// Gives every posting, by rising unit. Returns `None` where the bytes are no postings.
    pub(super) fn each(self, mut give: impl FnMut(Posting)) -> Option<()> {
        let mut bytes = self.bytes;
        let mut unit = 0_u32;
        for _ in 0..self.units {
            unit = unit.checked_add(take_varint(&mut bytes)?)?;
            let (&length, rest) = bytes.split_first()?;
            bytes = rest;
            let mut count = 1;
            if length >= REPEATED {
                let (&repeated, rest) = bytes.split_first()?;
                (count, bytes) = (repeated, rest);
            }
            give(Posting {
                unit,
                length: length & !REPEATED,
                count,
            });
        }
        bytes.is_empty().then_some(())
    }
}

/// Returns the code of a length in words: exact up to 63, then within an eighth, at most 16,384 or so.
pub(super) fn length_code(words: usize) -> u8 {
    let words = u32::try_from(words).unwrap_or(u32::MAX);
    if words < EXACT {
        return words as u8;
    }
    let octave = words.ilog2() - EXACT.ilog2();
    let step = words >> (octave + EXACT.ilog2() - FINE) & ((1 << FINE) - 1);
    (EXACT + (octave << FINE) + step).min(LENGTHS as u32 - 1) as u8
}

/// Returns the shortest length in words that has the code.
pub(super) fn length_of(code: u8) -> u32 {
    let code = u32::from(code);
    match code.checked_sub(EXACT) {
        None => code,
        Some(above) => ((1 << FINE) + (above & ((1 << FINE) - 1))) << ((above >> FINE) + EXACT.ilog2() - FINE),
    }
}

fn put_varint(out: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn take_varint(bytes: &mut &[u8]) -> Option<u32> {
    let (&first, rest) = bytes.split_first()?;
    *bytes = rest;
    if first < 0x80 {
        return Some(u32::from(first));
    }
    let mut number = u64::from(first & 0x7f);
    for shift in [7, 14, 21, 28] {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return u32::try_from(number).ok();
        }
    }
    None
}

fn take_slice<'a>(bytes: &mut &'a [u8], length: u32) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(length as usize)?;
    *bytes = rest;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lengths_are_kept_within_an_eighth() {
        for words in 0..20_000_u32 {
            let kept = length_of(length_code(words as usize));
            if words < EXACT {
                assert_eq!(kept, words);
            } else if words < 15_000 {
                assert!(kept <= words && words - kept <= words / 8, "{words} {kept}");
            }
        }
        assert_eq!(length_code(usize::MAX), 127);
        for code in 0..128 {
            assert_eq!(length_code(length_of(code) as usize), code);
        }
    }

    fn list(postings: &[Posting]) -> List {
        let mut list = List::default();
        postings.iter().for_each(|posting| list.push(*posting));
        list
    }

    prop_compose! {
        fn postings()(found in prop::collection::btree_map(any::<u32>(), (0..128_u8, 1..=255_u8), 0..40)) -> Vec<Posting> {
            found.into_iter().map(|(unit, (length, count))| Posting { unit, length, count }).collect()
        }
    }

    proptest! {
        #[test]
        fn entries_are_read_as_they_were_written(term in "\\PC{0,8}", names in postings(), path in postings()) {
            let mut bytes = Vec::new();
            put_entry(&mut bytes, &term, &[list(&names), List::default(), list(&path)]);
            let mut rest = bytes.as_slice();
            let entry = Entry::take(&mut rest).unwrap();
            prop_assert!(rest.is_empty());
            prop_assert_eq!(entry.term, term);
            for (found, expected) in entry.lists.into_iter().zip([&names, &Vec::new(), &path]) {
                let mut given = Vec::new();
                found.each(|posting| given.push(posting)).unwrap();
                prop_assert_eq!(&given, expected);
            }
        }

        #[test]
        fn no_bytes_are_a_fault_of_ours(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let mut rest = bytes.as_slice();
            while let Some(entry) = Entry::take(&mut rest) {
                for list in entry.lists {
                    list.each(|_| ());
                }
            }
        }
    }
}
