//! Which encoder and which reranker the settings choose.

use std::path::{Path, PathBuf};

use casebook_encoder::{PackManifest, PackStore, PackTask};

use super::Layers;
use super::layers::Place;
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

    /// What is compiled in for it.
    pub(crate) const fn embedded(self) -> &'static str {
        match self {
            Self::Encode => "the embedded encoder",
            Self::Rerank => "the embedded reranker",
        }
    }

    /// The command that goes back to what is compiled in.
    const fn way_back(self) -> &'static str {
        match self {
            Self::Encode => "casebook models use embedded",
            Self::Rerank => "casebook models use --reranker embedded",
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
    /// The pack that encodes.
    pub(crate) model: Option<ChosenPack>,
    /// The pack that reranks.
    pub(crate) reranker: Option<ChosenPack>,
    /// Threads that packs compute on, as the setting says; `None` for one on each core.
    pub(crate) threads: Option<usize>,
}

/// A pack that a setting names.
#[derive(Debug)]
pub(crate) struct ChosenPack {
    pub(crate) role: Role,
    pub(crate) name: String,
    /// Where the setting stands.
    place: Place,
    /// Folder and manifest, or why it cannot be used.
    pub(crate) found: Result<(PathBuf, PackManifest), Failure>,
}

impl ChosenPack {
    /// Who chose it and what to do, to be put behind a reason.
    pub(crate) fn advice(&self) -> String {
        let way_back = match &self.place {
            Place::Environment(variable) => format!("unset {variable}"),
            _ => self.role.way_back().to_owned(),
        };
        format!(
            "; {} = {:?} stands in {}: `{way_back}` goes back to {}, `casebook models add` adds a pack",
            self.role.key(),
            self.name,
            self.place,
            self.role.embedded()
        )
    }

    /// Returns folder and manifest.
    ///
    /// # Errors
    /// Why it cannot be used, who chose it and what to do.
    pub(crate) fn usable(&self) -> Result<(&PathBuf, &PackManifest), Failure> {
        match &self.found {
            Ok((dir, manifest)) => Ok((dir, manifest)),
            Err(Failure(error)) => {
                let mut error = error.clone();
                error.message += &self.advice();
                Err(Failure(error))
            }
        }
    }
}

/// The packs of a data folder.
pub(crate) fn store(data_dir: &Path) -> PackStore {
    PackStore::open(data_dir.join(MODELS))
}

/// Returns the name of the pack that the settings choose; `None` for what is compiled in.
pub(crate) fn chosen(layers: &Layers, role: Role) -> Result<Option<String>, Failure> {
    Ok(layers.text(role.key())?.filter(|name| name != EMBEDDED))
}

/// Finds what the settings choose. Reads manifests, not weights. A pack that cannot be used is no error here: only who
/// needs it asks whether it [is usable](ChosenPack::usable).
pub(crate) fn encoder(layers: &Layers, store: &PackStore) -> Result<EncoderSettings, Failure> {
    let threads = layers.unsigned("encoder.threads")?.filter(|threads| *threads > 0);
    Ok(EncoderSettings {
        model: pack(layers, store, Role::Encode)?,
        reranker: pack(layers, store, Role::Rerank)?,
        threads: threads.and_then(|threads| usize::try_from(threads).ok()),
    })
}

fn pack(layers: &Layers, store: &PackStore, role: Role) -> Result<Option<ChosenPack>, Failure> {
    let Some(name) = chosen(layers, role)? else {
        return Ok(None);
    };
    // What can be no name is a wrong setting, and no pack that is missing.
    let dir = store.path(&name)?;
    let found = match store.manifest(&name) {
        Ok(manifest) if manifest.task == role.task() => Ok((dir, manifest)),
        Ok(_) => Err(layers.wrong(role.key(), "a model for this task", &name)),
        Err(error) => Err(error.into()),
    };
    Ok(Some(ChosenPack {
        role,
        place: layers.place(role.key()),
        name,
        found,
    }))
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
        assert_eq!(*found.model.unwrap().usable().unwrap().0, store.path("e").unwrap());
        assert_eq!(found.reranker.unwrap().usable().unwrap().1.name, "r");
        assert_eq!(found.threads, Some(3));
        let embedded = encoder(&layers("[encoder]\nmodel = 'embedded'\nthreads = 0"), &store).unwrap();
        assert!(embedded.model.is_none() && embedded.threads.is_none());
    }

    #[test]
    fn a_pack_that_cannot_be_used_is_told_to_who_needs_it() {
        let (_folder, store) = packs();
        for (text, code, way_back) in [
            ("model = 'r'", "config_invalid", "`casebook models use embedded`"),
            (
                "reranker = 'e'",
                "config_invalid",
                "`casebook models use --reranker embedded`",
            ),
            ("model = 'x'", "pack_unknown", "`casebook models use embedded`"),
        ] {
            let found = encoder(&layers(&format!("[encoder]\n{text}")), &store).unwrap();
            let Failure(error) = found.model.or(found.reranker).unwrap().usable().unwrap_err();
            assert_eq!(error.code, code, "{text}");
            for part in ["encoder.", "casebook.toml", way_back, "`casebook models add`"] {
                assert!(error.message.contains(part), "{part}: {}", error.message);
            }
        }
        let mut from_variable = layers("");
        from_variable
            .add_variable("CASEBOOK_ENCODER_MODEL".to_owned(), "x")
            .unwrap();
        let found = encoder(&from_variable, &store).unwrap();
        let Failure(error) = found.model.unwrap().usable().unwrap_err();
        assert!(
            error.message.contains("`unset CASEBOOK_ENCODER_MODEL`"),
            "{}",
            error.message
        );
        let failure = encoder(&layers("[encoder]\nmodel = '../e'"), &store).unwrap_err();
        assert_eq!(failure.0.code, "pack_name_invalid");
    }
}
