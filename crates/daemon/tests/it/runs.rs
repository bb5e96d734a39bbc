//! The record.

use crate::sandbox::{Sandbox, texts};

fn sandbox() -> Sandbox {
    Sandbox::with(&[
        ("deploy.md", "# Deploying\n\nReleases leave on Tuesday.\n"),
        ("cache.md", "# 缓存\n\n用户会话缓存在内存里。\n"),
    ])
}

#[test]
fn a_recorded_run_is_the_explained_answer_byte_for_byte() {
    let sandbox = sandbox();
    let state = sandbox.outside("state.json");
    for query in ["when do releases leave?", "用户会话", "\"", "when do releases leave?"] {
        let args = [
            "activate",
            query,
            "--state",
            state.to_str().unwrap(),
            "--explain",
            "--json",
        ];
        let explained = sandbox.run(&args).expect(0);
        let run_id = explained.json()["run_id"].as_str().unwrap().to_owned();
        let shown = sandbox.run(&["runs", "show", &run_id, "--json"]).expect(0);
        assert_eq!(shown.stdout, explained.stdout, "{query}");
        sandbox.run(&["runs", "replay", &run_id]).expect(0);
    }
    sandbox.run(&["recorder", "verify"]).expect(0);
}

#[test]
fn the_explained_text_of_a_run_is_the_same_too() {
    let sandbox = sandbox();
    let explained = sandbox.run(&["activate", "releases", "--explain"]).expect(0).stdout;
    let run_id = explained.trim_end().rsplit(' ').next().unwrap().to_owned();
    let shown = sandbox.run(&["runs", "show", &run_id]).expect(0).stdout;
    assert!(shown.ends_with(&explained), "{shown}\n---\n{explained}");
}

#[test]
fn runs_are_listed_newest_first_and_by_project() {
    let (sandbox, other) = (sandbox(), sandbox());
    sandbox.json(&["activate", "releases"]);
    sandbox.json(&["activate", "用户会话"]);
    let listed = sandbox.json(&["runs", "list"]);
    assert_eq!(texts(&listed["runs"], "/query"), ["用户会话", "releases"]);
    assert_eq!(texts(&listed["runs"], "/status"), ["succeeded", "succeeded"]);
    assert_eq!(
        sandbox.json(&["runs", "list", "--limit", "1"])["runs"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert!(other.json(&["runs", "list"])["runs"].as_array().unwrap().is_empty());
}

#[test]
fn a_failed_answer_is_a_failed_run() {
    let sandbox = Sandbox::with(&[("a.md", "---\nid: a\nsupersedes: [ghost]\n---\nText.\n")]);
    let failed = sandbox.run(&["activate", "text", "--json"]).expect(3).json();
    assert_eq!(failed.pointer("/error/code").unwrap(), "supersession_invalid");
    assert!(
        failed.to_string().contains("ghost") && failed.to_string().contains("a.md"),
        "{failed:#}"
    );
    let listed = sandbox.json(&["runs", "list"]);
    assert_eq!(listed.pointer("/runs/0/status").unwrap(), "failed");
    assert_eq!(listed.pointer("/runs/0/failure_code").unwrap(), "supersession_invalid");
    let run_id = listed.pointer("/runs/0/run_id").unwrap().as_str().unwrap();
    assert_eq!(sandbox.json(&["runs", "show", run_id])["status"], "failed");
}

#[test]
fn an_unknown_run_is_wrong_input() {
    let failed = sandbox().run(&["runs", "show", "nothing", "--json"]).expect(3).json();
    assert_eq!(failed.pointer("/error/code").unwrap(), "run_unknown");
}

#[test]
fn a_history_that_fails_never_fails_an_answer() {
    let sandbox = sandbox();
    std::fs::create_dir_all(sandbox.data_dir()).unwrap();
    std::fs::write(
        sandbox.data_dir().join("local.db"),
        "this is no database, and it is long enough to be looked at",
    )
    .unwrap();
    let answer = sandbox.json(&["activate", "when do releases leave?"]);
    assert!(answer["run_id"].is_null());
    assert_eq!(answer.pointer("/fragments/0/path").unwrap(), "deploy.md");
    assert!(
        texts(&answer["degradations"], "/code").contains(&"history_unavailable".to_owned()),
        "{answer:#}"
    );
    let kept = std::fs::read(sandbox.data_dir().join("local.db")).unwrap();
    assert!(
        kept.starts_with(b"this is no database"),
        "history is never moved or overwritten"
    );
}
