//! The contract of a text encoder. Implementations are leaves that only the binary picks.

use std::ops::Range;

use casebook_corpus::string_id;

string_id! {
    /// Everything that determines an encoder's vectors: name, weights, prefixes, pooling. Equal means interchangeable.
    EncoderRevision
}

/// Asked between pieces of work whether to stop.
pub trait Cancel: Sync {
    /// Returns whether the caller wants the work to stop.
    fn cancelled(&self) -> bool;
}

/// Never stops.
impl Cancel for () {
    fn cancelled(&self) -> bool {
        false
    }
}

/// What a passage encoder is given: the text and where it stands. The encoder budgets it by its own tokenizer, shortens
/// extreme paths and headings from the front, and never cuts the text silently.
#[derive(Clone, Copy, Debug)]
pub struct Passage<'a> {
    /// Path of the file, relative to the project root.
    pub path: &'a str,
    /// Headings above the text, outermost first.
    pub heading_path: &'a [String],
    /// The text.
    pub text: &'a str,
}

/// A passage's vector.
#[derive(Clone, Debug, PartialEq)]
pub struct PassageVector {
    /// `dimension()` numbers of L2 norm 1, or all zero for a text that holds nothing the encoder knows.
    pub vector: Vec<f32>,
    /// Windows that the input was pooled from; 1 where it fitted.
    pub input_windows: u32,
}

/// Which side of the comparison a text is on. Some encoders treat the two apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextSide {
    /// What is asked.
    Query,
    /// What is searched.
    Passage,
}

/// One distinct token of a text, for late interaction.
#[derive(Clone, Debug, PartialEq)]
pub struct TokenVector {
    /// Where the token first stands in the text, in bytes.
    pub span: Range<usize>,
    /// How much it counts: at least 0.
    pub weight: f32,
    /// `dimension()` numbers of L2 norm 1.
    pub vector: Vec<f32>,
}

/// One learned term weight of a sparse encoding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TokenWeight {
    /// The encoder's own token number.
    pub token: u32,
    /// Its weight: above 0.
    pub weight: f32,
}

/// Turns text into vectors.
///
/// Contract: deterministic (same text, same bits, whatever the batch and the thread count); never NaN; bad input
/// (empty, only punctuation, one giant word, control characters) gives a valid vector or a typed error, never a panic.
pub trait TextEncoder: Send + Sync {
    /// Returns what determines the vectors.
    fn revision(&self) -> &EncoderRevision;

    /// Returns the length of every vector.
    fn dimension(&self) -> usize;

    /// Returns how many of its own tokens one window holds.
    fn max_input_tokens(&self) -> usize;

    /// Returns the vector of what is asked: norm 1, or all zero where nothing in it is known.
    ///
    /// # Errors
    /// When the encoder cannot work.
    fn encode_query(&self, query: &str) -> Result<Vec<f32>, EncodeError>;

    /// Returns one vector per passage, in order. Asks `cancel` at least once per batch.
    ///
    /// # Errors
    /// When cancelled or when the encoder cannot work; then no vector is returned.
    fn encode_passages(&self, passages: &[Passage<'_>], cancel: &dyn Cancel)
    -> Result<Vec<PassageVector>, EncodeError>;

    /// Returns the text's distinct tokens in order of first appearance, or `None` where the encoder has no such view.
    ///
    /// # Errors
    /// When the encoder cannot work.
    fn token_vectors(&self, text: &str, side: TextSide) -> Result<Option<Vec<TokenVector>>, EncodeError> {
        let _ = (text, side);
        Ok(None)
    }

    /// Returns learned term weights by rising token number, or `None` where the encoder has no sparse head.
    ///
    /// # Errors
    /// When the encoder cannot work.
    fn sparse_weights(&self, text: &str, side: TextSide) -> Result<Option<Vec<TokenWeight>>, EncodeError> {
        let _ = (text, side);
        Ok(None)
    }

    /// Returns vectors and term weights of the same passages, both in order. For encoders with a sparse head alone; one
    /// that makes the two in one pass says so here. What stands in `passages` beside the text, the headings apart, has no
    /// part in the weights. A passage that the sparse head alone refuses has its vector and no weights (`None`).
    ///
    /// # Errors
    /// As [`encode_passages`](Self::encode_passages); also where there is no sparse head.
    fn encode_passages_and_weights(
        &self,
        passages: &[Passage<'_>],
        cancel: &dyn Cancel,
    ) -> Result<Vec<WeighedVector>, EncodeError> {
        let vectors = self.encode_passages(passages, cancel)?;
        let mut both = Vec::with_capacity(passages.len());
        for (passage, vector) in passages.iter().zip(vectors) {
            if cancel.cancelled() {
                return Err(EncodeError::Cancelled);
            }
            let lines = passage.heading_path.iter().map(String::as_str).chain([passage.text]);
            let text = lines.collect::<Vec<_>>().join("\n");
            let weights = match self.sparse_weights(&text, TextSide::Passage) {
                Ok(None) => return Err(EncodeError::Other("the encoder has no sparse head".into())),
                Err(EncodeError::Input { .. } | EncodeError::Panicked { .. }) => None,
                other => other?,
            };
            both.push((vector, weights));
        }
        Ok(both)
    }

    /// Returns whether a word's part in a vector depends on the words around it, as in transformers. The order that such
    /// vectors give is to be trusted more, beside the words, than that of sums of words.
    fn is_contextual(&self) -> bool {
        false
    }

    /// Returns the fixed mean vector of texts in a language (`en`, `zh`), to be subtracted before vectors of different
    /// languages are compared; `None` where none is needed.
    fn language_mean(&self, language: &str) -> Option<&[f32]> {
        let _ = language;
        None
    }
}

/// A passage's vector, and its term weights unless the sparse head refused it.
pub type WeighedVector = (PassageVector, Option<Vec<TokenWeight>>);

/// An encoder cannot work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// The caller asked to stop.
    #[error("encoding was cancelled")]
    Cancelled,
    /// One input cannot be encoded.
    #[error("input {index} cannot be encoded: {reason}")]
    Input {
        /// Its position in the batch.
        index: usize,
        /// Why.
        reason: String,
    },
    /// A worker panicked; it was given up.
    #[error("encoder worker panicked at input {index}")]
    Panicked {
        /// Position of the input it was working on.
        index: usize,
    },
    /// An encoder's own trouble.
    #[error("encoder failed")]
    Other(#[source] Box<dyn std::error::Error + Send + Sync>),
}
