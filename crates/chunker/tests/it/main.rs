//! Integration tests of the chunker.

mod cuts;
mod edits;
mod hostile;
mod laws;
mod snapshots;
mod tokens;
