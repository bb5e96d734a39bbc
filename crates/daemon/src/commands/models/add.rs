//! `casebook models add`

use std::path::{Path, PathBuf};

use casebook_encoder::{ImportLimits, ImportRequest, PackManifest, PackStore, Pooling, Prune, try_pack};

use super::hub;
use crate::cli::{AddModelArgs, Common, PoolingArg, PruneArg};
use crate::failure::Failure;
use crate::hub::HubSpec;
use crate::progress::ImportBar;
use crate::wire::Setup;
use crate::{output, render};

pub(super) fn run(common: &Common, setup: &Setup, store: &PackStore, args: &AddModelArgs) -> Result<(), Failure> {
    let manifest = if HubSpec::is_meant(&args.source) {
        let fetched = hub::fetch(args, &setup.data_dir)?;
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
        let manifest = import(store, &request)?;
        // Kept until here: an import that is refused for a missing flag does not download again.
        fetched.discard()?;
        manifest
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
    let bar = ImportBar::new();
    let manifest = store.add_tried(request, &mut |progress| bar.show(progress), &mut try_pack);
    bar.finish();
    Ok(manifest?)
}
