//! `casebook sync`: what a host that holds memory sees, and what becomes of its records.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, texts};

/// Writes a file that a command can be given.
pub(crate) fn file(sandbox: &Sandbox, name: &str, text: impl AsRef<[u8]>) -> String {
    let path: PathBuf = sandbox.outside(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

pub(crate) fn upsert(id: &str, body: &str) -> Value {
    json!({ "upsert": { "id": id, "body": body } })
}

pub(crate) fn lines(changes: &[Value]) -> String {
    changes.iter().map(|change| format!("{change}\n")).collect()
}

/// Pushes changes, one page or more.
#[track_caller]
pub(crate) fn push(sandbox: &Sandbox, base: Option<&str>, version: &str, changes: &[Value]) -> Value {
    let file = file(sandbox, "changes.jsonl", lines(changes));
    let mut args = vec!["sync", "push", &file, "--version", version];
    args.extend(base.map(|_| "--base"));
    args.extend(base);
    sandbox.json(&args)
}

fn two_languages() -> Vec<Value> {
    vec![
        json!({ "upsert": {
            "id": "decision-7",
            "path": "host/decisions/queue.md",
            "kind": "decision",
            "topics": ["queue", "队列"],
            "observed_at": "2026-03-01",
            "fidelity": "visible_transcript",
            "body": "# Job queue\n\nWe left Redis because jobs were lost at a restart.\n",
        } }),
        upsert("部署-3", "# 部署手册\n\n上线之前先备份数据库，再切换流量。\n"),
    ]
}

#[test]
fn a_host_syncs_by_hand_and_its_records_answer() {
    let sandbox = Sandbox::with(&[("notes.md", "# Notes\n\nThe office closes at six.\n")]);
    let begun = sandbox.json(&["sync", "begin"]);
    assert_eq!(
        (&begun["base_version"], &begun["resumed"]),
        (&Value::Null, &json!(false))
    );
    let session = begun["session"].as_str().unwrap();
    let page = file(&sandbox, "page.json", json!({ "changes": two_languages() }).to_string());
    let staged = sandbox.json(&["sync", "page", session, "1", &page]);
    assert_eq!(
        (&staged["upserts"], &staged["already_staged"]),
        (&json!(2), &json!(false))
    );
    let again = sandbox.json(&["sync", "page", session, "1", &page]);
    assert_eq!(
        (&again["digest"], &again["already_staged"]),
        (&staged["digest"], &json!(true))
    );
    assert_eq!(sandbox.json(&["index"])["resources"], 1, "a staged page is not seen");
    let status = sandbox.json(&["sync", "status"]);
    assert_eq!(
        (&status["version"], &status["open"]["pages"][0]["page"]),
        (&Value::Null, &json!(1))
    );
    let resumed = sandbox.json(&["sync", "begin"]);
    assert_eq!(
        (&resumed["session"], &resumed["resumed"]),
        (&begun["session"], &json!(true))
    );
    let done = sandbox.json(&["sync", "commit", session, "--pages", "1", "--version", "v1"]);
    assert_eq!(
        (&done["records"], &done["added"], &done["version"]),
        (&json!(2), &json!(2), &json!("v1"))
    );

    let answer = sandbox.json(&["activate", "why did we leave Redis for the job queue?"]);
    let fragment = &answer["fragments"][0];
    assert_eq!(fragment["resource_id"], "decision-7", "{answer:#}");
    for (field, expected) in [
        ("path", json!("host/decisions/queue.md")),
        ("kind", json!("decision")),
        ("scope", json!("project")),
        ("title", json!("Job queue")),
        ("lines", json!({ "first": 0, "last": 0 })),
        ("quotable", json!(true)),
        ("fidelity", json!("visible_transcript")),
    ] {
        assert_eq!(fragment[field], expected, "{field}");
    }
    let answer = sandbox.json(&["activate", "上线之前要做什么？"]);
    assert_eq!(answer["fragments"][0]["path"], "部署-3", "{answer:#}");
    assert_eq!(answer["degradations"], json!([]));
    let text = sandbox.run(&["activate", "备份数据库"]).expect(0).stdout;
    assert!(text.starts_with("1. 部署-3  (record; add, "), "{text}");

    std::fs::remove_dir_all(sandbox.root().join(".casebook")).unwrap();
    let rebuilt = sandbox.json(&["index"]);
    assert_eq!(rebuilt["resources"], 3, "records are not derived");
}

#[test]
fn a_push_moves_what_changed() {
    let sandbox = Sandbox::new();
    let all: Vec<_> = (0..300)
        .map(|n| upsert(&format!("m-{n}"), &format!("Memory {n} 记忆 stays.")))
        .collect();
    let first = push(&sandbox, None, "v1", &all);
    assert_eq!(
        (&first["added"], &first["pages"], &first["pages_sent"]),
        (&json!(300), &json!(1), &json!(1))
    );
    sandbox.json(&["index"]);
    let changes = [
        upsert("m-7", "The heron 苍鹭 came back."),
        json!({ "tombstone": "m-8" }),
        json!({ "tombstone": "nobody" }),
        upsert("m-9", "first"),
        upsert("m-9", "The later change counts 后者为准."),
    ];
    let second = push(&sandbox, Some("v1"), "v2", &changes);
    for (field, expected) in [
        ("changed", 2),
        ("removed", 1),
        ("unknown", 1),
        ("records", 299),
        ("pages", 2),
        ("rows_written", 6),
    ] {
        assert_eq!(second[field], expected, "{field}");
    }
    let built = sandbox.json(&["index"]);
    for (field, expected) in [("added", 0), ("changed", 2), ("removed", 1), ("encoded", 2)] {
        assert_eq!(built[field], expected, "{field}");
    }
    assert_eq!(
        built["bytes_read"],
        "The heron 苍鹭 came back.The later change counts 后者为准.".len()
    );
    // The answer to a push may be lost: asked again, it says what was done.
    let again = push(&sandbox, Some("v1"), "v2", &changes);
    assert_eq!((&again["already_there"], &again["changed"]), (&json!(true), &json!(2)));
    let human = sandbox.run(&["sync", "status"]).expect(0).stdout;
    assert!(human.starts_with("299 records at version v2 since "), "{human}");
}

#[test]
fn a_push_goes_on_where_it_was_interrupted() {
    let sandbox = Sandbox::new();
    // A page and a half.
    let all: Vec<_> = (0..40)
        .map(|n| upsert(&format!("{n}"), &"记忆 memory ".repeat(700)))
        .collect();
    let whole = file(&sandbox, "whole.jsonl", lines(&all));
    let broken = file(&sandbox, "broken.jsonl", lines(&all) + "{\"upsert\": {\"id\": \"x\"\n");
    let args = ["sync", "push", &broken, "--version", "v1"];
    let refused = sandbox.run(&args).expect(3);
    assert!(
        refused.stderr.contains("sync_page_invalid") && refused.stderr.contains("line 41"),
        "{}",
        refused.stderr
    );
    let open = sandbox.json(&["sync", "status"])["open"].clone();
    assert_eq!(open["pages"].as_array().unwrap().len(), 1, "{open:#}");
    let other = file(&sandbox, "other.jsonl", lines(&[upsert("a", "another host")]));
    let refused = sandbox
        .run(&["sync", "push", &other, "--version", "v1", "--json"])
        .expect(5);
    assert_eq!(refused.json()["error"]["code"], "sync_page_differs");
    let done = sandbox.json(&["sync", "push", &whole, "--version", "v1"]);
    assert_eq!(
        (&done["pages"], &done["pages_sent"], &done["added"]),
        (&json!(2), &json!(1), &json!(40))
    );
    // A sync that another host left open is dropped when that is asked for.
    sandbox.json(&["sync", "begin", "--base", "v1"]);
    let replaced = sandbox.json(&["sync", "push", &other, "--base", "v1", "--version", "v2", "--replace"]);
    assert_eq!((&replaced["pages_sent"], &replaced["records"]), (&json!(1), &json!(41)));
}

/// Every wrong input ends with its code and exit code, and changes nothing.
#[test]
fn wrong_input_is_told_and_changes_nothing() {
    let sandbox = Sandbox::new();
    push(&sandbox, None, "v1", &[upsert("a", "first 最初")]);
    let begun = sandbox.json(&["sync", "begin", "--base", "v1"]);
    let session = begun["session"].as_str().unwrap();
    let check = |args: &[&str], exit: i32, code: &str, says: &str| {
        let mut all = vec!["sync"];
        all.extend(args);
        all.push("--json");
        let error = sandbox.run(&all).expect(exit).json()["error"].clone();
        assert_eq!(error["code"], code, "{error:#}");
        assert!(error.to_string().contains(says), "{says}: {error:#}");
    };
    let pages: [(&str, String, &str, &str); 14] = [
        ("large", " ".repeat(256 * 1024 + 1), "sync_page_too_large", "262144"),
        ("no json", "{".into(), "sync_page_invalid", "EOF"),
        ("latin", "{\"changes\": [{\"tombstone\": \"caf\u{fffd}\"".into(), "sync_page_invalid", "EOF"),
        ("unknown field", json!({ "changes": [], "more": 1 }).to_string(), "sync_page_invalid", "unknown field `more`"),
        (
            "unknown key of a record",
            json!({ "changes": [{ "upsert": { "id": "a", "body": "", "audiense": ["x"] } }] }).to_string(),
            "sync_page_invalid",
            "unknown field `audiense`",
        ),
        ("no body", json!({ "changes": [{ "upsert": { "id": "a" } }] }).to_string(), "sync_page_invalid", "missing field `body`"),
        ("both", "{\"changes\": [{\"tombstone\": \"a\", \"upsert\": {}}]}".into(), "sync_page_invalid", "line 1"),
        ("twice", json!({ "changes": [upsert("b", ""), { "tombstone": "b" }] }).to_string(), "sync_record_invalid", "is that of change 1, too"),
        ("empty id", json!({ "changes": [upsert("", "")] }).to_string(), "sync_record_invalid", "id must not be empty"),
        ("control", json!({ "changes": [{ "tombstone": "a\nb" }] }).to_string(), "sync_record_invalid", "control characters"),
        (
            "times",
            json!({ "changes": [{ "upsert": { "id": "云", "body": "", "observed_at": "soon", "valid_to": "2026-13-01" } }] }).to_string(),
            "sync_record_invalid",
            "valid_to expected a date",
        ),
        (
            "labels",
            json!({ "changes": [{ "upsert": { "id": "x", "body": "", "layer": "soft", "fidelity": "rumour" } }] }).to_string(),
            "sync_record_invalid",
            "unknown fidelity",
        ),
        (
            "path",
            json!({ "changes": [{ "upsert": { "id": "x", "body": "", "path": "../../secret.md" } }] }).to_string(),
            "sync_record_invalid",
            "path must be relative",
        ),
        (
            "itself",
            json!({ "changes": [{ "upsert": { "id": "x", "body": "", "supersedes": ["x"] } }] }).to_string(),
            "sync_record_invalid",
            "names the record itself",
        ),
    ];
    for (name, text, code, says) in &pages {
        let page = file(&sandbox, "page.json", text);
        println!("{name}");
        check(&["page", session, "1", &page], 3, code, says);
    }
    let latin = file(&sandbox, "page.json", b"{\"changes\": [{\"tombstone\": \"caf\xe9\"}]}");
    check(&["page", session, "1", &latin], 3, "sync_page_invalid", "");
    let fine = file(
        &sandbox,
        "fine.json",
        json!({ "changes": [{ "tombstone": "a" }] }).to_string(),
    );
    check(&["page", session, "2", &fine], 3, "sync_page_gap", "page 1 is due");
    check(&["page", "nobody", "1", &fine], 5, "sync_gone", session);
    check(
        &["page", session, "1", "no-such-file"],
        3,
        "sync_file_unreadable",
        "no-such-file",
    );
    check(&["begin"], 5, "sync_base_wrong", "\\\"v1\\\"");
    check(&["begin", "--base", "v0"], 5, "sync_base_wrong", "\\\"v1\\\"");
    sandbox.json(&["sync", "page", session, "1", &fine]);
    let other = file(
        &sandbox,
        "other.json",
        json!({ "changes": [{ "tombstone": "b" }] }).to_string(),
    );
    check(&["page", session, "1", &other], 5, "sync_page_differs", "--replace");
    let commit = |pages, version, exit, code| {
        check(
            &["commit", session, "--pages", pages, "--version", version],
            exit,
            code,
            "",
        );
    };
    commit("2", "v2", 5, "sync_pages_differ");
    commit("1", "v1", 3, "sync_version_invalid");
    commit("1", "", 3, "sync_version_invalid");
    check(&["abort", "nobody"], 5, "sync_gone", "");
    let push = |text: &str, exit, code, says: &str| {
        let file = file(&sandbox, "push.jsonl", text);
        check(
            &["push", &file, "--base", "v1", "--version", "v2", "--replace"],
            exit,
            code,
            says,
        );
    };
    push("{\"tombstone\": \"a\"}\n\nnonsense\n", 3, "sync_page_invalid", "line 3");
    push(
        &upsert("big", &"大".repeat(90_000)).to_string(),
        3,
        "sync_page_too_large",
        "line 1",
    );
    check(
        &["push", &fine, "--base", "v1", "--version", "v1"],
        3,
        "sync_version_invalid",
        "",
    );
    let answer = sandbox.json(&["activate", "最初"]);
    assert_eq!(answer["fragments"][0]["resource_id"], "a", "{answer:#}");
    assert_eq!(sandbox.json(&["sync", "status"])["version"], "v1");
}

#[test]
fn a_project_never_sees_anothers_records() {
    let ours = Sandbox::with(&[("casebook.toml", "id = \"ours\"\n")]);
    push(&ours, None, "v1", &[upsert("a", "The heron 苍鹭 nests here.")]);
    assert_eq!(ours.json(&["activate", "heron"])["fragments"][0]["resource_id"], "a");
    // The same data folder, the same version, the same folder even: another project.
    ours.project.write("casebook.toml", "id = \"theirs\"\n");
    assert_eq!(ours.json(&["sync", "status"])["version"], Value::Null);
    push(&ours, None, "v1", &[upsert("b", "The kestrel 红隼 nests there.")]);
    let answer = ours.json(&["activate", "heron 苍鹭"]);
    assert_eq!(
        texts(&answer["fragments"], "/resource_id")
            .iter()
            .filter(|id| *id == "a")
            .count(),
        0,
        "{answer:#}"
    );
    ours.project.write("casebook.toml", "id = \"ours\"\n");
    let answer = ours.json(&["activate", "heron 苍鹭"]);
    assert_eq!(texts(&answer["fragments"], "/resource_id"), ["a"], "{answer:#}");
}

#[test]
fn who_may_see_a_record_holds_as_for_files() {
    let sandbox = Sandbox::new();
    push(
        &sandbox,
        None,
        "v1",
        &[
            json!({ "upsert": { "id": "pay", "body": "Salaries 工资 rise in May.", "audience": ["board"] } }),
            json!({ "upsert": { "id": "plan", "body": "Salaries 工资 are paid monthly.", "sensitivity": "internal" } }),
            upsert("open", "Salaries 工资 are in the budget."),
        ],
    );
    let seen = |extra: &[&str]| {
        let mut args = vec!["activate", "salaries 工资"];
        args.extend(extra);
        let mut ids = texts(&sandbox.json(&args)["fragments"], "/resource_id");
        ids.sort();
        ids
    };
    assert_eq!(seen(&[]), ["open"]);
    assert_eq!(seen(&["--audience", "board"]), ["open", "pay"]);
    assert_eq!(seen(&["--audience", "internal"]), ["open", "plan"]);
}

/// An answer that looks for no changes tells all the same what has changed since.
#[test]
fn a_commit_after_the_index_is_noticed_by_a_question() {
    let sandbox = Sandbox::new();
    let changes = ["went", "grew", "hid", "stayed"].map(|id| upsert(id, &format!("The heron 苍鹭 {id}.")));
    push(&sandbox, None, "v1", &changes);
    sandbox.json(&["index"]);
    let second = [
        json!({ "tombstone": "went" }),
        upsert("grew", "The heron 苍鹭 grew up."),
        json!({ "upsert": { "id": "hid", "body": "The heron 苍鹭 hid.", "audience": ["wardens"] } }),
    ];
    push(&sandbox, Some("v1"), "v2", &second);
    let answer = sandbox.json(&["activate", "heron 苍鹭", "--no-refresh"]);
    let mut ids = texts(&answer["fragments"], "/resource_id");
    ids.sort();
    assert_eq!(ids, ["grew", "stayed"], "{answer:#}");
    assert_eq!(
        texts(&answer["degradations"], "/code"),
        ["index_stale"; 3],
        "{answer:#}"
    );
    assert_eq!(answer["dispositions"]["source_deleted"], 2);
    let answer = sandbox.json(&["activate", "heron 苍鹭"]);
    assert_eq!(answer["degradations"], json!([]));
}

#[test]
fn records_whose_store_was_deleted_still_answer() {
    let sandbox = Sandbox::with(&[("old.md", "The heron 苍鹭 nests in reeds.\n")]);
    let newer =
        json!({ "upsert": { "id": "new", "body": "The heron 苍鹭 nests in trees.", "supersedes": ["old.md"] } });
    push(&sandbox, None, "v1", &[newer]);
    sandbox.json(&["index"]);
    std::fs::remove_dir_all(sandbox.data_dir().join("records")).unwrap();
    for refresh in [
        &["activate", "heron 苍鹭"][..],
        &["activate", "heron 苍鹭", "--no-refresh"],
    ] {
        let answer = sandbox.json(refresh);
        assert_eq!(texts(&answer["fragments"], "/resource_id"), ["new"], "{answer:#}");
    }
    let report = sandbox.json(&["index"]);
    assert_eq!(texts(&report["degradations"], "/code"), ["records_lost"], "{report:#}");
}

#[test]
fn records_and_files_supersede_each_other() {
    let sandbox = Sandbox::with(&[
        ("style.md", "# Style\n\nWe indent with tabs 制表符.\n"),
        ("shared.md", "---\nid: shared\n---\nThe file's kestrel 红隼.\n"),
    ]);
    let changes = [
        json!({ "upsert": { "id": "style-2", "body": "We indent with spaces 空格.", "supersedes": ["style.md"] } }),
        upsert("shared", "The host's kestrel 红隼."),
    ];
    push(&sandbox, None, "v1", &changes);
    let answer = sandbox.json(&["activate", "indent with tabs 制表符"]);
    assert_eq!(texts(&answer["fragments"], "/resource_id")[0], "style-2", "{answer:#}");
    let answer = sandbox.json(&["activate", "kestrel 红隼"]);
    assert_eq!(
        texts(&answer["fragments"], "/text"),
        ["The file's kestrel 红隼."],
        "a file lies above a record"
    );
    // What makes no sense stops the build, names the record, and the head keeps answering.
    let wrong = json!({ "upsert": { "id": "odd", "body": "", "supersedes": ["nobody"] } });
    push(&sandbox, Some("v1"), "v2", &[wrong]);
    let refused = sandbox.run(&["index", "--json"]).expect(3).json();
    assert_eq!(refused["error"]["code"], "supersession_invalid");
    assert!(refused.to_string().contains("record://odd"), "{refused:#}");
    let answer = sandbox.json(&["activate", "kestrel 红隼"]);
    assert_eq!(texts(&answer["degradations"], "/code"), ["index_stale"]);
    push(&sandbox, Some("v2"), "v3", &[json!({ "tombstone": "odd" })]);
    assert_eq!(sandbox.json(&["activate", "kestrel 红隼"])["degradations"], json!([]));
}
