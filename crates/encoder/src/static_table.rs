//! A table of learned rows, one per piece of text, read where it lies.
//!
//! Nothing of size is copied: rows and scales stay in the bytes that were given, only the look-up of pieces and of
//! characters is built.

mod error;
mod fold;
mod layout;
mod lexicon;
mod rows;
mod segment;
mod tokenize;

use std::ops::Range;

pub use error::StaticTableError;
use fold::Fold;
use layout::Layout;
use lexicon::Lexicon;
pub(crate) use rows::Rows;
pub(crate) use tokenize::Tokenizer;

/// A piece of a text that the table has a row for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaticToken {
    /// Number of the row.
    pub row: u32,
    /// Where it stands in the text, in bytes of the text as given.
    pub span: Range<usize>,
}

/// Rows of 8-bit numbers with one scale each, the pieces of text that they stand for, and what spellings are one.
#[derive(Debug)]
pub struct StaticTable {
    lexicon: Lexicon,
    fold: Fold,
    rows: Rows,
    means: [Vec<f32>; 2],
    digest: &'static str,
    bytes: &'static [u8],
}

impl StaticTable {
    /// Reads an artefact. `digest` is the text of the file beside it: it begins with the SHA-256 in hexadecimal digits.
    /// It is believed; see [`verify`](Self::verify).
    ///
    /// # Errors
    /// When the bytes are not an artefact, are of another version, are cut off, or hold something impossible.
    pub fn read(bytes: &'static [u8], digest: &'static str) -> Result<Self, StaticTableError> {
        let layout = Layout::cut(bytes)?;
        let digest = digest
            .get(..64)
            .filter(|digest| digest.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')));
        Ok(Self {
            lexicon: Lexicon::build(&layout)?,
            fold: Fold::build(&layout)?,
            rows: Rows::new(&layout)?,
            means: means(&layout)?,
            digest: digest.ok_or(StaticTableError::DigestFormat)?,
            bytes,
        })
    }

    /// Compares the artefact's bytes with its digest. Slower than reading it.
    ///
    /// # Errors
    /// When they differ.
    pub fn verify(&self) -> Result<(), StaticTableError> {
        use sha2::Digest as _;
        let digest = sha2::Sha256::digest(self.bytes);
        let found: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        if found == self.digest {
            Ok(())
        } else {
            Err(StaticTableError::Digest)
        }
    }

    /// Returns the artefact's SHA-256 in hexadecimal digits.
    pub fn digest(&self) -> &'static str {
        self.digest
    }

    /// Returns the mean vector of texts in a language (`zh`, `en`).
    pub fn language_mean(&self, language: &str) -> Option<&[f32]> {
        let [zh, en] = &self.means;
        match language {
            "zh" => Some(zh),
            "en" => Some(en),
            _ => None,
        }
    }

    /// Returns the numbers in a row.
    pub fn dimension(&self) -> usize {
        self.rows.dimension()
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns whether the table has no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the pieces of a text in order of appearance; what the table does not know is left out.
    pub fn tokens(&self, text: &str) -> Vec<StaticToken> {
        let mut tokens = Vec::new();
        self.tokenizer()
            .visit(text, |row, span| tokens.push(StaticToken { row, span }));
        tokens
    }

    pub(crate) fn tokenizer(&self) -> Tokenizer<'_> {
        Tokenizer::new(&self.lexicon, &self.fold)
    }

    pub(crate) fn rows(&self) -> &Rows {
        &self.rows
    }
}

fn means(layout: &Layout) -> Result<[Vec<f32>; 2], StaticTableError> {
    let (numbers, _) = layout.means.as_chunks::<4>();
    let numbers: Vec<f32> = numbers.iter().copied().map(f32::from_le_bytes).collect();
    if !numbers.iter().all(|number| number.is_finite()) {
        return Err(StaticTableError::Mean);
    }
    let (zh, en) = numbers.split_at(layout.dimension);
    Ok([zh.to_vec(), en.to_vec()])
}
