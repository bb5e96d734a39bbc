//! `casebook models fill` and what goes with it, where no pack is chosen.

use crate::sandbox::Sandbox;

#[test]
fn without_a_pack_there_is_nothing_to_fill_and_it_says_what_to_do() {
    let sandbox = Sandbox::with(&[("a.md", "one 一"), ("b.md", "two 二")]);
    for args in [
        &["models", "fill"] as &[&str],
        &["models", "fill", "--background", "--threads", "1"],
    ] {
        let finished = sandbox.run(args).expect(3);
        assert!(finished.stderr.contains("model_not_chosen"), "{}", finished.stderr);
        assert!(finished.stderr.contains("casebook models use"), "{}", finished.stderr);
    }
    assert!(!sandbox.root().join(".casebook/fill.log").exists());
    sandbox.run(&["models", "fill", "--threads", "0"]).expect(2);
}

#[test]
fn the_state_is_shown_and_a_pause_is_kept() {
    let sandbox = Sandbox::with(&[("a.md", "one 一"), ("b.md", "two 二")]);
    let status = sandbox.json(&["models", "status"]);
    assert_eq!(status["encoders"].as_array().unwrap().len(), 0);
    sandbox.json(&["index"]);
    let status = sandbox.json(&["models", "status"]);
    let embedded = &status["encoders"][0];
    assert_eq!(
        (
            &embedded["role"],
            &embedded["answers"],
            &embedded["vectors"],
            &embedded["complete"]
        ),
        (&"embedded".into(), &true.into(), &2.into(), &true.into())
    );
    assert_eq!((&status["filling"], &status["paused"]), (&false.into(), &false.into()));

    assert_eq!(sandbox.json(&["models", "pause"])["paused"], true);
    assert_eq!(sandbox.json(&["models", "status"])["paused"], true);
    let shown = sandbox.run(&["models", "status"]).expect(0).stdout;
    assert!(
        shown.contains("casebook models resume") && shown.contains("2 of 2"),
        "{shown}"
    );
    assert_eq!(sandbox.json(&["models", "resume"])["paused"], false);
}
