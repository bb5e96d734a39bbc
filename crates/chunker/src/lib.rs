//! One resource becomes retrieval units with stable identity. Pure: no I/O, no clock, no configuration files.
//!
//! The one thing a newcomer gets wrong: the token counter here is a ruler of our own, part of the chunker's revision
//! and the same for every encoder. It says where to cut; what an encoder can take is the encoder's business.

mod chunker;
mod key;
mod lines;
mod outline;
mod strategy;
mod tokens;
mod unit;

pub use chunker::Chunker;
pub use strategy::{ParseStrategyError, Strategy};
pub use tokens::{CasebookTokens, TokenCounter};
pub use unit::{Locator, Unit, UnitKey, UnitKind};
