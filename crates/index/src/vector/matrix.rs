//! All vectors of one revision in memory: as 8-bit numbers, which every search looks at, and as they are, for the few that
//! may be among the best.

use std::collections::HashSet;

use casebook_chunker::UnitKey;
use rusqlite::Connection;

use crate::EncoderRevision;
use crate::vector::dot::dot;
use crate::vector::quantise::Query;
use crate::vector::scan::Codes;

/// Vectors row by row, in the order of resource id and unit order, so that a row's number breaks ties.
#[derive(Debug, Default)]
pub(crate) struct Matrix {
    dimension: usize,
    /// Made with the first row, when the dimension is known.
    codes: Option<Codes>,
    numbers: Vec<f32>,
    keys: Vec<UnitKey>,
    /// Units that have no usable vector.
    missing: HashSet<UnitKey>,
    /// All units of the revision.
    pub(crate) total: u64,
}

const SQL: &str = "
SELECT u.unit_key, c.vector
FROM search_resources AS r
JOIN search_units AS u USING (location)
LEFT JOIN search_vector_cache AS c ON c.input_hash = u.input_hash AND c.encoder_revision = ?1
ORDER BY r.id, u.ord";

impl Matrix {
    /// Loads the vectors of the revision that the connection sees. A vector of another length counts as missing; where
    /// the dimension is not known, it is the first one's.
    pub(crate) fn load(db: &Connection, encoder: &EncoderRevision, dimension: Option<usize>) -> rusqlite::Result<Self> {
        let mut matrix = Self {
            dimension: dimension.unwrap_or_default(),
            ..Self::default()
        };
        let mut statement = db.prepare_cached(SQL)?;
        let mut rows = statement.query([encoder.as_str()])?;
        while let Some(row) = rows.next()? {
            matrix.total += 1;
            let key = UnitKey::new(row.get::<_, String>(0)?);
            match row.get_ref(1)?.as_blob_or_null()? {
                Some(blob) => matrix.push(blob, key),
                None => drop(matrix.missing.insert(key)),
            }
        }
        Ok(matrix)
    }

    /// Adds a row. An all-zero vector says that the encoder knows nothing in the unit: it is there, but never found.
    fn push(&mut self, blob: &[u8], key: UnitKey) {
        let (chunks, rest) = blob.as_chunks::<4>();
        let fits = rest.is_empty() && !chunks.is_empty() && (self.dimension == 0 || self.dimension == chunks.len());
        let numbers = chunks.iter().map(|bytes| f32::from_le_bytes(*bytes));
        if !fits || numbers.clone().any(|number| !number.is_finite()) {
            self.missing.insert(key);
        } else if numbers.clone().any(|number| number != 0.0) {
            self.dimension = chunks.len();
            let start = self.numbers.len();
            self.numbers.extend(numbers);
            let codes = self.codes.get_or_insert_with(|| Codes::new(chunks.len()));
            codes.push(&self.numbers[start..]);
            self.keys.push(key);
        }
    }

    /// Returns how many units have no usable vector.
    pub(crate) fn missing(&self) -> u64 {
        self.missing.len() as u64
    }

    /// Returns whether the unit has no usable vector.
    pub(crate) fn lacks(&self, unit: &UnitKey) -> bool {
        self.missing.contains(unit)
    }

    /// Returns the length of every row; `None` where there is no row.
    pub(crate) fn dimension(&self) -> Option<usize> {
        (!self.keys.is_empty()).then_some(self.dimension)
    }

    /// Returns the best rows by falling product with `query`, ties by rising row. The query has the matrix's dimension.
    /// Most rows are left out by the bounds of their products; the others are multiplied as they are, so that rows, scores
    /// and order are those of looking at every row.
    pub(crate) fn best(&self, query: &[f32], limit: usize) -> Vec<(&UnitKey, f32)> {
        let rows = match (&self.codes, Query::new(query)) {
            (Some(codes), Some(small)) => codes.candidates(&small, limit),
            _ => (0..self.keys.len()).collect(),
        };
        let scored = rows.into_iter().map(|row| (row, dot(self.row(row), query)));
        let ranked = rank(scored.collect(), limit).into_iter();
        ranked.map(|(row, score)| (&self.keys[row], score)).collect()
    }

    fn row(&self, row: usize) -> &[f32] {
        &self.numbers[row * self.dimension..(row + 1) * self.dimension]
    }
}

/// Returns the best of some rows by falling score, ties by rising row.
fn rank(mut scored: Vec<(usize, f32)>, limit: usize) -> Vec<(usize, f32)> {
    let falling = |left: &(usize, f32), right: &(usize, f32)| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0));
    if limit < scored.len() {
        scored.select_nth_unstable_by(limit, falling);
        scored.truncate(limit);
    }
    scored.sort_unstable_by(falling);
    scored
}

#[cfg(test)]
mod tests;
