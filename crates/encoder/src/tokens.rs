//! Text becomes tokens with their place in it.
//!
//! Han (and kana) runs give every character and every pair of neighbours; anything else that is a letter or a digit
//! gives words, split at case, digits and joining marks as identifiers are written, and the joined whole beside its
//! parts (`gen-itgc`, `genItgc`: `gen`, `itgc`, `genitgc`). All in NFKC and lower case; punctuation is dropped.
//!
//! The one thing a newcomer gets wrong: spans are bytes of the text as given, not of its normalised form. A character
//! that normalises into several gives each of them the span of the whole.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::canonical_combining_class;

/// Letters of a word at most: a longer one is cut into pieces, so that a giant word is many tokens of usual size.
const PIECE: usize = 32;
/// Characters joined into one identifier at most; past it only the parts are tokens.
const JOINED: usize = 64;

/// What a token is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum TokenKind {
    /// Letters, perhaps with digits.
    Word,
    /// Digits.
    Number,
    /// One Han character or kana.
    Character,
    /// Two neighbouring ones.
    Pair,
}

/// A token, valid while it is visited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    /// The text in its normalised form.
    pub text: &'a str,
    /// What it is made of.
    pub kind: TokenKind,
    /// Bytes of the original text.
    pub span: Range<usize>,
    /// Whether it covers text that no token before it covered: pairs and joined identifiers repeat their parts.
    pub fresh: bool,
}

/// Visits the tokens of a text in order of their end.
pub(crate) fn for_each_token(text: &str, visit: impl FnMut(Token<'_>)) {
    let mut splitter = Splitter {
        visit,
        character: None,
        word: Vec::new(),
        buffer: String::new(),
    };
    for_each_glyph(text, |glyph| splitter.push(glyph));
    splitter.end_word();
}

/// One character of the normalised text and where it came from.
#[derive(Clone, Copy)]
struct Glyph {
    character: char,
    start: usize,
    end: usize,
}

/// Normalises piece by piece: a base character with the marks on it is what NFKC may compose.
fn for_each_glyph(text: &str, mut visit: impl FnMut(Glyph)) {
    let mut rest = text.char_indices().peekable();
    while let Some((start, character)) = rest.next() {
        let mut end = start + character.len_utf8();
        while let Some(&(at, next)) = rest.peek()
            && is_continuation(next)
        {
            end = at + next.len_utf8();
            rest.next();
        }
        if is_normal(character) && end == start + character.len_utf8() {
            visit(Glyph { character, start, end });
        } else {
            text[start..end]
                .nfkc()
                .for_each(|character| visit(Glyph { character, start, end }));
        }
    }
}

/// Returns whether NFKC leaves the character as it is (the common ones; a `false` only costs time).
fn is_normal(character: char) -> bool {
    character.is_ascii() || ('\u{4E00}'..='\u{9FFF}').contains(&character)
}

/// Returns whether the character may compose with what stands before it.
fn is_continuation(character: char) -> bool {
    let jamo = ('\u{1160}'..='\u{11FF}').contains(&character);
    character >= '\u{300}' && !is_normal(character) && (jamo || is_mark(character))
}

fn is_mark(character: char) -> bool {
    !character.is_ascii() && canonical_combining_class(character) != 0
}

/// Returns whether the character is written without blanks between words, so that pairs stand for words.
fn is_ideographic(character: char) -> bool {
    matches!(character,
        '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30FA}' | '\u{30FC}'..='\u{30FF}' | '\u{3400}'..='\u{4DBF}'
        | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

/// Returns whether the character joins two parts of one identifier.
fn is_joint(character: char) -> bool {
    matches!(character, '_' | '-' | '.' | '\'' | '’')
}

struct Splitter<V> {
    visit: V,
    /// The ideographic character just before, if there is one.
    character: Option<Glyph>,
    /// The word under way, its joints included.
    word: Vec<Glyph>,
    buffer: String,
}

impl<V: FnMut(Token<'_>)> Splitter<V> {
    fn push(&mut self, glyph: Glyph) {
        // Before letters: some marks count as letters, and a token of marks alone would be empty.
        if is_mark(glyph.character) {
            return;
        }
        let before = self.character.take();
        if is_ideographic(glyph.character) {
            self.end_word();
            self.push_ideographic(before, glyph);
        } else if glyph.character.is_alphanumeric() || self.continues_with(glyph.character) {
            self.word.push(glyph);
        } else {
            self.end_word();
        }
    }

    /// Returns whether the character is a joint and has a letter or digit before it.
    fn continues_with(&self, character: char) -> bool {
        is_joint(character) && self.word.last().is_some_and(|last| !is_joint(last.character))
    }

    fn push_ideographic(&mut self, before: Option<Glyph>, glyph: Glyph) {
        self.emit(&[glyph], TokenKind::Character, true);
        if let Some(before) = before {
            self.emit(&[before, glyph], TokenKind::Pair, false);
        }
        self.character = Some(glyph);
    }

    fn end_word(&mut self) {
        let mut word = std::mem::take(&mut self.word);
        if word.last().is_some_and(|last| is_joint(last.character)) {
            word.pop();
        }
        let mut parts = 0;
        for part in word.chunk_by(|left, right| !is_boundary(left.character, right.character)) {
            // An acronym before a word (`HTTPServer`): its last capital belongs to the word.
            let (acronym, part) = part.split_at(acronym_length(part));
            for piece in acronym.chunks(PIECE).chain(part.chunks(PIECE)) {
                if !is_joint(piece[0].character) {
                    parts += 1;
                    self.emit(piece, kind_of(piece), true);
                }
            }
        }
        if parts > 1 && word.len() <= JOINED {
            self.emit_joined(&word);
        }
        word.clear();
        self.word = word;
    }

    fn emit_joined(&mut self, word: &[Glyph]) {
        let kept: Vec<Glyph> = (0..word.len())
            .filter(|&at| !is_joint(word[at].character) || is_decimal_point(word, at))
            .map(|at| word[at])
            .collect();
        let kind = if kept.iter().all(|glyph| !glyph.character.is_alphabetic()) {
            TokenKind::Number
        } else {
            TokenKind::Word
        };
        self.emit(&kept, kind, false);
    }

    fn emit(&mut self, glyphs: &[Glyph], kind: TokenKind, fresh: bool) {
        self.buffer.clear();
        for glyph in glyphs {
            if glyph.character.is_ascii() {
                self.buffer.push(glyph.character.to_ascii_lowercase());
            } else {
                // Some capitals lower into a letter and a mark; the mark would keep the forms apart.
                self.buffer
                    .extend(glyph.character.to_lowercase().filter(|&lower| !is_mark(lower)));
            }
        }
        let span = glyphs[0].start..glyphs[glyphs.len() - 1].end;
        (self.visit)(Token {
            text: &self.buffer,
            kind,
            span,
            fresh,
        });
    }
}

/// Returns whether a new part of an identifier begins between two characters.
fn is_boundary(left: char, right: char) -> bool {
    is_joint(left)
        || is_joint(right)
        || left.is_numeric() != right.is_numeric()
        || (!left.is_uppercase() && right.is_uppercase())
}

/// Returns how many capitals at the start are a part of their own: all but the last, where small letters follow.
fn acronym_length(part: &[Glyph]) -> usize {
    let capitals = part.iter().take_while(|glyph| glyph.character.is_uppercase()).count();
    if capitals < part.len() {
        capitals.saturating_sub(1)
    } else {
        0
    }
}

fn kind_of(piece: &[Glyph]) -> TokenKind {
    if piece[0].character.is_numeric() {
        TokenKind::Number
    } else {
        TokenKind::Word
    }
}

fn is_decimal_point(word: &[Glyph], at: usize) -> bool {
    let digit = |glyph: Option<&Glyph>| glyph.is_some_and(|glyph| glyph.character.is_numeric());
    word[at].character == '.' && digit(at.checked_sub(1).and_then(|left| word.get(left))) && digit(word.get(at + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let mut found = Vec::new();
        for_each_token(text, |token| found.push(token.text.to_owned()));
        assert_eq!(found.join(" "), expected, "{text:?}");
    }

    #[test]
    fn chinese_gives_characters_and_pairs() {
        check("用户记忆", "用 户 用户 记 户记 忆 记忆");
        check("云", "云");
        check("索引,重建", "索 引 索引 重 建 重建");
        check("カタ", "カ タ カタ");
    }

    #[test]
    fn identifiers_give_parts_and_the_whole() {
        check("gen-itgc", "gen itgc genitgc");
        check("readFileSync", "read file sync readfilesync");
        check("HTTPServer", "http server httpserver");
        check("snake_case_name", "snake case name snakecasename");
        check("src/main.rs", "src main rs mainrs");
        check("utf8 v2.1", "utf 8 utf8 v 2 1 v2.1");
        check("38.101", "38 101 38.101");
        check("don't", "don t dont");
        check("__init__", "init");
    }

    #[test]
    fn scripts_and_forms_are_told_apart_and_folded() {
        check("重跑gen-itgc后", "重 跑 重跑 gen itgc genitgc 后");
        check("ＡＢＣ１２", "abc 12 abc12");
        check("Cafe\u{301} ﬁne", "café fine");
        check("İstanbul", "istanbul");
        check("Память Ελλάδα", "память ελλάδα");
        check("한글", "한글");
    }

    #[test]
    fn what_has_no_letters_gives_nothing() {
        for text in [
            "",
            " \n\t",
            "\"()*:^-...",
            "，。！？",
            "🎉👩\u{200D}💻",
            "\0\u{1}\u{7F}",
            "\u{301}\u{302}",
        ] {
            check(text, "");
        }
    }

    #[test]
    fn a_giant_word_is_cut_and_nothing_of_it_is_lost() {
        let mut letters = 0;
        for_each_token(&"a".repeat(1000), |token| {
            assert!(token.text.len() <= PIECE);
            letters += token.text.len();
        });
        assert_eq!(letters, 1000);
    }

    #[test]
    fn spans_point_into_the_original() {
        let text = "一 Cafe\u{301}Bar ﬁ";
        let mut spans = Vec::new();
        for_each_token(text, |token| {
            spans.push((token.text.to_owned(), text[token.span].to_owned()))
        });
        let expected = [
            ("一", "一"),
            ("café", "Cafe\u{301}"),
            ("bar", "Bar"),
            ("cafébar", "Cafe\u{301}Bar"),
            ("fi", "ﬁ"),
        ];
        assert_eq!(spans, expected.map(|(token, at)| (token.to_owned(), at.to_owned())));
    }
}
