//! Edits are seen, and only edits.

use std::fs::File;
use std::time::{Duration, UNIX_EPOCH};

use casebook_corpus::{FileState, FilesConfig, KnownItems, SourceDecl};
use casebook_testkit::TempProject;

use crate::{Held, files, scan, show};

#[test]
fn an_edit_right_after_a_scan_is_seen() {
    let project = TempProject::new();
    let source = files(project.root(), FilesConfig::default());
    let mut held = Held::default();
    for round in 0..20 {
        project.write("a.md", &format!("{}", round % 10));
        let scan = scan(&source, &held);
        assert_eq!(show(&scan), "+a.md", "round {round}");
        assert_eq!(scan.bytes_read, 1);
        assert!(scan.items[0].stamp.is_some());
        held.update(&scan);
    }
}

#[test]
fn touching_a_file_is_no_change() {
    let project = TempProject::with(&[("a.md", "# 标题\n")]);
    let source = files(project.root(), FilesConfig::default());
    let mut held = Held::default();
    held.update(&scan(&source, &held));
    let before = held.clone();
    let touched = File::options().write(true).open(project.path("a.md")).unwrap();
    touched.set_modified(UNIX_EPOCH + Duration::from_millis(1)).unwrap();
    let first = scan(&source, &held);
    assert_eq!(show(&first), "=a.md");
    assert!(first.bytes_read > 0);
    held.update(&first);
    assert_ne!(held.get("a.md").unwrap().stamp, before.get("a.md").unwrap().stamp);
    assert_eq!(scan(&source, &held).bytes_read, 0);
}

#[test]
fn an_edit_with_its_old_time_and_size_is_seen() {
    let project = TempProject::with(&[("a.md", "one")]);
    let source = files(project.root(), FilesConfig::default());
    let mut held = Held::default();
    held.update(&scan(&source, &held));
    let modified = std::fs::metadata(project.path("a.md")).unwrap().modified().unwrap();
    project.write("a.md", "two");
    File::options()
        .write(true)
        .open(project.path("a.md"))
        .unwrap()
        .set_modified(modified)
        .unwrap();
    assert_eq!(show(&scan(&source, &held)), "+a.md");
}

#[test]
fn another_default_is_a_change() {
    let project = TempProject::with(&[("a.md", "text"), ("b.md", "---\nkind: state\n---\n")]);
    let mut held = Held::default();
    held.update(&scan(&files(project.root(), FilesConfig::default()), &held));
    let journal = SourceDecl {
        kind: "journal".to_owned(),
        ..SourceDecl::default()
    };
    let config = FilesConfig {
        sources: vec![journal],
        ..FilesConfig::default()
    };
    assert_eq!(show(&scan(&files(project.root(), config), &held)), "+a.md =b.md");
}

#[test]
fn a_repaired_file_comes_back() {
    let project = TempProject::new();
    project.write_bytes("a.md", b"caf\xe9");
    let source = files(project.root(), FilesConfig::default());
    let mut held = Held::default();
    held.update(&scan(&source, &held));
    project.write("a.md", "café");
    let repaired = scan(&source, &held);
    assert_eq!(show(&repaired), "+a.md");
    held.update(&repaired);
    project.write_bytes("a.md", b"caf\xe9");
    assert_eq!(show(&scan(&source, &held)), "!file_not_utf8:a.md");
}

#[test]
fn one_look_tells_how_a_file_stands() {
    let project = TempProject::with(&[("docs/a.md", "text"), ("outside.md", "text")]);
    let config = FilesConfig {
        sources: vec![crate::source("docs")],
        ..FilesConfig::default()
    };
    let source = files(project.root(), config);
    let stamp = scan(&source, &()).items[0].stamp;
    let check = |location: &str, expected| assert_eq!(source.state_of(location, stamp), expected, "{location}");
    check("docs/a.md", FileState::Present);
    assert_eq!(source.state_of("docs/a.md", None), FileState::Changed);
    check("docs/b.md", FileState::Gone);
    check("docs", FileState::Gone);
    check("outside.md", FileState::Gone);
    check("docs/../docs/a.md", FileState::Gone);
    check("/etc/hostname", FileState::Gone);
    project.write("docs/a.md", "other");
    check("docs/a.md", FileState::Changed);
    project.remove("docs/a.md");
    check("docs/a.md", FileState::Gone);
}

#[test]
fn a_file_tells_what_it_says_now() {
    let project = TempProject::with(&[
        ("a.md", "text"),
        ("broken.md", "---\ntitle: [\n---\n"),
        ("long.md", "0123456789"),
    ]);
    let config = FilesConfig {
        max_file_bytes: 40,
        ..FilesConfig::default()
    };
    let source = files(project.root(), config);
    assert!(source.meta_now("a.md").unwrap().audience.is_empty());
    project.write("a.md", "\u{feff}---\naudience: [board]\n---\ntext");
    assert_eq!(source.meta_now("a.md").unwrap().audience, ["board"]);
    project.write("long.md", &"0123456789".repeat(5));
    for location in ["broken.md", "long.md", "missing.md", "../a.md", ""] {
        assert_eq!(source.meta_now(location), None, "{location:?}");
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("/etc/hostname", project.path("out.md")).unwrap();
        assert_eq!(source.meta_now("out.md"), None);
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_became_a_link_is_gone() {
    let project = TempProject::with(&[("a.md", "text"), ("b.md", "text")]);
    let source = files(project.root(), FilesConfig::default());
    let stamp = scan(&source, &()).items[0].stamp;
    project.remove("a.md");
    std::os::unix::fs::symlink("b.md", project.path("a.md")).unwrap();
    assert_eq!(source.state_of("a.md", stamp), FileState::Gone);
}

#[cfg(unix)]
#[test]
fn a_file_behind_a_folder_that_became_a_link_is_gone_unless_links_are_followed() {
    use std::os::unix::fs::symlink;
    let project = TempProject::with(&[("笔记/deep/a.md", "text")]);
    let outside = TempProject::new();
    let config = |follow_links| FilesConfig {
        follow_links,
        ..FilesConfig::default()
    };
    let sources = [false, true].map(|follow_links| files(project.root(), config(follow_links)));
    let stamp = scan(&sources[0], &()).items[0].stamp;
    let states = || {
        sources
            .each_ref()
            .map(|source| source.state_of("笔记/deep/a.md", stamp))
    };
    assert_eq!(states(), [FileState::Present; 2]);
    // The very file, with all its times, now behind a link.
    let moved = project.path("anders");
    std::fs::rename(project.path("笔记"), &moved).unwrap();
    symlink("anders", project.path("笔记")).unwrap();
    assert_eq!(states(), [FileState::Gone, FileState::Present]);
    std::fs::remove_file(project.path("笔记")).unwrap();
    std::fs::rename(&moved, outside.path("anders")).unwrap();
    symlink(outside.path("anders"), project.path("笔记")).unwrap();
    assert_eq!(states(), [FileState::Gone; 2]);
}
