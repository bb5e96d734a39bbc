//! One whole trace, and the labels of fragments.

use casebook_corpus::{ContentHash, Timestamp};
use casebook_ranker::{EvidenceShape, HeldFragment, HistoryMode, SourceState, Stage, TimeLabel};
use casebook_testkit::{FixedClock, ResourceBuilder};

use crate::support::{note, render, world};

#[test]
fn a_whole_trace() {
    let world = world("索引重建 index rebuild lock")
        .add(
            note("rebuild").title("索引重建").topics(&["索引"]),
            &["索引重建期间查询旧版本", "重建之后切换", "锁"],
        )
        .add(
            note("lock").sources(&["pr-7"]),
            &["the index rebuild lock", "a lock that a crash releases"],
        )
        .note("lock-old", &["the index is locked by a file"])
        .note("copy", &["the index rebuild lock"])
        .add(note("board").audience(&["board"]), &["rebuild budget"])
        .add(note("team").scope("team"), &["team index"])
        .note("gone", &["deleted index"])
        .note("weak", &["nothing in common"])
        .note("last", &["too far down"])
        .superseded("lock-old", "lock", "lock");
    let mut world = world
        .identity(&["rebuild#0"])
        .words(
            "fts5",
            &["lock-old#0", "rebuild#1", "board#0", "copy#0", "weak#0", "rebuild#2"],
        )
        .words("tantivy", &["rebuild#0", "lock#1", "copy#0", "team#0", "last#0"])
        .dense(&["rebuild#1", "lock#0", "gone#0", "rebuild#2", "nowhere#0"])
        .scores(&[
            ("索引重建期间查询旧版本", 0.9),
            ("the index rebuild lock", 0.8),
            ("nothing in common", 0.01),
        ])
        .file("gone.md", SourceState::Gone)
        .file("rebuild.md", SourceState::Changed)
        .config(|config| {
            config.history = HistoryMode::Attach;
            config.fused_keep = 11;
            config.rerank_depth = 8;
        });
    world.request.scopes = vec!["project".into()];
    world.request.state.held = [
        ("rebuild#0", "索引重建期间查询旧版本"),
        ("copy#0", "the index rebuild lock"),
    ]
    .map(|(unit_key, text)| HeldFragment {
        unit_key: unit_key.into(),
        content_hash: ContentHash::of(text),
    })
    .to_vec();
    insta::assert_snapshot!(render(&world.run()));
}

#[test]
fn each_stage_is_timed_in_order() {
    let mut world = world("q").note("a", &["one"]).words("fts5", &["a#0"]);
    let stages: Vec<_> = world
        .run()
        .latencies
        .iter()
        .map(|latency| (latency.stage, latency.micros))
        .collect();
    assert_eq!(stages, Stage::ALL.iter().map(|stage| (*stage, 0)).collect::<Vec<_>>());
    world.clock = FixedClock::stepping(Timestamp::from_unix_millis(0), 10);
    assert!(
        world
            .run()
            .latencies
            .iter()
            .filter(|latency| latency.stage != Stage::Dense)
            .all(|latency| latency.micros > 0)
    );
}

#[test]
fn the_answer_is_for_now_unless_asked_otherwise() {
    let mut world = world("q");
    world.request.as_of = None;
    world.clock = FixedClock::new(Timestamp::from_unix_millis(77));
    assert_eq!(world.run().as_of, Timestamp::from_unix_millis(77));
}

fn shape(resource: ResourceBuilder, query: &str, hints: [&[&str]; 2]) -> EvidenceShape {
    let mut world = world(query).add(resource, &["text"]).words("fts5", &["a#0"]);
    let [topics, entities] = hints.map(|hints| hints.iter().map(|hint| (*hint).to_owned()).collect());
    (world.request.topics, world.request.entities) = (topics, entities);
    world.run().fragments[0].evidence_shape
}

#[test]
fn an_evidence_shape_is_the_strongest_that_holds() {
    use EvidenceShape::{LexicalOnly, ProvenanceSupported, StructuredContext};
    let labelled = || note("a").topics(&["检索评测"]).entities(&["build-lock"]);
    for (resource, query, hints, expected) in [
        (labelled().sources(&["pr-1"]), "q", [&[][..], &[]], ProvenanceSupported),
        (labelled(), "q", [&[], &[]], LexicalOnly),
        (labelled(), "谁负责检索评测？", [&[], &[]], StructuredContext),
        (labelled(), "why a build lock?", [&[], &[]], StructuredContext),
        (labelled(), "why builds lock?", [&[], &[]], LexicalOnly),
        (labelled(), "q", [&["检索评测"], &[]], StructuredContext),
        (labelled(), "q", [&[], &["Build-Lock"]], StructuredContext),
        (labelled(), "q", [&["检索"], &["lock"]], LexicalOnly),
        (note("a").kind("decision"), "q", [&[], &[]], LexicalOnly),
    ] {
        assert_eq!(shape(resource, query, hints), expected, "{query} {hints:?}");
    }
    let named = world("a")
        .add(note("a").kind("decision"), &["text"])
        .identity(&["a#0"])
        .run();
    assert_eq!(named.fragments[0].evidence_shape, StructuredContext);
}

/// Labels at the moment 1000.
fn check_labels(resource: ResourceBuilder, expected: &[TimeLabel]) {
    let world = world("q").add(resource, &["text"]).words("fts5", &["a#0"]);
    assert_eq!(world.run().fragments[0].time_labels, expected);
}

#[test]
fn time_is_told_and_changes_nothing() {
    use TimeLabel::{CheckpointPassed, NoLongerValid, NotYetValid};
    check_labels(note("a"), &[]);
    check_labels(note("a").expected_resolution_at(999), &[CheckpointPassed]);
    check_labels(note("a").expected_resolution_at(1000), &[]);
    check_labels(
        note("a").expected_resolution_at(500).last_confirmed_at(500),
        &[CheckpointPassed],
    );
    check_labels(note("a").expected_resolution_at(500).last_confirmed_at(501), &[]);
    check_labels(
        note("a").expected_resolution_at(500).reviewed_at(600),
        &[CheckpointPassed],
    );
    check_labels(note("a").valid_to(999), &[NoLongerValid]);
    check_labels(note("a").valid_to(1000).valid_from(1000), &[]);
    check_labels(note("a").valid_from(1001), &[NotYetValid]);
}
