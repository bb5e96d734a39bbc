//! The encoder over a static table: a text is the normalised sum of its pieces' rows, each by the root of its count.

use std::sync::Arc;

use casebook_index::{
    Cancel, EncodeError, EncoderRevision, Passage, PassageVector, TextEncoder, TextSide, TokenVector,
};

use crate::passage_text::{HEADING_SHARE, PATH_SHARE, headings, path};
use crate::static_table::{Rows, StaticTable, Tokenizer};
use crate::vector::{add_scaled, dot, normalise};

/// Pieces in one window.
const WINDOW: usize = 512;
/// Passages between two questions whether to stop.
const BATCH: usize = 64;
/// Hexadecimal digits of the artefact's digest in the revision.
const DIGEST_DIGITS: usize = 12;

/// Texts become vectors by a static table: no start-up cost, microseconds for a query.
///
/// Queries and passages are treated alike; a passage also takes in its path and headings with a smaller share.
#[derive(Clone, Debug)]
pub struct StaticEncoder {
    table: Arc<StaticTable>,
    revision: EncoderRevision,
}

impl StaticEncoder {
    /// Makes the encoder of a table.
    pub fn new(table: Arc<StaticTable>) -> Self {
        let revision = revision(&table);
        Self { table, revision }
    }

    /// Returns the table.
    pub fn table(&self) -> &Arc<StaticTable> {
        &self.table
    }
}

/// Returns the revision of every encoder of a table.
pub(crate) fn revision(table: &StaticTable) -> EncoderRevision {
    let digest = &table.digest()[..DIGEST_DIGITS];
    EncoderRevision::new(format!("static-{}.1-{digest}", table.dimension()))
}

impl TextEncoder for StaticEncoder {
    fn revision(&self) -> &EncoderRevision {
        &self.revision
    }

    fn dimension(&self) -> usize {
        self.table.dimension()
    }

    fn max_input_tokens(&self) -> usize {
        WINDOW
    }

    fn encode_query(&self, query: &str) -> Result<Vec<f32>, EncodeError> {
        let mut pool = Pool::new(self.table.rows());
        let mut tokenizer = self.table.tokenizer();
        tokenizer.visit(query, |piece, _| pool.push(piece));
        Ok(pool.vector().vector)
    }

    fn encode_passages(
        &self,
        passages: &[Passage<'_>],
        cancel: &dyn Cancel,
    ) -> Result<Vec<PassageVector>, EncodeError> {
        let mut pool = Pool::new(self.table.rows());
        let mut tokenizer = self.table.tokenizer();
        let mut vectors = Vec::with_capacity(passages.len());
        for batch in passages.chunks(BATCH) {
            if cancel.cancelled() {
                return Err(EncodeError::Cancelled);
            }
            vectors.extend(
                batch
                    .iter()
                    .map(|passage| encode_passage(&mut tokenizer, &mut pool, passage)),
            );
        }
        Ok(vectors)
    }

    fn token_vectors(&self, text: &str, _side: TextSide) -> Result<Option<Vec<TokenVector>>, EncodeError> {
        let rows = self.table.rows();
        let mut seen = vec![false; rows.len()];
        let mut vectors = Vec::new();
        self.table.tokenizer().visit(text, |piece, span| {
            let length = rows.length(piece);
            if !std::mem::replace(&mut seen[piece as usize], true) && length * rows.scale(piece) > 0.0 {
                let mut vector = vec![0.0; rows.dimension()];
                rows.sum(&[(piece, 1.0 / length)], &mut vector);
                vectors.push(TokenVector {
                    weight: length * rows.scale(piece),
                    vector,
                    span,
                });
            }
        });
        Ok(Some(vectors))
    }

    fn language_mean(&self, language: &str) -> Option<&[f32]> {
        self.table.language_mean(language)
    }
}

fn encode_passage(tokenizer: &mut Tokenizer<'_>, pool: &mut Pool<'_>, passage: &Passage<'_>) -> PassageVector {
    let mut encode = |text: &str| {
        tokenizer.visit(text, |piece, _| pool.push(piece));
        pool.vector()
    };
    let mut encoded = encode(passage.text);
    for (context, share) in [(headings(passage).as_str(), HEADING_SHARE), (path(passage), PATH_SHARE)] {
        if !context.is_empty() {
            add_scaled(&mut encoded.vector, share, &encode(context).vector);
        }
    }
    normalise(&mut encoded.vector);
    encoded
}

/// Sums up the rows of one text after the other.
pub(crate) struct Pool<'t> {
    rows: &'t Rows,
    /// Pieces of the window under way.
    window: Vec<u32>,
    /// Distinct pieces of that window, and how much of each row is taken.
    amounts: Vec<(u32, f32)>,
    /// Sum of one window's rows, then of the text.
    sum: Vec<f32>,
    /// Sum of the windows that ended, each of norm 1 times its pieces.
    ended: Vec<f32>,
    ended_windows: u32,
}

impl<'t> Pool<'t> {
    pub(crate) fn new(rows: &'t Rows) -> Self {
        Self {
            rows,
            window: Vec::with_capacity(WINDOW),
            amounts: Vec::with_capacity(WINDOW),
            sum: vec![0.0; rows.dimension()],
            ended: vec![0.0; rows.dimension()],
            ended_windows: 0,
        }
    }

    pub(crate) fn push(&mut self, piece: u32) {
        if self.window.len() == WINDOW {
            self.end_window();
        }
        self.window.push(piece);
    }

    /// Returns the vector of the pieces since the last text ended: of one window where they fit, else of the mean of
    /// windows, each by its pieces.
    pub(crate) fn vector(&mut self) -> PassageVector {
        let input_windows = self.end_text();
        let mut vector = self.sum.clone();
        normalise(&mut vector);
        PassageVector { vector, input_windows }
    }

    /// Returns the cosine of that vector to one of norm 1, or 0 where either is all zero.
    pub(crate) fn cosine(&mut self, unit: &[f32]) -> f32 {
        self.end_text();
        let norm = dot(&self.sum, &self.sum).sqrt();
        if norm > f32::MIN_POSITIVE {
            dot(unit, &self.sum) / norm
        } else {
            0.0
        }
    }

    /// Leaves the text's vector, of any length, in the sum, and returns its windows.
    fn end_text(&mut self) -> u32 {
        if self.ended_windows == 0 {
            self.sum_window();
        } else {
            self.end_window();
            std::mem::swap(&mut self.sum, &mut self.ended);
            self.ended.fill(0.0);
        }
        std::mem::take(&mut self.ended_windows).max(1)
    }

    fn end_window(&mut self) {
        let pieces = self.window.len() as f32;
        self.sum_window();
        normalise(&mut self.sum);
        add_scaled(&mut self.ended, pieces, &self.sum);
        self.ended_windows += 1;
    }

    fn sum_window(&mut self) {
        // In one order, so that texts of the same pieces have the same bits.
        self.window.sort_unstable();
        let counted = self.window.chunk_by(|left, right| left == right);
        self.amounts
            .extend(counted.map(|same| (same[0], (same.len() as f32).sqrt() * self.rows.scale(same[0]))));
        self.rows.sum(&self.amounts, &mut self.sum);
        self.window.clear();
        self.amounts.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedded_table;

    #[test]
    fn nothing_has_no_cosine_and_leaves_nothing_behind() {
        let table = embedded_table();
        let mut pool = Pool::new(table.rows());
        pool.push(7);
        let unit = pool.vector().vector;
        assert_eq!(pool.cosine(&unit), 0.0);
        pool.push(7);
        assert!((pool.cosine(&unit) - 1.0).abs() < 1e-5);
    }
}
