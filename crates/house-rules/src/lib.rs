//! Development only: the project's rules as functions over plain data.
//!
//! The one thing a newcomer gets wrong: a rule here reads nothing. `tests/it` collects the facts from the checkout and
//! from `cargo metadata`; each rule proves beside its code that it can fail.

mod documents;
mod layering;
mod manifest;
mod rust_source;
mod text;

pub use documents::{Link, anchors, codes, links, named_paths, table_names, undocumented};
pub use layering::{Dependency, Member, broken_edges, broken_pins};
pub use manifest::{clippy_gaps, manifest_problems};
pub use rust_source::{rust_problems, unlisted_tests};
pub use text::{lock_problems, text_problems};
