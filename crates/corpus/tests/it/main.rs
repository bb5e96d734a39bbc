//! What this crate does, seen from outside.

mod bad_files;
mod conformance;
mod discovery;
mod edits;
mod stack;
mod watching;

use std::collections::HashMap;
use std::path::Path;

use casebook_corpus::{
    Degradation, FileSources, FilesConfig, Found, KnownItem, KnownItems, KnownState, MemorySource, Scan, SourceDecl,
};
use casebook_testkit::FixedClock;

/// What a caller holds after a scan.
#[derive(Clone, Debug, Default, PartialEq)]
struct Held(HashMap<String, KnownItem>);

impl KnownItems for Held {
    fn get(&self, location: &str) -> Option<KnownItem> {
        self.0.get(location).cloned()
    }
}

impl Held {
    /// Takes over a scan: what it does not name is gone.
    fn update(&mut self, scan: &Scan) {
        let old = std::mem::take(&mut self.0);
        for item in &scan.items {
            let state = match &item.found {
                Found::Unchanged => old[&item.location].state.clone(),
                Found::Resource(resource) => KnownState::Resource {
                    id: resource.meta.id.clone(),
                    content_hash: resource.meta.content_hash,
                },
                Found::Skipped(degradation) => KnownState::Skipped(degradation.clone()),
            };
            let stamp = item.stamp;
            self.0.insert(item.location.clone(), KnownItem { stamp, state });
        }
    }
}

fn scan(source: &dyn MemorySource, held: &dyn KnownItems) -> Scan {
    source
        .scan(held, &FixedClock::default(), &|_| true)
        .expect("the folder of the test is there")
}

fn files(root: &Path, config: FilesConfig) -> FileSources {
    FileSources::new(root, config).expect("the folder of the test is there")
}

fn source(path: &str) -> SourceDecl {
    SourceDecl {
        path: path.to_owned(),
        ..SourceDecl::default()
    }
}

/// Shows a scan in one line: `=` unchanged, `+` read, `!` skipped or named.
fn show(scan: &Scan) -> String {
    let items = scan.items.iter().map(|item| match &item.found {
        Found::Unchanged => format!("={}", item.location),
        Found::Resource(_) => format!("+{}", item.location),
        Found::Skipped(degradation) => named(degradation),
    });
    items
        .chain(scan.degradations.iter().map(named))
        .collect::<Vec<_>>()
        .join(" ")
}

fn named(degradation: &Degradation) -> String {
    format!(
        "!{}:{}",
        degradation.code,
        degradation.path.as_deref().unwrap_or_default()
    )
}

#[test]
fn every_file_of_this_folder_is_listed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let this = std::fs::read_to_string(folder.join("main.rs")).unwrap();
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let module = name.trim_end_matches(".rs");
        assert!(module == "main" || this.contains(&format!("mod {module};")), "{name}");
    }
}
