//! `casebook models`

mod add;
mod hub;

use casebook_api::{ApiError, ErrorKind};
use casebook_encoder::{ImportProgress, ImportStage, PackError, PackManifest, PackStore, PackTask, check_pack};
use serde_json::json;

use crate::cli::{Common, ModelsCommand, UseModelArgs};
use crate::failure::Failure;
use crate::hub::HubSpec;
use crate::progress::ByteBar;
use crate::render::{InUse, ModelRow};
use crate::settings::{self, EMBEDDED, EncoderSettings, PROJECT_FILE, Role};
use crate::wire::{Setup, pack_unusable};
use crate::{output, render};

pub(crate) fn run(common: &Common, command: &ModelsCommand) -> Result<(), Failure> {
    let setup = Setup::new(common)?;
    let store = settings::store(&setup.data_dir);
    match command {
        ModelsCommand::Fill(command) => super::fill::run(common, command),
        ModelsCommand::Add(args) => add::run(common, &setup, &store, args),
        ModelsCommand::List => list(common, &setup, &store),
        ModelsCommand::Verify { name } => verify(common, &store, name.as_deref()),
        ModelsCommand::Use(args) => choose(common, &setup, &store, args),
        ModelsCommand::Remove { name, force } => remove(common, &setup, &store, name, *force),
    }
}

/// Shows how far an import or a check is.
fn show(bar: &ByteBar, progress: ImportProgress) {
    let stage = match progress.stage {
        ImportStage::Copying => "copying the model",
        ImportStage::Converting => "converting weights",
        ImportStage::Hashing => "checking files",
    };
    bar.show(stage, progress.done, progress.total);
}

/// What this project's settings say that a pack is used for.
fn uses(setup: &Setup, name: &str) -> Result<Vec<&'static str>, Failure> {
    let mut uses = Vec::new();
    for role in Role::ALL {
        if settings::chosen(&setup.layers, role)?.as_deref() == Some(name) {
            uses.push(role.word());
        }
    }
    Ok(uses)
}

fn list(common: &Common, setup: &Setup, store: &PackStore) -> Result<(), Failure> {
    let found = store.list()?;
    let mut rows = Vec::new();
    for pack in found.packs {
        rows.push(ModelRow {
            uses: uses(setup, &pack.name)?,
            pack,
        });
    }
    let mut problems: Vec<_> = found.problems.iter().map(ToString::to_string).collect();
    // A chosen pack that cannot be used would not be seen among the others.
    let in_use = match settings::encoder(&setup.layers, store) {
        Ok(chosen) => {
            let packs = [&chosen.model, &chosen.reranker].into_iter().flatten();
            problems.extend(packs.filter_map(|pack| Some(pack.usable().err()?.0.message)));
            render::models_in_use(&Role::ALL.map(|role| in_use(&chosen, role)))
        }
        Err(Failure(error)) => {
            problems.push(error.message);
            String::new()
        }
    };
    for kept in hub::kept(&setup.data_dir)? {
        let size = kept.bytes.div_ceil(1_000_000);
        problems.push(format!(
            "a download of {0} waits ({size} MB): `casebook models add {0}` goes on with it, `casebook models remove {0}` \
             removes it",
            kept.source
        ));
    }
    if common.json {
        let models: Vec<_> = rows.iter().map(ModelRow::json).collect();
        return output::json(&json!({ "models": models, "problems": problems }));
    }
    problems
        .iter()
        .for_each(|problem| output::note(render::safe(&format!("! {problem}"))));
    output::line(format!("{}\n{in_use}", render::models(&rows)).trim_end())
}

/// What this project's settings choose for a role: the pack and whether it can be used, or what is compiled in.
fn in_use(chosen: &EncoderSettings, role: Role) -> InUse<'_> {
    let pack = match role {
        Role::Encode => &chosen.model,
        Role::Rerank => &chosen.reranker,
    };
    InUse {
        embedded: role.embedded(),
        pack: pack.as_ref().map(|pack| (pack.name.as_str(), pack.usable().is_ok())),
    }
}

fn verify(common: &Common, store: &PackStore, name: Option<&str>) -> Result<(), Failure> {
    let names = match name {
        Some(name) => vec![name.to_owned()],
        None => {
            let found = store.list()?;
            let broken = found.problems.iter().filter_map(|problem| match problem {
                PackError::ManifestInvalid { name, .. } => Some(name.clone()),
                _ => None,
            });
            let whole = found.packs.iter().map(|pack| pack.name.clone());
            let mut names: Vec<_> = whole.chain(broken).collect();
            names.sort();
            names
        }
    };
    let bar = ByteBar::new();
    let mut faults = Vec::new();
    for name in &names {
        let found = store.verify(name, &mut |progress| show(&bar, progress))?;
        faults.extend(found.iter().map(|fault| format!("{name}: {fault}")));
    }
    bar.finish();
    if !faults.is_empty() {
        let message = format!(
            "{} of what the manifests say does not hold; remove the model and add it again",
            faults.len()
        );
        let error = ApiError {
            details: faults,
            ..ApiError::new("pack_differs", ErrorKind::CheckFailed, message)
        };
        return Err(error.into());
    }
    if common.json {
        return output::json(&json!({ "models": names }));
    }
    output::line(match &names[..] {
        [] => "There are no models to check.".to_owned(),
        [name] => format!("{name} is as its manifest says"),
        names => format!("{} models are as their manifests say", names.len()),
    })
}

fn choose(common: &Common, setup: &Setup, store: &PackStore, args: &UseModelArgs) -> Result<(), Failure> {
    let asked = [(Role::Encode, &args.name), (Role::Rerank, &args.reranker)];
    let asked: Vec<_> = asked
        .into_iter()
        .filter_map(|(role, name)| Some((role, name.as_deref()?)))
        .collect();
    for (role, name) in &asked {
        if *name != EMBEDDED {
            let pack = store.manifest(name)?;
            check_task(*role, &pack)?;
            check_pack(&store.path(name)?, &pack).map_err(|error| pack_unusable(name, "", &error))?;
        }
    }
    let file = if args.user {
        setup.user_file.clone()
    } else {
        setup.root.join(PROJECT_FILE)
    };
    let changes: Vec<_> = asked.iter().map(|(role, name)| (role.key(), *name)).collect();
    settings::write_setting(&file, &changes)?;
    // What was written may stand below another layer.
    let after = Setup::new(common)?;
    let mut hidden = Vec::new();
    for (role, name) in &asked {
        let (chosen, place) = match after.layers.get(role.key()) {
            Some((value, place)) => (value.as_str().unwrap_or_default(), place.to_string()),
            None => (EMBEDDED, "default".to_owned()),
        };
        if chosen != *name {
            hidden.push(format!("{} is {chosen} all the same, from {place}", role.key()));
        }
    }
    if common.json {
        let set: serde_json::Map<_, _> = asked
            .iter()
            .map(|(role, name)| (role.key().into(), (*name).into()))
            .collect();
        return output::json(&json!({ "file": file.display().to_string(), "set": set, "overridden": hidden }));
    }
    hidden.iter().for_each(|text| output::note(format!("! {text}")));
    let set: Vec<_> = asked
        .iter()
        .map(|(role, name)| format!("{} = \"{name}\"", role.key()))
        .collect();
    let next = if args.name.as_deref().is_some_and(|name| name != EMBEDDED) {
        "\nNext: `casebook models fill` makes its vectors; the embedded encoder answers until they are complete"
    } else {
        ""
    };
    output::line(format!("Wrote {} to {}{next}", set.join(", "), file.display()))
}

fn check_task(role: Role, pack: &PackManifest) -> Result<(), Failure> {
    match (role, pack.task) {
        (Role::Encode, PackTask::Embed) | (Role::Rerank, PackTask::Rerank) => Ok(()),
        (Role::Encode, PackTask::Rerank) => Err(Failure::input(
            "pack_task_wrong",
            format!("{} reranks and cannot encode: use it with --reranker {0}", pack.name),
        )),
        (Role::Rerank, PackTask::Embed) => Err(Failure::input(
            "pack_task_wrong",
            format!("{} encodes and cannot rerank: use it without --reranker", pack.name),
        )),
    }
}

fn remove(common: &Common, setup: &Setup, store: &PackStore, name: &str, force: bool) -> Result<(), Failure> {
    if HubSpec::is_meant(name) {
        return remove_downloads(common, setup, name);
    }
    let uses = uses(setup, name)?;
    if !uses.is_empty() && !force {
        let message = format!(
            "this project uses {name} ({}); `casebook models use` chooses another, --force removes it all the same",
            uses.join(", ")
        );
        return Err(ApiError::new("pack_in_use", ErrorKind::Conflict, message).into());
    }
    store.remove(name)?;
    if common.json {
        return output::json(&json!({ "removed": name }));
    }
    output::line(format!("Removed {name}"))
}

/// Removes what waits of a model on the hub.
fn remove_downloads(common: &Common, setup: &Setup, source: &str) -> Result<(), Failure> {
    let source = source.parse::<HubSpec>()?.source();
    if hub::discard(&source, &setup.data_dir)? == 0 {
        let message = format!("no download of {source} waits; a pack is removed by its name");
        return Err(Failure::input("pack_unknown", message));
    }
    if common.json {
        return output::json(&json!({ "removed": source }));
    }
    output::line(format!("Removed what had come of {source}"))
}

/// Who can help with a pack: the one table for all of the encoder's codes.
impl From<PackError> for Failure {
    fn from(error: PackError) -> Self {
        let kind = match &error {
            PackError::Exists { .. } | PackError::Busy => ErrorKind::Conflict,
            PackError::DiskFull { .. } | PackError::Unwritable { .. } | PackError::Trial { .. } => ErrorKind::Internal,
            _ => ErrorKind::Input,
        };
        let made = ApiError::new(error.code(), kind, error.to_string());
        Self(match std::error::Error::source(&error) {
            Some(source) => made.because(source),
            None => made,
        })
    }
}
