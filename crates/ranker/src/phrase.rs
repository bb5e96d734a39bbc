//! Contiguous phrases: the part of a query that a text holds word for word.

use unicode_normalization::UnicodeNormalization;

/// Query terms that are looked for: a pasted page is not a phrase, and the work is terms times text.
const QUERY_TERMS: usize = 64;

/// The weight of a word; a character of a script that writes without spaces weighs half of one.
const WORD: u32 = 2;

/// A text as a row of terms: words in lower case, and each character of a script that writes without spaces.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Terms(Vec<Term>);

/// A term, kept as a hash so that reading a text makes no string per word.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Term {
    hash: u64,
    weight: u32,
}

impl Terms {
    /// Reads a text. Compatibility forms (full width) count as their plain ones.
    pub(crate) fn of(text: &str) -> Self {
        let mut terms = Vec::new();
        let mut word: Option<Term> = None;
        for character in text.nfkc().flat_map(char::to_lowercase) {
            if is_unspaced(character) {
                terms.extend(word.take());
                terms.push(Term::new(1).with(character));
            } else if character.is_alphanumeric() {
                word = Some(word.unwrap_or(Term::new(WORD)).with(character));
            } else {
                terms.extend(word.take());
            }
        }
        terms.extend(word);
        Self(terms)
    }

    /// Returns whether the other row stands in this one, whole and contiguous; an empty one does not.
    pub(crate) fn contains(&self, other: &Self) -> bool {
        !other.0.is_empty() && self.0.windows(other.0.len()).any(|window| window == other.0)
    }

    /// Returns how much of this row its heaviest piece in `text` is: 0 to 1, and 0 for a piece that is but a part of the
    /// row and weighs no more than a word, which is a match but no phrase.
    pub(crate) fn phrase_share(&self, text: &Self) -> f32 {
        let query = &self.0[..self.0.len().min(QUERY_TERMS)];
        let whole: u32 = query.iter().map(|term| term.weight).sum();
        let heaviest = heaviest_common_run(query, &text.0);
        let is_phrase = heaviest > WORD || (heaviest == whole && query.len() > 1);
        if is_phrase { heaviest as f32 / whole as f32 } else { 0.0 }
    }
}

impl Term {
    const fn new(weight: u32) -> Self {
        let hash = 0xcbf2_9ce4_8422_2325;
        Self { hash, weight }
    }

    /// FNV-1a, continued by one character.
    fn with(self, character: char) -> Self {
        let hash = (self.hash ^ u64::from(character)).wrapping_mul(0x0000_0100_0000_01b3);
        Self { hash, ..self }
    }
}

fn heaviest_common_run(query: &[Term], text: &[Term]) -> u32 {
    // runs[i + 1]: weight of the run that ends at query term i and at the text term before the current one.
    let mut runs = vec![0; query.len() + 1];
    let mut heaviest = 0;
    for term in text {
        for index in (0..query.len()).rev() {
            runs[index + 1] = if query[index] == *term {
                runs[index] + term.weight
            } else {
                0
            };
            heaviest = heaviest.max(runs[index + 1]);
        }
    }
    heaviest
}

/// Han, kana and the scripts around them.
const fn is_unspaced(character: char) -> bool {
    matches!(character, '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(query: &str, text: &str) -> f32 {
        Terms::of(query).phrase_share(&Terms::of(text))
    }

    #[test]
    fn a_phrase_is_contiguous() {
        assert_eq!(share("index rebuild lock", "the Index, rebuild-LOCK!"), 1.0);
        assert_eq!(share("index rebuild lock", "lock the rebuild of an index"), 0.0);
        assert_eq!(share("index rebuild lock", "an index rebuild takes a lock"), 2.0 / 3.0);
        assert_eq!(share("索引重建", "在索引重建期间"), 1.0);
        assert_eq!(share("索引重建期间", "重建期间了索引"), 4.0 / 6.0);
        assert_eq!(share("用户", "新用户"), 1.0);
        assert_eq!(share("ＧＰＵ 内存", "gpu内存"), 1.0);
    }

    #[test]
    fn one_word_or_none_is_no_phrase() {
        for query in ["index", "", "?!", "重建吗", "an index", "云"] {
            assert_eq!(share(query, "index ?! 重建 云"), 0.0, "{query:?}");
        }
    }

    #[test]
    fn a_pasted_page_is_bounded() {
        let page = "one two three four five six seven eight ".repeat(100);
        assert_eq!(share(&page, &page), 1.0);
    }

    #[test]
    fn labels_are_found_as_whole_words() {
        let query = Terms::of("what about the build lock? 检索评测");
        for (label, expected) in [
            ("build-lock", true),
            ("lock", true),
            ("loc", false),
            ("评测", true),
            ("", false),
        ] {
            assert_eq!(query.contains(&Terms::of(label)), expected, "{label:?}");
        }
    }
}
