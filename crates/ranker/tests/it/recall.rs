//! Recall and the lists: broken lanes, and how lanes are merged.

use casebook_corpus::Degradation;
use casebook_ranker::ActivateError;
use casebook_testkit::{FakeEncoder, FakeLane};

use crate::support::{World, candidate, codes, packet, render, world};

/// Three notes; the word lanes find `a` and `b`, the vector lane `c`.
fn notes() -> World {
    let world = world("构建 lock")
        .note("a", &["构建锁"])
        .note("b", &["build lock"])
        .note("c", &["mutex"]);
    world.words("fts5", &["a#0"]).words("tantivy", &["b#0"]).dense(&["c#0"])
}

fn check(world: &World, expected_packet: &str, expected_codes: &[&str]) {
    let activation = world.run();
    assert_eq!(packet(&activation), expected_packet, "{}", render(&activation));
    assert_eq!(codes(&activation), expected_codes, "{}", render(&activation));
}

#[test]
fn all_lanes_answer() {
    // The first of the lexical and the first of the dense list tie, and the tie goes by resource id.
    check(&notes(), "b#0 c#0 a#0", &[]);
}

#[test]
fn a_broken_word_lane_takes_nobody_with_it() {
    let with = |lane: FakeLane| {
        let mut world = notes();
        world.lexical[0] = lane;
        world
    };
    let lane = || FakeLane::new("fts5", &["a#0"]);
    check(&with(lane().failing()), "b#0 c#0", &["lane_failed"]);
    check(&with(lane().panicking()), "b#0 c#0", &["lane_panicked"]);
    check(&with(lane().serving("0-older")), "b#0 c#0", &["lane_behind"]);
}

#[test]
fn a_broken_identity_lane_takes_nobody_with_it() {
    let mut world = notes();
    world.identity = Some(FakeLane::new("identity", &["a#0"]).panicking());
    check(&world, "b#0 c#0 a#0", &["lane_panicked"]);
}

#[test]
fn a_broken_vector_lane_takes_nobody_with_it() {
    let with = |change: fn(FakeLane) -> FakeLane| {
        let mut world = notes();
        world.dense = world.dense.map(change);
        world
    };
    check(&with(FakeLane::failing), "b#0 a#0", &["vector_lane_unavailable"]);
    check(&with(FakeLane::panicking), "b#0 a#0", &["lane_panicked"]);
    check(&with(|lane| lane.serving("0-older")), "b#0 a#0", &["lane_behind"]);
    check(
        &with(|lane| lane.encoded_by("other")),
        "b#0 a#0",
        &["vector_lane_unavailable"],
    );
}

#[test]
fn an_encoder_that_does_not_work_takes_nobody_with_it() {
    for encoder in [
        FakeEncoder::failing(),
        FakeEncoder::panicking(),
        FakeEncoder::not_a_number(),
    ] {
        let mut world = notes();
        world.encoder = Some(encoder);
        check(&world, "b#0 a#0", &["vector_lane_unavailable"]);
    }
}

#[test]
fn what_the_snapshot_has_told_is_told_once() {
    let mut world = notes();
    world.encoder = None;
    check(&world, "b#0 a#0", &["vector_lane_unavailable"]);
    world.degradations = vec![Degradation::new(
        "vector_lane_unavailable",
        "the vector file is corrupt",
    )];
    let activation = world.run();
    assert_eq!(activation.degradations, world.degradations);
}

#[test]
fn no_lane_at_all_is_an_empty_answer() {
    let mut world = world("lock");
    world.encoder = None;
    check(&world, "", &["vector_lane_unavailable"]);
}

#[test]
fn broken_hits_are_dropped_and_told() {
    let mut world = notes();
    world.lexical[0] = FakeLane::scored(
        "fts5",
        &[
            ("nowhere#0", 9.0),
            ("c#0", f32::NAN),
            ("a#0", 3.0),
            ("a#0", 2.0),
            ("b#0", f32::INFINITY),
        ],
    );
    let activation = world.run();
    assert_eq!(codes(&activation), ["lane_broken_hit"]);
    assert_eq!(activation.degradations[0].detail, "fts5: 4 of 5 hits were dropped");
    assert_eq!(candidate(&activation, "a#0").scores.fts5.unwrap().rank, 1);
    assert_eq!(candidate(&activation, "b#0").scores.fts5, None);
}

#[test]
fn a_unit_with_broken_hits_alone_is_no_candidate() {
    let mut world = notes();
    world.dense = Some(FakeLane::scored("dense", &[("c#0", f32::NAN)]));
    assert_eq!(world.run().candidates.len(), 2);
}

#[test]
fn hits_past_the_limit_are_dropped_and_told() {
    let world = world("q")
        .note("a", &["one", "two", "three"])
        .words("fts5", &["a#0", "a#1", "a#2"]);
    let activation = world.config(|config| config.lexical_limit = 2).run();
    assert_eq!(activation.candidates.len(), 2);
    assert!(codes(&activation).contains(&"lane_broken_hit"));
}

#[test]
fn a_hit_past_the_limit_has_no_rank_though_another_lane_knows_the_unit() {
    let world = notes().note("d", &["extra"]).config(|config| config.lexical_limit = 1);
    let activation = world.words("own", &["d#0", "c#0"]).run();
    assert!(candidate(&activation, "c#0").scores.other.is_empty());
    assert!(candidate(&activation, "c#0").scores.dense.is_some());
}

#[test]
fn the_same_trouble_is_told_once() {
    let mut world = notes();
    world.lexical = vec![
        FakeLane::new("fts5", &[]).failing(),
        FakeLane::new("fts5", &[]).failing(),
    ];
    check(&world, "c#0", &["lane_failed"]);
}

#[test]
fn identity_leads_the_lexical_list_in_its_own_order() {
    let activation = notes().identity(&["c#0", "a#0"]).run();
    let rank = |unit_key| candidate(&activation, unit_key).scores.lexical.unwrap().rank;
    assert_eq!((rank("c#0"), rank("a#0"), rank("b#0")), (1, 2, 3));
    assert_eq!(candidate(&activation, "a#0").scores.exact.unwrap().rank, 2);
}

#[test]
fn one_word_lane_keeps_its_own_order() {
    let world = world("q").note("a", &["one"]).note("b", &["two"]).note("c", &["three"]);
    let activation = world.words("tantivy", &["c#0", "a#0", "b#0"]).run();
    let rank = |unit_key| candidate(&activation, unit_key).scores.lexical.unwrap().rank;
    assert_eq!((rank("c#0"), rank("a#0"), rank("b#0")), (1, 2, 3));
}

#[test]
fn the_word_lane_counts_more_than_the_trigram_lane() {
    let world = || world("q").note("a", &["one"]).note("b", &["two"]);
    let world = world().words("fts5", &["a#0", "b#0"]).words("tantivy", &["b#0", "a#0"]);
    assert_eq!(candidate(&world.run(), "b#0").scores.lexical.unwrap().rank, 1);
    let equal = world.config(|config| config.lexical_weights.tantivy = 1.0).run();
    assert_eq!(candidate(&equal, "a#0").scores.lexical.unwrap().rank, 1);
}

#[test]
fn a_lane_of_ones_own_keeps_its_name() {
    let activation = world("q")
        .note("a", &["one"])
        .words("graph", &["a#0"])
        .words("sparse", &["a#0"])
        .run();
    let scores = &candidate(&activation, "a#0").scores;
    assert_eq!(scores.other[0].0, "graph");
    assert_eq!(scores.sparse.unwrap().rank, 1);
}

#[test]
fn a_query_without_terms_is_an_empty_answer() {
    let near = world("???")
        .note("a", &["one"])
        .dense(&["a#0"])
        .scores(&[("one", 0.0)])
        .run();
    assert_eq!(
        (packet(&near).as_str(), codes(&near).as_slice()),
        ("", &["query_without_terms"][..])
    );
    check(&world("\"(?!"), "", &["vector_lane_unavailable", "query_without_terms"]);
    check(&world("无人知道"), "", &["vector_lane_unavailable"]);
    check(
        &world("(").note("a", &["("]).words("fts5", &["a#0"]).dense(&[]),
        "a#0",
        &[],
    );
}

#[test]
fn nothing_asked_is_an_error() {
    for query in ["", "   ", "\n\t\u{3000}"] {
        let error = world(query).try_run().unwrap_err();
        assert_eq!((error.code(), error.stage()), ("query_empty", "request"), "{query:?}");
    }
}

#[test]
fn a_profile_out_of_range_is_an_error() {
    let error = world("q")
        .config(|config| config.rerank_depth = 0)
        .try_run()
        .unwrap_err();
    assert_eq!(error.code(), "config_invalid");
    assert_eq!(
        error.summary(),
        "profile is not valid: rerank_depth must be 1 to 10000, found 0"
    );
}

#[test]
fn units_that_cannot_be_read_are_an_error() {
    let mut world = notes();
    world.memory.make_unreadable();
    let error = world.try_run().unwrap_err();
    assert!(matches!(error, ActivateError::Units { .. }));
    assert_eq!((error.code(), error.stage()), ("units_unreadable", "fusion"));
    assert!(
        error.summary().ends_with("the fake memory is unreadable"),
        "{}",
        error.summary()
    );
}
