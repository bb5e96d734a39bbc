//! Files that cannot be used: the rest is, and each is named.

use casebook_corpus::{EffectiveMemory, FilesConfig, Found, Member, MemorySource, Scan, Timestamp, codes};
use casebook_testkit::{FixedClock, TempProject, markdown, resource};
use proptest::prelude::*;

use crate::{Held, files, named, scan, show, source};

fn plain(project: &TempProject) -> Scan {
    scan(&files(project.root(), FilesConfig::default()), &())
}

/// Checks that a scan shows as expected, and that a second one tells the same without reading.
fn check(project: &TempProject, config: FilesConfig, expected: &str) {
    let source = files(project.root(), config);
    let mut held = Held::default();
    let first = scan(&source, &held);
    assert_eq!(show(&first), expected);
    held.update(&first);
    let second = scan(&source, &held);
    assert_eq!(show(&second), expected.replace('+', "="));
    assert_eq!(second.bytes_read, 0);
}

#[test]
fn what_is_not_text_is_skipped_by_name() {
    let project = TempProject::with(&[("good.md", "# 好\n"), ("front.md", "---\nimportance: 7\n---\n# A\n")]);
    project.write_bytes("latin1.md", b"# Caf\xe9\n");
    project.write_bytes("cut.md", "索引".as_bytes().split_last().unwrap().1);
    let expected = "!file_not_utf8:cut.md !front_matter_invalid:front.md +good.md !file_not_utf8:latin1.md";
    check(&project, FilesConfig::default(), expected);
    let scan = plain(&project);
    let details = scan.items.iter().filter_map(|item| match &item.found {
        Found::Skipped(degradation) => Some(degradation.detail.as_str()),
        _ => None,
    });
    let expected = [
        "byte 3 is not UTF-8",
        "front matter, line 2, importance: expected a number from 0 to 1",
        "byte 5 is not UTF-8",
    ];
    assert_eq!(details.collect::<Vec<_>>(), expected);
}

#[test]
fn a_key_that_is_nearly_known_is_named_where_the_file_is_new() {
    let project = TempProject::with(&[
        ("b.md", "---\nsuperseeds: [a.md]\ntags: [x]\nstatus: 草稿\n---\nnew\n"),
        ("a.md", "---\n标题: 旧\ntopic: queue\nentity: redis\n---\nold\n"),
    ]);
    let source = files(project.root(), FilesConfig::default());
    let mut held = Held::default();
    let first = scan(&source, &held);
    let code = codes::FRONT_MATTER_UNKNOWN_KEY;
    assert_eq!(
        show(&first),
        format!("+a.md +b.md !{code}:a.md !{code}:a.md !{code}:b.md")
    );
    let details: Vec<_> = first.degradations.iter().map(|one| one.detail.as_str()).collect();
    let expected = [
        "key \"topic\" is unknown: did you mean topics?",
        "key \"entity\" is unknown: did you mean entities?",
        "key \"superseeds\" is unknown: did you mean supersedes?",
    ];
    assert_eq!(details, expected);
    held.update(&first);
    assert_eq!(show(&scan(&source, &held)), "=a.md =b.md");
}

#[test]
fn a_file_over_the_limit_is_not_read() {
    let project = TempProject::with(&[("a.md", "12345678"), ("b.md", "123456789")]);
    project.write("huge.md", &"长行 ".repeat(1_500_000));
    let config = FilesConfig {
        max_file_bytes: 8,
        ..FilesConfig::default()
    };
    check(
        &project,
        config.clone(),
        "+a.md !file_too_large:b.md !file_too_large:huge.md",
    );
    assert_eq!(scan(&files(project.root(), config), &()).bytes_read, 8);
    check(&project, FilesConfig::default(), "+a.md +b.md !file_too_large:huge.md");
}

#[test]
fn a_file_within_another_limit_is_read_again() {
    let project = TempProject::with(&[("a.md", "123456789")]);
    let limit = |max_file_bytes| FilesConfig {
        max_file_bytes,
        ..FilesConfig::default()
    };
    let mut held = Held::default();
    for (bytes, expected) in [(8, "!file_too_large:a.md"), (9, "+a.md"), (10, "=a.md")] {
        let scan = scan(&files(project.root(), limit(bytes)), &held);
        assert_eq!(show(&scan), expected);
        held.update(&scan);
    }
}

#[test]
fn odd_but_good_text_is_kept_byte_for_byte() {
    let project = TempProject::new();
    let bodies = [
        "",
        "\0\0",
        "a\r\nb\rc\n",
        "🙂👩‍👩‍👧",
        "```\nopen",
        "x".repeat(3_000_000).leak(),
        "C:\\notes\\a.md",
    ];
    for (index, body) in bodies.iter().enumerate() {
        project.write(&format!("{index}.md"), &format!("\u{feff}{body}"));
    }
    let read = plain(&project).items.into_iter().map(|item| match item.found {
        Found::Resource(resource) => (resource.meta.body_span.byte_offset, resource.body),
        other => panic!("{other:?}"),
    });
    assert!(read.eq(bodies.map(|body| (3, body.to_owned()))));
}

#[test]
fn twin_names_are_both_kept() {
    let project = TempProject::with(&[("caf\u{e9}.md", "one"), ("cafe\u{301}.md", "two")]);
    let members = plain(&project).items.into_iter().map(|item| match item.found {
        Found::Resource(resource) => Member {
            location: item.location,
            rank: item.rank,
            meta: resource.meta,
        },
        other => panic!("{other:?}"),
    });
    let memory = EffectiveMemory::resolve(members.collect()).unwrap();
    let ids: Vec<_> = memory
        .manifest
        .entries()
        .iter()
        .map(|entry| entry.id.as_str())
        .collect();
    assert_eq!(ids.len(), 2);
    assert_eq!(ids[0], "caf\u{e9}.md");
    assert!(ids[1].starts_with("caf\u{e9}.md~"));
    assert_eq!(
        memory.degradations.iter().map(named).collect::<Vec<_>>(),
        ["!path_twin:cafe\u{301}.md"]
    );
}

#[test]
fn a_resource_read_from_a_file_is_the_one_made_by_hand() {
    let project = TempProject::with(&[("笔记/a.md", "text\n")]);
    let scan = plain(&project);
    let expected = resource("笔记/a.md", "text\n").build();
    assert_eq!(scan.items[0].found, Found::Resource(Box::new(expected)));
}

#[cfg(unix)]
mod unix {
    use std::ffi::OsStr;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn links_are_not_followed() {
        let outside = TempProject::with(&[("secret.md", "secret"), ("folder/a.md", "secret"), ("logo.png", "")]);
        let project = TempProject::with(&[("docs/a.md", "text"), ("b.md", "text")]);
        let link = |target: &std::path::Path, name: &str| symlink(target, project.path(name)).unwrap();
        link(&outside.path("secret.md"), "out.md");
        link(&outside.path("folder"), "out-folder");
        link(&outside.path("logo.png"), "logo.png");
        link(&project.path("b.md"), "in.md");
        link(&project.path("docs"), "in-folder");
        link(project.root(), "loop");
        link(&project.path("nowhere.md"), "broken.md");
        check(
            &project,
            FilesConfig::default(),
            "+b.md +docs/a.md !link_broken:broken.md !link_not_followed:in.md !link_outside_root:out-folder \
             !link_outside_root:out.md",
        );
        let follow = FilesConfig {
            follow_links: true,
            ..FilesConfig::default()
        };
        check(
            &project,
            follow,
            "+b.md +docs/a.md +in-folder/a.md +in.md !link_broken:broken.md !link_broken:loop \
             !link_outside_root:out-folder !link_outside_root:out.md",
        );
    }

    #[test]
    fn no_link_leads_to_what_is_never_memory() {
        let project = TempProject::with(&[("AGENTS.md", ""), ("policy/a.md", ""), (".casebook/a.md", "")]);
        symlink("AGENTS.md", project.path("rules.md")).unwrap();
        symlink("policy", project.path("notes")).unwrap();
        symlink(".casebook", project.path("storage")).unwrap();
        let follow = FilesConfig {
            follow_links: true,
            ..FilesConfig::default()
        };
        check(
            &project,
            follow,
            "!link_not_followed:notes/a.md !link_not_followed:rules.md !link_not_followed:storage/a.md",
        );
    }

    #[test]
    fn a_source_behind_a_link_out_is_refused() {
        let outside = TempProject::with(&[("a.md", "secret")]);
        let project = TempProject::new();
        symlink(outside.root(), project.path("notes")).unwrap();
        let config = FilesConfig {
            sources: vec![source("notes")],
            ..FilesConfig::default()
        };
        let error = casebook_corpus::FileSources::new(project.root(), config).unwrap_err();
        assert!(matches!(error, casebook_corpus::SourceError::Outside { .. }));
    }

    #[test]
    fn pipes_are_not_opened() {
        let project = TempProject::with(&[("a.md", "text")]);
        let made = std::process::Command::new("mkfifo")
            .arg(project.path("pipe.md"))
            .status();
        assert!(made.unwrap().success());
        let socket = std::os::unix::net::UnixListener::bind(project.path("socket.md")).unwrap();
        check(
            &project,
            FilesConfig::default(),
            "+a.md !not_a_file:pipe.md !not_a_file:socket.md",
        );
        drop(socket);
    }

    /// Scans two files and changes the second one's place when the first was read.
    fn scan_while(project: &TempProject, change: impl Fn()) -> String {
        let long_after = FixedClock::new(Timestamp::from_unix_millis(1_000_000_000_000_000));
        let source = files(project.root(), FilesConfig::default());
        let found = |count| {
            if count == 1 {
                change();
            }
            true
        };
        let scan = source.scan(&(), &long_after, &found);
        show(&scan.expect("the project is there"))
    }

    #[test]
    fn what_became_a_link_after_the_walk_is_not_read() {
        let outside = TempProject::with(&[("b.md", "secret")]);
        let project = TempProject::with(&[("a.md", "text"), ("folder/b.md", "text"), ("other/b.md", "text")]);
        let swap = |target: &std::path::Path, name: &str| {
            fs::rename(project.path(name), project.path("away")).unwrap();
            symlink(target, project.path(name)).unwrap();
        };
        let shown = scan_while(&project, || swap(outside.root(), "folder"));
        assert_eq!(shown, "+a.md !link_outside_root:folder/b.md +other/b.md");
        fs::remove_file(project.path("folder")).unwrap();
        fs::rename(project.path("away"), project.path("folder")).unwrap();
        let shown = scan_while(&project, || swap(&project.path("other"), "folder"));
        assert_eq!(shown, "+a.md !link_not_followed:folder/b.md +other/b.md");
    }

    #[test]
    fn what_became_a_pipe_or_went_away_after_the_walk_is_not_read() {
        let project = TempProject::with(&[("a.md", "text"), ("b.md", "text"), ("c.md", "text")]);
        let shown = scan_while(&project, || {
            project.remove("b.md");
            project.remove("c.md");
            std::process::Command::new("mkfifo")
                .arg(project.path("b.md"))
                .status()
                .unwrap();
        });
        assert_eq!(shown, "+a.md !not_a_file:b.md");
    }

    #[test]
    fn what_grew_after_the_walk_is_read_to_the_limit_only() {
        let project = TempProject::with(&[("a.md", "text"), ("b.md", "text")]);
        let huge = "x".repeat(5_000_000);
        assert_eq!(
            scan_while(&project, || project.write("b.md", &huge)),
            "+a.md !file_too_large:b.md"
        );
    }

    #[test]
    fn a_name_that_is_not_unicode_is_named() {
        let project = TempProject::with(&[("a.md", "text")]);
        fs::write(project.root().join(OsStr::from_bytes(b"caf\xe9.md")), "text").unwrap();
        fs::write(project.root().join(OsStr::from_bytes(b"caf\xe9.txt")), "text").unwrap();
        check(&project, FilesConfig::default(), "+a.md !path_not_utf8:caf\u{fffd}.md");
    }

    #[test]
    fn what_may_not_be_read_is_named() {
        let project = TempProject::with(&[("a.md", "text"), ("closed.md", "text"), ("folder/b.md", "text")]);
        for (path, mode) in [("closed.md", 0o000), ("folder", 0o000)] {
            fs::set_permissions(project.path(path), fs::Permissions::from_mode(mode)).unwrap();
        }
        let reads_anything = fs::read(project.path("closed.md")).is_ok();
        let shown = show(&plain(&project));
        fs::set_permissions(project.path("folder"), fs::Permissions::from_mode(0o700)).unwrap();
        if !reads_anything {
            assert_eq!(shown, "+a.md !file_unreadable:closed.md !folder_unreadable:folder");
        }
    }

    /// The system refuses paths over its limit to everyone, also to a user who may read anything.
    #[test]
    fn what_lies_too_deep_is_named() {
        let project = TempProject::with(&[("a.md", "text")]);
        let chain = |top: &str| {
            vec![top.to_owned(); 15]
                .iter()
                .map(|name| name.repeat(200))
                .collect::<Vec<_>>()
                .join("/")
        };
        let (upper, lower) = (chain("u"), chain("l"));
        fs::create_dir_all(project.path(&upper)).unwrap();
        project.write(&format!("{lower}/{}/b.md", "f".repeat(250)), "text");
        let top = "l".repeat(200);
        let moved = format!("{upper}/{top}");
        fs::rename(project.path(&top), project.path(&moved)).unwrap();
        let scan = plain(&project);
        assert_eq!(show(&scan).split(' ').next(), Some("+a.md"));
        let codes: Vec<_> = scan
            .degradations
            .iter()
            .map(|degradation| degradation.code.as_ref())
            .collect();
        assert_eq!(codes, [codes::FOLDER_UNREADABLE]);
    }
}

#[test]
fn a_broken_ignore_rule_is_named_and_the_others_apply() {
    let project = TempProject::with(&[("a.md", ""), ("b.md", ""), (".gitignore", "b.md\n{a\n")]);
    check(
        &project,
        FilesConfig::default(),
        "+a.md !ignore_rule_invalid:.gitignore",
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_bytes_are_answered(contents in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..64), 1..8)) {
        let project = TempProject::new();
        for (index, bytes) in contents.iter().enumerate() {
            project.write_bytes(&format!("{index}.md"), &[b"---\n", &bytes[..]].concat());
            project.write_bytes(&format!("{index}-bare.md"), bytes);
        }
        prop_assert_eq!(plain(&project).items.len(), 2 * contents.len());
    }

    #[test]
    fn any_markdown_is_kept_to_the_byte(text in markdown()) {
        let project = TempProject::with(&[("a.md", &text)]);
        let scan = plain(&project);
        match &scan.items[0].found {
            Found::Resource(resource) => {
                prop_assert_eq!(&text[resource.meta.body_span.byte_offset..], &resource.body);
            }
            Found::Skipped(degradation) => prop_assert_eq!(&degradation.code, codes::FRONT_MATTER_INVALID),
            Found::Unchanged => prop_assert!(false),
        }
    }
}
