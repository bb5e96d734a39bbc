//! What each character stands for: itself, nothing, a gap, or other characters (compatibility forms, accents,
//! traditional Chinese).

use super::StaticTableError;
use super::layout::Layout;

/// Code points in a page.
const PAGE: usize = 256;
const PAGES: usize = 0x11_0000 / PAGE;

/// What a character becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Folded {
    /// Ends a run.
    Gap,
    /// Stands for itself.
    Kept,
    /// Is not there: its neighbours touch.
    Nothing,
    /// Is read as other characters.
    Text(&'static str),
}

/// First and last code points of Han characters.
const HAN: [(usize, usize); 4] = [
    (0x3005, 0x3007),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0x2_0000, 0x3_FFFF),
];

const GAP: u16 = 0;
const KEPT: u16 = 1;
const NOTHING: u16 = 2;
const FIRST_TEXT: u16 = 3;

/// A two-level table over all code points past ASCII, which nothing folds.
#[derive(Debug)]
pub(super) struct Fold {
    /// Page of each 256 code points.
    pages: Vec<u16>,
    /// The pages, one after another; equal ones are there once where they are uniform.
    values: Vec<u16>,
    texts: Vec<&'static str>,
}

impl Fold {
    pub(super) fn build(layout: &Layout) -> Result<Self, StaticTableError> {
        let mut fold = Self {
            pages: vec![0; PAGES],
            values: [[GAP; PAGE], [KEPT; PAGE]].concat(),
            texts: Vec::new(),
        };
        for (from, to) in HAN {
            for page in from / PAGE..=to / PAGE {
                let (first, last) = (from.max(page * PAGE), to.min(page * PAGE + PAGE - 1));
                if last - first + 1 == PAGE {
                    fold.pages[page] = 1;
                } else {
                    (first..=last).for_each(|code| *fold.value(code) = KEPT);
                }
            }
        }
        let wrong = |index, problem| Err(StaticTableError::Fold { index, problem });
        let Ok(texts) = std::str::from_utf8(layout.fold_texts) else {
            return wrong(0, "not UTF-8");
        };
        let (codes, _) = layout.fold_codes.as_chunks::<4>();
        let mut start = 0;
        for (index, (code, &length)) in codes.iter().zip(layout.fold_lengths).enumerate() {
            let Some(code) = char::from_u32(u32::from_le_bytes(*code)).filter(|code| !code.is_ascii()) else {
                return wrong(index, "no character that can be folded");
            };
            let end = start + usize::from(length);
            let Some(text) = texts.get(start..end) else {
                return wrong(index, "cut off");
            };
            let value = fold.text_value(text);
            let Some(value) = value else {
                return wrong(index, "one too many");
            };
            *fold.value(code as usize) = value;
            start = end;
        }
        if start != texts.len() {
            return wrong(codes.len(), "not counted");
        }
        Ok(fold)
    }

    /// Returns what a character past ASCII becomes.
    pub(super) fn get(&self, character: char) -> Folded {
        let code = character as usize;
        let page = usize::from(self.pages[code / PAGE]);
        match self.values[page * PAGE + code % PAGE] {
            GAP => Folded::Gap,
            KEPT => Folded::Kept,
            NOTHING => Folded::Nothing,
            text => Folded::Text(self.texts[usize::from(text - FIRST_TEXT)]),
        }
    }

    /// Returns a code point's value to be set, in a page of its own.
    fn value(&mut self, code: usize) -> &mut u16 {
        let page = &mut self.pages[code / PAGE];
        if *page < 2 {
            let uniform = usize::from(*page) * PAGE;
            *page = (self.values.len() / PAGE) as u16;
            self.values.extend_from_within(uniform..uniform + PAGE);
        }
        &mut self.values[usize::from(*page) * PAGE + code % PAGE]
    }

    fn text_value(&mut self, text: &'static str) -> Option<u16> {
        if text.is_empty() {
            return Some(NOTHING);
        }
        let value = u16::try_from(self.texts.len() + usize::from(FIRST_TEXT)).ok()?;
        self.texts.push(text);
        Some(value)
    }
}

/// What runs are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Not in a run.
    Gap,
    /// An ASCII letter or digit.
    Word,
    /// A Han character.
    Han,
    /// A sign that is a piece alone.
    Symbol,
}

/// The class of each ASCII character.
const ASCII: [Class; 128] = {
    let mut classes = [Class::Gap; 128];
    let mut byte = 0;
    while byte < classes.len() {
        classes[byte] = Class::of(byte as u8 as char);
        byte += 1;
    }
    classes
};

impl Class {
    /// Returns the class of an ASCII character, or `None` for a part of another.
    pub(super) fn of_byte(byte: u8) -> Option<Self> {
        ASCII.get(usize::from(byte)).copied()
    }

    pub(super) const fn of(character: char) -> Self {
        match character {
            '0'..='9' | 'A'..='Z' | 'a'..='z' => Self::Word,
            '#' | '$' | '%' | '&' | '+' | '@' => Self::Symbol,
            _ => {
                let code = character as usize;
                let mut range = 0;
                while range < HAN.len() {
                    if HAN[range].0 <= code && code <= HAN[range].1 {
                        return Self::Han;
                    }
                    range += 1;
                }
                Self::Gap
            }
        }
    }
}
