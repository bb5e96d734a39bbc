//! Term weights turned round: for each term the units that have it.

use std::collections::HashMap;

use casebook_chunker::UnitKey;
use rusqlite::Connection;

use crate::store::unreadable;
use crate::{EncoderRevision, TokenWeight};

/// Returns weights as they are stored: per term its number and its weight, little-endian, by rising term. What is no
/// weight is left out, and of one term the heaviest stays.
pub(crate) fn weights_to_blob(weights: &[TokenWeight]) -> Vec<u8> {
    let mut sound = sound(weights);
    sound.sort_by(|one, other| one.token.cmp(&other.token).then(other.weight.total_cmp(&one.weight)));
    sound.dedup_by_key(|weight| weight.token);
    let bytes = |weight: &TokenWeight| [weight.token.to_le_bytes(), weight.weight.to_le_bytes()].concat();
    sound.iter().flat_map(bytes).collect()
}

fn sound(weights: &[TokenWeight]) -> Vec<TokenWeight> {
    let is_weight = |weight: &&TokenWeight| weight.weight.is_finite() && weight.weight > 0.0;
    weights.iter().filter(is_weight).copied().collect()
}

/// Units by term. Rows are in the order of resource id and unit order, so that a row's number breaks ties.
#[derive(Debug, Default)]
pub(crate) struct Postings {
    keys: Vec<UnitKey>,
    terms: HashMap<u32, Vec<(u32, f32)>>,
}

const SQL: &str = "
SELECT u.unit_key, s.weights
FROM search_resources AS r
JOIN search_units AS u USING (location)
JOIN search_sparse_cache AS s ON s.input_hash = u.input_hash AND s.encoder_revision = ?1
ORDER BY r.id, u.ord";

impl Postings {
    /// Loads the weights of the revision that the connection sees.
    pub(crate) fn load(db: &Connection, encoder: &EncoderRevision) -> rusqlite::Result<Self> {
        let mut postings = Self::default();
        let mut statement = db.prepare_cached(SQL)?;
        let mut rows = statement.query([encoder.as_str()])?;
        while let Some(row) = rows.next()? {
            let number = u32::try_from(postings.keys.len()).map_err(unreadable)?;
            let (terms, rest) = row.get_ref(1)?.as_blob()?.as_chunks::<8>();
            if !rest.is_empty() {
                // Broken like a vector of another length: not found by this lane.
                continue;
            }
            postings.keys.push(UnitKey::new(row.get::<_, String>(0)?));
            for [a, b, c, d, e, f, g, h] in terms {
                let (term, weight) = (
                    u32::from_le_bytes([*a, *b, *c, *d]),
                    f32::from_le_bytes([*e, *f, *g, *h]),
                );
                if weight.is_finite() {
                    postings.terms.entry(term).or_default().push((number, weight));
                }
            }
        }
        Ok(postings)
    }

    /// Returns the best units by falling inner product with the query, ties by rising row; those without a common term
    /// are not found. Terms are added up in their order, so that the sum is the same every time.
    pub(crate) fn best(&self, query: &[TokenWeight], limit: usize) -> Vec<(&UnitKey, f32)> {
        let mut query = sound(query);
        query.sort_by_key(|weight| weight.token);
        let mut scores = HashMap::<u32, f32>::new();
        for asked in query {
            for (row, weight) in self.terms.get(&asked.token).into_iter().flatten() {
                *scores.entry(*row).or_default() += asked.weight * weight;
            }
        }
        let mut scored: Vec<(u32, f32)> = scores.into_iter().filter(|(_, score)| score.is_finite()).collect();
        scored.sort_unstable_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
        scored.truncate(limit);
        scored
            .into_iter()
            .map(|(row, score)| (&self.keys[row as usize], score))
            .collect()
    }
}
