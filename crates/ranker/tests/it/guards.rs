//! The guards, fed from a memory and lanes that filter nothing.

use casebook_corpus::Standing;
use casebook_ranker::{Disposition, SourceState, TimeLabel};

use crate::support::{candidate, codes, disposition, note, packet, world};

#[test]
fn what_the_audience_may_not_see_is_never_served() {
    let open = || {
        let world = world("董事会 budget").add(note("secret").audience(&["board"]), &["董事会预算"]);
        let world = world
            .add(note("label").sensitivity("hr"), &["salaries"])
            .note("open", &["public"]);
        world
            .identity(&["secret#0"])
            .words("fts5", &["secret#0", "label#0", "open#0"])
            .dense(&["label#0"])
    };
    let activation = open().run();
    assert_eq!(packet(&activation), "open#0");
    assert_eq!(disposition(&activation, "secret#0"), Disposition::NotVisible);
    let mut board = open();
    board.request.audiences = vec!["board".into()];
    assert_eq!(packet(&board.run()), "secret#0 open#0");
}

#[test]
fn scopes_bound_the_answer() {
    let mut world = world("q")
        .add(note("a").scope("team"), &["team"])
        .add(note("b").scope("user"), &["user"]);
    world = world.words("fts5", &["a#0", "b#0"]);
    assert_eq!(packet(&world.run()), "a#0 b#0");
    world.request.scopes = vec!["user".into()];
    let activation = world.run();
    assert_eq!(packet(&activation), "b#0");
    assert_eq!(disposition(&activation, "a#0"), Disposition::OutOfScope);
}

#[test]
fn an_overlaid_resource_never_passes() {
    let mut world = world("q")
        .note("a", &["lower"])
        .note("b", &["other"])
        .words("fts5", &["a#0", "b#0"]);
    let by_location = "upper/a.md".to_owned();
    world.memory.stand("a", &Standing::Overlaid { by_location });
    let activation = world.run();
    assert_eq!(packet(&activation), "b#0");
    assert_eq!(disposition(&activation, "a#0"), Disposition::Superseded);
}

#[test]
fn a_deleted_file_is_never_served_and_a_changed_one_is_marked() {
    let world = world("q")
        .note("a", &["gone", "gone too"])
        .note("b", &["changed"])
        .note("c", &["as it was"]);
    let world = world.words("fts5", &["a#0", "a#1", "b#0", "c#0"]);
    let activation = world
        .file("a.md", SourceState::Gone)
        .file("b.md", SourceState::Changed)
        .run();
    assert_eq!(packet(&activation), "b#0 c#0");
    assert_eq!(disposition(&activation, "a#1"), Disposition::SourceDeleted);
    assert_eq!(activation.fragments[0].time_labels, [TimeLabel::Stale]);
    assert_eq!(activation.fragments[1].time_labels, []);
    let stale: Vec<_> = activation
        .degradations
        .iter()
        .filter(|told| told.code == "index_stale")
        .collect();
    let paths: Vec<_> = stale.iter().map(|told| told.path.as_deref().unwrap()).collect();
    assert_eq!(paths, ["a.md", "b.md"], "one degradation per file");
}

#[test]
fn what_the_guards_refuse_takes_no_place_of_the_rerank() {
    let world = world("q")
        .add(note("a").audience(&["board"]), &["secret"])
        .note("b", &["open"]);
    let world = world
        .words("fts5", &["a#0", "b#0"])
        .config(|config| config.rerank_depth = 1);
    assert_eq!(packet(&world.run()), "b#0");
}

#[test]
fn a_hidden_file_is_not_looked_at() {
    let world = world("q")
        .add(note("a").audience(&["board"]), &["secret"])
        .words("fts5", &["a#0"]);
    let activation = world.file("a.md", SourceState::Gone).run();
    assert_eq!(disposition(&activation, "a#0"), Disposition::NotVisible);
    assert!(!codes(&activation).contains(&"index_stale"));
}

#[test]
fn each_file_is_looked_at_once_and_none_that_fusion_cut() {
    let world = world("q")
        .note("a", &["one", "two"])
        .add(note("b").audience(&["board"]), &["cut"]);
    let world = world
        .note("c", &["cut too"])
        .words("fts5", &["a#0", "a#1", "b#0", "c#0"]);
    let world = world.config(|config| (config.fused_keep, config.rerank_depth) = (2, 2));
    let activation = world.run();
    assert_eq!(*world.looked_at.borrow(), ["a.md"]);
    assert_eq!(disposition(&activation, "b#0"), Disposition::NotVisible);
}

/// A lane that is full of what may not be shown is asked for more.
#[test]
fn what_may_not_be_shown_takes_no_place_in_a_list() {
    let secrets: Vec<String> = (0..20).map(|n| format!("secret {n}")).collect();
    let secrets: Vec<&str> = secrets.iter().map(String::as_str).collect();
    let keys: Vec<String> = (0..20)
        .map(|n| format!("hidden#{n}"))
        .chain(["open#0".into()])
        .collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let world = world("q")
        .add(note("hidden").audience(&["board"]), &secrets)
        .note("open", &["公开 open"])
        .words("fts5", &keys)
        .dense(&keys)
        .config(|config| {
            (config.lexical_limit, config.dense_limit) = (4, 4);
            (config.fused_keep, config.rerank_depth) = (4, 4);
        });
    let activation = world.run();
    assert_eq!(packet(&activation), "open#0");
    let open = candidate(&activation, "open#0");
    assert_eq!(
        (open.scores.fts5.unwrap().rank, open.scores.dense.unwrap().rank),
        (1, 1)
    );
    let hidden = candidate(&activation, "hidden#0");
    assert_eq!(
        (hidden.scores.fts5, hidden.scores.rrf),
        (None, None),
        "a score would tell"
    );
    assert_eq!(activation.candidates.len(), 1 + 4 + 4, "the trace is bounded");
}

/// The last guard is fed by a redirect, which asks nobody.
#[test]
fn a_redirect_does_not_lead_out_of_the_scopes() {
    let mut world = world("q")
        .note("a", &["old"])
        .add(note("b").scope("team"), &["new"])
        .superseded("a", "b", "b")
        .words("fts5", &["a#0"]);
    world.request.scopes = vec!["project".into()];
    let activation = world.run();
    assert_eq!(packet(&activation), "");
    assert_eq!(disposition(&activation, "b#0"), Disposition::OutOfScope);
}
