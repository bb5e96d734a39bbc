//! A GGUF file that holds everything.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use super::{Described, GGUF, write_json};
use crate::packs::bundle::{Bundle, BundleEntry};
use crate::packs::files::Meter;
use crate::packs::gguf::GgufHeader;
use crate::packs::gguf_model::{GgufModel, gguf_model};
use crate::packs::network::Network;
use crate::packs::sentence::Sentence;
use crate::packs::{ImportStage, OnProgress, PackError, PackTask, Pooling};

/// Reads what the file says of itself, before it is copied.
pub(super) fn describe(bundle: &mut Bundle, weights: &BundleEntry, described: &mut Described) -> Result<(), PackError> {
    let header = bundle.with_start(weights, |reader| {
        GgufHeader::read(reader, weights.bytes).map_err(|why| PackError::weights(&weights.path, why))
    })?;
    let model = gguf_model(&weights.path, &header)?;
    described.sentence = Sentence {
        pooling: pooling(&model)?,
        ..Sentence::default()
    };
    if model.pooling == Some(4) {
        described.task = Some(PackTask::Rerank);
    }
    described.network = Some(Network::read(&weights.path, model.config.to_string().as_bytes())?);
    described.names.push(weights.path.clone());
    described.names.extend(model.name);
    described.licences.push(model.licence);
    Ok(())
}

fn pooling(model: &GgufModel) -> Result<Option<Pooling>, PackError> {
    Ok(match model.pooling {
        None | Some(0 | 4) => None,
        Some(1) => Some(Pooling::Mean),
        Some(2) => Some(Pooling::Cls),
        Some(3) => Some(Pooling::Last),
        Some(other) => {
            return Err(PackError::unsupported(format!(
                "the pooling type is {other}; 1 (mean), 2 (first token) and 3 (last token) can be run"
            )));
        }
    })
}

/// Copies the file and writes what its metadata say as files of their own.
pub(super) fn copy(
    bundle: &mut Bundle,
    weights: &BundleEntry,
    stage: &Path,
    on_progress: OnProgress<'_>,
) -> Result<(), PackError> {
    let path = stage.join(GGUF);
    let mut meter = Meter::new(ImportStage::Copying, weights.bytes, on_progress);
    bundle.copy(weights, &path, &mut meter)?;
    let file = File::open(&path).map_err(PackError::reading(&path))?;
    let header = GgufHeader::read(BufReader::new(file), weights.bytes);
    let header = header.map_err(|why| PackError::weights(&weights.path, why))?;
    let model = gguf_model(&weights.path, &header)?;
    write_json(stage, "config.json", &model.config)?;
    write_json(stage, "tokenizer.json", &model.tokenizer)
}
