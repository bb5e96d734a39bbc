//! `casebook config`

use crate::cli::{Common, ConfigCommand};
use crate::failure::Failure;
use crate::settings::{self, KEYS, PROJECT_FILE, Place};
use crate::wire::Setup;
use crate::{output, render};

pub(crate) fn run(common: &Common, command: &ConfigCommand) -> Result<(), Failure> {
    match command {
        ConfigCommand::Show => show(common),
    }
}

fn show(common: &Common) -> Result<(), Failure> {
    let setup = Setup::new(common)?;
    let project = settings::project(setup.root.clone(), &setup.data_dir, &setup.layers)?;
    let rows: Vec<render::SettingRow> = KEYS
        .iter()
        .map(|key| {
            let (value, place) = match setup.layers.get(key.name) {
                Some((value, place)) => (value.clone(), place.clone()),
                None => (settings::default_of(key.name, &project), Place::Default),
            };
            render::SettingRow {
                key: key.name,
                value,
                place: place.to_string(),
            }
        })
        .collect();
    let in_use = project.index_dirs.iter().find(|dir| dir.is_dir());
    let index_dir = in_use.or(project.index_dirs.first()).cloned().unwrap_or_default();
    let places = [
        ("root", project.root.clone()),
        ("project_file", setup.root.join(PROJECT_FILE)),
        ("user_file", setup.user_file.clone()),
        ("data_dir", setup.data_dir.clone()),
        ("index_dir", index_dir),
    ];
    if common.json {
        let settings = rows.iter().map(render::SettingRow::json).collect::<Vec<_>>();
        let places: serde_json::Map<_, _> = places
            .iter()
            .map(|(name, path)| ((*name).to_owned(), path.display().to_string().into()))
            .collect();
        return output::json(&serde_json::json!({
            "project_id": project.id.as_str(), "places": places, "settings": settings
        }));
    }
    let places: String = places
        .iter()
        .map(|(name, path)| format!("{name:13} {}\n", path.display()))
        .collect();
    output::line(format!(
        "project       {}\n{places}\n{}",
        project.id,
        render::settings(&rows)
    ))
}
