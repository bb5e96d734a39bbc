//! `corpus_frozen`, version 1: the manifest of a memory, once per effective hash.

use casebook_corpus::{EffectiveHash, Manifest, ManifestEntry, ResourceId, Scope};
use serde::{Deserialize, Serialize};

use super::Digest;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CorpusFrozen {
    pub(crate) effective_hash: Digest,
    pub(crate) entries: Vec<StoredEntry>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StoredEntry {
    pub(crate) scope: Scope,
    pub(crate) id: ResourceId,
    pub(crate) content_hash: Digest,
}

impl CorpusFrozen {
    pub(crate) fn from_runtime(effective_hash: EffectiveHash, manifest: &Manifest) -> Self {
        let entries = manifest.entries().iter().map(|entry| StoredEntry {
            scope: entry.scope.clone(),
            id: entry.id.clone(),
            content_hash: entry.content_hash.into(),
        });
        Self {
            effective_hash: effective_hash.into(),
            entries: entries.collect(),
        }
    }

    pub(crate) fn into_runtime(self) -> Manifest {
        Manifest::new(self.entries.into_iter().map(|entry| ManifestEntry {
            scope: entry.scope,
            id: entry.id,
            content_hash: entry.content_hash.into(),
        }))
    }
}
