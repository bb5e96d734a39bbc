//! Text becomes vectors, a query and a text become a score: the embedded default encoder and its late interaction.
//!
//! The one thing a newcomer gets wrong: the default encoder holds no model. Its rows are computed from the letters of
//! a token, so it knows spelling and not meaning; it finds the same words and their forms, never a translation.

mod hashed;
mod hashed_rows;
mod late_interaction;
mod tokens;
mod vector;

pub use hashed::HashedEncoder;
pub use late_interaction::{LateInteraction, LateInteractionConfig};
