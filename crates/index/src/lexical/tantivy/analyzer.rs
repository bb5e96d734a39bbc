//! Our words as a Tantivy tokenizer: irregular English forms by a list, the others stemmed.

use std::{collections::HashSet, vec};

use tantivy::tokenizer::{Language, Stemmer, TextAnalyzer, Token, TokenStream, Tokenizer};

use super::irregular::base_of;
use crate::words::{WordSide, words};

/// Name under which the schema asks for [`stored`].
pub(super) const NAME: &str = "casebook";

/// Returns the analysis of what is stored.
pub(super) fn stored() -> TextAnalyzer {
    stemmed(WordSide::Stored)
}

/// Returns the distinct terms of a question in order of first appearance: those that say something, or all where none
/// does.
pub(super) fn asked(question: &str) -> Vec<String> {
    let mut analyzer = stemmed(WordSide::Asked);
    let mut seen = HashSet::new();
    let mut terms = Vec::new();
    analyzer.token_stream(question).process(&mut |token| {
        if seen.insert(token.text.clone()) {
            terms.push(token.text.clone());
        }
    });
    terms
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
        self.token.text = base_of(&word).map_or(word, str::to_owned);
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
