//! The system's own notices of a real folder. Every wait for one has a bound that only a fault reaches.

use std::fs;
use std::time::Duration;

use casebook_corpus::{FileWatcher, FilesConfig, Notice, SourceDecl, Watch};
use casebook_testkit::TempProject;

use crate::files;

/// So many waits of a second.
const BOUND: usize = 60;

/// Long enough for what was done before to be told, mostly; too short a one hides a fault and finds none.
const CALM: Duration = Duration::from_millis(100);

fn watcher(project: &TempProject, config: FilesConfig) -> FileWatcher {
    let mut watcher = FileWatcher::new(files(project.root(), config));
    watcher.prepare(None);
    assert_eq!(watcher.degradation(), None);
    watcher
}

/// Waits for a notice, and until it is calm again.
#[track_caller]
fn expect_notice(watcher: &mut FileWatcher) {
    let told = (0..BOUND).find_map(|_| watcher.wait(Duration::from_secs(1)));
    assert_eq!(told, Some(Notice::Changed));
    while watcher.wait(CALM).is_some() {}
    watcher.prepare(Some(Notice::Changed));
}

#[track_caller]
fn expect_calm(watcher: &mut FileWatcher) {
    for _ in 0..3 {
        assert_eq!(watcher.wait(CALM), None);
    }
}

#[test]
fn every_way_to_change_a_file_is_noticed() {
    let project = TempProject::with(&[("笔记/a.md", "one")]);
    let path = project.path("笔记/a.md");
    let mut watcher = watcher(&project, FilesConfig::default());
    expect_calm(&mut watcher);
    fs::write(&path, "two").unwrap();
    expect_notice(&mut watcher);
    fs::write(project.path("beside.tmp"), "three").unwrap();
    expect_calm(&mut watcher);
    fs::rename(project.path("beside.tmp"), &path).unwrap();
    expect_notice(&mut watcher);
    fs::remove_file(&path).unwrap();
    expect_notice(&mut watcher);
    project.write("new/deep/b.md", "four");
    expect_notice(&mut watcher);
    project.write("new/deep/b.md", "five");
    expect_notice(&mut watcher);
    fs::rename(project.path("new"), project.path("moved")).unwrap();
    expect_notice(&mut watcher);
    project.write("moved/deep/b.md", "six");
    expect_notice(&mut watcher);
    fs::remove_dir_all(project.path("moved")).unwrap();
    expect_notice(&mut watcher);
    expect_calm(&mut watcher);
}

#[test]
fn reading_and_what_is_no_memory_are_not_noticed() {
    let project = TempProject::with(&[
        ("a.md", "one"),
        (".gitignore", "target/\n"),
        ("target/a.md", ""),
        (".casebook/index.db", ""),
        (".git/HEAD", ""),
    ]);
    let mut watcher = watcher(&project, FilesConfig::default());
    let source = files(project.root(), FilesConfig::default());
    for n in 0..20 {
        crate::scan(&source, &crate::Held::default());
        for path in [
            "target/a.md",
            ".casebook/index.db",
            ".git/HEAD",
            ".hidden.md",
            "log.txt",
            "AGENTS.md",
        ] {
            project.write(path, &n.to_string());
        }
    }
    expect_calm(&mut watcher);
}

#[test]
fn a_source_that_is_hidden_or_ignored_is_watched_where_it_is_declared() {
    let project = TempProject::with(&[(".notes/a.md", "one"), ("b.md", "two"), (".gitignore", ".notes/\n")]);
    let declared = SourceDecl {
        path: ".notes".to_owned(),
        ..SourceDecl::default()
    };
    let config = FilesConfig {
        sources: vec![declared],
        ..FilesConfig::default()
    };
    let mut watcher = watcher(&project, config);
    project.write("b.md", "no memory");
    expect_calm(&mut watcher);
    project.write(".notes/a.md", "three");
    expect_notice(&mut watcher);
    fs::remove_dir_all(project.path(".notes")).unwrap();
    expect_notice(&mut watcher);
    project.write(".notes/c.md", "four");
    expect_notice(&mut watcher);
    project.write(".notes/c.md", "five");
    expect_notice(&mut watcher);
}
