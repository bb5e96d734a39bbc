//! Text becomes pieces: characters are folded, runs of one script are found, words are split as identifiers are
//! written, and what is no piece as a whole is cut by the Unigram model.
//!
//! A run that stands in the text as it is read needs no copy. Only where a character is folded are the run and the
//! place of each of its bytes written out.

use std::ops::Range;

use super::fold::{Class, Fold, Folded};
use super::lexicon::Lexicon;
use super::segment::Segmenter;

/// Digits in a piece, where a longer number is none.
const DIGITS: usize = 3;

/// Cuts texts into pieces. Keeps its working memory from text to text.
pub(crate) struct Tokenizer<'t> {
    fold: &'t Fold,
    splitter: Splitter<'t>,
    /// The run under way, where it is not the text's own bytes.
    run: Vec<u8>,
    /// Where in the text each byte of that run comes from.
    places: Vec<Range<usize>>,
    class: Class,
}

impl<'t> Tokenizer<'t> {
    pub(super) fn new(lexicon: &'t Lexicon, fold: &'t Fold) -> Self {
        Self {
            fold,
            splitter: Splitter {
                lexicon,
                segmenter: Segmenter::new(),
            },
            run: Vec::new(),
            places: Vec::new(),
            class: Class::Gap,
        }
    }

    /// Visits the known pieces of a text in order, each with its bytes in the text.
    pub(crate) fn visit(&mut self, text: &str, mut visit: impl FnMut(u32, Range<usize>)) {
        let mut at = 0;
        while at < text.len() {
            let plain = if self.run.is_empty() {
                self.plain_run(text, at)
            } else {
                None
            };
            if let Some((class, end)) = plain {
                let run = &text.as_bytes()[at..end];
                self.splitter.split(run, class, &mut |piece, range| {
                    visit(piece, at + range.start..at + range.end)
                });
                at = end;
            } else {
                at = self.push_at(text, at, &mut visit);
            }
        }
        self.end_run(&mut visit);
    }

    /// Returns the class and the end of the run that begins at a byte; `None` where folding changes it.
    fn plain_run(&self, text: &str, at: usize) -> Option<(Class, usize)> {
        let bytes = text.as_bytes();
        let mut end = at + 1;
        let class = Class::of_byte(bytes[at]);
        match class {
            Some(Class::Word) => {
                while end < bytes.len() && Class::of_byte(bytes[end]) == Some(Class::Word) {
                    end += 1;
                }
            }
            Some(class) => return Some((class, end)),
            None => end = at,
        }
        let mut rest = text[end..].chars();
        while let Some(character) = rest.next().filter(|character| !character.is_ascii()) {
            match (self.fold.get(character), class) {
                (Folded::Kept, None) => end += character.len_utf8(),
                (Folded::Kept, Some(_)) => break,
                (Folded::Gap, None) if end == at => return Some((Class::Gap, at + character.len_utf8())),
                (Folded::Gap, _) => break,
                (Folded::Nothing | Folded::Text(_), _) => return None,
            }
        }
        Some((class.unwrap_or(Class::Han), end))
    }

    /// Takes in the character at a byte and returns where it ends.
    fn push_at(&mut self, text: &str, at: usize, visit: &mut impl FnMut(u32, Range<usize>)) -> usize {
        let Some(character) = text[at..].chars().next() else {
            return text.len();
        };
        let end = at + character.len_utf8();
        let folded = if character.is_ascii() {
            Folded::Kept
        } else {
            self.fold.get(character)
        };
        match folded {
            Folded::Gap => self.end_run(visit),
            Folded::Kept => self.push(character, at..end, visit),
            Folded::Nothing => {
                // A mark belongs to the letter that it stands on.
                if let Some(place) = self.places.last_mut() {
                    place.end = end;
                }
            }
            Folded::Text(text) => text.chars().for_each(|character| self.push(character, at..end, visit)),
        }
        end
    }

    fn push(&mut self, character: char, place: Range<usize>, visit: &mut impl FnMut(u32, Range<usize>)) {
        let class = Class::of(character);
        if class != self.class || class == Class::Symbol {
            self.end_run(visit);
        }
        if class != Class::Gap {
            self.class = class;
            self.run
                .extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            self.places.resize(self.run.len(), place);
        }
    }

    fn end_run(&mut self, visit: &mut impl FnMut(u32, Range<usize>)) {
        let places = &self.places;
        self.splitter
            .split(&self.run, self.class, &mut |piece, range: Range<usize>| {
                visit(piece, places[range.start].start..places[range.end - 1].end);
            });
        self.run.clear();
        self.places.clear();
    }
}

/// Cuts a run.
struct Splitter<'t> {
    lexicon: &'t Lexicon,
    segmenter: Segmenter,
}

impl Splitter<'_> {
    fn split(&mut self, run: &[u8], class: Class, visit: &mut impl FnMut(u32, Range<usize>)) {
        match class {
            Class::Gap => {}
            Class::Symbol => self.visit_known(run, 0, visit),
            Class::Han => self.segmenter.visit(self.lexicon, run, visit),
            Class::Word => self.split_word(run, visit),
        }
    }

    fn visit_known(&self, text: &[u8], at: usize, visit: &mut impl FnMut(u32, Range<usize>)) {
        if let Some(piece) = self.lexicon.find(text) {
            visit(piece, at..at + text.len());
        }
    }

    /// Looks for the whole run first, then for its letters and numbers, then for the words of the letters.
    fn split_word(&mut self, run: &[u8], visit: &mut impl FnMut(u32, Range<usize>)) {
        if let Some(piece) = self.lexicon.find(run) {
            return visit(piece, 0..run.len());
        }
        let mut at = 0;
        for part in run.chunk_by(|left, right| left.is_ascii_digit() == right.is_ascii_digit()) {
            if let Some(piece) = self.lexicon.find(part) {
                visit(piece, at..at + part.len());
            } else if part[0].is_ascii_digit() {
                for (number, digits) in part.chunks(DIGITS).enumerate() {
                    self.visit_known(digits, at + DIGITS * number, visit);
                }
            } else {
                self.split_letters(part, at, visit);
            }
            at += part.len();
        }
    }

    fn split_letters(&mut self, letters: &[u8], mut at: usize, visit: &mut impl FnMut(u32, Range<usize>)) {
        let mut rest = letters;
        while !rest.is_empty() {
            let (word, after) = rest.split_at(first_word(rest));
            match self.lexicon.find(word) {
                Some(piece) => visit(piece, at..at + word.len()),
                None => self.segmenter.visit(self.lexicon, word, |piece, range| {
                    visit(piece, at + range.start..at + range.end);
                }),
            }
            at += word.len();
            rest = after;
        }
    }
}

/// Returns the length of the first word of letters: an acronym leaves its last capital to the small letters after it.
fn first_word(letters: &[u8]) -> usize {
    let capitals = letters.iter().take_while(|letter| letter.is_ascii_uppercase()).count();
    let small = letters[capitals..]
        .iter()
        .take_while(|letter| letter.is_ascii_lowercase())
        .count();
    match (capitals, small) {
        (0 | 1, _) => capitals + small,
        (_, 0) => capitals,
        (_, _) => capitals - 1,
    }
}

#[cfg(test)]
mod tests {
    use super::first_word;

    #[test]
    fn words_begin_at_capitals() {
        for (letters, expected) in [
            ("readFile", 4),
            ("File", 4),
            ("HTTPServer", 4),
            ("HTTP", 4),
            ("aB", 1),
            ("A", 1),
            ("ABc", 1),
        ] {
            assert_eq!(first_word(letters.as_bytes()), expected, "{letters}");
        }
    }
}
