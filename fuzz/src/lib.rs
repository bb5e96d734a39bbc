//! Development only: fuzz targets as plain functions over bytes.
//!
//! The one thing a newcomer gets wrong: no fuzzer needs to be installed. A normal test runs every target over its seeds
//! and their mutations; the binary goes on mutating for as long as it is told. A target panics when a law is broken.
//! To add one: a line in [`TARGETS`], a function, and at least one file in `fuzz/seeds/<name>/`.

mod mutate;
mod seeds;
mod targets;

pub use mutate::Mutator;
pub use seeds::{read_seeds, targets_named};
pub use targets::{TARGETS, Target};
