//! Tables of rows, kept as the file stores them: a row is decoded when it is needed. A vocabulary of 250,000 rows is most
//! of a multilingual model, and a text looks at a few hundred.

use super::weights::{Storage, to_half};
use super::{TransformerError, WeightPrecision, Weights, weights::Name};

/// The largest number in half precision.
const HALF_MOST: f32 = 65_504.0;

/// A table of equally long rows.
pub(super) struct Embedding {
    storage: Storage,
    bytes: Vec<u8>,
    rows: usize,
    length: usize,
}

impl Embedding {
    /// Reads a table. One in f32 is kept in half precision where that is asked for and holds all its numbers.
    pub(super) fn read(
        weights: &mut Weights,
        name: &Name,
        rows: usize,
        length: usize,
        precision: WeightPrecision,
    ) -> Result<Self, TransformerError> {
        let stored = weights.stored(name, &[rows, length])?;
        let mut largest = 0.0_f32;
        stored.rows(length, |row| {
            largest = row.iter().fold(largest, |largest, number| largest.max(number.abs()));
        })?;
        if stored.storage == Storage::F32 && precision == WeightPrecision::Half && largest <= HALF_MOST {
            let mut bytes = Vec::with_capacity(stored.bytes.len() / 2);
            stored.rows(length, |row| {
                bytes.extend(row.iter().flat_map(|number| to_half(*number).to_le_bytes()));
            })?;
            return Ok(Self {
                storage: Storage::F16,
                bytes,
                rows,
                length,
            });
        }
        Ok(Self {
            storage: stored.storage,
            bytes: stored.bytes,
            rows,
            length,
        })
    }

    /// Returns how many rows there are.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the bytes that it takes in memory.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Writes a row; it has to be one of the table's.
    pub(super) fn row(&self, row: usize, numbers: &mut [f32]) {
        let stride = self.bytes.len() / self.rows;
        self.storage
            .decode(&self.bytes[row * stride..][..stride], &mut numbers[..self.length]);
    }
}
