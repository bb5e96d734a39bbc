//! The targets. Each takes any bytes and panics when a law is broken.

mod chunker;
mod front_matter;
mod packs;
mod static_encoder;
mod static_table;

/// A name and the function.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: &[Target] = &[
    ("chunker", chunker::chunker),
    ("front_matter", front_matter::front_matter),
    ("packs", packs::packs),
    ("static_encoder", static_encoder::static_encoder),
    ("static_table", static_table::static_table),
];
