//! What the documents name exists, and what exists is documented.

use std::path::Path;

use casebook_house_rules::{anchors, codes, links, named_paths, table_names, undocumented};

use crate::repository::{METADATA, assert_none, root, text, texts};

/// The project's own documents; Markdown that is data is somebody else's.
fn documents() -> Vec<(&'static str, String)> {
    let all = texts(".md");
    all.into_iter()
        .filter(|(path, _)| path.starts_with("docs/") || !path.contains('/'))
        .collect()
}

#[test]
fn every_crate_is_in_the_architecture() {
    let names = METADATA.packages.iter().map(|package| package.name.as_str());
    assert_none(undocumented(names, &text("docs/architecture.md").unwrap()));
}

#[test]
fn every_path_that_the_documents_name_exists() {
    assert!(documents().len() > 10, "the documents were not found");
    let problems = documents().into_iter().flat_map(|(document, markdown)| {
        let missing = named_paths(&markdown)
            .into_iter()
            .filter(|path| !root().join(path).exists());
        missing
            .map(move |path| format!("{document} names {path}"))
            .collect::<Vec<_>>()
    });
    assert_none(problems.collect());
}

#[test]
fn every_path_that_comments_name_exists() {
    let comments = |source: &str| {
        let lines = source.lines().filter_map(|line| line.trim_start().strip_prefix("//"));
        lines.collect::<Vec<_>>().join("\n")
    };
    let problems = texts(".rs").into_iter().flat_map(|(file, source)| {
        let missing = named_paths(&comments(&source))
            .into_iter()
            .filter(|path| !root().join(path).exists());
        missing
            .map(move |path| format!("{file} names {path}"))
            .collect::<Vec<_>>()
    });
    assert_none(problems.collect());
}

#[test]
fn every_link_leads_somewhere() {
    let problems = documents().into_iter().flat_map(|(document, markdown)| {
        let dead = links(&markdown).into_iter().filter_map(|link| {
            let folder = Path::new(document).parent().unwrap();
            let target = if link.target.is_empty() {
                Path::new(document).to_owned()
            } else {
                folder.join(&link.target)
            };
            let found = root().join(&target);
            let leads = match &link.anchor {
                None => found.exists(),
                Some(anchor) => std::fs::read_to_string(found).is_ok_and(|text| anchors(&text).contains(anchor)),
            };
            (!leads).then(|| {
                format!(
                    "{document} links to {}#{}",
                    link.target,
                    link.anchor.unwrap_or_default()
                )
            })
        });
        dead.collect::<Vec<_>>()
    });
    assert_none(problems.collect());
}

/// The stable codes of degradations and errors in what ships.
fn stable_codes() -> Vec<String> {
    let sources = texts(".rs");
    let shipped = sources
        .iter()
        .filter(|(path, _)| path.starts_with("crates/") && path.contains("/src/"));
    let ours = shipped.filter(|(path, _)| !path.starts_with("crates/house-rules/") && !path.ends_with("/tests.rs"));
    let mut found: Vec<_> = ours
        .flat_map(|(path, source)| codes(path.rsplit('/').next().unwrap_or_default(), source))
        .collect();
    found.sort();
    found.dedup();
    found
}

#[test]
fn every_code_is_explained() {
    let found = stable_codes();
    assert!(found.len() > 20, "the codes were not found");
    assert_none(undocumented(
        found.iter().map(String::as_str),
        &text("docs/degradations.md").unwrap(),
    ));
}

#[test]
fn every_explained_code_exists() {
    let found = stable_codes();
    let explained = table_names(&text("docs/degradations.md").unwrap());
    assert_none(explained.into_iter().filter(|code| !found.contains(code)).collect());
}

#[test]
fn every_decision_has_its_four_parts() {
    let decisions = documents()
        .into_iter()
        .filter(|(path, _)| path.starts_with("docs/decisions/0"));
    let problems = decisions.flat_map(|(path, markdown)| {
        let headings = anchors(&markdown);
        let missing = ["context", "choice", "alternatives", "consequences"].into_iter();
        let missing = missing.filter(move |part| !headings.iter().any(|heading| heading == part));
        missing
            .map(move |part| format!("{path} has no heading \"{part}\""))
            .collect::<Vec<_>>()
    });
    assert_none(problems.collect());
}
