//! A folder as Hugging Face lays it out, from a disk, a zip, a wheel or a download.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use super::{Described, GGUF, SAFETENSORS, SPARSE, from_pack};
use crate::packs::bundle::{Bundle, BundleEntry};
use crate::packs::files::Meter;
use crate::packs::means::MEANS;
use crate::packs::names::{ending, file_name};
use crate::packs::network::Network;
use crate::packs::safetensors::safetensors_header;
use crate::packs::sentence::Sentence;
use crate::packs::{ImportRequest, ImportStage, OnProgress, PackError, licence};

/// Reads what the small files say, and refuses what cannot be run before anything is copied.
pub(super) fn describe(bundle: &mut Bundle, folder: &str, request: &ImportRequest) -> Result<Described, PackError> {
    let limits = &request.limits;
    let path = format!("{folder}config.json");
    let config = bundle.read(&path, limits)?.unwrap_or_default();
    let network = Some(Network::read(&path, &config)?);
    bundle.check_text(&format!("{folder}tokenizer.json"), limits)?;
    if let Some(described) = from_pack::manifest(bundle, folder, limits)? {
        return Ok(Described { network, ..described });
    }
    let sparse = bundle.find(&format!("{folder}{SPARSE}")).is_some();
    let pickled = format!("{folder}sparse_linear.pt");
    if !sparse && bundle.find(&pickled).is_some() {
        return Err(PackError::Pickle {
            path: pickled,
            advice: "the sparse head is read from sparse_linear.safetensors (tensors `weight` and `bias`); write that once \
                     on a machine that you trust with the pickle, or remove sparse_linear.pt to go without the head",
        });
    }
    let card = bundle.text(&format!("{folder}README.md"), limits)?.unwrap_or_default();
    Ok(Described {
        sentence: Sentence::read(bundle, folder, limits)?,
        names: card_names(&card).chain([folder.to_owned(), bundle.name()]).collect(),
        licences: vec![licence::of_card(&card)],
        network,
        sparse,
        means: bundle.find(&format!("{folder}{MEANS}")).is_some(),
        ..Described::default()
    })
}

/// The names that a model card's index gives.
fn card_names(card: &str) -> impl Iterator<Item = String> {
    let front = licence::front_matter(card).unwrap_or_default();
    let names: Vec<_> = front
        .iter()
        .filter_map(|line| line.strip_prefix("- name: "))
        .map(|name| name.trim().to_owned())
        .collect();
    names.into_iter()
}

/// Copies the files of the pack.
pub(super) fn copy(
    bundle: &mut Bundle,
    folder: &str,
    weights: &BundleEntry,
    described: &Described,
    stage: &Path,
    on_progress: OnProgress<'_>,
) -> Result<(), PackError> {
    let target = if ending(&weights.path) == "gguf" {
        GGUF
    } else {
        SAFETENSORS
    };
    let mut wanted = vec![(weights.clone(), target)];
    let more = [
        (true, "config.json"),
        (true, "tokenizer.json"),
        (described.sparse, SPARSE),
        (described.means, MEANS),
    ];
    for (_, name) in more.into_iter().filter(|(wanted, _)| *wanted) {
        let entry = bundle.find(&format!("{folder}{name}")).cloned();
        wanted.push((
            entry.ok_or_else(|| PackError::description(name, "it is missing"))?,
            name,
        ));
    }
    let total = wanted.iter().map(|(entry, _)| entry.bytes).sum();
    let mut meter = Meter::new(ImportStage::Copying, total, on_progress);
    for (entry, name) in &wanted {
        bundle.copy(entry, &stage.join(name), &mut meter)?;
    }
    if described.sparse {
        check_sparse(&stage.join(SPARSE), &stage.join("config.json"))?;
    }
    Ok(())
}

/// Checks the sparse head: a row of weights and a bias.
fn check_sparse(path: &Path, config: &Path) -> Result<(), PackError> {
    let config = std::fs::read(config).map_err(PackError::reading(config))?;
    let hidden = Network::read("config.json", &config)?.hidden;
    let file = File::open(path).map_err(PackError::reading(path))?;
    let total = file.metadata().map_err(PackError::reading(path))?.len();
    let tensors = safetensors_header(BufReader::new(file), total).map_err(|why| PackError::weights(SPARSE, why))?;
    let has = |name: &str, shape: &[u64]| {
        let found = tensors.iter().find(|tensor| tensor.name == name);
        found.is_some_and(|tensor| tensor.shape == shape && tensor.kind.block().is_some())
    };
    if has("weight", &[1, hidden]) && has("bias", &[1]) {
        return Ok(());
    }
    Err(PackError::weights(
        file_name(SPARSE),
        format!("a sparse head has `weight` of 1 x {hidden} and `bias` of 1"),
    ))
}
