//! Configuration and `init`.

use crate::sandbox::Sandbox;

#[test]
fn init_makes_a_project_once() {
    let sandbox = Sandbox::with(&[("a.md", "Alpha.\n")]);
    let made = sandbox.json(&["init", "--name", "Field Notes"]);
    assert!(
        made["project_id"].as_str().unwrap().starts_with("field-notes-"),
        "{made}"
    );
    let shown = sandbox.json(&["config", "show"]);
    assert_eq!(shown["project_id"], made["project_id"]);
    let again = sandbox.run(&["init", "--json"]).expect(5).json();
    assert_eq!(again.pointer("/error/code").unwrap(), "project_exists");
    sandbox.json(&["activate", "alpha"]);
}

#[test]
fn init_keeps_the_history_of_a_folder_that_was_used() {
    let sandbox = Sandbox::with(&[("a.md", "Alpha.\n")]);
    sandbox.json(&["activate", "alpha"]);
    sandbox.json(&["init"]);
    assert_eq!(sandbox.json(&["runs", "list"])["runs"].as_array().unwrap().len(), 1);
}

#[test]
fn config_show_says_where_each_value_comes_from() {
    let sandbox = Sandbox::with(&[("casebook.toml", "[ranker]\ntoken_budget = 900\n")]);
    let mut command = sandbox.command(&["config", "show", "--json"]);
    command.env("CASEBOOK_RANKER_FRAGMENT_LIMIT", "3");
    let shown = crate::sandbox::finish(&mut command).expect(0).json();
    let setting = |key: &str| {
        let settings = shown["settings"].as_array().unwrap();
        settings.iter().find(|setting| setting["key"] == key).unwrap().clone()
    };
    let budget = setting("ranker.token_budget");
    assert_eq!(budget["value"], 900);
    assert!(budget["from"].as_str().unwrap().ends_with("casebook.toml"));
    assert_eq!(
        setting("ranker.fragment_limit")["from"],
        "$CASEBOOK_RANKER_FRAGMENT_LIMIT"
    );
    assert_eq!(setting("ranker.rrf_k")["from"], "default");
    assert_eq!(setting("ranker.rrf_k")["value"], 60.0);
}

#[test]
fn a_mistyped_key_is_an_error_with_a_suggestion() {
    let sandbox = Sandbox::with(&[
        ("casebook.toml", "[ranker]\ntoken_budgte = 900\n"),
        ("a.md", "Alpha.\n"),
    ]);
    let failed = sandbox.run(&["activate", "alpha", "--json"]).expect(3).json();
    assert_eq!(failed.pointer("/error/code").unwrap(), "config_unknown_key");
    assert!(
        failed
            .pointer("/error/message")
            .unwrap()
            .as_str()
            .unwrap()
            .contains("ranker.token_budget")
    );
}

#[test]
fn settings_out_of_range_are_refused_with_their_name() {
    let sandbox = Sandbox::with(&[("casebook.toml", "[ranker]\nrerank_depth = 0\n"), ("a.md", "Alpha.\n")]);
    let failed = sandbox.run(&["activate", "alpha", "--json"]).expect(3).json();
    assert_eq!(failed.pointer("/error/code").unwrap(), "config_invalid");
    assert!(failed.to_string().contains("rerank_depth"), "{failed}");
}

#[test]
fn a_project_is_found_from_a_folder_below_it() {
    let sandbox = Sandbox::with(&[("casebook.toml", "id = 'above'\n"), ("notes/a.md", "Alpha.\n")]);
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_casebook"));
    command
        .args(["config", "show", "--json"])
        .env_clear()
        .env("HOME", sandbox.outside("home"));
    command.current_dir(sandbox.root().join("notes"));
    let shown = crate::sandbox::finish(&mut command).expect(0).json();
    assert_eq!(shown["project_id"], "above");
}

#[test]
fn a_root_that_is_no_folder_is_wrong_input() {
    let sandbox = Sandbox::new();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_casebook"));
    command
        .args(["index", "--json", "--root"])
        .arg(sandbox.outside("missing"))
        .env_clear()
        .env("HOME", sandbox.outside(""));
    let failed = crate::sandbox::finish(&mut command).expect(3).json();
    assert_eq!(failed.pointer("/error/code").unwrap(), "root_missing");
}
