//! Every disposition, and the first reason that applies.

use casebook_ranker::Disposition;

use crate::support::{World, candidate, disposition, note, packet, world};

fn check(world: World, unit_key: &str, expected: Disposition) {
    let activation = world.run();
    let trace = crate::support::render(&activation);
    assert_eq!(disposition(&activation, unit_key), expected, "{trace}");
}

#[test]
fn what_fits_is_selected() {
    check(
        world("锁").note("a", &["构建锁"]).words("fts5", &["a#0"]),
        "a#0",
        Disposition::Selected,
    );
}

#[test]
fn what_ranks_past_the_depth_is_not_reranked() {
    let three = || {
        world("q")
            .note("a", &["one", "two", "three"])
            .words("fts5", &["a#0", "a#1", "a#2"])
    };
    let shallow = || three().config(|config| config.rerank_depth = 1);
    check(shallow(), "a#1", Disposition::NotReranked);
    let cut = shallow().config(|config| config.fused_keep = 1).run();
    assert_eq!(disposition(&cut, "a#2"), Disposition::NotReranked);
    assert_eq!(candidate(&cut, "a#2").scores.fused, None);
    assert_eq!(candidate(&cut, "a#2").scores.rrf.unwrap().rank, 3);
}

#[test]
fn what_does_not_fit_the_lexical_list_stays_in_the_trace() {
    let world = world("q")
        .note("a", &["one"])
        .note("b", &["two"])
        .words("fts5", &["a#0"])
        .words("tantivy", &["b#0"]);
    let activation = world.config(|config| config.lexical_limit = 1).run();
    let full = candidate(&activation, "a#0");
    assert_eq!(
        (full.disposition, full.scores.rrf, full.scores.lexical),
        (Disposition::NotReranked, None, None)
    );
    assert_eq!(full.scores.fts5.unwrap().rank, 1);
}

#[test]
fn what_has_too_little_in_common_is_below_relevance() {
    let weak = || {
        world("q")
            .note("a", &["weak"])
            .words("fts5", &["a#0"])
            .scores(&[("weak", 0.01)])
    };
    check(weak(), "a#0", Disposition::BelowRelevance);
    check(weak().identity(&["a#0"]), "a#0", Disposition::Selected);
    let mut unscored = weak();
    unscored.scorer = None;
    check(unscored, "a#0", Disposition::Selected);
}

#[test]
fn what_is_faint_beside_the_best_is_below_relevance() {
    let world = |scores: &[(&str, f32)]| {
        world("q")
            .note("a", &["clear"])
            .note("b", &["faint"])
            .words("fts5", &["b#0", "a#0"])
            .scores(scores)
    };
    check(
        world(&[("clear", 0.9), ("faint", 0.3)]),
        "b#0",
        Disposition::BelowRelevance,
    );
    check(world(&[("clear", 0.6), ("faint", 0.3)]), "b#0", Disposition::Selected);
    let all = world(&[("clear", 0.9), ("faint", 0.3)]).config(|config| config.relevance_share = 0.0);
    check(all, "b#0", Disposition::Selected);
}

#[test]
fn equal_text_and_shared_spans_are_overlap() {
    let twins = world("q")
        .note("a", &["same"])
        .note("b", &["same"])
        .words("fts5", &["a#0", "b#0"]);
    check(twins, "b#0", Disposition::Overlap);
    let windows = |shared_from: usize| {
        let mut world = world("q")
            .note("a", &["0123456789", "abcdefghij"])
            .words("fts5", &["a#0", "a#1"]);
        world.memory.change("a#1", |unit| unit.locator.bytes = shared_from..20);
        world
    };
    check(windows(10), "a#1", Disposition::Selected);
    check(windows(5), "a#1", Disposition::Selected);
    check(windows(4), "a#1", Disposition::Overlap);
    let elsewhere = world("q")
        .note("a", &["0123"])
        .note("b", &["abcd"])
        .words("fts5", &["a#0", "b#0"]);
    check(elsewhere, "b#0", Disposition::Selected);
}

#[test]
fn a_resource_has_its_share() {
    let world = world("q")
        .note("a", &["one", "two", "three"])
        .words("fts5", &["a#0", "a#1", "a#2"]);
    check(world, "a#2", Disposition::ResourceCap);
}

#[test]
fn tokens_are_capped_and_a_smaller_one_may_still_fit() {
    let world = world("q")
        .note("a", &["0123456789"])
        .note("b", &["0123456"])
        .note("c", &["abc"]);
    let world = world
        .words("fts5", &["a#0", "b#0", "c#0"])
        .config(|config| config.token_budget = 13);
    let activation = world.run();
    assert_eq!(disposition(&activation, "b#0"), Disposition::TokenCap);
    assert_eq!(packet(&activation), "a#0 c#0");
    assert_eq!(activation.budget.tokens_used, 13);
}

#[test]
fn fragments_are_capped() {
    let world = world("q")
        .note("a", &["one"])
        .note("b", &["two"])
        .words("fts5", &["a#0", "b#0"]);
    check(
        world.config(|config| config.fragment_limit = 1),
        "b#0",
        Disposition::FragmentCap,
    );
}

#[test]
fn the_first_reason_of_the_chain_is_given() {
    let world = || {
        let world = world("q")
            .note("a", &["one", "two", "one"])
            .note("b", &["one"])
            .note("c", &["1", "2", "3333"]);
        let world = world.words("fts5", &["a#0", "a#1", "a#2", "b#0", "c#2"]);
        world.config(|config| (config.per_resource, config.token_budget, config.fragment_limit) = (1, 5, 1))
    };
    check(world(), "a#0", Disposition::Selected);
    check(world().scores(&[("two", 0.0)]), "a#1", Disposition::BelowRelevance);
    check(world(), "a#2", Disposition::Overlap);
    check(world(), "b#0", Disposition::Overlap);
    check(world(), "a#1", Disposition::ResourceCap);
    check(world(), "c#2", Disposition::TokenCap);
}

#[test]
fn all_dispositions_are_reachable_by_a_guard_or_a_cap() {
    let hidden = world("q")
        .add(note("a").audience(&["board"]), &["secret"])
        .words("fts5", &["a#0"]);
    check(hidden, "a#0", Disposition::NotVisible);
    let mut scoped = world("q")
        .add(note("a").scope("team"), &["theirs"])
        .words("fts5", &["a#0"]);
    scoped.request.scopes = vec!["user".into()];
    check(scoped, "a#0", Disposition::OutOfScope);
    let gone = world("q").note("a", &["gone"]).words("fts5", &["a#0"]);
    check(
        gone.file("a.md", casebook_ranker::SourceState::Gone),
        "a#0",
        Disposition::SourceDeleted,
    );
    let old = world("q")
        .note("a", &["old"])
        .note("b", &["new"])
        .superseded("a", "b", "b")
        .words("fts5", &["a#0"]);
    check(old, "a#0", Disposition::Superseded);
}
