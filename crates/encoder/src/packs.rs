//! Model packs: transformers that a user has added, each a folder with a manifest.

mod manifest;

pub use manifest::{Architecture, PACK_FORMAT, PackFile, PackManifest, PackTask, Pooling};
