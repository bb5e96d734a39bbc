//! Writes settings into a file that a person keeps: comments, order and everything else stay as they are.

use std::path::Path;

use casebook_storage::{create_private_dir, write_atomic};
use toml_edit::{DocumentMut, Item, Table, value};

use super::PROJECT_FILE;
use crate::failure::Failure;

/// Sets keys (`section.name`) of a settings file to texts; a missing file is created.
pub(crate) fn write_setting(file: &Path, settings: &[(&str, &str)]) -> Result<(), Failure> {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => {
            let message = format!("{} cannot be read: {error}", file.display());
            return Err(Failure::input("config_unreadable", message));
        }
    };
    let invalid = |why: String| {
        let message = format!("{} cannot be changed: {why}", file.display());
        Failure::input("config_invalid", message)
    };
    let mut document: DocumentMut = text.parse().map_err(|error| invalid(format!("{error}")))?;
    for (key, text) in settings {
        set(&mut document, key, text).map_err(invalid)?;
    }
    let written = document.to_string();
    let unwritable = |error: casebook_storage::FileError| {
        let message = format!("cannot write {}", file.display());
        if file.ends_with(PROJECT_FILE) {
            Failure::internal("project_unwritable", message, &error)
        } else {
            Failure::internal("config_unwritable", message, &error)
        }
    };
    if let Some(folder) = file.parent().filter(|folder| !folder.exists()) {
        create_private_dir(folder).map_err(unwritable)?;
    }
    write_atomic(file, written.as_bytes()).map_err(unwritable)
}

fn set(document: &mut DocumentMut, key: &str, text: &str) -> Result<(), String> {
    let (section, name) = key.split_once('.').unwrap_or(("", key));
    let table = if section.is_empty() {
        document.as_table_mut()
    } else {
        let item = document.entry(section).or_insert_with(|| Item::Table(Table::new()));
        match item {
            Item::Table(table) => table,
            // `encoder = { model = "x" }` or `encoder.model = "x"`.
            Item::Value(toml_edit::Value::InlineTable(table)) => {
                table.insert(name, text.into());
                return Ok(());
            }
            _ => return Err(format!("{section} is no table")),
        }
    };
    match table.get_mut(name).and_then(Item::as_value_mut) {
        // What stands around the old value, such as a comment behind it, stays.
        Some(old) => {
            let around = old.decor().clone();
            *old = text.into();
            *old.decor_mut() = around;
        }
        None => drop(table.insert(name, value(text))),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(before: &str, after: &str) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("new").join(PROJECT_FILE);
        if !before.is_empty() {
            std::fs::create_dir(file.parent().unwrap()).unwrap();
            std::fs::write(&file, before).unwrap();
        }
        write_setting(&file, &[("encoder.model", "e5")]).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), after);
    }

    #[test]
    fn everything_else_stays_as_it_is() {
        check("", "[encoder]\nmodel = \"e5\"\n");
        check(
            "# 项目 notes\nid = 'x' # mine\n\n[ranker]\n# why\ntoken_budget = 900\n",
            "# 项目 notes\nid = 'x' # mine\n\n[ranker]\n# why\ntoken_budget = 900\n\n[encoder]\nmodel = \"e5\"\n",
        );
        check(
            "[encoder]\n# before\nmodel = 'old' # behind\nthreads = 2\n",
            "[encoder]\n# before\nmodel = \"e5\" # behind\nthreads = 2\n",
        );
        check(
            "encoder.model = 'old'\nid = 'x'\n",
            "encoder.model = \"e5\"\nid = 'x'\n",
        );
        check(
            "encoder = { threads = 2 }\n",
            "encoder = { threads = 2 , model = \"e5\" }\n",
        );
    }

    #[test]
    fn a_file_that_cannot_be_changed_stays() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(PROJECT_FILE);
        for text in ["[encoder\n", "encoder = 3\n", "[[encoder]]\n"] {
            std::fs::write(&file, text).unwrap();
            let failure = write_setting(&file, &[("encoder.model", "e5")]).unwrap_err();
            assert_eq!(failure.0.code, "config_invalid");
            assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        }
    }
}
