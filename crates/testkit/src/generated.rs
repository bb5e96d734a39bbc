//! Memory of any size: sentences of the project's own documents, mixed and varied.
//!
//! The one thing a newcomer gets wrong: a corpus of copies measures nothing, since each word of it is frequent. A share of
//! the words is replaced from a long tail (Zipf's law), so that vocabulary grows with the corpus as that of real notes does.

use std::path::Path;

/// Sections of one file.
const SECTIONS: usize = 10;
/// Sentences of one section.
const SENTENCES: std::ops::Range<usize> = 3..9;
/// One word in so many is replaced by one of the tail.
const REPLACED: usize = 6;
/// Words of the tail.
const TAIL: f64 = 200_000.0;
/// Chinese notes, in percent.
const CHINESE_PERCENT: usize = 45;

/// A note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratedNote {
    /// Its path, relative to the root.
    pub path: String,
    /// Its Markdown: a title, and ten sections that become a unit each.
    pub text: String,
}

/// Makes notes in Chinese and English. Equal seeds and documents give equal notes.
#[derive(Clone, Debug)]
pub struct Generator {
    english: Vec<String>,
    chinese: Vec<String>,
    seed: u64,
}

impl Generator {
    /// Takes the sentences of all Markdown files of a folder and of those below it, such as `testdata`.
    ///
    /// # Panics
    /// When the folder cannot be read or lacks one of the languages: a benchmark cannot go on then.
    pub fn new(folder: &Path, seed: u64) -> Self {
        let mut texts = Vec::new();
        read_markdown(folder, &mut texts);
        let (mut english, mut chinese) = (Vec::new(), Vec::new());
        for sentence in texts.iter().flat_map(|text| sentences(text)) {
            let is_chinese = sentence.chars().filter(|c| is_han(*c)).count() * 4 > sentence.chars().count();
            if is_chinese { &mut chinese } else { &mut english }.push(sentence);
        }
        assert!(
            !english.is_empty() && !chinese.is_empty(),
            "{} has sentences of both languages",
            folder.display()
        );
        Self { english, chinese, seed }
    }

    /// Makes the notes that have so many sections, rounded up to whole notes. The title of each is one more unit.
    pub fn notes(&self, sections: usize) -> impl Iterator<Item = GeneratedNote> {
        (0..sections.div_ceil(SECTIONS)).map(|number| self.note(number))
    }

    /// Makes questions: sentences of these notes with some words left out.
    pub fn questions(&self, sections: usize, count: usize) -> Vec<String> {
        let notes = sections.div_ceil(SECTIONS).max(1);
        let question = |number: usize| {
            let mut dice = Dice(self.seed ^ 0xA5A5 ^ number as u64);
            let note = self.note(dice.below(notes));
            let lines: Vec<&str> = note.text.lines().filter(|line| line.len() > 40).collect();
            let line = lines[dice.below(lines.len())];
            let sentence = sentences(line).into_iter().next().unwrap_or_else(|| line.to_owned());
            let words = sentence.split_inclusive(' ').filter(|_| dice.below(3) > 0);
            let shortened: String = words.collect();
            if shortened.trim().is_empty() {
                sentence
            } else {
                shortened
            }
        };
        (0..count).map(question).collect()
    }

    fn note(&self, number: usize) -> GeneratedNote {
        let mut dice = Dice(
            self.seed
                .wrapping_add((number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)),
        );
        let is_chinese = dice.below(100) < CHINESE_PERCENT;
        let sentences = if is_chinese { &self.chinese } else { &self.english };
        let heading = |dice: &mut Dice| varied(&sentences[dice.below(sentences.len())], is_chinese, dice);
        let mut text = format!("# {}\n", short(&heading(&mut dice)));
        for _ in 0..SECTIONS {
            text += &format!("\n## {}\n\n", short(&heading(&mut dice)));
            for _ in 0..SENTENCES.start + dice.below(SENTENCES.len()) {
                text += &heading(&mut dice);
                text.push(if is_chinese { '\n' } else { ' ' });
            }
            text.push('\n');
        }
        GeneratedNote {
            path: format!("area-{:03}/note-{number:06}.md", number / 1000),
            text,
        }
    }
}

/// SplitMix64 (Steele, Lea and Flood 2014).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// A rank by Zipf's law with exponent 1, drawn by the inverse of its distribution.
    fn rank(&mut self) -> u64 {
        let uniform = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        TAIL.powf(uniform) as u64
    }
}

fn varied(sentence: &str, is_chinese: bool, dice: &mut Dice) -> String {
    if is_chinese {
        let replaced = sentence.chars().map(|c| {
            if is_han(c) && dice.below(REPLACED * 2) == 0 {
                char::from_u32(0x4E00 + (dice.rank() % 5000) as u32).unwrap_or(c)
            } else {
                c
            }
        });
        return replaced.collect();
    }
    let words = sentence.split(' ').map(|word| {
        if word.len() > 3 && dice.below(REPLACED) == 0 {
            spelled(dice.rank())
        } else {
            word.to_owned()
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Spells a number as a word of two to six syllables, each rank its own.
fn spelled(rank: u64) -> String {
    const HEADS: [&str; 16] = [
        "ba", "ce", "di", "fo", "gu", "ha", "ki", "le", "mo", "nu", "pra", "ste", "tri", "vo", "we", "za",
    ];
    const TAILS: [&str; 8] = ["n", "r", "l", "s", "t", "x", "m", "nd"];
    let mut rest = rank;
    let mut word = String::new();
    loop {
        word += HEADS[(rest % 16) as usize];
        rest /= 16;
        if rest == 0 {
            word += TAILS[(rank % 8) as usize];
            return word;
        }
    }
}

fn short(sentence: &str) -> String {
    let title: String = sentence.chars().take(48).collect();
    title.trim_end_matches(|c: char| !c.is_alphanumeric()).to_owned()
}

fn sentences(text: &str) -> Vec<String> {
    let prose = text
        .lines()
        .filter(|line| !line.starts_with(['#', '|', '`', '-', '>', '=']));
    let cut = prose.flat_map(|line| line.split_inclusive(['.', '。', '！', '？', '!', '?']));
    let trimmed = cut.map(|sentence| sentence.trim().to_owned());
    trimmed.filter(|sentence| sentence.chars().count() > 12).collect()
}

fn is_han(c: char) -> bool {
    ('\u{4E00}'..='\u{9FFF}').contains(&c)
}

fn read_markdown(folder: &Path, texts: &mut Vec<String>) {
    let entries = std::fs::read_dir(folder).expect("the folder of sentences can be read");
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            read_markdown(&path, texts);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            texts.extend(std::fs::read_to_string(path));
        }
    }
}
