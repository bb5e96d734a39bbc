//! The one place where a model is asked for from another machine.

use std::path::Path;

use crate::cli::AddModelArgs;
use crate::failure::Failure;
use crate::hub::{self, Environment, FetchedModel, HubOptions, HubSpec, RealSleeper};
use crate::progress::DownloadProgress;

/// Where downloads wait in the data folder until they have been imported.
const DOWNLOADS: &str = "downloads";

/// Downloads the model that `args` names; what an interrupted call left is used.
pub(super) fn fetch(args: &AddModelArgs, data_dir: &Path) -> Result<FetchedModel, Failure> {
    let spec: HubSpec = match &args.revision {
        Some(revision) if !args.source.contains('@') => format!("{}@{revision}", args.source).parse()?,
        _ => args.source.parse()?,
    };
    let environment = Environment::of_process();
    let options = HubOptions {
        file: args.file.clone(),
        max_bytes: args.max_bytes,
        ..HubOptions::new(&environment, &RealSleeper, &())?
    };
    let mut progress = DownloadProgress::new();
    let fetched = hub::fetch(&spec, &data_dir.join(DOWNLOADS), &options, &mut progress);
    progress.finish();
    Ok(fetched?)
}
