//! Many processes over one project.

use std::process::{Child, Stdio};

use serde_json::Value;

use crate::sandbox::Sandbox;

fn spawn(sandbox: &Sandbox, args: &[&str]) -> Child {
    sandbox
        .command(args)
        .arg("--json")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn finished(child: Child) -> Value {
    let output = child.wait_with_output().unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "stdout: {out}\nstderr: {err}");
    assert!(
        !format!("{out}{err}").contains("locked"),
        "stdout: {out}\nstderr: {err}"
    );
    serde_json::from_str(&out).unwrap()
}

#[test]
fn two_builders_and_twenty_readers_share_a_project() {
    let sandbox = Sandbox::new();
    for n in 0..60 {
        sandbox.project.write(
            &format!("note-{n}.md"),
            &format!("# Note {n}\n\nThe harbour 港口 number {n} opens at dawn.\n"),
        );
    }
    // On a folder never seen before, and once more while files change.
    for round in 0..2 {
        let builders: Vec<Child> = (0..2).map(|_| spawn(&sandbox, &["index"])).collect();
        let readers: Vec<Child> = (0..20)
            .map(|_| spawn(&sandbox, &["activate", "harbour at dawn"]))
            .collect();
        for n in 0..20 {
            sandbox.project.write(
                &format!("note-{n}.md"),
                &format!("# Note {n}\n\nThe harbour {n} opens late {round}.\n"),
            );
        }
        for answer in readers.into_iter().map(finished) {
            assert!(!answer["fragments"].as_array().unwrap().is_empty(), "{answer:#}");
            assert!(answer["run_id"].is_string(), "{answer:#}");
        }
        builders.into_iter().map(finished).for_each(drop);
    }
    sandbox.run(&["recorder", "verify"]).expect(0);
    let listed = sandbox.json(&["runs", "list", "--limit", "100"]);
    assert_eq!(listed["runs"].as_array().unwrap().len(), 40);
}
