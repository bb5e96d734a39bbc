//! The ruler: where the tokens of a text are.
//!
//! The one thing a newcomer gets wrong: a counter is not a model's tokenizer. A model's merges look across any cut;
//! the chunker counts once over the body and cuts afterwards, so a counter must give the same tokens on both sides.

mod casebook;

pub use casebook::CasebookTokens;

use std::ops::Range;

/// Finds the tokens of a text. Pure: the same text gives the same tokens on every machine.
///
/// An implementation keeps these laws, which the chunker's budgets and coverage rest on:
/// - The ranges are non-empty, ascending and apart; every character that is not white space lies in one.
/// - Each starts and ends on a boundary of an extended grapheme cluster of the text, and none spans a line break.
/// - Cutting the text where a token starts or ends leaves the tokens on both sides as they were.
pub trait TokenCounter: std::fmt::Debug + Send + Sync {
    /// Returns name and version, like `cb-tokens.1`: raised whenever some text would give other tokens.
    fn revision(&self) -> &str;

    /// Returns the byte range of every token, in order.
    fn token_spans(&self, text: &str) -> Vec<Range<usize>>;
}
