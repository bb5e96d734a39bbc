//! The lane that recalls by meaning: exact cosine over every vector of the revision.
//!
//! The one thing a newcomer gets wrong: the 8-bit numbers decide nothing. They only leave out rows that provably are not
//! among the best; scores and order are those of the f32 rows.

mod dot;
mod exact;
mod matrix;
mod quantise;
mod scan;
mod segments;

pub(crate) use exact::{ExactLane, Role, partial};
pub(crate) use matrix::Matrix;
pub(crate) use segments::{CoverError, Covered, Segments};

/// Returns the vector as it is stored: little-endian, scaled to norm 1; an all-zero one stays. `None` for one that is
/// not a direction at all: a number in it is not finite.
pub(crate) fn to_blob(vector: &[f32]) -> Option<Vec<u8>> {
    let scale = dot::inverse_norm(vector)?;
    Some(
        vector
            .iter()
            .flat_map(|number| (number * scale).to_le_bytes())
            .collect(),
    )
}
