//! A folder that is a pack already, carried from another machine: its manifest says what the plain files cannot.

use super::Described;
use crate::packs::bundle::Bundle;
use crate::packs::sentence::Sentence;
use crate::packs::store::MANIFEST;
use crate::packs::{ImportLimits, PackError, PackManifest};

/// Reads the manifest of a pack's folder; `None` where there is none. The files are hashed anew by whoever imports.
pub(super) fn manifest(
    bundle: &mut Bundle,
    folder: &str,
    limits: &ImportLimits,
) -> Result<Option<Described>, PackError> {
    let path = format!("{folder}{MANIFEST}");
    let Some(bytes) = bundle.read(&path, limits)? else {
        return Ok(None);
    };
    let manifest: PackManifest =
        serde_json::from_slice(&bytes).map_err(|error| PackError::description(&path, error))?;
    Ok(Some(Described {
        sentence: Sentence {
            pooling: Some(manifest.pooling),
            normalise: Some(manifest.normalise),
            tokens: u64::try_from(manifest.max_tokens).ok(),
            query_prefix: Some(manifest.query_prefix),
            passage_prefix: Some(manifest.passage_prefix),
            ..Sentence::default()
        },
        title: Some(manifest.name),
        licences: vec![Some(manifest.licence)],
        sparse: manifest.sparse,
        means: manifest.means,
        task: Some(manifest.task),
        ..Described::default()
    }))
}
