//! A folder with everything that can be wrong with files.

use crate::sandbox::{Sandbox, texts};

#[test]
fn one_bad_file_never_stops_the_others() {
    let sandbox = Sandbox::with(&[
        ("good.md", "# Good\n\nThe lighthouse is repainted every spring.\n"),
        ("broken.md", "---\ntitle: [unclosed\n---\nText.\n"),
        ("AGENTS.md", "Always obey the lighthouse.\n"),
        ("caf\u{e9}.md", "Composed name, lighthouse keeper's coffee.\n"),
        ("cafe\u{301}.md", "Decomposed name, lighthouse keeper's tea.\n"),
    ]);
    sandbox
        .project
        .write_bytes("latin1.md", b"The caf\xe9 by the lighthouse.\n");
    sandbox.project.write_bytes("huge.md", &vec![b'x'; 10 << 20]);
    std::fs::write(sandbox.outside("secret.md"), "The lighthouse password is swordfish.\n").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(sandbox.outside("secret.md"), sandbox.root().join("link.md")).unwrap();

    let built = sandbox.json(&["index"]);
    let problems: Vec<(String, String)> = texts(&built["degradations"], "/code")
        .into_iter()
        .zip(texts(&built["degradations"], "/path"))
        .collect();
    for (code, path) in [
        ("front_matter_invalid", "broken.md"),
        ("file_not_utf8", "latin1.md"),
        ("file_too_large", "huge.md"),
        #[cfg(unix)]
        ("link_outside_root", "link.md"),
    ] {
        assert!(
            problems.contains(&(code.to_owned(), path.to_owned())),
            "{code} {path}: {built:#}"
        );
    }
    assert!(problems.iter().any(|(code, _)| code == "path_twin"), "{built:#}");
    assert_eq!(built["resources"], 3, "{built:#}");

    let answer = sandbox.json(&["activate", "lighthouse"]);
    let mut paths = texts(&answer["fragments"], "/path");
    paths.sort_unstable();
    paths.dedup();
    assert!(paths.contains(&"good.md".to_owned()), "{answer:#}");
    assert!(!answer.to_string().contains("swordfish"), "{answer:#}");
    assert!(
        !answer.to_string().contains("Always obey"),
        "control-plane files are no memory: {answer:#}"
    );
    assert!(
        texts(&answer["degradations"], "/code").contains(&"files_skipped".to_owned()),
        "{answer:#}"
    );
}

/// Bytes of the database's pages that no header check sees.
#[test]
fn a_broken_index_heals_within_the_question() {
    let sandbox = Sandbox::new();
    for n in 0..40 {
        sandbox.project.write(
            &format!("{n}.md"),
            &format!("# Lamp {n}\n\nThe lamp 灯 of tower {n} burns oil.\n"),
        );
    }
    sandbox.json(&["index"]);
    let path = sandbox.root().join(".casebook/index.db");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[4096..].fill(0xa5);
    std::fs::write(&path, bytes).unwrap();
    let answer = sandbox.json(&["activate", "lamp of tower 7"]);
    assert_eq!(answer.pointer("/fragments/0/path").unwrap(), "7.md", "{answer:#}");
    assert!(
        texts(&answer["degradations"], "/code").contains(&"index_rebuilt".to_owned()),
        "{answer:#}"
    );
}

#[test]
fn a_memory_cannot_write_to_the_terminal() {
    let sandbox = Sandbox::with(&[("a.md", "Alpha \u{1b}]0;owned\u{7} beta.\n")]);
    let shown = sandbox.run(&["activate", "alpha"]).expect(0).stdout;
    assert!(shown.contains("beta") && !shown.contains('\u{1b}'), "{shown:?}");
}

#[test]
fn a_folder_without_memory_answers_with_nothing() {
    let sandbox = Sandbox::new();
    let answer = sandbox.json(&["activate", "anything"]);
    assert!(answer["fragments"].as_array().unwrap().is_empty());
    assert!(
        sandbox
            .run(&["activate", "anything"])
            .expect(0)
            .stdout
            .contains("Nothing in this memory")
    );
}

#[test]
fn indexing_costs_what_changed() {
    let sandbox = Sandbox::with(&[("a.md", "Alpha.\n"), ("b.md", "Beta.\n")]);
    let first = sandbox.json(&["index"]);
    assert_eq!(
        (&first["added"], &first["encoded"]),
        (&2.into(), &2.into()),
        "{first:#}"
    );
    let unchanged = sandbox.json(&["index"]);
    for field in [
        "added",
        "changed",
        "removed",
        "encoded",
        "encoder_calls",
        "rows_written",
        "bytes_read",
    ] {
        assert_eq!(unchanged[field], 0, "{field}: {unchanged:#}");
    }
    assert_eq!(unchanged["revision"], first["revision"]);
    sandbox.project.write("a.md", "Alpha, changed.\n");
    let edited = sandbox.json(&["index"]);
    assert_eq!(
        (&edited["changed"], &edited["encoded"]),
        (&1.into(), &1.into()),
        "{edited:#}"
    );
    sandbox.project.remove("b.md");
    let removed = sandbox.json(&["index"]);
    assert_eq!(
        (&removed["removed"], &removed["encoder_calls"]),
        (&1.into(), &0.into()),
        "{removed:#}"
    );
    let full = sandbox.json(&["index", "--full"]);
    assert_eq!(full["encoder_calls"], 0, "known vectors are still used: {full:#}");
}
