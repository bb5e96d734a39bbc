//! The canonical list of what retrieval may see.

use sha2::{Digest, Sha256};

use crate::{ContentHash, EffectiveHash, ResourceId, Scope};

/// One line of a manifest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct ManifestEntry {
    /// Whose memory it is. Scope comes first in the order.
    pub scope: Scope,
    /// The resource.
    pub id: ResourceId,
    /// Its canonical content.
    pub content_hash: ContentHash,
}

/// The ordered (resource id, content hash) list of the Effective Memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Manifest {
    entries: Vec<ManifestEntry>,
}

impl Manifest {
    /// Sorts the entries into canonical order: by scope, then id.
    pub fn new(entries: impl IntoIterator<Item = ManifestEntry>) -> Self {
        let mut entries: Vec<_> = entries.into_iter().collect();
        entries.sort_unstable();
        Self { entries }
    }

    /// Returns the entries in canonical order.
    pub fn entries(&self) -> &[ManifestEntry] {
        &self.entries
    }

    /// Returns the SHA-256 of the canonical form.
    ///
    /// The form, per entry: scope, id (each as a little-endian u64 length and its bytes), 32 hash bytes. Lengths make it
    /// impossible for two different lists to have one form.
    pub fn effective_hash(&self) -> EffectiveHash {
        let mut hasher = Sha256::new();
        for entry in &self.entries {
            for text in [entry.scope.as_str(), entry.id.as_str()] {
                hasher.update((text.len() as u64).to_le_bytes());
                hasher.update(text);
            }
            hasher.update(entry.content_hash.as_bytes());
        }
        EffectiveHash::from_bytes(hasher.finalize().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(scope: &str, id: &str, body: &str) -> ManifestEntry {
        ManifestEntry {
            scope: scope.into(),
            id: id.into(),
            content_hash: ContentHash::of(body),
        }
    }

    #[test]
    fn order_of_discovery_does_not_change_the_hash() {
        let forward = Manifest::new([entry("a", "x", "1"), entry("a", "y", "2"), entry("b", "a", "3")]);
        let backward = Manifest::new([entry("b", "a", "3"), entry("a", "y", "2"), entry("a", "x", "1")]);
        assert_eq!(forward.effective_hash(), backward.effective_hash());
        assert_eq!(forward, backward);
    }

    #[test]
    fn text_cannot_move_between_fields_unnoticed() {
        let one = Manifest::new([entry("ab", "c", "1")]);
        let other = Manifest::new([entry("a", "bc", "1")]);
        assert_ne!(one.effective_hash(), other.effective_hash());
    }
}
