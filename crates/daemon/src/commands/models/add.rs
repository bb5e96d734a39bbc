//! `casebook models add`

use std::path::{Path, PathBuf};

use casebook_encoder::{ImportLimits, ImportRequest, PackManifest, PackStore, Pooling, Prune, try_pack};

use super::hub;
use crate::cli::{AddModelArgs, Common, PoolingArg, PruneArg};
use crate::failure::Failure;
use crate::hub::HubSpec;
use crate::progress::ByteBar;
use crate::wire::Setup;
use crate::{output, render};

/// Why an import failed that may go well with another flag, more room or more patience.
const MENDABLE: &[&str] = &[
    "disk_full",
    "pack_ambiguous",
    "pack_exists",
    "pack_licence_missing",
    "pack_licence_refused",
    "pack_store_busy",
    "pack_store_unwritable",
    "pack_too_large",
    "pack_trial_failed",
    "pack_unsupported",
];
const SPARSE_LEFT_OUT: &str = "sparse_linear.pt is a pickle and is not read: the pack weighs no terms; with a \
                               sparse_linear.safetensors beside the model in a folder it would";

pub(super) fn run(common: &Common, setup: &Setup, store: &PackStore, args: &AddModelArgs) -> Result<(), Failure> {
    let manifest = if HubSpec::is_meant(&args.source) {
        let fetched = hub::fetch(args, &request(args), store, &setup.data_dir)?;
        if fetched.lacks_sparse_head {
            output::note(format!("! {SPARSE_LEFT_OUT}"));
        }
        let request = ImportRequest {
            from: fetched.dir.clone(),
            source: Some(fetched.source.clone()),
            revision: Some(fetched.revision.clone()),
            declared_licence: fetched.licence.clone(),
            // A chosen file lies at the top of the download under its last name.
            file: args
                .file
                .as_deref()
                .and_then(|file| Some(file.rsplit('/').next()?.to_owned())),
            ..request(args)
        };
        match import(store, &request) {
            // An import that is refused for want of a flag, or of room, does not download again.
            Err(failure) if MENDABLE.contains(&failure.0.code) => return Err(failure),
            imported => {
                fetched.discard()?;
                imported?
            }
        }
    } else {
        import(store, &request(args)).map_err(|failure| hint(failure, &args.source))?
    };
    if common.json {
        return output::json(&manifest);
    }
    output::line(render::added_model(&manifest))
}

/// Who writes a model's name as other tools take it means the hub.
fn hint(mut failure: Failure, source: &str) -> Failure {
    let spec = format!("hf:{source}");
    if failure.0.code == "pack_unreadable" && spec.parse::<HubSpec>().is_ok() && !Path::new(source).exists() {
        failure.0.message += &format!("; for the model on the Hugging Face hub write {spec}");
    }
    failure
}

fn request(args: &AddModelArgs) -> ImportRequest {
    ImportRequest {
        from: PathBuf::from(&args.source),
        source: None,
        revision: args.revision.clone(),
        name: args.name.clone(),
        file: args.file.clone(),
        licence: args.licence.clone(),
        declared_licence: None,
        allow_licence: args.allow_licence,
        query_prefix: args.query_prefix.clone(),
        passage_prefix: args.passage_prefix.clone(),
        pooling: args.pooling.map(|pooling| match pooling {
            PoolingArg::Mean => Pooling::Mean,
            PoolingArg::Cls => Pooling::Cls,
            PoolingArg::Last => Pooling::Last,
        }),
        prune: args.prune.map(|PruneArg::ZhEn| Prune::ZhEn),
        limits: ImportLimits {
            total_bytes: args.max_bytes,
            ..ImportLimits::default()
        },
    }
}

fn import(store: &PackStore, request: &ImportRequest) -> Result<PackManifest, Failure> {
    let bar = ByteBar::new();
    let manifest = store.add_tried(request, &mut |progress| super::show(&bar, progress), &mut try_pack);
    bar.finish();
    Ok(manifest?)
}
