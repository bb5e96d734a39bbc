//! Hits on replaced memories.

use casebook_index::UnitKind;
use casebook_ranker::{Disposition, Redirect};

use crate::support::{World, candidate, codes, disposition, note, packet, world};

/// `old` was replaced by `new`, which has two units.
fn replaced() -> World {
    let world = world("部署 deploy")
        .note("new", &["deploy weekly", "每周部署"])
        .note("old", &["deploy daily"]);
    world.note("other", &["unrelated"]).superseded("old", "new", "new")
}

#[test]
fn a_hit_leads_to_a_successor_that_was_not_found() {
    let activation = replaced()
        .words("fts5", &["old#0", "other#0"])
        .scores(&[("每周部署", 0.9)])
        .run();
    assert_eq!(packet(&activation), "new#1 other#0");
    assert_eq!(disposition(&activation, "old#0"), Disposition::Superseded);
    let target = candidate(&activation, "new#1");
    assert_eq!(target.redirected_from, Some(("old".into(), Redirect::SupersededBy)));
    assert_eq!(target.scores.fused, candidate(&activation, "old#0").scores.fused);
    assert_eq!(target.scores.rrf, None);
    let order: Vec<_> = activation
        .candidates
        .iter()
        .map(|candidate| candidate.unit_key.as_str())
        .collect();
    assert_eq!(order, ["old#0", "new#1", "other#0"]);
}

#[test]
fn without_a_scorer_the_body_comes_before_the_description() {
    let mut world = replaced().words("fts5", &["old#0"]);
    world.scorer = None;
    world.memory.change("new#0", |unit| unit.kind = UnitKind::Description);
    assert_eq!(packet(&world.run()), "new#1");
    world.memory.change("new#1", |unit| unit.kind = UnitKind::Description);
    assert_eq!(packet(&world.run()), "new#0");
}

#[test]
fn a_successor_that_was_found_takes_the_better_place() {
    let mut world = replaced().words("fts5", &["old#0", "other#0", "new#0"]);
    world.scorer = None;
    let activation = world.run();
    assert_eq!(packet(&activation), "new#0 other#0");
    assert!(candidate(&activation, "new#0").redirected_from.is_some());
    assert_eq!(
        candidate(&activation, "new#0").scores.fused,
        candidate(&activation, "old#0").scores.fused
    );
    let mut ahead = replaced().words("fts5", &["new#0", "old#0"]);
    ahead.scorer = None;
    let activation = ahead.run();
    assert_eq!(packet(&activation), "new#0");
    assert_eq!(candidate(&activation, "new#0").redirected_from, None);
    assert_eq!(activation.candidates.len(), 2);
}

#[test]
fn a_successor_that_fusion_cut_comes_back() {
    let world = replaced().words("fts5", &["old#0", "other#0", "new#1"]);
    let activation = world
        .config(|config| (config.fused_keep, config.rerank_depth) = (2, 2))
        .run();
    assert_eq!(packet(&activation), "new#1 other#0");
}

#[test]
fn a_chain_leads_to_its_live_end() {
    let world = world("q")
        .note("a", &["first"])
        .note("b", &["second"])
        .note("c", &["third"]);
    let world = world.superseded("a", "b", "c").replaced("b", "c", "c", true);
    let activation = world.words("fts5", &["a#0", "b#0"]).run();
    assert_eq!(packet(&activation), "c#0");
    assert_eq!(
        candidate(&activation, "c#0").redirected_from,
        Some(("a".into(), Redirect::SupersededBy))
    );
    assert_eq!(disposition(&activation, "b#0"), Disposition::Superseded);
}

#[test]
fn a_retraction_is_named() {
    let world = world("q")
        .note("a", &["wrong"])
        .note("b", &["this was wrong"])
        .replaced("a", "b", "b", true);
    let activation = world.words("fts5", &["a#0"]).run();
    assert_eq!(
        candidate(&activation, "b#0").redirected_from,
        Some(("a".into(), Redirect::RetractedBy))
    );
}

#[test]
fn a_target_passes_the_guards_like_any_other() {
    let world = world("q")
        .note("a", &["open"])
        .add(note("b").audience(&["board"]), &["secret"]);
    let activation = world.superseded("a", "b", "b").words("fts5", &["a#0"]).run();
    assert_eq!(packet(&activation), "");
    assert_eq!(disposition(&activation, "b#0"), Disposition::NotVisible);
}

#[test]
fn a_successor_that_is_not_there_is_told() {
    let world = world("q")
        .note("a", &["old"])
        .superseded("a", "b", "b")
        .words("fts5", &["a#0"]);
    let activation = world.run();
    assert_eq!(packet(&activation), "");
    assert!(codes(&activation).contains(&"redirect_broken"));
}

#[test]
fn the_name_of_a_replaced_memory_still_names_its_successor() {
    let scores = [("deploy weekly", 0.0), ("每周部署", 0.0), ("deploy daily", 0.0)];
    let named = replaced().identity(&["old#0"]).scores(&scores).run();
    assert_eq!(packet(&named), "new#0");
    let found = replaced().words("fts5", &["old#0"]).scores(&scores).run();
    assert_eq!(disposition(&found, "new#0"), Disposition::BelowRelevance);
}

/// A successor need not share words with the question: what it replaced did.
#[test]
fn a_successor_is_as_relevant_as_what_led_to_it() {
    let scores = [
        ("deploy weekly", 0.0),
        ("每周部署", 0.0),
        ("deploy daily", 0.9),
        ("unrelated", 0.5),
    ];
    let world = replaced().scores(&scores);
    let absent = world.words("fts5", &["other#0", "old#0"]).run();
    assert_eq!(packet(&absent), "new#0 other#0");
    assert_eq!(candidate(&absent, "new#0").pair_score, Some(0.9));
    let ahead = replaced()
        .scores(&scores)
        .words("fts5", &["other#0", "new#0", "old#0"])
        .run();
    assert_eq!(packet(&ahead), "new#0 other#0");
}

#[test]
fn the_name_counts_also_for_a_successor_that_is_ahead() {
    let world = replaced()
        .identity(&["old#0"])
        .words("fts5", &["new#0"])
        .dense(&["new#0"]);
    assert_eq!(packet(&world.scores(&[("deploy weekly", 0.0)]).run()), "new#0");
}

#[test]
fn a_replaced_memory_that_fusion_cut_leads_nowhere() {
    let world = replaced().words("fts5", &["other#0", "old#0"]);
    let activation = world
        .config(|config| (config.fused_keep, config.rerank_depth) = (1, 1))
        .run();
    assert_eq!(packet(&activation), "other#0");
    assert_eq!(disposition(&activation, "old#0"), Disposition::NotReranked);
}
