//! A query becomes terms of a substring search.

use std::collections::BTreeSet;

use unicode_normalization::char::is_combining_mark;

use crate::lexical::fold;
use crate::words::is_unspaced;

/// Characters that a trigram needs.
const SHORTEST: usize = 3;

/// Windows over text without spaces, per query.
const WINDOWS: usize = 32;

/// Words per query.
const WORDS: usize = 64;

/// Longest word in characters; the rest of a longer one is cut off.
const LONGEST: usize = 64;

/// One substring to look for; at least three characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Term(String);

impl Term {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns its length in bytes.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the term as an FTS5 string, in which nothing is syntax.
    pub(crate) fn quoted(&self) -> String {
        format!("\"{}\"", self.0.replace('"', "\"\""))
    }
}

/// Returns the distinct terms of a query, words first. A word goes whole; `gen-itgc` and its like also in their
/// parts; a run of a script without spaces goes as windows of three characters, spread over the query where there are
/// more than 32. What is shorter than three characters gives no term.
pub(crate) fn terms(query: &str) -> Vec<Term> {
    let query = fold(query);
    let mut words = Vec::new();
    let mut windows = Vec::new();
    let mut rest = query.as_str();
    while let Some(start) = rest.find(is_word_char) {
        rest = &rest[start..];
        let unspaced = rest.starts_with(is_unspaced);
        let end = rest.find(|c| unspaced != is_unspaced(c) || c.is_whitespace() || c.is_control());
        let (run, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        if unspaced {
            let chars: Vec<char> = run.chars().collect();
            windows.extend(chars.windows(SHORTEST).map(String::from_iter));
        } else {
            let compound = run.trim_end_matches(|c| !is_word_char(c));
            words.push(compound);
            words.extend(compound.split(|c| !is_word_char(c)));
        }
    }
    let words = words
        .into_iter()
        .map(|word| word.chars().take(LONGEST).collect::<String>());
    let words = distinct(words.filter(|word| word.chars().count() >= SHORTEST));
    let found = words.into_iter().take(WORDS).chain(spread(distinct(windows), WINDOWS));
    found.map(Term).collect()
}

/// A hyphen, a dot or a slash may stand inside a word, never begin or end one.
fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || is_combining_mark(c)
}

fn distinct(texts: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    texts.into_iter().filter(|text| seen.insert(text.clone())).collect()
}

/// Returns at most `most` of the texts, evenly spread.
fn spread(texts: Vec<String>, most: usize) -> Vec<String> {
    let step = texts.len().div_ceil(most).max(1);
    texts.into_iter().step_by(step).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(query: &str, expected: &[&str]) {
        let found = terms(query);
        let found: Vec<&str> = found.iter().map(Term::as_str).collect();
        assert_eq!(found, expected, "{query:?}");
    }

    #[test]
    fn a_query_becomes_terms() {
        check("", &[]);
        check("db", &[]);
        check("用户", &[]);
        check("\" ( * ^ : NEAR", &["near"]);
        check("TODO: fix", &["todo", "fix"]);
        check("a OR \"b\" NOT c", &["not"]);
        check("Multi-Agent", &["multi-agent", "multi", "agent"]);
        check("don't", &["don't", "don"]);
        check("38.101", &["38.101", "101"]);
        check("snake_case.rs", &["snake_case.rs", "snake_case"]);
        check("重跑gen-itgc后", &["gen-itgc", "gen", "itgc"]);
        check("索引重建期间", &["索引重", "引重建", "重建期", "建期间"]);
        check("ＡＢＣ Straße", &["abc", "straße"]);
        check("x\0yz abc", &["abc"]);
        check("the the the", &["the"]);
    }

    #[test]
    fn a_long_query_is_bounded() {
        let chinese: String = (0..500).filter_map(|n| char::from_u32(0x4E00 + n)).collect();
        assert!((16..=WINDOWS).contains(&terms(&chinese).len()));
        let words: String = (0..500).map(|n| format!("word{n} ")).collect();
        assert_eq!(terms(&words).len(), WORDS);
        assert_eq!(terms(&"x".repeat(1 << 16))[0].len(), LONGEST);
    }

    proptest! {
        #[test]
        fn terms_are_never_syntax(query in "\\PC{0,60}|[\"'()*^:+ a-zA-Z\0云用户]{0,40}") {
            for term in terms(&query) {
                let quoted = term.quoted();
                let inside = &quoted[1..quoted.len() - 1];
                prop_assert!(!inside.replace("\"\"", "").contains('"') && !inside.contains('\0'));
                prop_assert!(term.as_str().chars().count() >= SHORTEST);
            }
        }
    }
}
