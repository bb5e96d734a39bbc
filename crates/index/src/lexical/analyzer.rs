//! Words become terms: stemmed. A question asks for irregular forms of its words as well. For the lanes of words, and as a Tantivy
//! tokenizer.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::LazyLock,
    vec,
};

use tantivy::tokenizer::{Language, RawTokenizer, Stemmer, TextAnalyzer, Token, TokenStream, Tokenizer};

use super::irregular::FORMS_AND_BASES;
use crate::words::{WordSide, words};

/// Everything that determines which terms a text has.
pub(super) const REVISION: &str = "words1/english/1/forms2";

/// What a match of another form counts for. Measured.
const FORM_WEIGHT: f32 = 0.25;

/// Name under which Tantivy's schema asks for [`stored`].
pub(super) const NAME: &str = "casebook";

/// Returns the analysis of what is stored.
pub(super) fn stored() -> TextAnalyzer {
    stemmed(WordSide::Stored)
}

/// Makes terms of words that are cut already.
pub(super) struct Stems(TextAnalyzer);

impl Default for Stems {
    fn default() -> Self {
        let whole = TextAnalyzer::builder(RawTokenizer::default());
        Self(whole.filter(Stemmer::new(Language::English)).build())
    }
}

impl Stems {
    /// Returns the term of a word.
    pub(super) fn of(&mut self, word: &str) -> String {
        let mut stream = self.0.token_stream(word);
        stream.process(&mut |_| ());
        stream.token().text.clone()
    }
}

/// A term that a question asks for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AskedTerm {
    pub(super) text: String,
    /// What a match counts for: 1 for a word of the question, less for another form of one.
    pub(super) weight: f32,
    /// Whether it is a word that has irregular forms, or such a form.
    pub(super) has_forms: bool,
}

/// Returns the distinct terms of a question in order of first appearance, those that say something, or all where none
/// does; and then irregular forms of them (`ran` for `running`, `run` for `ran`) that are not among them.
pub(super) fn asked(question: &str) -> Vec<AskedTerm> {
    let mut analyzer = stemmed(WordSide::Asked);
    let mut seen = HashSet::new();
    let mut terms = Vec::new();
    analyzer.token_stream(question).process(&mut |token| {
        if seen.insert(token.text.clone()) {
            terms.push(AskedTerm {
                text: token.text.clone(),
                weight: 1.0,
                has_forms: false,
            });
        }
    });
    let mut others = Vec::new();
    for term in &mut terms {
        let forms = forms_of(&term.text);
        term.has_forms = !forms.is_empty();
        let new = forms.iter().filter(|form| seen.insert((*form).clone()));
        others.extend(new.map(|form| AskedTerm {
            text: form.clone(),
            weight: FORM_WEIGHT,
            has_forms: true,
        }));
    }
    terms.extend(others);
    terms
}

/// Returns the terms that are forms of the same word, itself among them; none of a regular word.
fn forms_of(term: &str) -> &'static [String] {
    static FORMS: LazyLock<HashMap<String, Vec<String>>> = LazyLock::new(|| {
        let mut stems = Stems::default();
        let mut groups = BTreeMap::<String, Vec<String>>::new();
        for (form, base) in FORMS_AND_BASES {
            let (form, base) = (stems.of(form), stems.of(base));
            groups.entry(base.clone()).or_insert_with(|| vec![base]).push(form);
        }
        let of_each = |group: &Vec<String>| {
            let group = group.clone();
            group.clone().into_iter().map(move |word| (word, group.clone()))
        };
        groups.values().flat_map(of_each).collect()
    });
    FORMS.get(term).map_or(&[], Vec::as_slice)
}

/// Returns whether the word says nothing of what an English question is about. Measured: questions find better without.
fn is_frequent(word: &str) -> bool {
    matches!(
        word,
        "a" | "about"
            | "an"
            | "and"
            | "are"
            | "as"
            | "at"
            | "be"
            | "been"
            | "by"
            | "can"
            | "did"
            | "do"
            | "does"
            | "for"
            | "from"
            | "he"
            | "how"
            | "i"
            | "in"
            | "is"
            | "it"
            | "my"
            | "of"
            | "on"
            | "or"
            | "she"
            | "that"
            | "the"
            | "they"
            | "this"
            | "to"
            | "was"
            | "we"
            | "were"
            | "what"
            | "when"
            | "where"
            | "which"
            | "who"
            | "why"
            | "with"
            | "you"
            | "your"
    )
}

fn stemmed(side: WordSide) -> TextAnalyzer {
    TextAnalyzer::builder(WordTokenizer(side))
        .filter(Stemmer::new(Language::English))
        .build()
}

#[derive(Clone)]
struct WordTokenizer(WordSide);

struct WordStream {
    words: vec::IntoIter<String>,
    token: Token,
}

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = WordStream;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream {
        let mut words = words(text, self.0);
        if self.0 == WordSide::Asked && !words.iter().all(|word| is_frequent(word)) {
            words.retain(|word| !is_frequent(word));
        }
        WordStream {
            words: words.into_iter(),
            token: Token::default(),
        }
    }
}

impl TokenStream for WordStream {
    fn advance(&mut self) -> bool {
        let Some(word) = self.words.next() else {
            return false;
        };
        self.token.text = word;
        // A fresh token stands at `usize::MAX`, so the first word is at 0.
        self.token.position = self.token.position.wrapping_add(1);
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
