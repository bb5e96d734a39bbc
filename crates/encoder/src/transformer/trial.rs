//! A pack is run once before it is taken: what cannot be opened, or gives what is no number, is somebody's broken model.

use std::path::Path;

use casebook_index::{EncodeError, Passage, TextEncoder as _, TextSide};
use casebook_ranker::{PairScorer as _, ScoreError};

use super::{CrossEncoder, TransformerEncoder, TransformerError, language_means};
use crate::packs::{Means, PackError, PackManifest, PackTask};

const QUERY: &str = "Where is the lock? 锁在哪里？";
const PASSAGE: &str = "The lock is released when the process ends. 进程结束时释放锁。";

/// Opens a pack and runs it: a reranker scores a pair, an encoder makes the mean vectors of languages, unless it brought
/// them, and term weights where it has a head for them.
///
/// # Errors
/// When the pack cannot be opened or run; the error names the file.
pub fn try_pack(dir: &Path, manifest: &PackManifest) -> Result<Means, PackError> {
    match manifest.task {
        PackTask::Embed => try_encoder(dir, manifest),
        PackTask::Rerank => try_reranker(dir, manifest).map(|()| Means::new()),
    }
}

fn try_encoder(dir: &Path, manifest: &PackManifest) -> Result<Means, PackError> {
    let encoder = TransformerEncoder::open(dir, manifest).map_err(refused)?;
    if manifest.sparse {
        let weights = encoder.sparse_weights(PASSAGE, TextSide::Passage);
        weights.map_err(|error| cannot_run("sparse_linear.safetensors", error))?;
    }
    let file = weights_of(manifest);
    if manifest.means {
        encoder.encode_query(QUERY).map_err(|error| cannot_run(file, error))?;
        return Ok(Means::new());
    }
    language_means(&encoder).map_err(|error| cannot_run(file, error))
}

fn try_reranker(dir: &Path, manifest: &PackManifest) -> Result<(), PackError> {
    let scorer = CrossEncoder::open(dir, manifest).map_err(refused)?;
    let passage = Passage {
        path: "",
        heading_path: &[],
        text: PASSAGE,
    };
    match scorer.score(QUERY, &[passage], &()) {
        Ok(_) => Ok(()),
        Err(error @ ScoreError::Cancelled) => Err(PackError::Trial { source: error.into() }),
        Err(error) => {
            let source = std::error::Error::source(&error);
            let why = source.map_or_else(|| error.to_string(), ToString::to_string);
            Err(PackError::weights(
                weights_of(manifest),
                format!("they cannot be run: {why}"),
            ))
        }
    }
}

fn weights_of(manifest: &PackManifest) -> &str {
    let is_weights = |name: &&str| name.starts_with("model.");
    let mut names = manifest.files.iter().map(|file| file.name.as_str());
    names.find(is_weights).unwrap_or("model.safetensors")
}

fn cannot_run(file: &str, error: EncodeError) -> PackError {
    match error {
        EncodeError::Input { reason, .. } => PackError::weights(file, format!("they cannot be run: {reason}")),
        EncodeError::Panicked { .. } => PackError::weights(file, "the network panicked at them"),
        other => PackError::Trial { source: other.into() },
    }
}

/// Tells whose fault it is that a pack cannot be opened.
fn refused(error: TransformerError) -> PackError {
    match error {
        TransformerError::Read { file, source } => PackError::Unreadable {
            path: file.into(),
            source,
        },
        TransformerError::Length { file, found, expected } => {
            PackError::weights(&file, format!("it has {found} bytes, expected {expected}"))
        }
        TransformerError::Content { file } => PackError::weights(&file, "it was changed while it was added"),
        TransformerError::Format { file, problem } if is_json(&file) => PackError::description(&file, problem),
        TransformerError::Format { file, problem } => PackError::weights(&file, problem),
        TransformerError::Setting {
            file,
            key,
            found,
            expected,
        } => PackError::description(&file, format!("it says {found} for {key}, expected {expected}")),
        TransformerError::Tokenizer(source) => PackError::description("tokenizer.json", source),
        TransformerError::MissingTensor { file, tensor } => {
            PackError::weights(&file, format!("there is no tensor {tensor}"))
        }
        TransformerError::Shape {
            file,
            tensor,
            found,
            expected,
        } => PackError::weights(&file, format!("{tensor} has shape {found:?}, expected {expected:?}")),
        TransformerError::Storage { file, tensor, found } => {
            PackError::weights(&file, format!("{tensor} is stored as {found}, which is not read"))
        }
        TransformerError::NotFinite { file, tensor } => {
            PackError::weights(&file, format!("{tensor} holds an infinity or no number"))
        }
        other @ TransformerError::Threads(_) => PackError::Trial { source: other.into() },
    }
}

fn is_json(file: &str) -> bool {
    file.ends_with(".json")
}
