//! Answers, states, deltas.

use serde_json::Value;

use crate::sandbox::{Sandbox, texts};

const DEPLOY: (&str, &str) = (
    "deploy.md",
    "# Deploying\n\nReleases leave on Tuesday after the canary has been green for an hour.\n",
);
const CACHE: (&str, &str) = (
    "cache.md",
    "# 缓存\n\n用户会话缓存在内存里，重启后失效；云端副本每小时同步。\n",
);
const TOOLS: (&str, &str) = (
    "tools.md",
    "# Tools\n\nRun gen-itgc after every schema change. The db lives on port 38.101.\n\nTODO: fix the multi-agent lock, don't hold it.\n",
);

#[test]
fn a_folder_never_seen_before_answers() {
    let sandbox = Sandbox::with(&[DEPLOY, CACHE, TOOLS]);
    let answer = sandbox.json(&["activate", "when do releases leave?"]);
    assert_eq!(answer.pointer("/fragments/0/path").unwrap(), "deploy.md");
    assert!(
        answer
            .pointer("/fragments/0/text")
            .unwrap()
            .as_str()
            .unwrap()
            .contains("Tuesday")
    );
    assert!(answer["run_id"].is_string());
    assert!(answer.get("candidates").is_none(), "nobody asked for an explanation");
    let human = sandbox.run(&["activate", "when do releases leave?"]).expect(0);
    assert!(
        human.stdout.starts_with("1. deploy.md  (lines 1-3; add"),
        "{}",
        human.stdout
    );
}

#[test]
fn queries_that_break_others_find_their_file() {
    let sandbox = Sandbox::with(&[DEPLOY, CACHE, TOOLS]);
    for (query, path) in [
        ("用户", "cache.md"),
        ("云", "cache.md"),
        ("db", "tools.md"),
        ("TODO: fix", "tools.md"),
        ("multi-agent", "tools.md"),
        ("don't", "tools.md"),
        ("38.101", "tools.md"),
        ("重跑gen-itgc后", "tools.md"),
    ] {
        let answer = sandbox.json(&["activate", query]);
        let paths = texts(&answer["fragments"], "/path");
        assert_eq!(paths.first().map(String::as_str), Some(path), "{query}: {answer:#}");
    }
    for query in ["\"", "(", "NEAR", "*", "a AND", "NOT", "col:x", "-", "\u{1f600}"] {
        sandbox.run(&["activate", "--json", "--", query]).expect(0).json();
    }
    let long = "please tell me when the releases of our product usually leave the building and who has to look at the \
                canary before that happens because I keep forgetting it and nobody else in this office seems to know";
    let answer = sandbox.json(&["activate", long]);
    assert_eq!(answer.pointer("/fragments/0/path").unwrap(), "deploy.md", "{answer:#}");
}

#[test]
fn an_empty_question_is_wrong_input() {
    let sandbox = Sandbox::with(&[DEPLOY]);
    let failed = sandbox.run(&["activate", " ", "--json"]).expect(3).json();
    assert_eq!(failed.pointer("/error/code").unwrap(), "query_empty");
    sandbox.run(&["activate"]).expect(2);
}

#[test]
fn a_state_turns_the_next_answer_into_a_delta() {
    let sandbox = Sandbox::with(&[DEPLOY, CACHE, TOOLS]);
    let state = sandbox.outside("state.json");
    let ask = |query: &str| sandbox.json(&["activate", query, "--state", state.to_str().unwrap()]);
    let action = |answer: &Value| {
        answer
            .pointer("/fragments/0/action")
            .unwrap()
            .as_str()
            .unwrap()
            .to_owned()
    };

    let first = ask("when do releases leave?");
    assert_eq!(action(&first), "add");
    let again = ask("when do releases leave?");
    assert_eq!(action(&again), "reuse");
    assert!(again.pointer("/fragments/0/text").is_none());
    assert_eq!(again["state"], first["state"]);

    sandbox.project.write(
        "deploy.md",
        "# Deploying\n\nReleases leave on Thursday after the canary has been green.\n",
    );
    let edited = ask("when do releases leave?");
    assert_eq!(action(&edited), "replace");
    assert!(
        edited
            .pointer("/fragments/0/text")
            .unwrap()
            .as_str()
            .unwrap()
            .contains("Thursday")
    );

    let other = ask("用户会话缓存");
    let left = first.pointer("/fragments/0/unit_key").unwrap().as_str().unwrap();
    assert!(
        other["removed"].as_array().unwrap().iter().any(|key| key == left),
        "{other:#}"
    );
}

#[test]
fn a_state_that_is_not_ours_is_named_and_costs_no_answer() {
    let sandbox = Sandbox::with(&[DEPLOY]);
    let state = sandbox.outside("state.json");
    for text in [
        r#"{"version":9,"held":[]}"#,
        r#"{"version":1,"held":[{"unit_key":"x","content_hash":"y"}]}"#,
    ] {
        std::fs::write(&state, text).unwrap();
        let answer = sandbox.json(&["activate", "releases", "--state", state.to_str().unwrap()]);
        assert_eq!(answer.pointer("/fragments/0/action").unwrap(), "add", "{text}");
        assert!(
            texts(&answer["degradations"], "/code").contains(&"state_invalid".to_owned()),
            "{text}: {answer:#}"
        );
    }
    for text in ["{", "[1]", "# My notes", r#"{"version":2,"held":[],"more":1}"#] {
        std::fs::write(&state, text).unwrap();
        let refused = sandbox
            .run(&["activate", "releases", "--state", state.to_str().unwrap(), "--json"])
            .expect(3);
        assert_eq!(
            refused.json().pointer("/error/code").unwrap(),
            "state_invalid",
            "{text}"
        );
        assert_eq!(std::fs::read_to_string(&state).unwrap(), text, "not ours to write over");
    }
    let fresh = Sandbox::with(&[DEPLOY]);
    let beside_the_index = fresh.root().join(".casebook/state.json");
    fresh.json(&["activate", "releases", "--state", beside_the_index.to_str().unwrap()]);
    let nowhere = sandbox.outside("missing/state.json");
    sandbox
        .run(&["activate", "releases", "--state", nowhere.to_str().unwrap()])
        .expect(3);
    let forged =
        r#"{"version":1,"held":[{"unit_key":"gone.md#","content_hash":"#.to_owned() + &format!("\"{:064}\"", 7) + "}]}";
    std::fs::write(&state, forged).unwrap();
    let answer = sandbox.json(&["activate", "releases", "--state", state.to_str().unwrap()]);
    assert_eq!(answer["removed"], serde_json::json!(["gone.md#"]));
}

#[test]
fn a_deleted_file_is_never_served() {
    let sandbox = Sandbox::with(&[DEPLOY, CACHE]);
    sandbox.json(&["index"]);
    sandbox.project.remove("deploy.md");
    let stale = sandbox.json(&["activate", "when do releases leave?", "--no-refresh", "--explain"]);
    assert!(
        !texts(&stale["fragments"], "/path").contains(&"deploy.md".to_owned()),
        "{stale:#}"
    );
    assert!(
        texts(&stale["candidates"], "/disposition").contains(&"source_deleted".to_owned()),
        "{stale:#}"
    );
    assert!(
        texts(&stale["degradations"], "/code").contains(&"index_stale".to_owned()),
        "{stale:#}"
    );
    let fresh = sandbox.json(&["activate", "when do releases leave?", "--explain"]);
    assert!(
        !texts(&fresh["candidates"], "/resource_id").contains(&"deploy.md".to_owned()),
        "{fresh:#}"
    );
}

/// Without a refresh: the index knows nothing of it.
#[cfg(unix)]
#[test]
fn a_file_that_is_no_memory_any_more_is_never_served() {
    use std::os::unix::fs::symlink;
    type Change = fn(&Sandbox);
    let changes: [(&str, Change); 5] = [
        ("a folder", |sandbox| {
            sandbox.project.remove("notes/deploy.md");
            std::fs::create_dir(sandbox.project.path("notes/deploy.md")).unwrap();
        }),
        ("a link", |sandbox| {
            std::fs::rename(sandbox.project.path("notes/deploy.md"), sandbox.outside("deploy.md")).unwrap();
            symlink(sandbox.outside("deploy.md"), sandbox.project.path("notes/deploy.md")).unwrap();
        }),
        ("behind a link", |sandbox| {
            std::fs::rename(sandbox.project.path("notes"), sandbox.outside("notes")).unwrap();
            symlink(sandbox.outside("notes"), sandbox.project.path("notes")).unwrap();
        }),
        ("moved to where it is ignored", |sandbox| {
            sandbox.project.write("target/.gitignore", "*\n");
            std::fs::rename(
                sandbox.project.path("notes/deploy.md"),
                sandbox.project.path("target/deploy.md"),
            )
            .unwrap();
        }),
        ("with the whole folder", |sandbox| {
            std::fs::remove_dir_all(sandbox.project.path("notes")).unwrap()
        }),
    ];
    for (name, change) in changes {
        for follow_links in [false, true] {
            let sandbox = Sandbox::with(&[("notes/deploy.md", DEPLOY.1), CACHE]);
            sandbox
                .project
                .write("casebook.toml", &format!("[files]\nfollow_links = {follow_links}\n"));
            sandbox.json(&["index"]);
            let before = sandbox.json(&["activate", "when do releases leave?", "--no-refresh"]);
            assert_eq!(texts(&before["fragments"], "/path")[0], "notes/deploy.md", "{before:#}");
            change(&sandbox);
            let after = sandbox.json(&["activate", "when do releases leave?", "--no-refresh", "--explain"]);
            assert!(
                !texts(&after["fragments"], "/path").contains(&"notes/deploy.md".to_owned()),
                "{name}: {after:#}"
            );
            assert!(
                texts(&after["candidates"], "/disposition").contains(&"source_deleted".to_owned()),
                "{name}: {after:#}"
            );
        }
    }
}

#[test]
fn a_changed_file_is_marked_where_the_index_is_not_refreshed() {
    let sandbox = Sandbox::with(&[DEPLOY]);
    sandbox.json(&["index"]);
    sandbox.project.write(
        "deploy.md",
        "# Deploying\n\nReleases leave on Friday, said nobody ever, of the canary.\n",
    );
    let stale = sandbox.json(&["activate", "when do releases leave?", "--no-refresh"]);
    assert_eq!(
        stale.pointer("/fragments/0/time_labels/0").unwrap(),
        "stale",
        "{stale:#}"
    );
    assert!(texts(&stale["degradations"], "/code").contains(&"index_stale".to_owned()));
}

#[test]
fn a_replaced_memory_leads_to_its_successor() {
    let sandbox = Sandbox::with(&[
        (
            "paper.md",
            "---\nid: paper\n---\n# Logbook\n\nThe expedition writes its log on paper notebooks.\n",
        ),
        (
            "tablet.md",
            "---\nid: tablet\nsupersedes: [paper]\n---\n# Tablets\n\nEntries are typed offline.\n",
        ),
    ]);
    let answer = sandbox.json(&["activate", "expedition paper notebooks log", "--explain"]);
    assert_eq!(texts(&answer["fragments"], "/resource_id"), ["tablet"], "{answer:#}");
    let dispositions = texts(&answer["candidates"], "/disposition");
    assert!(dispositions.contains(&"superseded".to_owned()), "{answer:#}");
}

/// Not in a fragment, and not by way of what explains the answer either.
#[test]
fn what_an_audience_may_not_see_never_comes_out() {
    let private = "---\nid: merger\naudience: [board]\n---\n# Acquire ACME\n\nThe numbat price is 40 million.\n";
    let replaced = "---\nid: older-merger\naudience: [board]\n---\n# Sell ACME\n\nThe numbat price was 30.\n";
    let public = "---\nid: zoo\nsupersedes: [older-merger]\n---\n# Zoo\n\nA numbat eats termites.\n";
    let sandbox = Sandbox::with(&[("private.md", private), ("older.md", replaced), ("zoo.md", public)]);
    let explained = sandbox
        .run(&["activate", "numbat price", "--explain", "--json"])
        .expect(0);
    let shown = sandbox.run(&["runs", "show", "--json"]).expect(0);
    let human = sandbox.run(&["activate", "numbat price", "--explain"]).expect(0);
    for output in [&explained.stdout, &shown.stdout, &human.stdout] {
        for secret in ["ACME", "merger", "40 million", "private.md", "older.md"] {
            assert!(!output.contains(secret), "{secret}: {output}");
        }
    }
    assert!(texts(&explained.json()["candidates"], "/disposition").contains(&"not_visible".to_owned()));
    let board = sandbox.json(&["activate", "numbat price", "--audience", "board"]);
    assert_eq!(
        board.pointer("/fragments/0/resource_id").unwrap(),
        "merger",
        "{board:#}"
    );
}

/// The restriction counts from the moment it is written, also where it is not indexed yet.
#[test]
fn a_file_that_was_restricted_since_is_not_served() {
    let sandbox = Sandbox::with(&[("a.md", "The numbat price is 7.\n"), DEPLOY]);
    sandbox.json(&["index"]);
    sandbox
        .project
        .write("a.md", "---\naudience: [board]\n---\nThe numbat price is 7.\n");
    sandbox
        .project
        .write("bad.md", "---\nid: bad\nsupersedes: [ghost]\n---\nStops every build.\n");
    for args in [
        ["activate", "numbat price", "--explain"],
        ["activate", "numbat price", "--no-refresh"],
    ] {
        let answer = sandbox.json(&args);
        assert!(answer["fragments"].as_array().unwrap().is_empty(), "{answer:#}");
        assert!(
            texts(&answer["degradations"], "/code").contains(&"index_stale".to_owned()),
            "{answer:#}"
        );
    }
    let board = sandbox.json(&["activate", "numbat price", "--audience", "board"]);
    assert_eq!(
        board.pointer("/fragments/0/time_labels/0").unwrap(),
        "stale",
        "{board:#}"
    );
}

#[test]
fn what_may_not_be_shown_takes_no_place() {
    let sandbox = Sandbox::with(&[("team.md", "---\nscope: team\n---\nThe numbat price is 7.\n")]);
    for n in 0..90 {
        let text = format!("---\naudience: [board]\n---\nNumbat price secret {n}, numbat price secret.\n");
        sandbox.project.write(&format!("board-{n}.md"), &text);
        let text = format!("---\nscope: user\n---\nNumbat price of user {n}, numbat price secret.\n");
        sandbox.project.write(&format!("user-{n}.md"), &text);
    }
    let answer = sandbox.json(&["activate", "numbat price secret", "--scope", "team"]);
    assert_eq!(texts(&answer["fragments"], "/path"), ["team.md"], "{answer:#}");
}

#[test]
fn a_state_is_kept_only_when_the_answer_is_out() {
    let sandbox = Sandbox::with(&[DEPLOY]);
    let state = sandbox.outside("state.json");
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = sandbox.command(&["activate", "releases", "--state", state.to_str().unwrap()]);
    let status = command
        .stdout(full)
        .stderr(std::process::Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(70));
    assert!(!state.exists(), "nobody got the text that the state would claim");
}

#[cfg(unix)]
#[test]
fn only_a_regular_file_is_written_over() {
    let sandbox = Sandbox::with(&[DEPLOY]);
    sandbox.run(&["activate", "releases", "--state", "/dev/null"]).expect(3);
    let (link, target) = (sandbox.outside("link.json"), sandbox.outside("target.json"));
    std::fs::write(&target, "").unwrap();
    std::os::unix::fs::symlink(&target, &link).unwrap();
    sandbox.json(&["activate", "releases", "--state", link.to_str().unwrap()]);
    assert!(link.is_symlink() && std::fs::metadata(&target).unwrap().len() > 0);
}

#[test]
fn a_batch_answers_line_by_line() {
    let sandbox = Sandbox::with(&[DEPLOY, CACHE]);
    let file = sandbox.outside("questions.txt");
    std::fs::write(
        &file,
        b"\xef\xbb\xbfwhen do releases leave?\r\n\n\xff\n\xe7\x94\xa8\xe6\x88\xb7",
    )
    .unwrap();
    let finished = sandbox.run(&["activate", "--batch", file.to_str().unwrap()]).expect(3);
    let answers: Vec<Value> = finished
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers.len(), 3);
    assert_eq!(answers[0]["query"], "when do releases leave?");
    assert_eq!(answers[1].pointer("/error/code").unwrap(), "query_not_utf8");
    assert_eq!(answers[2].pointer("/fragments/0/path").unwrap(), "cache.md");
}

#[test]
fn flags_narrow_and_budget_the_answer() {
    let sandbox = Sandbox::with(&[
        DEPLOY,
        ("mine.md", "---\nscope: user\n---\nMy releases: I leave on Monday.\n"),
    ]);
    let answer = sandbox.json(&["activate", "when do releases leave?", "--scope", "user"]);
    assert_eq!(texts(&answer["fragments"], "/path"), ["mine.md"]);
    let answer = sandbox.json(&["activate", "when do releases leave?", "--max-fragments", "1"]);
    assert_eq!(answer["fragments"].as_array().unwrap().len(), 1);
    let answer = sandbox.json(&["activate", "releases", "--as-of", "1970-01-02"]);
    assert_eq!(answer["as_of"], "1970-01-02T00:00:00Z");
    sandbox.run(&["activate", "releases", "--as-of", "soon"]).expect(3);
}
