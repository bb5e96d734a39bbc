//! Two encoders side by side: which of them answers, and what is said about it.

use casebook_index::Coverage;
use casebook_ranker::Activation;
use casebook_testkit::{FakeLane, FakePack};

use crate::support::{Pack, World, candidate, codes, world};

const PACK: &str = "pack.1";

fn coverage(total: u64, missing: u64, was_complete: bool) -> Coverage {
    Coverage {
        total,
        missing,
        refused: 0,
        was_complete,
    }
}

/// Four notes; the embedded encoder ranks them `a b c d`, the pack `d c b a`, where it has vectors.
fn notes(coverage: Coverage) -> World {
    let mut world = world("构建 lock")
        .note("a", &["构建锁"])
        .note("b", &["build lock"])
        .note("c", &["mutex"])
        .note("d", &["互斥"])
        .words("fts5", &[]);
    world.dense = Some(FakeLane::scored(
        "dense",
        &[("a#0", 0.9), ("b#0", 0.5), ("c#0", 0.3), ("d#0", 0.1)],
    ));
    world.preferred = Some(Pack {
        encoder: FakePack::new(PACK),
        dense: pack_lane(),
        sparse: None,
        coverage,
    });
    world
}

fn pack_lane() -> FakeLane {
    let hits = [("d#0", 0.80), ("c#0", 0.78), ("b#0", 0.76), ("a#0", 0.72)];
    FakeLane::scored("dense", &hits).encoded_by(PACK)
}

/// The dense list: units with their scores.
fn dense(activation: &Activation) -> String {
    let mut found: Vec<_> = activation
        .candidates
        .iter()
        .filter_map(|candidate| Some((candidate.scores.dense?, &candidate.unit_key)))
        .collect();
    found.sort_by_key(|(ranked, _)| ranked.rank);
    let shown = found.iter().map(|(ranked, key)| format!("{key} {:.3}", ranked.score));
    shown.collect::<Vec<_>>().join(", ")
}

const OF_BASE: &str = "a#0 0.900, b#0 0.500, c#0 0.300, d#0 0.100";
const OF_PACK: &str = "d#0 0.800, c#0 0.780, b#0 0.760, a#0 0.720";

fn check(world: &World, expected: &str, told: &[&str]) {
    let activation = world.run();
    assert_eq!(dense(&activation), expected);
    let found: Vec<String> = activation.degradations.iter().map(ToString::to_string).collect();
    assert_eq!(found, told);
}

#[test]
fn a_complete_pack_answers_alone() {
    check(&notes(coverage(4, 0, true)), OF_PACK, &[]);
    let mut without_base = notes(coverage(4, 0, true));
    (without_base.dense, without_base.encoder) = (None, None);
    check(&without_base, OF_PACK, &[]);
}

#[test]
fn the_answer_tells_whose_vectors_it_is_from_and_trusts_a_pack_more() {
    let source = |world: &World| {
        world
            .run()
            .dense_source
            .map(|source| (source.encoder.to_string(), source.is_contextual))
    };
    let complete = notes(coverage(4, 0, true));
    assert_eq!(source(&complete), Some((PACK.to_owned(), true)));
    let (encoder, is_contextual) = source(&notes(coverage(4, 3, false))).unwrap();
    assert!(encoder != PACK && !is_contextual, "{encoder}");

    let share = |note| {
        let weighted = candidate(&complete.run(), note).scores.weighted.unwrap();
        weighted.score / complete.config.fusion_weights.contextual_dense
    };
    assert!(
        share("a#0").abs() < 1e-6,
        "the lowest of the list begins at 0: {}",
        share("a#0")
    );
    assert!((share("d#0") - 1.0).abs() < 1e-6, "{}", share("d#0"));
}

#[test]
fn the_list_of_a_pack_is_longer() {
    let shallow = |coverage| notes(coverage).config(|config| config.dense_limit = 1).run();
    assert_eq!(dense(&shallow(coverage(4, 0, true))), OF_PACK);
    assert_eq!(dense(&shallow(coverage(4, 3, false))), "a#0 0.900");
}

#[test]
fn until_it_is_complete_the_embedded_encoder_answers_the_whole_list() {
    check(
        &notes(coverage(4704, 4292, false)),
        OF_BASE,
        &["vector_partial: 412 of 4704 units have vectors of pack.1; the embedded encoder answers until all have"],
    );
    check(
        &notes(coverage(4704, 1, false)),
        OF_BASE,
        &["vector_partial: 4703 of 4704 units have vectors of pack.1; the embedded encoder answers until all have"],
    );
    check(&notes(coverage(0, 0, false)), OF_BASE, &[]);
}

#[test]
fn units_that_an_edit_left_without_come_from_the_embedded_list() {
    let mut world = notes(coverage(4, 2, true));
    // The highest of one scale is worth the highest of the other; a quarter up is worth a quarter up.
    let hits = [("d#0", 0.80), ("c#0", 0.70)];
    world.preferred.as_mut().unwrap().dense = FakeLane::scored("dense", &hits)
        .encoded_by(PACK)
        .lacking(&["a#0", "b#0"]);
    check(
        &world,
        "d#0 0.800, a#0 0.800, b#0 0.750, c#0 0.700",
        &["vector_partial: 2 of 4 units have no vector of pack.1; the embedded encoder finds them"],
    );
}

#[test]
fn refused_units_come_from_the_embedded_list() {
    let mut world = notes(Coverage {
        refused: 1,
        ..coverage(4, 0, true)
    });
    let hits = [("d#0", 0.80), ("c#0", 0.78), ("b#0", 0.70)];
    world.preferred.as_mut().unwrap().dense = FakeLane::scored("dense", &hits).encoded_by(PACK).lacking(&["a#0"]);
    check(
        &world,
        "d#0 0.800, a#0 0.800, c#0 0.780, b#0 0.700",
        &["vector_partial: 1 of 4 units have no vector of pack.1; the embedded encoder finds them"],
    );
}

#[test]
fn a_pack_that_finds_nothing_leaves_the_embedded_scores_as_they_are() {
    let mut world = notes(coverage(4, 1, true));
    world.preferred.as_mut().unwrap().dense = FakeLane::new("dense", &[]).encoded_by(PACK).lacking(&["b#0"]);
    assert_eq!(dense(&world.run()), "b#0 0.500");
}

#[test]
fn few_are_sixteen_or_one_in_fifty() {
    for (total, missing, answers) in [
        (100, 16, true),
        (100, 17, false),
        (800, 16, true),
        (850, 17, true),
        (5000, 100, true),
        (5000, 101, false),
    ] {
        let found = dense(&notes(coverage(total, missing, true)).run());
        assert_eq!(found == OF_PACK, answers, "{missing} of {total}: {found}");
        assert_eq!(found == OF_BASE, !answers, "{missing} of {total}: {found}");
    }
    check(
        &notes(coverage(100, 17, true)),
        OF_BASE,
        &["vector_partial: 17 of 100 units have no vector of pack.1 yet; the embedded encoder answers until they have"],
    );
}

#[test]
fn a_pack_that_fails_gives_way() {
    let with = |change: &dyn Fn(&mut Pack)| {
        let mut world = notes(coverage(4, 0, true));
        change(world.preferred.as_mut().unwrap());
        world
    };
    let failed = "chosen_encoder_failed: pack.1: ";
    for (change, told) in [
        (
            &(|pack: &mut Pack| pack.encoder = FakePack::new(PACK).deaf()) as &dyn Fn(&mut Pack),
            "encoder failed: the pack hears nothing; the embedded encoder answered",
        ),
        (
            &|pack: &mut Pack| pack.dense = pack_lane().failing(),
            "lane dense failed: told to; the embedded encoder answered",
        ),
        (
            &|pack: &mut Pack| pack.dense = pack_lane().panicking(),
            "its lane panicked; the embedded encoder answered",
        ),
        (
            &|pack: &mut Pack| pack.dense = pack_lane().encoded_by("other"),
            "the vectors are of other; the embedded encoder answered",
        ),
    ] {
        check(&with(change), OF_BASE, &[&format!("{failed}{told}")]);
    }
    let behind = with(&|pack| pack.dense = pack_lane().serving("0-older"));
    let activation = behind.run();
    assert_eq!(
        (dense(&activation).as_str(), codes(&activation)),
        (OF_BASE, vec!["lane_behind"])
    );
}

#[test]
fn term_weights_answer_with_their_encoder_only() {
    let with = |coverage| {
        let mut world = notes(coverage);
        world.preferred.as_mut().unwrap().sparse = Some(FakeLane::new("sparse", &["c#0", "a#0"]));
        world
    };
    let activation = with(coverage(4, 0, true)).run();
    let scores = &candidate(&activation, "c#0").scores;
    assert_eq!((scores.sparse.unwrap().rank, scores.lexical.unwrap().rank), (1, 1));
    assert!(scores.other.is_empty());
    let activation = with(coverage(4, 1, false)).run();
    assert_eq!(candidate(&activation, "c#0").scores.sparse, None);

    let mut world = with(coverage(4, 0, true));
    let pack = world.preferred.as_mut().unwrap();
    pack.sparse = pack.sparse.take().map(FakeLane::failing);
    let activation = world.run();
    assert_eq!(
        (dense(&activation).as_str(), codes(&activation)),
        (OF_PACK, vec!["lane_failed"])
    );
}
