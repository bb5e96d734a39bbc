//! Which files are memory.

use casebook_corpus::{FilesConfig, Found, Layer, SourceDecl, SourceError};
use casebook_testkit::TempProject;

use crate::{files, scan, show, source};

fn check(files_there: &[(&str, &str)], config: FilesConfig, expected: &str) {
    let project = TempProject::with(files_there);
    assert_eq!(show(&scan(&files(project.root(), config), &())), expected);
}

fn with_sources(paths: &[&str]) -> FilesConfig {
    FilesConfig {
        sources: paths.iter().map(|path| source(path)).collect(),
        ..FilesConfig::default()
    }
}

#[test]
fn all_markdown_is_memory_but_what_is_hidden_or_ignored() {
    let there = [
        ("README.md", ""),
        ("docs/说明.MD", ""),
        ("docs/long.markdown", ""),
        ("docs/page.html", ""),
        ("docs/md", ""),
        (".hidden.md", ""),
        (".obsidian/a.md", ""),
        (".casebook/a.md", ""),
        (".git/a.md", ""),
        ("target/a.md", ""),
        ("drafts/a.md", ""),
        ("drafts/keep.md", ""),
        ("drafts/.gitignore", "*.md\n!keep.md\n"),
        (".gitignore", "/target\n"),
    ];
    check(
        &there,
        FilesConfig::default(),
        "+README.md +docs/long.markdown +docs/说明.MD +drafts/keep.md",
    );
}

#[test]
fn ignore_rules_hold_without_a_repository() {
    let there = [(".gitignore", "b.md\n"), ("a.md", ""), ("b.md", ""), ("c/b.md", "")];
    check(&there, FilesConfig::default(), "+a.md");
}

#[test]
fn rules_outside_the_root_have_no_say() {
    let project = TempProject::with(&[
        (".gitignore", "*.md\n"),
        (".ignore", "*.md\n"),
        ("inner/a.md", ""),
        ("inner/.ignore", "*.md\n"),
        ("inner/.git/info/exclude", "*.md\n"),
    ]);
    let scan = scan(&files(&project.path("inner"), FilesConfig::default()), &());
    assert_eq!(show(&scan), "+a.md");
}

#[test]
fn control_plane_files_are_never_memory() {
    let there = [
        ("AGENTS.md", ""),
        ("agents.md", ""),
        ("deep/er/CLAUDE.md", ""),
        ("GEMINI.md", ""),
        ("policy/a/b.md", ""),
        ("docs/policy/a.md", ""),
        (".cursor/rules/a.md", ""),
        (".github/copilot-instructions.md", ""),
        (".github/notes.md", ""),
    ];
    check(&there, FilesConfig::default(), "+docs/policy/a.md");
    check(&there, with_sources(&[".github", ".cursor"]), "+.github/notes.md");
    let own = FilesConfig {
        control_plane: vec!["d*/**/a.md".to_owned(), "*AGENTS.md".to_owned()],
        ..FilesConfig::default()
    };
    check(&there, own, "+GEMINI.md +deep/er/CLAUDE.md +policy/a/b.md");
}

#[test]
fn a_control_plane_name_counts_in_every_spelling() {
    let own = FilesConfig {
        control_plane: vec!["r\u{e9}gles.md".to_owned()],
        ..FilesConfig::default()
    };
    check(&[("re\u{301}gles.md", ""), ("a.md", "")], own, "+a.md");
}

#[test]
fn sources_say_where_memory_is_and_what() {
    let project = TempProject::with(&[
        ("a.md", ""),
        ("docs/a.md", ""),
        ("docs/team/a.md", ""),
        ("docs/team/b/a.md", ""),
        ("docs/teams/a.md", ""),
    ]);
    let team = SourceDecl {
        path: "./docs/team/".to_owned(),
        scope: "team".into(),
        layer: Layer::Immutable,
        kind: "journal".to_owned(),
    };
    let config = FilesConfig {
        sources: vec![team, source("docs")],
        ..FilesConfig::default()
    };
    let scan = scan(&files(project.root(), config), &());
    let rows = scan.items.iter().map(|item| {
        let Found::Resource(resource) = &item.found else {
            panic!("{item:?}")
        };
        let meta = &resource.meta;
        (
            item.location.as_str(),
            item.rank,
            meta.scope.as_str(),
            meta.kind.as_str(),
            meta.layer,
        )
    });
    assert_eq!(
        rows.collect::<Vec<_>>(),
        [
            ("docs/a.md", 1, "project", "note", Layer::Mutable),
            ("docs/team/a.md", 0, "team", "journal", Layer::Immutable),
            ("docs/team/b/a.md", 0, "team", "journal", Layer::Immutable),
            ("docs/teams/a.md", 1, "project", "note", Layer::Mutable),
        ]
    );
}

#[test]
fn a_source_may_be_hidden_or_ignored_but_the_rules_above_it_hold_inside() {
    let there = [
        (".gitignore", "/.memory/\nprivate\n"),
        (".memory/a.md", ""),
        (".memory/private/a.md", ""),
        (".memory/.b.md", ""),
        ("b.md", ""),
    ];
    check(&there, with_sources(&["", ".memory"]), "+.memory/a.md +b.md");
}

#[test]
fn of_two_sources_with_one_folder_the_upper_counts() {
    let project = TempProject::with(&[("docs/a.md", "")]);
    let scan = scan(&files(project.root(), with_sources(&["docs", "docs/"])), &());
    assert_eq!(scan.items.iter().map(|item| item.rank).collect::<Vec<_>>(), [1]);
}

#[test]
fn sources_that_make_no_sense_are_refused() {
    let project = TempProject::with(&[("docs/a.md", ""), (".casebook/x/a.md", ""), ("file.md", "")]);
    let refused = |paths: &[&str]| casebook_corpus::FileSources::new(project.root(), with_sources(paths)).unwrap_err();
    assert!(matches!(refused(&["docs", "../elsewhere"]), SourceError::Outside { path } if path == "../elsewhere"));
    assert!(matches!(refused(&["docs/../docs"]), SourceError::Outside { .. }));
    assert!(matches!(refused(&["/"]), SourceError::Outside { .. }));
    assert!(matches!(refused(&[".casebook/x"]), SourceError::Reserved { .. }));
    assert!(matches!(refused(&["missing"]), SourceError::Root { .. }));
    assert!(matches!(refused(&["file.md"]), SourceError::Root { .. }));
    let pattern = FilesConfig {
        control_plane: vec!["a[".to_owned()],
        ..FilesConfig::default()
    };
    let error = casebook_corpus::FileSources::new(project.root(), pattern).unwrap_err();
    assert!(matches!(error, SourceError::Pattern { pattern, .. } if pattern == "a["));
    let missing = casebook_corpus::FileSources::new(&project.path("none"), FilesConfig::default()).unwrap_err();
    assert!(matches!(missing, SourceError::Root { .. }));
}

#[test]
fn a_root_that_went_away_fails_the_scan() {
    let project = TempProject::with(&[("inner/a.md", "")]);
    let source = files(&project.path("inner"), FilesConfig::default());
    std::fs::remove_dir_all(project.path("inner")).unwrap();
    let clock = casebook_testkit::FixedClock::default();
    let error = casebook_corpus::MemorySource::scan(&source, &(), &clock, &|_| true).unwrap_err();
    assert!(matches!(error, SourceError::Root { .. }));
}
