//! `casebook archive`

use casebook_api::{ApiError, ErrorKind};
use casebook_archive::{Catalog, CatalogEntry, verify};
use serde_json::json;

use crate::cli::{ArchiveCommand, Common};
use crate::failure::Failure;
use crate::settings::find_root;
use crate::{output, render};

/// Where raw sources lie below a project, and the catalog's name there.
const ARCHIVE: &str = "archive/raw-sources";
const CATALOG: &str = "catalog.jsonl";

pub(crate) fn run(common: &Common, command: &ArchiveCommand) -> Result<(), Failure> {
    let archive = find_root(common.root.as_deref())?.join(ARCHIVE);
    let catalog = Catalog::read(&archive.join(CATALOG))
        .map_err(|error| Failure::internal("catalog_unreadable", "the catalog cannot be read", &error))?;
    match command {
        ArchiveCommand::List => list(common, &catalog),
        ArchiveCommand::Verify { source } => {
            let wanted = |entry: &&CatalogEntry| source.as_ref().is_none_or(|id| entry.source_id.as_str() == id);
            let entries: Vec<_> = catalog.entries.iter().filter(wanted).collect();
            if let (true, Some(id)) = (entries.is_empty(), source) {
                let message = format!("no raw source {id:?} in the catalog; `casebook archive list` shows them");
                return Err(Failure::input("source_unknown", message));
            }
            let faults: Vec<_> = entries
                .iter()
                .flat_map(|entry| {
                    verify(&archive, entry)
                        .into_iter()
                        .map(|fault| format!("{}: {fault}", entry.source_id))
                })
                .chain(catalog.problems.iter().map(ToString::to_string))
                .collect();
            verified(common, entries.len(), faults)
        }
    }
}

fn list(common: &Common, catalog: &Catalog) -> Result<(), Failure> {
    let problems: Vec<_> = catalog.problems.iter().map(ToString::to_string).collect();
    if common.json {
        return output::json(&json!({ "sources": catalog.entries, "problems": problems }));
    }
    problems.iter().for_each(|problem| output::note(format!("! {problem}")));
    output::line(render::archive(&catalog.entries))
}

fn verified(common: &Common, sources: usize, faults: Vec<String>) -> Result<(), Failure> {
    if !faults.is_empty() {
        let message = format!("{} of what the catalog says does not hold", faults.len());
        let error = ApiError {
            details: faults,
            ..ApiError::new("archive_differs", ErrorKind::CheckFailed, message)
        };
        return Err(error.into());
    }
    if common.json {
        return output::json(&json!({ "sources": sources }));
    }
    output::line(format!("{sources} raw sources are as the catalog says"))
}
