//! Text becomes words: the one analysis that indexing and asking share. Pure and deterministic.
//!
//! The one thing a newcomer gets wrong: the two sides differ in one point only. A stored run of Chinese, Japanese or
//! Korean characters gives its single characters and its bigrams; a question asks for the bigrams alone, so that frequent
//! single characters do not drown them, and for the single character only where it stands alone.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// Longest word in characters; the rest of a longer one is cut off.
const LONGEST_WORD: usize = 64;

/// Which side of the comparison a text is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WordSide {
    /// What is searched.
    Stored,
    /// What is asked.
    Asked,
}

/// Returns the words of a text in order, repeated ones repeated: NFKC, lower case, at most 64 characters each, not
/// stemmed. A compound such as `gen-itgc`, `foo_bar`, `readme.md` or `fooBar` gives itself without its joints
/// (`genitgc`) and then its parts; between digits the joint stays (`38.101`).
pub(crate) fn words(text: &str, side: WordSide) -> Vec<String> {
    let text: String = text.nfkc().map(straight_apostrophe).collect();
    let mut words = Words {
        side,
        found: Vec::new(),
    };
    let mut rest = text.as_str();
    while let Some(start) = rest.find(is_word_char) {
        rest = &rest[start..];
        let unspaced = rest.starts_with(is_unspaced);
        let end = if unspaced {
            unspaced_end(rest)
        } else {
            compound_end(rest)
        };
        let (run, after) = rest.split_at(end);
        rest = after;
        if unspaced {
            words.push_grams(run);
        } else {
            words.push_language_name(run, rest);
            words.push_compound(run, &JOINTS);
        }
    }
    words.found
}

/// Joints between the parts of a compound, outermost first.
const JOINTS: [&[char]; 2] = [&['.'], &['-', '_']];

struct Words {
    side: WordSide,
    found: Vec<String>,
}

impl Words {
    fn push(&mut self, word: &str) {
        self.found
            .push(word.chars().take(LONGEST_WORD).flat_map(char::to_lowercase).collect());
    }

    /// Adds a run without spaces between its words.
    fn push_grams(&mut self, run: &str) {
        let chars: Vec<char> = run.chars().collect();
        for (index, first) in chars.iter().enumerate() {
            if self.side == WordSide::Stored || chars.len() == 1 {
                self.push(first.encode_utf8(&mut [0; 4]));
            }
            if let Some(second) = chars.get(index + 1) {
                self.push(&String::from_iter([first, second]));
            }
        }
    }

    /// Adds a compound whole and then its parts, joint by joint and at last by the humps of `camelCase`.
    fn push_compound(&mut self, compound: &str, joints: &[&[char]]) {
        let Some((joint, finer)) = joints.split_first() else {
            return self.push_humps(compound);
        };
        if compound.contains(*joint) {
            self.push(&without_joints(compound));
        }
        for part in compound.split(*joint) {
            self.push_compound(part, finer);
        }
    }

    fn push_humps(&mut self, name: &str) {
        let humps = humps(name);
        if humps.len() > 1 {
            self.push(name);
        }
        for hump in humps {
            self.push(hump);
        }
    }

    /// Adds `c++`, `c#` and their like, which the letter alone does not tell apart.
    fn push_language_name(&mut self, run: &str, after: &str) {
        let suffix = ["++", "#"].into_iter().find(|suffix| after.starts_with(suffix));
        if let (1, Some(suffix)) = (run.len(), suffix) {
            self.push(&format!("{run}{suffix}"));
        }
    }
}

const fn straight_apostrophe(c: char) -> char {
    if matches!(c, '\u{2019}' | '\u{02BC}') { '\'' } else { c }
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || is_combining_mark(c)
}

/// Returns whether the character's script puts no spaces between words (Han, kana, Thai and its neighbours) or joins
/// them into long ones (hangul).
pub(crate) fn is_unspaced(c: char) -> bool {
    let range = matches!(c,
        '\u{0E00}'..='\u{0EFF}' | '\u{1000}'..='\u{109F}' | '\u{1100}'..='\u{11FF}' | '\u{1780}'..='\u{17FF}'
        | '\u{2E80}'..='\u{31FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{A960}'..='\u{A97F}'
        | '\u{AC00}'..='\u{D7FF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}');
    range && is_word_char(c)
}

fn unspaced_end(run: &str) -> usize {
    run.find(|c| !is_unspaced(c)).unwrap_or(run.len())
}

/// Returns where a compound ends: at the first character that neither belongs to a word nor joins two.
fn compound_end(run: &str) -> usize {
    let inside = |c: char| is_word_char(c) && !is_unspaced(c);
    let joins = |c: char| c == '\'' || JOINTS.iter().any(|joint| joint.contains(&c));
    let mut chars = run.char_indices().peekable();
    while let Some((index, c)) = chars.next() {
        let goes_on = inside(c) || joins(c) && chars.peek().is_some_and(|(_, next)| inside(*next));
        if !goes_on {
            return index;
        }
    }
    run.len()
}

/// Drops the joints, but for those between two digits: `38.101` is not `381.01`.
fn without_joints(compound: &str) -> String {
    let chars: Vec<char> = compound.chars().take(2 * LONGEST_WORD).collect();
    let is_digit = |index: usize| chars.get(index).is_some_and(char::is_ascii_digit);
    let stays = |index: usize| {
        !JOINTS.iter().any(|joint| joint.contains(&chars[index]))
            || (index > 0 && is_digit(index - 1) && is_digit(index + 1))
    };
    (0..chars.len())
        .filter(|index| stays(*index))
        .map(|index| chars[index])
        .collect()
}

/// Splits `camelCase` and `HTTPServer` before each hump.
fn humps(name: &str) -> Vec<&str> {
    let chars: Vec<(usize, char)> = name.char_indices().collect();
    let starts = chars.windows(2).enumerate().filter_map(|(index, pair)| {
        let (before, (at, c)) = (pair[0].1, pair[1]);
        let next_is_lower = chars.get(index + 2).is_some_and(|(_, next)| next.is_lowercase());
        let starts = c.is_uppercase() && (!before.is_uppercase() || next_is_lower) && before != '\'';
        starts.then_some(at)
    });
    let mut parts = Vec::new();
    let mut from = 0;
    for start in starts {
        parts.push(&name[from..start]);
        from = start;
    }
    parts.push(&name[from..]);
    parts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, stored: &str, asked: &str) {
        assert_eq!(words(text, WordSide::Stored).join(" "), stored, "stored {text:?}");
        assert_eq!(words(text, WordSide::Asked).join(" "), asked, "asked {text:?}");
    }

    #[test]
    fn text_becomes_words() {
        for (text, both) in [
            ("", ""),
            ("\0 \"(*&^ —…。「」", ""),
            ("The Index, rebuilt!", "the index rebuilt"),
            ("a AND b", "a and b"),
            ("ＡＢＣ ﬁne", "abc fine"),
            ("don’t 'quote' dogs'", "don't quote dogs"),
            ("gen-itgc", "genitgc gen itgc"),
            ("foo_bar", "foobar foo bar"),
            ("__init__", "init"),
            ("getUserName", "getusername get user name"),
            ("HTTPServer", "httpserver http server"),
            ("38.101", "38.101 38 101"),
            ("2024-01-02", "2024-01-02 2024 01 02"),
            ("sha-256 sha256", "sha256 sha 256 sha256"),
            ("README.md", "readmemd readme md"),
            ("snake_case.rs", "snakecasers snakecase snake case rs"),
            ("docs/a-b/lib.rs", "docs ab a b librs lib rs"),
            ("TODO: fix O'Brien", "todo fix o'brien"),
            ("C++ c# .NET x", "c++ c c# c net x"),
            ("naïve Straße ПРИВЕТ", "naïve straße привет"),
            ("云", "云"),
            ("第3章", "第 3 章"),
        ] {
            check(text, both, both);
        }
    }

    #[test]
    fn a_question_asks_for_bigrams_alone() {
        check("用户", "用 用户 户", "用户");
        check(
            "重跑gen-itgc后",
            "重 重跑 跑 genitgc gen itgc 后",
            "重跑 genitgc gen itgc 后",
        );
        check("データ", "デ デー ー ータ タ", "デー ータ");
        check("한국어 말", "한 한국 국 국어 어 말", "한국 국어 말");
    }

    #[test]
    fn a_giant_word_is_cut() {
        let found = words(&"x".repeat(1 << 20), WordSide::Asked);
        assert_eq!(found, ["x".repeat(LONGEST_WORD)]);
    }

    proptest! {
        #[test]
        fn words_are_bounded_and_clean(text in "\\PC{0,60}|[a-zA-Z0-9 '._-]{0,40}|[用户云gA.-]{0,20}") {
            let stored = words(&text, WordSide::Stored);
            for word in &stored {
                prop_assert!(!word.is_empty() && !word.contains(char::is_whitespace));
            }
            for word in words(&text, WordSide::Asked) {
                prop_assert!(stored.contains(&word), "{word:?} is asked for but never stored");
            }
        }
    }
}
