//! Syncs that are killed, that run beside each other, and a store that is damaged.

use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, texts};
use crate::sync::{file, lines, push, upsert};

/// Some pages of changes that bring every record to a generation.
fn generation(number: u64) -> Vec<Value> {
    let body = format!("Ledger 账本 of generation{number}. {}", "填充 filler ".repeat(900));
    (0..60).map(|n| upsert(&format!("ledger-{n}"), &body)).collect()
}

fn spawn(sandbox: &Sandbox, args: &[&str]) -> Child {
    let mut command = sandbox.command(args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn a_killed_push_leaves_one_version_and_is_gone_on_with() {
    let sandbox = Sandbox::new();
    push(&sandbox, None, "0", &generation(0));
    let mut skipped = 0;
    for round in 1..=8_u64 {
        let (base, version) = ((round - 1).to_string(), round.to_string());
        let changes = file(&sandbox, "generation.jsonl", lines(&generation(round)));
        let args = [
            "sync",
            "push",
            &changes,
            "--base",
            &base,
            "--version",
            &version,
            "--json",
        ];
        let mut child = spawn(&sandbox, &args);
        std::thread::sleep(Duration::from_millis(10 + round * 23 % 90));
        child.kill().unwrap();
        child.wait().unwrap();
        let status = sandbox.json(&["sync", "status"]);
        let now = status["version"].as_str().unwrap().to_owned();
        assert!(now == base || now == version, "{status:#}");
        let answer = sandbox.json(&["activate", "ledger 账本", "--max-fragments", "40"]);
        let found = texts(&answer["fragments"], "/text");
        assert!(!found.is_empty(), "{answer:#}");
        let whole = format!("generation{now}.");
        assert!(
            found.iter().all(|text| text.contains(&whole)),
            "round {round}: not all of {whole}"
        );
        let done = sandbox.json(&args[..args.len() - 1]);
        assert_eq!(
            (&done["version"], &done["records"]),
            (&json!(version), &json!(60)),
            "{done:#}"
        );
        skipped += done["pages"].as_u64().unwrap() - done["pages_sent"].as_u64().unwrap();
    }
    println!("{skipped} pages were not sent again");
}

#[test]
fn of_two_pushes_at_once_one_wins_whole() {
    let sandbox = Sandbox::new();
    push(&sandbox, None, "0", &[upsert("seed", "种子")]);
    for round in 0..4_u64 {
        let base = round.to_string();
        let version = (round + 1).to_string();
        let files: Vec<_> = ["left", "right"]
            .iter()
            .map(|side| {
                let changes: Vec<_> = (0..40)
                    .map(|n| {
                        upsert(
                            &format!("{n}"),
                            &format!("{side} {round} {}", "填充 filler ".repeat(900)),
                        )
                    })
                    .collect();
                file(&sandbox, &format!("{side}.jsonl"), lines(&changes))
            })
            .collect();
        let children: Vec<_> = files
            .iter()
            // Each host has its own name for the state.
            .map(|path| {
                let version = if path.ends_with("left.jsonl") {
                    version.clone()
                } else {
                    format!("{version}-right")
                };
                spawn(
                    &sandbox,
                    &["sync", "push", path, "--base", &base, "--version", &version, "--json"],
                )
            })
            .collect();
        let mut won = Vec::new();
        for (child, side) in children.into_iter().zip(["left", "right"]) {
            let output = child.wait_with_output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            match output.status.code() {
                Some(0) => won.push(side),
                Some(5) => assert!(!text.contains("locked"), "{text}"),
                other => panic!("{other:?}: {text}{}", String::from_utf8_lossy(&output.stderr)),
            }
        }
        let status = sandbox.json(&["sync", "status"]);
        assert_eq!((won.len(), &status["open"]), (1, &Value::Null), "{status:#}");
        let answer = sandbox.json(&["activate", &format!("{} {round}", won[0]), "--max-fragments", "40"]);
        let found = texts(&answer["fragments"], "/text");
        assert!(
            found.iter().all(|text| text.starts_with(won[0]) || text == "种子"),
            "a mixture"
        );
        let at = status["version"].as_str().unwrap();
        // Bring both outcomes to one name for the next round.
        let next = (round + 1).to_string();
        if at != next {
            push(&sandbox, Some(at), &next, &[]);
        }
    }
}

#[test]
fn damaged_records_stop_no_answer() {
    let sandbox = Sandbox::with(&[("note.md", "The heron 苍鹭 nests here.\n")]);
    push(&sandbox, None, "v1", &[upsert("a", "The heron 苍鹭 flies there.")]);
    sandbox.json(&["index"]);
    let folder = sandbox.data_dir().join("records");
    let stores = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let store = stores
        .into_iter()
        .find(|path| path.extension().is_some_and(|end| end == "db"))
        .unwrap();
    let whole = std::fs::read(&store).unwrap();
    std::fs::write(&store, "这不是数据库 ".repeat(1000)).unwrap();
    let answer = sandbox.json(&["activate", "heron 苍鹭"]);
    assert_eq!(
        texts(&answer["fragments"], "/resource_id"),
        ["note.md"],
        "who may see a record is not known"
    );
    assert!(
        texts(&answer["degradations"], "/code").contains(&"index_stale".to_owned()),
        "{answer:#}"
    );
    let refused = sandbox.run(&["index", "--json"]).expect(70).json();
    assert_eq!(refused["error"]["code"], "records_unreadable");
    let refused = sandbox.run(&["sync", "status", "--json"]).expect(70).json();
    assert_eq!(refused["error"]["code"], "records_unusable");
    assert!(
        std::fs::read(&store).unwrap().starts_with("这不是数据库".as_bytes()),
        "left as it is"
    );
    std::fs::write(&store, whole).unwrap();
    let answer = sandbox.json(&["activate", "heron 苍鹭"]);
    assert_eq!(
        (&answer["degradations"], answer["fragments"].as_array().unwrap().len()),
        (&json!([]), 2)
    );
}
