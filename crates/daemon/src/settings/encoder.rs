//! Which encoder and which reranker the settings choose.

use std::path::{Path, PathBuf};

use casebook_encoder::{PackManifest, PackStore, PackTask};

use super::Layers;
use crate::failure::Failure;

/// The name of what is compiled in.
pub(crate) const EMBEDDED: &str = "embedded";
/// The folder of model packs in the data folder.
const MODELS: &str = "models";

/// What a pack is chosen for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Text becomes vectors.
    Encode,
    /// A question and a text become a score.
    Rerank,
}

impl Role {
    pub(crate) const ALL: [Self; 2] = [Self::Encode, Self::Rerank];

    /// The setting that chooses.
    pub(crate) const fn key(self) -> &'static str {
        match self {
            Self::Encode => "encoder.model",
            Self::Rerank => "encoder.reranker",
        }
    }

    /// What people call it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Encode => "model",
            Self::Rerank => "reranker",
        }
    }

    const fn task(self) -> PackTask {
        match self {
            Self::Encode => PackTask::Embed,
            Self::Rerank => PackTask::Rerank,
        }
    }
}

/// What the settings say about encoding; `None` stands for what is compiled in.
#[derive(Debug)]
pub(crate) struct EncoderSettings {
    /// Folder and manifest of the pack that encodes.
    pub(crate) model: Option<(PathBuf, PackManifest)>,
    /// Folder and manifest of the pack that reranks.
    pub(crate) reranker: Option<(PathBuf, PackManifest)>,
    /// Threads that packs compute on; `None` for one on each core.
    pub(crate) threads: Option<usize>,
}

/// The packs of a data folder.
pub(crate) fn store(data_dir: &Path) -> PackStore {
    PackStore::open(data_dir.join(MODELS))
}

/// Returns the name of the pack that the settings choose; `None` for what is compiled in.
pub(crate) fn chosen(layers: &Layers, role: Role) -> Result<Option<String>, Failure> {
    Ok(layers.text(role.key())?.filter(|name| name != EMBEDDED))
}

/// Finds what the settings choose. Reads manifests, not weights.
pub(crate) fn encoder(layers: &Layers, store: &PackStore) -> Result<EncoderSettings, Failure> {
    let threads = layers.unsigned("encoder.threads")?.filter(|threads| *threads > 0);
    Ok(EncoderSettings {
        model: pack(layers, store, Role::Encode)?,
        reranker: pack(layers, store, Role::Rerank)?,
        threads: threads.and_then(|threads| usize::try_from(threads).ok()),
    })
}

fn pack(layers: &Layers, store: &PackStore, role: Role) -> Result<Option<(PathBuf, PackManifest)>, Failure> {
    let Some(name) = chosen(layers, role)? else {
        return Ok(None);
    };
    let manifest = store.manifest(&name)?;
    if manifest.task != role.task() {
        return Err(layers.wrong(role.key(), "a model for this task", &name));
    }
    Ok(Some((store.path(&name)?, manifest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layers(text: &str) -> Layers {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("casebook.toml");
        std::fs::write(&file, text).unwrap();
        Layers::read(None, &file, std::iter::empty()).unwrap()
    }

    /// A store with an encoder `e` and a reranker `r`, of manifests alone.
    fn packs() -> (tempfile::TempDir, PackStore) {
        let folder = tempfile::tempdir().unwrap();
        for (name, task) in [("e", "embed"), ("r", "rerank")] {
            let pack = folder.path().join("models").join(name);
            std::fs::create_dir_all(&pack).unwrap();
            let manifest = serde_json::json!({
                "format": 1, "name": name, "source": "x", "revision": "x", "licence": "MIT", "architecture": "bert",
                "task": task, "pooling": "mean", "normalise": true, "query_prefix": "", "passage_prefix": "",
                "dimension": 8, "max_tokens": 8, "sparse": false, "means": false, "files": []
            });
            std::fs::write(pack.join("pack.json"), manifest.to_string()).unwrap();
        }
        let store = store(folder.path());
        (folder, store)
    }

    #[test]
    fn settings_choose_packs() {
        let (_folder, store) = packs();
        let plain = encoder(&layers(""), &store).unwrap();
        assert!(plain.model.is_none() && plain.reranker.is_none() && plain.threads.is_none());
        let text = "[encoder]\nmodel = 'e'\nreranker = 'r'\nthreads = 3";
        let found = encoder(&layers(text), &store).unwrap();
        assert_eq!(found.model.unwrap().0, store.path("e").unwrap());
        assert_eq!(found.reranker.unwrap().1.name, "r");
        assert_eq!(found.threads, Some(3));
        let embedded = encoder(&layers("[encoder]\nmodel = 'embedded'\nthreads = 0"), &store).unwrap();
        assert!(embedded.model.is_none() && embedded.threads.is_none());
    }

    #[test]
    fn a_pack_that_cannot_be_used_is_told() {
        let (_folder, store) = packs();
        for (text, code) in [
            ("model = 'r'", "config_invalid"),
            ("reranker = 'e'", "config_invalid"),
            ("model = 'x'", "pack_unknown"),
            ("model = '../e'", "pack_name_invalid"),
        ] {
            let failure = encoder(&layers(&format!("[encoder]\n{text}")), &store).unwrap_err();
            assert_eq!(failure.0.code, code, "{text}");
        }
    }
}
