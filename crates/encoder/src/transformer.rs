//! Transformer packs on the processor: text becomes a vector, a query and a passage become a score.
//!
//! What a newcomer gets wrong: texts are not batched into one padded tensor. Each runs alone, one per thread, because on a
//! processor a batch only spills the caches and padding only costs; that is also why a text's bits never depend on its
//! neighbours. Weights are packed when they are read (see [`matrix`]), so nothing is reserved or copied per text.

mod activation;
mod attention;
mod bert;
mod config;
mod cross_encoder;
mod embedding;
mod encoder;
mod error;
mod lazy;
mod matrix;
mod means;
mod network;
mod norm;
mod open;
mod qwen;
mod tokens;
mod trial;
mod weights;
mod workers;

pub use cross_encoder::CrossEncoder;
pub use encoder::TransformerEncoder;
pub use error::TransformerError;
pub use lazy::LazyTransformer;
pub use means::language_means;
pub use open::check_pack;
pub use trial::try_pack;
use weights::Weights;

/// How a pack is run.
#[derive(Clone, Debug)]
pub struct TransformerOptions {
    /// Texts that are encoded at once, each on a thread of its own; 0 counts as 1.
    pub threads: usize,
    /// How matrices are kept in memory.
    pub precision: WeightPrecision,
}

impl Default for TransformerOptions {
    /// One thread per processor, f32: turning half precision back costs a short text more than reading twice as much.
    fn default() -> Self {
        Self {
            threads: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            precision: WeightPrecision::Full,
        }
    }
}

/// How matrices are kept in memory. Sums are in f32 either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeightPrecision {
    /// 11 significant bits, two bytes: half the memory, and slower for short texts, where turning them back is most of the
    /// work.
    Half,
    /// As f32, four bytes.
    Full,
}
