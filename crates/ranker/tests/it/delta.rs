//! The delta and its law.

use casebook_corpus::ContentHash;
use casebook_ranker::{ActivationState, DeltaAction, HeldFragment, apply_delta};
use proptest::prelude::*;

use crate::support::{World, world};

fn notes() -> World {
    let world = world("q").note("a", &["one"]).note("b", &["二"]).note("c", &["three"]);
    world.words("fts5", &["a#0", "b#0", "c#0"])
}

fn state(held: &[(&str, &str)]) -> ActivationState {
    let fragment = |(unit_key, text): &(&str, &str)| HeldFragment {
        unit_key: (*unit_key).into(),
        content_hash: ContentHash::of(text),
    };
    ActivationState {
        held: held.iter().map(fragment).collect(),
    }
}

/// Actions of `a#0 b#0 c#0`, then what is removed.
fn check(held: &[(&str, &str)], expected: [DeltaAction; 3], expected_removed: &[&str]) {
    let mut world = notes();
    world.request.state = state(held);
    let activation = world.run();
    let actions: Vec<_> = activation.fragments.iter().map(|fragment| fragment.action).collect();
    assert_eq!(actions, expected);
    let removed: Vec<_> = activation
        .removed
        .iter()
        .map(|removed| removed.unit_key.as_str())
        .collect();
    assert_eq!(removed, expected_removed);
    assert_eq!(apply_delta(&world.request.state, &activation), activation.state);
    let traced: Vec<_> = activation.candidates.iter().map(|candidate| candidate.action).collect();
    assert_eq!(traced, expected.map(Some));
}

#[test]
fn each_fragment_is_added_replaced_or_reused() {
    use DeltaAction::{Add, Replace, Reuse};
    check(&[], [Add, Add, Add], &[]);
    check(&[("b#0", "二"), ("a#0", "older")], [Replace, Reuse, Add], &[]);
    check(
        &[("x#0", "x"), ("a#0", "one"), ("w#0", "w"), ("x#0", "y")],
        [Reuse, Add, Add],
        &["x#0", "w#0"],
    );
    check(&[("a#0", "one"), ("a#0", "one")], [Reuse, Add, Add], &[]);
    check(&[("a#0", "one"), ("a#0", "older")], [Replace, Add, Add], &[]);
    check(
        &[("a#0", "older"), ("a#0", "one"), ("", "")],
        [Replace, Add, Add],
        &[""],
    );
}

#[test]
fn the_next_turn_reuses_what_the_last_one_gave() {
    let mut world = notes();
    world.request.state = world.run().state;
    let activation = world.run();
    assert!(
        activation
            .fragments
            .iter()
            .all(|fragment| fragment.action == DeltaAction::Reuse)
    );
    assert!(activation.budget.tokens_used > 0, "reused fragments count");
    assert!(activation.removed.is_empty());
}

proptest! {
    #[test]
    fn applying_the_delta_gives_the_new_selection(
        held in proptest::collection::vec(
            (prop_oneof!["[a-e]#[01]", ".{0,3}"], prop_oneof![Just("one"), Just("二"), Just("other")]),
            0..12,
        ),
        fragments in 1_usize..4,
        order in Just(["a#0", "b#0", "c#0"]).prop_shuffle(),
    ) {
        let mut world = notes().config(|config| config.fragment_limit = fragments);
        world.lexical.clear();
        world = world.words("fts5", &order);
        let held: Vec<_> = held.iter().map(|(unit_key, text)| (unit_key.as_str(), *text)).collect();
        world.request.state = state(&held);
        let activation = world.run();
        prop_assert_eq!(apply_delta(&world.request.state, &activation), activation.state);
    }
}
