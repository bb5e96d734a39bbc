//! Processes killed at any moment: the old head or the new one, never a mixture; no Run stays running.

use std::process::Stdio;
use std::time::Duration;

use crate::sandbox::{Sandbox, texts};

/// Rounds of the loop; `CASEBOOK_TEST_KILLS` in the environment of the test asks for more.
fn rounds() -> u64 {
    std::env::var("CASEBOOK_TEST_KILLS")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(10)
}

fn write_generation(sandbox: &Sandbox, generation: u64) {
    for n in 0..40 {
        let text = format!("# Ledger {n}\n\nEvery ledger 账本 of generation{generation} balances at {n}.\n");
        sandbox.project.write(&format!("ledger-{n}.md"), &text);
    }
}

#[test]
fn a_killed_build_leaves_one_whole_head() {
    let sandbox = Sandbox::new();
    write_generation(&sandbox, 0);
    sandbox.json(&["index"]);
    for round in 1..=rounds() {
        write_generation(&sandbox, round);
        let mut child = sandbox
            .command(&["activate", "ledger balances"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Spread over the life of the process, from before its first statement to after its answer.
        std::thread::sleep(Duration::from_millis(round * 37 % 160));
        child.kill().unwrap();
        child.wait().unwrap();

        let answer = sandbox.json(&["activate", "ledger 账本 balances", "--no-refresh"]);
        let texts = texts(&answer["fragments"], "/text");
        let generations: std::collections::BTreeSet<&str> = texts
            .iter()
            .filter_map(|text| text.split_whitespace().find(|word| word.starts_with("generation")))
            .collect();
        assert_eq!(generations.len(), 1, "round {round}: a mixture {generations:?}");
    }
    let healed = sandbox.json(&["index"]);
    assert_eq!(healed["resources"], 40);
    let last = format!("generation{}", rounds());
    let answer = sandbox.json(&["activate", &last]);
    assert!(
        answer
            .pointer("/fragments/0/text")
            .unwrap()
            .as_str()
            .unwrap()
            .contains(&last),
        "{answer:#}"
    );

    let listed = sandbox.json(&["runs", "list", "--limit", "1000"]);
    for run in listed["runs"].as_array().unwrap() {
        assert_ne!(run["status"], "running", "{run:#}");
        if run["status"] == "failed" {
            assert_eq!(run["failure_code"], "retrieval_interrupted", "{run:#}");
        }
    }
    sandbox.run(&["recorder", "verify"]).expect(0);
}
