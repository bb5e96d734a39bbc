//! A writer of static tables, and one of a few pieces.

use std::sync::{Arc, LazyLock};

use casebook_encoder::{StaticTable, StaticTableError};
use sha2::Digest as _;

/// Numbers in a row of the small table.
pub(crate) const DIMENSION: usize = 32;

/// Bytes before the first section.
pub(crate) const HEADER: usize = 128;

/// Pieces and their costs: cheaper is likelier.
pub(crate) const PIECES: &[(&str, u16)] = &[
    ("索", 12_000),
    ("引", 12_000),
    ("索引", 9_000),
    ("重", 10_000),
    ("建", 11_000),
    ("重建", 8_000),
    ("查", 11_000),
    ("询", 13_000),
    ("查询", 9_000),
    ("的", 3_000),
    ("后", 7_000),
    ("研", 12_000),
    ("究", 12_000),
    ("生", 9_000),
    ("命", 11_000),
    ("研究", 9_000),
    ("研究生", 10_000),
    ("生命", 9_500),
    ("\u{20000}", 15_000),
    ("rebuild", 14_000),
    ("the", 2_000),
    ("vector", 13_000),
    ("index", 12_000),
    ("read", 11_000),
    ("file", 11_000),
    ("http", 12_000),
    ("server", 12_000),
    ("kitchen", 14_000),
    ("backup", 13_000),
    ("recovery", 14_000),
    ("docs", 12_000),
    ("md", 13_000),
    ("gen", 13_000),
    ("re", 15_000),
    ("build", 13_000),
    ("ing", 14_000),
    ("itgc", 16_000),
    ("k8s", 13_000),
    ("a", 16_000),
    ("aa", 18_000),
    ("b", 16_000),
    ("s", 16_000),
    ("i", 16_000),
    ("1", 12_000),
    ("2", 12_000),
    ("12", 13_000),
    ("123", 14_000),
    ("2024", 13_000),
    ("#", 9_000),
    ("@", 9_000),
];

/// Characters that are read as others.
pub(crate) const FOLDS: &[(char, &str)] = &[
    ('\u{AD}', ""),
    ('½', "1 2"),
    ('é', "e"),
    ('\u{301}', ""),
    ('\u{200B}', ""),
    ('㏌', "in"),
    ('後', "后"),
    ('詢', "询"),
    ('\u{F900}', "岂"),
    ('ﬁ', "fi"),
    ('Ａ', "A"),
    ('ａ', "a"),
];

/// Returns the row of a piece before scaling. Only the last has none.
pub(crate) fn row(piece: usize) -> [i8; DIMENSION] {
    let mut state = piece as u64 + 1;
    std::array::from_fn(|_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        if piece + 1 == PIECES.len() {
            0
        } else {
            (state >> 56) as i8
        }
    })
}

/// What an artefact is made of.
#[derive(Clone)]
pub(crate) struct Artefact {
    pub(crate) version: u32,
    pub(crate) dimension: u32,
    pub(crate) pieces: Vec<(String, u16)>,
    pub(crate) folds: Vec<(u32, String)>,
    pub(crate) means: Vec<f32>,
    pub(crate) scales: Vec<u16>,
    pub(crate) numbers: Vec<i8>,
}

impl Artefact {
    pub(crate) fn small() -> Self {
        Self {
            version: 1,
            dimension: DIMENSION as u32,
            pieces: PIECES.iter().map(|&(text, cost)| (text.to_owned(), cost)).collect(),
            folds: FOLDS
                .iter()
                .map(|&(code, text)| (code.into(), text.to_owned()))
                .collect(),
            means: (0..2 * DIMENSION).map(|at| at as f32).collect(),
            // Half-precision numbers from 2^-5 to nearly 2^-4.
            scales: (0..PIECES.len()).map(|piece| 0x2800 + 19 * piece as u16).collect(),
            numbers: (0..PIECES.len()).flat_map(row).collect(),
        }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let length = |text: &str| u8::try_from(text.len()).unwrap();
        let sections: [Vec<u8>; 9] = [
            self.pieces.iter().flat_map(|(_, cost)| cost.to_le_bytes()).collect(),
            self.pieces.iter().map(|(text, _)| length(text)).collect(),
            self.pieces.iter().flat_map(|(text, _)| text.bytes()).collect(),
            self.folds.iter().flat_map(|(code, _)| code.to_le_bytes()).collect(),
            self.folds.iter().map(|(_, text)| length(text)).collect(),
            self.folds.iter().flat_map(|(_, text)| text.bytes()).collect(),
            self.means.iter().flat_map(|number| number.to_le_bytes()).collect(),
            self.scales.iter().flat_map(|scale| scale.to_le_bytes()).collect(),
            self.numbers.iter().map(|number| number.cast_unsigned()).collect(),
        ];
        let counts = [
            self.version,
            self.dimension,
            self.pieces.len() as u32,
            self.folds.len() as u32,
        ];
        let mut bytes = [b"CBSTATIC".as_slice(), &counts.map(u32::to_le_bytes).concat()].concat();
        let mut body = Vec::new();
        for section in sections {
            let span = [HEADER + body.len(), section.len()].map(|number| (number as u32).to_le_bytes());
            bytes.extend(span.concat());
            body.extend(section);
            body.resize(body.len().next_multiple_of(64), 0);
        }
        bytes.resize(HEADER, 0);
        [bytes, body].concat()
    }

    pub(crate) fn read(&self) -> Result<StaticTable, StaticTableError> {
        read(self.bytes())
    }
}

/// Reads bytes with the digest that they have.
pub(crate) fn read(bytes: Vec<u8>) -> Result<StaticTable, StaticTableError> {
    let digest: String = sha2::Sha256::digest(&bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    StaticTable::read(bytes.leak(), format!("{digest}  small.bin\n").leak())
}

/// Returns the small table.
pub(crate) fn table() -> Arc<StaticTable> {
    static TABLE: LazyLock<Arc<StaticTable>> = LazyLock::new(|| Arc::new(Artefact::small().read().unwrap()));
    Arc::clone(&TABLE)
}

/// The tokenizer as it is defined, one string operation after another: what the fast one must agree with.
pub(crate) fn naive_tokens(text: &str) -> Vec<u32> {
    let folded: String = text
        .chars()
        .map(|character| match FOLDS.iter().find(|(code, _)| *code == character) {
            Some((_, text)) => (*text).to_owned(),
            None => character.to_string(),
        })
        .collect();
    let characters: Vec<char> = folded.chars().collect();
    characters
        .chunk_by(|&left, &right| class(left) == class(right) && class(left) != 3)
        .flat_map(|run| match class(run[0]) {
            0 => Vec::new(),
            1 => naive_word(run),
            2 => naive_viterbi(run),
            _ => find(run).into_iter().collect(),
        })
        .collect()
}

fn class(character: char) -> u8 {
    match character {
        _ if character.is_ascii_alphanumeric() => 1,
        '\u{3005}'..='\u{3007}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{20000}'..='\u{3FFFF}' => 2,
        _ if "#$%&+@".contains(character) => 3,
        _ => 0,
    }
}

fn find(characters: &[char]) -> Option<u32> {
    let text: String = characters.iter().map(char::to_ascii_lowercase).collect();
    PIECES.iter().position(|(piece, _)| *piece == text).map(|at| at as u32)
}

fn naive_word(run: &[char]) -> Vec<u32> {
    if let Some(piece) = find(run) {
        return vec![piece];
    }
    run.chunk_by(|left, right| left.is_ascii_digit() == right.is_ascii_digit())
        .flat_map(|part| match find(part) {
            Some(piece) => vec![piece],
            None if part[0].is_ascii_digit() => part.chunks(3).filter_map(find).collect(),
            None => naive_letters(part),
        })
        .collect()
}

/// A word begins at a capital after a small letter and at a capital before a small letter.
fn naive_letters(part: &[char]) -> Vec<u32> {
    let mut tokens = Vec::new();
    let mut start = 0;
    for at in 1..=part.len() {
        let begins = part.get(at).is_none_or(|letter| {
            let before = part[at - 1].is_ascii_lowercase();
            let after = part.get(at + 1).is_some_and(char::is_ascii_lowercase);
            letter.is_ascii_uppercase() && (before || after)
        });
        if begins {
            let word = &part[start..at];
            tokens.extend(find(word).map_or_else(|| naive_viterbi(word), |piece| vec![piece]));
            start = at;
        }
    }
    tokens
}

fn naive_viterbi(run: &[char]) -> Vec<u32> {
    let mut best: Vec<(u64, Vec<u32>)> = vec![(0, Vec::new())];
    for end in 1..=run.len() {
        let ways = (0..end).filter_map(|start| {
            let (cost, tokens) = &best[start];
            match find(&run[start..end]) {
                Some(piece) => {
                    let cost = cost + u64::from(PIECES[piece as usize].1);
                    Some((cost, [tokens.as_slice(), &[piece]].concat()))
                }
                None => (start + 1 == end).then(|| (cost + (1 << 20), tokens.clone())),
            }
        });
        let cheapest = ways.min_by_key(|(cost, _)| *cost).unwrap();
        best.push(cheapest);
    }
    best.pop().unwrap().1
}
