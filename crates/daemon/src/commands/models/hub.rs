//! The one place where a model is asked for from another machine.

use std::path::Path;

use casebook_encoder::{ImportRequest, PackError, PackStore};

use crate::cli::AddModelArgs;
use crate::failure::Failure;
use crate::hub::{self, Environment, FetchedModel, HubOptions, HubSpec, KeptDownload, Offer, RealSleeper};
use crate::progress::DownloadProgress;

/// Where downloads wait in the data folder until they have been imported.
const DOWNLOADS: &str = "downloads";

/// Downloads the model that `args` names; what an interrupted call left is used. Whatever `request` could be refused for is
/// looked at before the weights are asked for.
pub(super) fn fetch(
    args: &AddModelArgs,
    request: &ImportRequest,
    store: &PackStore,
    data_dir: &Path,
) -> Result<FetchedModel, Failure> {
    let spec: HubSpec = match &args.revision {
        Some(revision) if !args.source.contains('@') => format!("{}@{revision}", args.source).parse()?,
        _ => args.source.parse()?,
    };
    let request = ImportRequest {
        source: Some(spec.source()),
        revision: None,
        ..request.clone()
    };
    store.check_request(&request, None)?;
    let environment = Environment::of_process();
    let options = HubOptions {
        file: args.file.clone(),
        max_bytes: args.max_bytes,
        known: &|sha256| store.file_of(sha256),
        ..HubOptions::new(&environment, &RealSleeper, &())?
    };
    let mut refuse = |offer: Offer<'_>| {
        let request = ImportRequest {
            revision: Some(offer.revision.to_owned()),
            declared_licence: offer.licence.map(ToOwned::to_owned),
            ..request.clone()
        };
        match store.check_request(&request, Some(offer.card.unwrap_or_default())) {
            // A GGUF file may say it itself.
            Err(PackError::LicenceMissing) if offer.is_gguf => Ok(()),
            checked => checked,
        }
    };
    let mut progress = DownloadProgress::new();
    let fetched = hub::fetch(&spec, &data_dir.join(DOWNLOADS), &options, &mut refuse, &mut progress);
    progress.finish();
    Ok(fetched?)
}

/// Returns the downloads that wait.
pub(super) fn kept(data_dir: &Path) -> Result<Vec<KeptDownload>, Failure> {
    Ok(hub::kept(&data_dir.join(DOWNLOADS))?)
}

/// Removes every download of a source that waits, and returns how many there were.
pub(super) fn discard(source: &str, data_dir: &Path) -> Result<usize, Failure> {
    let kept = kept(data_dir)?;
    let of_source: Vec<_> = kept.iter().filter(|kept| kept.source == source).collect();
    for kept in &of_source {
        hub::discard(&data_dir.join(DOWNLOADS), kept)?;
    }
    Ok(of_source.len())
}
