//! All vectors of one revision in memory.

use std::collections::HashSet;

use casebook_chunker::UnitKey;
use rusqlite::Connection;

use crate::EncoderRevision;
use crate::vector::dot::dot;

/// Vectors row by row, in the order of resource id and unit order, so that a row's number breaks ties.
#[derive(Debug, Default)]
pub(crate) struct Matrix {
    dimension: usize,
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

/// Numbers of a matrix that one thread is worth starting for.
const NUMBERS_PER_THREAD: usize = 1 << 20;

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
            self.numbers.extend(numbers);
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
    pub(crate) fn best(&self, query: &[f32], limit: usize) -> Vec<(&UnitKey, f32)> {
        let falling = |left: &(usize, f32), right: &(usize, f32)| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0));
        let mut scored: Vec<(usize, f32)> = self.scores(query).into_iter().enumerate().collect();
        if limit < scored.len() {
            scored.select_nth_unstable_by(limit, falling);
            scored.truncate(limit);
        }
        scored.sort_unstable_by(falling);
        scored
            .into_iter()
            .map(|(row, score)| (&self.keys[row], score))
            .collect()
    }

    /// Returns the product of every row with `query`. A row's score depends on nothing but the row, so the number of
    /// threads cannot show.
    fn scores(&self, query: &[f32]) -> Vec<f32> {
        let mut scores = vec![0.0; self.keys.len()];
        let most = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = (self.numbers.len() / NUMBERS_PER_THREAD).clamp(1, most);
        let rows = self.keys.len().div_ceil(threads).max(1);
        let score = |numbers: &[f32], scores: &mut [f32]| {
            for (row, score) in numbers.chunks_exact(self.dimension).zip(scores) {
                *score = dot(row, query);
            }
        };
        if threads == 1 {
            score(&self.numbers, &mut scores);
            return scores;
        }
        std::thread::scope(|scope| {
            for (numbers, scores) in self.numbers.chunks(rows * self.dimension).zip(scores.chunks_mut(rows)) {
                scope.spawn(|| score(numbers, scores));
            }
        });
        scores
    }
}
