//! The default counter: a table over characters instead of a vocabulary.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::TokenCounter;

/// Letters of one token. English documentation then measures about 3.3 bytes a token, near what the word-piece
/// vocabularies of small encoders give, so a budget in these tokens is about the same budget in theirs.
const LETTERS: usize = 6;
/// Digits of one token.
const DIGITS: usize = 3;

/// Counts without a vocabulary: a Han, Kana or Hangul character is one token; a run of other letters is cut every 6,
/// a run of digits every 3; every other visible character is one token; white space is none.
///
/// "Character" is an extended grapheme cluster, classed by its first `char`: `é` in two code points is a letter, an
/// emoji family one token. Chosen over a model's vocabulary because it needs no data, never changes under evidence
/// that names units, and cutting at a token leaves the rest as it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CasebookTokens;

impl TokenCounter for CasebookTokens {
    fn revision(&self) -> &str {
        "cb-tokens.1"
    }

    fn token_spans(&self, text: &str) -> Vec<Range<usize>> {
        let mut spans = Spans::with_capacity(text.len() / 3);
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            // Between two ASCII bytes is always a boundary, CR LF aside, and neither of those is a token.
            let alone = byte.is_ascii() && bytes.get(at + 1).is_none_or(u8::is_ascii);
            let (class, end) = if alone {
                (ASCII[byte as usize], at + 1)
            } else {
                cluster(&text[at..], at)
            };
            spans.add(class, at..end);
            at = end;
        }
        spans.found
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Space,
    /// A token of its own.
    Whole,
    Letter,
    Digit,
}

const ASCII: [Class; 128] = {
    let mut table = [Class::Whole; 128];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = match byte as u8 {
            b' ' | b'\t'..=b'\r' => Class::Space,
            b'a'..=b'z' | b'A'..=b'Z' => Class::Letter,
            b'0'..=b'9' => Class::Digit,
            _ => Class::Whole,
        };
        byte += 1;
    }
    table
};

/// The tokens so far, and how many more characters of its class the last one takes.
struct Spans {
    found: Vec<Range<usize>>,
    open: Class,
    room: usize,
}

impl Spans {
    fn with_capacity(tokens: usize) -> Self {
        Self {
            found: Vec::with_capacity(tokens),
            open: Class::Space,
            room: 0,
        }
    }

    fn add(&mut self, class: Class, span: Range<usize>) {
        if class == self.open
            && self.room > 0
            && let Some(last) = self.found.last_mut()
        {
            last.end = span.end;
            self.room -= 1;
            return;
        }
        self.open = class;
        self.room = match class {
            Class::Letter => LETTERS - 1,
            Class::Digit => DIGITS - 1,
            Class::Whole | Class::Space => 0,
        };
        if class != Class::Space {
            self.found.push(span);
        }
    }
}

/// Returns the class and the end of the grapheme cluster that `rest`, which lies at `at`, starts with.
fn cluster(rest: &str, at: usize) -> (Class, usize) {
    let mut chars = rest.chars();
    let first = chars.next().unwrap_or_default();
    let joins_nothing = |char: char| char.is_ascii() || stands_alone(char);
    if joins_nothing(first) && chars.next().is_none_or(joins_nothing) {
        return (class_of(first), at + first.len_utf8());
    }
    let cluster = rest.graphemes(true).next().unwrap_or(rest);
    let class = match class_of(first) {
        // A blank with a mark on it is visible.
        Class::Space if !cluster.trim().is_empty() => Class::Whole,
        class => class,
    };
    (class, at + cluster.len())
}

fn class_of(char: char) -> Class {
    match char {
        _ if char.is_ascii() => ASCII[char as usize],
        '\u{1100}'..='\u{11ff}' // Hangul letters
        | '\u{2e80}'..='\u{2fff}' | '\u{3001}'..='\u{31ff}' // radicals, Kana, Bopomofo, Hangul letters, strokes
        | '\u{3400}'..='\u{9fff}' // Han
        | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7ff}' // Hangul
        | '\u{f900}'..='\u{faff}' // Han
        | '\u{ff66}'..='\u{ffdc}' // half-width Kana and Hangul
        | '\u{1b000}'..='\u{1b16f}' // old Kana
        | '\u{20000}'..='\u{3ffff}' => Class::Whole,
        _ if char.is_whitespace() => Class::Space,
        _ if char.is_alphabetic() => Class::Letter,
        _ if char.is_numeric() => Class::Digit,
        _ => Class::Whole,
    }
}

/// Returns whether the character joins neither its neighbour when that one, too, stands alone or is ASCII. Covers the
/// common scripts, to spare them the segmenter; a character left out is slow, never wrong.
fn stands_alone(char: char) -> bool {
    matches!(char,
        '\u{a0}'..='\u{2ff}' | '\u{370}'..='\u{482}' | '\u{48a}'..='\u{52f}' // Latin, Greek, Cyrillic
        | '\u{2010}'..='\u{205f}' | '\u{2070}'..='\u{20cf}' | '\u{2100}'..='\u{2bff}' // punctuation, symbols
        | '\u{2e80}'..='\u{3029}' | '\u{3030}'..='\u{3098}' | '\u{309b}'..='\u{9fff}' // CJK and its punctuation
        | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}' | '\u{ff01}'..='\u{ff9d}' | '\u{20000}'..='\u{3ffff}')
}
