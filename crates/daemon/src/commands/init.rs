//! `casebook init`

use std::path::Path;

use casebook_api::{ApiError, ErrorKind, Project};

use crate::cli::{Common, InitArgs};
use crate::clock::new_id;
use crate::failure::Failure;
use crate::output;
use crate::settings::{KEYS, PROJECT_FILE, find_root};

pub(crate) fn run(common: &Common, args: &InitArgs) -> Result<(), Failure> {
    // Without --root the current folder is meant, not a project above it.
    let root = find_root(Some(common.root.as_deref().unwrap_or(Path::new("."))))?;
    let file = root.join(PROJECT_FILE);
    if file.exists() {
        let message = format!("{} exists; edit it, or delete it to start over", file.display());
        return Err(ApiError::new("project_exists", ErrorKind::Conflict, message).into());
    }
    let name = args
        .name
        .clone()
        .or_else(|| Some(root.file_name()?.to_str()?.to_owned()));
    // A folder that was used before keeps its id, and with it its history.
    let id = match &args.name {
        None if root.join(".casebook").is_dir() => Project::derived_id(&root).to_string(),
        _ => project_id(name.as_deref().unwrap_or("project"), &new_id()),
    };
    casebook_storage::write_atomic(&file, project_file(&id).as_bytes())
        .map_err(|error| Failure::internal("project_unwritable", format!("cannot write {}", file.display()), &error))?;
    if common.json {
        return output::json(&serde_json::json!({ "project_id": id, "config": file.display().to_string() }));
    }
    output::line(format!(
        "Wrote {} (project {id}).\nNext: casebook activate \"what did we decide about …?\"",
        file.display()
    ))
}

/// Makes an id of the name's plain characters and the random end of a fresh id.
fn project_id(name: &str, fresh: &str) -> String {
    let plain: String = name
        .chars()
        .map(|c| {
            if c.is_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '-'
            }
        })
        .take(40)
        .collect();
    format!("{}-{}", plain.trim_matches('-'), &fresh[fresh.len() - 8..])
        .trim_start_matches('-')
        .to_owned()
}

/// Returns the file: the id, and every other setting as a comment.
fn project_file(id: &str) -> String {
    let settings = KEYS.iter().filter(|key| key.name != "id");
    let comments: String = settings
        .map(|key| format!("#   {:24} {}\n", key.name, key.help))
        .collect();
    format!(
        "# This folder's memory is every Markdown file below it, unless [[sources]] says otherwise.\n\
         id = \"{id}\"\n\n\
         # [[sources]]\n# path = \"notes\"\n# scope = \"project\"\n# layer = \"mutable\"\n# kind = \"note\"\n\n\
         # Settings; `casebook config show` tells their values and where each comes from.\n{comments}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_plain() {
        for (name, id) in [
            ("My Notes", "my-notes-89abcdef"),
            ("笔记", "笔记-89abcdef"),
            ("..", "89abcdef"),
        ] {
            assert_eq!(project_id(name, "0123456789abcdef"), id);
        }
    }

    #[test]
    fn the_file_is_valid_and_sets_the_id_alone() {
        let table: toml::Table = project_file("notes-1").parse().unwrap();
        assert_eq!(table.keys().collect::<Vec<_>>(), ["id"]);
    }
}
