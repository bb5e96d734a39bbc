//! All vectors of one revision in memory: as 8-bit numbers, which every search looks at, and as they are, for the few that
//! may be among the best.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

use casebook_chunker::UnitKey;
use rusqlite::Connection;

use crate::vector::dot::dot;
use crate::vector::quantise::Query;
use crate::vector::scan::Codes;
use crate::vector::segments::{Opened, Segment, Segments};
use crate::{EncoderRevision, store};

/// Vectors row by row, in the order of resource id and unit order, so that a row's number breaks ties.
#[derive(Debug, Default)]
pub(crate) struct Matrix {
    dimension: usize,
    /// Made with the first row, when the dimension is known.
    codes: Option<Codes>,
    /// Where the f32 rows are.
    places: Vec<Place>,
    /// Those that no segment has.
    numbers: Vec<f32>,
    segments: Vec<Segment>,
    keys: Vec<UnitKey>,
    /// Units that have no usable vector.
    missing: HashSet<UnitKey>,
    /// All units of the revision.
    pub(crate) total: u64,
    /// Why vectors were read from the database, where that was not meant to be.
    trouble: Option<String>,
    /// An f32 row was found damaged since.
    is_damaged: AtomicBool,
}

/// Where an f32 row is.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// The number of the row in memory.
    Memory(usize),
    File {
        segment: u32,
        row: u32,
        checksum: u32,
    },
}

/// The best rows, and what was wrong with the way to them.
#[derive(Debug)]
pub(crate) struct Best<'a> {
    pub(crate) rows: Vec<(&'a UnitKey, f32)>,
    pub(crate) trouble: Option<String>,
}

const WITH_VECTORS: &str = "
SELECT u.unit_key, c.vector
FROM search_resources AS r
JOIN search_units AS u USING (location)
LEFT JOIN search_vector_cache AS c ON c.input_hash = u.input_hash AND c.encoder_revision = ?1
ORDER BY r.id, u.ord";

const WITH_INPUTS: &str = "
SELECT u.unit_key, u.input_hash
FROM search_resources AS r
JOIN search_units AS u USING (location)
ORDER BY r.id, u.ord";

impl Matrix {
    /// Loads the vectors of the revision that the connection sees, out of the database. A vector of another length counts
    /// as missing; where the dimension is not known, it is the first one's.
    pub(crate) fn load(db: &Connection, encoder: &EncoderRevision, dimension: Option<usize>) -> rusqlite::Result<Self> {
        let mut matrix = Self {
            dimension: dimension.unwrap_or_default(),
            ..Self::default()
        };
        let mut statement = db.prepare_cached(WITH_VECTORS)?;
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

    /// The same with the 8-bit rows of segments; only the vectors that no segment has are read out of the database.
    pub(crate) fn load_with(
        db: &Connection,
        encoder: &EncoderRevision,
        dimension: usize,
        segments: &Segments,
    ) -> rusqlite::Result<Self> {
        let opened = segments.open();
        // The lengths of vectors are in an index; asking it unit by unit would take longer than all the rest.
        let inputs = store::inputs_with_vectors(db, encoder, dimension)?;
        let places = opened.places(&inputs);
        let mut matrix = Self {
            dimension,
            ..Self::default()
        };
        matrix.codes.insert(Codes::new(dimension)).reserve(inputs.len());
        let mut uncovered = 0_u64;
        let mut statement = db.prepare_cached(WITH_INPUTS)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            matrix.total += 1;
            let key = UnitKey::new(row.get::<_, String>(0)?);
            let hash = store::input_hash(row.get_ref(1)?.as_blob()?)?;
            match places.get(&hash) {
                Some(Some(place)) => matrix.push_found(&opened, *place, key),
                Some(None) => {
                    uncovered += 1;
                    matrix.push(&store::vector_of_input(db, encoder, &hash)?, key);
                }
                None => drop(matrix.missing.insert(key)),
            }
        }
        if uncovered > 0 || !opened.trouble.is_empty() {
            let why = match opened.trouble.as_slice() {
                [] => "no segment holds them".to_owned(),
                trouble => trouble.join("; "),
            };
            matrix.trouble = Some(format!(
                "{uncovered} of {} vectors are read from the database: {why}",
                matrix.total
            ));
            segments.note_suspect();
        }
        matrix.segments = opened.into_files();
        Ok(matrix)
    }

    /// Adds a row. An all-zero vector says that the encoder knows nothing in the unit: it is there, but never found.
    fn push(&mut self, blob: &[u8], key: UnitKey) {
        let numbers = numbers(blob);
        let fits = !numbers.is_empty()
            && blob.len() == numbers.len() * size_of::<f32>()
            && (self.dimension == 0 || self.dimension == numbers.len());
        if !fits || numbers.iter().any(|number| !number.is_finite()) {
            self.missing.insert(key);
        } else if numbers.iter().any(|number| *number != 0.0) {
            self.dimension = numbers.len();
            self.places.push(Place::Memory(self.numbers.len() / self.dimension));
            self.codes
                .get_or_insert_with(|| Codes::new(numbers.len()))
                .push(&numbers);
            self.numbers.extend(numbers);
            self.keys.push(key);
        }
    }

    /// Adds a row of a segment likewise.
    fn push_found(&mut self, opened: &Opened, place: (u32, u32), key: UnitKey) {
        let found = opened.row(place);
        if found.step.error.is_nan() {
            self.missing.insert(key);
        } else if found.step.scale != 0.0 || found.step.error != 0.0 {
            self.places.push(Place::File {
                segment: found.segment,
                row: found.row,
                checksum: found.checksum,
            });
            let codes = self.codes.get_or_insert_with(|| Codes::new(self.dimension));
            codes.push_made(found.codes, found.step);
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

    /// Returns why vectors were read from the database, where that was not meant to be.
    pub(crate) fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// Returns whether segments were found damaged, missing or incomplete, when they were loaded or since.
    pub(crate) fn is_troubled(&self) -> bool {
        self.trouble.is_some() || self.is_damaged.load(Ordering::Relaxed)
    }

    /// Returns the best rows by falling product with `query`, ties by rising row. The query has the matrix's dimension.
    /// Most rows are left out by the bounds of their products; the others are multiplied as they are, so that rows, scores
    /// and order are those of looking at every row. Where the f32 row of a unit is damaged, `instead` tells the vector.
    pub(crate) fn best<E>(
        &self,
        query: &[f32],
        limit: usize,
        instead: impl Fn(&UnitKey) -> Result<Option<Vec<u8>>, E>,
    ) -> Result<Best<'_>, E> {
        let rows = match (&self.codes, Query::new(query)) {
            (Some(codes), Some(small)) => codes.candidates(&small, limit),
            _ => (0..self.keys.len()).collect(),
        };
        let mut trouble = None;
        let mut scored = Vec::with_capacity(rows.len());
        for row in rows {
            let read = match self.places[row] {
                Place::Memory(at) => {
                    let numbers = &self.numbers[at * self.dimension..(at + 1) * self.dimension];
                    scored.push((row, dot(numbers, query)));
                    continue;
                }
                Place::File { segment, row, checksum } => self.segments[segment as usize].vector(row, checksum),
            };
            let blob = match read {
                Ok(blob) => Some(blob),
                Err(error) => {
                    self.is_damaged.store(true, Ordering::Relaxed);
                    trouble = Some(format!("a vector is read from the database: {error}"));
                    instead(&self.keys[row])?.filter(|blob| blob.len() == self.dimension * size_of::<f32>())
                }
            };
            if let Some(blob) = blob {
                scored.push((row, dot(&numbers(&blob), query)));
            }
        }
        let ranked = rank(scored, limit).into_iter();
        Ok(Best {
            rows: ranked.map(|(row, score)| (&self.keys[row], score)).collect(),
            trouble,
        })
    }
}

fn numbers(blob: &[u8]) -> Vec<f32> {
    let numbers = blob.as_chunks().0.iter();
    numbers.map(|bytes| f32::from_le_bytes(*bytes)).collect()
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
