//! The cold lane: raw originals kept as they were, outside ordinary retrieval, with a catalog of metadata only.
//!
//! The one thing a newcomer gets wrong: nothing here reads dialogue. A raw file is only counted and hashed, and its text
//! never reaches the catalog or the ordinary index.

mod catalog;
mod error;
mod verify;

pub use catalog::{Catalog, CatalogEntry, CatalogProblem, ProblemKind, SourceId};
pub use error::CatalogError;
pub use verify::{Mismatch, verify};
