//! A folder with everything that can be wrong with files.

use std::process::Stdio;

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

#[test]
fn trouble_of_the_index_is_not_told_as_skipped_files() {
    let sandbox = Sandbox::with(&[("a.md", "Alpha.\n")]);
    let index = sandbox.json(&["index"]);
    assert_eq!(index["degradations"], serde_json::json!([]));
    let vectors = sandbox.root().join(".casebook/vectors");
    std::fs::remove_dir_all(&vectors).unwrap();
    std::fs::write(&vectors, "in the way").unwrap();
    let answer = sandbox.json(&["activate", "alpha"]);
    let codes = texts(&answer["degradations"], "/code");
    assert!(codes.contains(&"vector_segments_unwritten".to_owned()), "{answer:#}");
    assert!(!codes.contains(&"files_skipped".to_owned()), "{answer:#}");
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

/// Half of a surrogate pair is no character: JSON may spell it, UTF-8 may not.
#[test]
fn lone_surrogates_are_refused_where_they_come_in() {
    let sandbox = Sandbox::with(&[("a.md", "# 灯塔\n\nThe lighthouse is repainted every spring.\n")]);
    let state = sandbox.outside("state.json");
    let path = state.to_str().unwrap();
    for half in [r"\ud800", r"\udfff x", r"\ud83d\u0041"] {
        let text = format!(r#"{{"version":1,"held":[{{"unit_key":"{half}","content_hash":"x"}}]}}"#);
        std::fs::write(&state, &text).unwrap();
        let refused = sandbox
            .run(&["activate", "lighthouse", "--state", path, "--json"])
            .expect(3);
        assert_eq!(
            refused.json().pointer("/error/code").unwrap(),
            "state_invalid",
            "{half}"
        );
        assert_eq!(std::fs::read_to_string(&state).unwrap(), text, "not ours to write over");
    }
    let batch = sandbox.outside("questions.txt");
    std::fs::write(&batch, b"lighthouse \\ud800\nlighthouse \xed\xa0\x80\nlighthouse\n").unwrap();
    let finished = sandbox.run(&["activate", "--batch", batch.to_str().unwrap()]).expect(3);
    let answers: Vec<serde_json::Value> = finished
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let code = |answer: &serde_json::Value| answer.pointer("/error/code").cloned();
    assert_eq!(
        answers.iter().map(code).collect::<Vec<_>>(),
        [None, Some("query_not_utf8".into()), None]
    );
    assert_eq!(
        answers[0]["query"], r"lighthouse \ud800",
        "a batch is text: nothing is unescaped"
    );
    assert_eq!(answers[2].pointer("/fragments/0/path").unwrap(), "a.md");
}

/// What no table of words knows: an answer with or without fragments, never a failure.
#[test]
fn odd_questions_are_answered() {
    let sandbox = Sandbox::with(&[("a.md", "# 灯塔\n\nThe lighthouse is repainted every spring.\n")]);
    let giant = "a".repeat(1 << 20);
    let questions = [
        "。，！？ -- ...",
        "\u{1}\u{7f}\u{1b}[31m",
        "ꦧꦱꦗꦮ ᚠᚢᚦ",
        "\u{301}\u{302}",
        "🎉",
        &giant,
        "灯塔\u{0}",
    ];
    let batch = sandbox.outside("questions.txt");
    std::fs::write(&batch, questions.join("\n")).unwrap();
    let finished = sandbox.run(&["activate", "--batch", batch.to_str().unwrap()]).expect(0);
    let answers: Vec<serde_json::Value> = finished
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers.len(), questions.len());
    for (answer, question) in answers.iter().zip(questions) {
        assert_eq!(answer["query"], question);
        assert!(
            answer["fragments"].is_array() && answer.get("error").is_none(),
            "{answer:#}"
        );
    }
}

#[test]
fn who_reads_no_further_ends_a_command_quietly() {
    let sandbox = Sandbox::with(&[("a.md", "# Harbour 港口\n\nThe harbour opens.\n")]);
    for args in [
        &["completions", "bash"] as &[&str],
        &["activate", "harbour"],
        &["config", "show"],
    ] {
        let mut command = sandbox.command(args);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let ended = child.wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(0), "{args:?}: {told}");
        assert!(!told.contains("panicked"), "{args:?}: {told}");
    }
}
