//! History stands right behind its direct successor, or not at all.

use casebook_ranker::{Disposition, HistoryMode, Role, SourceState};
use proptest::prelude::*;

use crate::support::{World, disposition, note, packet, world};

fn attached(world: World) -> World {
    world.config(|config| config.history = HistoryMode::Attach)
}

/// `c` replaced `b`, which replaced `a`; `d` has nothing to do with them.
fn chain() -> World {
    let world = world("部署")
        .note("a", &["first"])
        .note("b", &["second"])
        .note("c", &["third"])
        .note("d", &["other"]);
    world.superseded("a", "b", "c").superseded("b", "c", "c")
}

#[test]
fn the_direct_predecessor_follows_its_successor() {
    let all = || chain().words("fts5", &["d#0", "a#0", "b#0", "c#0"]);
    assert_eq!(packet(&all().run()), "d#0 c#0", "off unless asked for");
    let activation = attached(all()).run();
    assert_eq!(packet(&activation), "d#0 c#0 (b#0)");
    assert_eq!(disposition(&activation, "b#0"), Disposition::Selected);
    assert_eq!(
        disposition(&activation, "a#0"),
        Disposition::Superseded,
        "c did not replace it directly"
    );
}

#[test]
fn only_what_was_hit_is_history() {
    assert_eq!(packet(&attached(chain().words("fts5", &["c#0"])).run()), "c#0");
    assert_eq!(packet(&attached(chain().words("fts5", &["a#0"])).run()), "c#0");
}

#[test]
fn what_fusion_cut_is_no_history() {
    let world = chain().words("fts5", &["c#0", "b#0"]);
    let world = world.config(|config| (config.fused_keep, config.rerank_depth) = (1, 1));
    assert_eq!(packet(&attached(world).run()), "c#0");
}

#[test]
fn a_successor_has_one_predecessor_behind_it() {
    let world = world("q")
        .note("a", &["one"])
        .note("b", &["two"])
        .note("c", &["three", "four"]);
    let world = world.superseded("a", "c", "c").superseded("b", "c", "c");
    let world = world.words("fts5", &["c#0", "c#1", "b#0", "a#0"]);
    assert_eq!(packet(&attached(world).run()), "c#0 (b#0) c#1");
}

#[test]
fn history_never_stands_without_its_successor() {
    let scores = [("second", 0.0), ("third", 0.0)];
    let world = attached(chain().words("fts5", &["b#0", "d#0"]).scores(&scores));
    assert_eq!(packet(&world.run()), "d#0");
}

#[test]
fn evidence_comes_before_history_in_the_budgets() {
    let world = || attached(chain().words("fts5", &["b#0", "d#0"]));
    assert_eq!(packet(&world().run()), "c#0 (b#0) d#0");
    assert_eq!(
        packet(&world().config(|config| config.fragment_limit = 2).run()),
        "c#0 d#0"
    );
    assert_eq!(
        packet(&world().config(|config| config.token_budget = 11).run()),
        "c#0 d#0"
    );
    assert_eq!(packet(&world().config(|config| config.token_budget = 4).run()), "");
}

#[test]
fn of_two_predecessors_the_better_hit_follows() {
    let world = world("q").note("a", &["one"]).note("b", &["two"]).note("c", &["three"]);
    let world = world
        .superseded("a", "c", "c")
        .superseded("b", "c", "c")
        .words("fts5", &["b#0", "a#0"]);
    assert_eq!(packet(&attached(world).run()), "c#0 (b#0)");
}

#[test]
fn history_passes_the_guards() {
    let hidden = world("q")
        .add(note("a").audience(&["board"]), &["secret"])
        .note("b", &["open"]);
    let hidden = hidden.superseded("a", "b", "b").words("fts5", &["a#0"]);
    assert_eq!(
        packet(&attached(hidden).run()),
        "",
        "what may not be seen leads nowhere"
    );
    let gone = chain().words("fts5", &["b#0"]).file("b.md", SourceState::Gone);
    assert_eq!(packet(&attached(gone).run()), "c#0");
}

proptest! {
    #[test]
    fn every_packet_is_adjacent_under_any_budget(
        order in Just(["a#0", "b#0", "c#0", "d#0", "e#0", "f#0"]).prop_shuffle(),
        tokens in 1_usize..40,
        fragments in 1_usize..8,
    ) {
        let world = chain().note("e", &["fifth"]).note("f", &["sixth"]).superseded("e", "f", "f");
        let world = attached(world.words("fts5", &order));
        let activation = world.config(|config| (config.token_budget, config.fragment_limit) = (tokens, fragments)).run();
        let direct = [("b", "c"), ("e", "f")];
        for (position, fragment) in activation.fragments.iter().enumerate() {
            if fragment.role == Role::History {
                let before = &activation.fragments[position - 1];
                prop_assert_eq!(before.role, Role::Evidence);
                prop_assert!(direct.contains(&(fragment.resource_id.as_str(), before.resource_id.as_str())));
            }
        }
        prop_assert!(activation.budget.tokens_used <= tokens);
        prop_assert!(activation.fragments.len() <= fragments);
    }
}
