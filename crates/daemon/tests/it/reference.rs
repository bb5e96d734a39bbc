//! `docs/cli.md` is what the binary's help says.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// Every verb and its sub-verbs.
const VERBS: &[&[&str]] = &[
    &[],
    &["init"],
    &["index"],
    &["activate"],
    &["runs"],
    &["runs", "list"],
    &["runs", "show"],
    &["runs", "replay"],
    &["config", "show"],
    &["lab", "run"],
    &["recorder", "verify"],
    &["recorder", "rebuild"],
    &["archive", "list"],
    &["archive", "verify"],
    &["models"],
    &["models", "fill"],
    &["models", "pause"],
    &["models", "resume"],
    &["models", "status"],
    &["models", "add"],
    &["models", "list"],
    &["models", "verify"],
    &["models", "use"],
    &["models", "remove"],
    &["sync"],
    &["sync", "begin"],
    &["sync", "page"],
    &["sync", "commit"],
    &["sync", "status"],
    &["sync", "abort"],
    &["sync", "push"],
    &["completions"],
];

fn help(verb: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_casebook"));
    let output = command.args(verb).arg("--help").env_clear().output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_command_reference_is_up_to_date() {
    let mut expected = String::from("# Command reference\n\nGenerated from the help texts of the binary.\n");
    for verb in VERBS {
        let name = [&["casebook"], *verb].concat().join(" ");
        let text: Vec<String> = help(verb).lines().map(|line| line.trim_end().to_owned()).collect();
        write!(
            expected,
            "\n## {name}\n\n```text\n{}\n```\n",
            text.join("\n").trim_end()
        )
        .unwrap();
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
    if std::env::var_os("UPDATE_GENERATED").is_some() {
        std::fs::write(&file, &expected).unwrap();
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(found, expected, "docs/cli.md is out of date; `just generate` writes it");
}

#[test]
fn every_verb_that_the_help_lists_is_in_the_reference() {
    let listed = help(&[]);
    let commands = listed
        .split("Commands:")
        .nth(1)
        .unwrap()
        .split("Options:")
        .next()
        .unwrap();
    let verbs = commands
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    for verb in verbs.filter(|verb| !verb.is_empty() && *verb != "help") {
        assert!(
            VERBS.iter().any(|known| known.first() == Some(&verb)),
            "{verb} is missing in VERBS"
        );
    }
}
