//! Rerank: the blend, the phrase, and going on without a scorer.

use casebook_index::{Cancel, Passage};
use casebook_ranker::{Activation, Disposition, PairScore, PairScorer, ScoreError};
use casebook_testkit::FixedClock;

use crate::support::{World, candidate, codes, packet, world};

#[test]
fn a_better_answer_passes_a_better_place() {
    let world = world("q")
        .note("a", &["weak"])
        .note("b", &["strong"])
        .words("fts5", &["a#0", "b#0"]);
    let activation = world.scores(&[("weak", 0.5), ("strong", 0.9)]).run();
    assert_eq!(packet(&activation), "b#0 a#0");
    assert_eq!(candidate(&activation, "b#0").scores.reranker.unwrap().rank, 1);
    assert_eq!(candidate(&activation, "b#0").pair_score, Some(0.9));
}

/// The scattered text comes first in every lane, as a tie does; all else is equal.
fn check_phrase(query: &str, scattered: &str, contiguous: &str) {
    let world = world(query).note("a", &[scattered]).note("b", &[contiguous]);
    let world = world
        .words("fts5", &["a#0", "b#0"])
        .words("tantivy", &["a#0", "b#0"])
        .dense(&["a#0", "b#0"]);
    assert_eq!(packet(&world.run()), "b#0 a#0", "{query}");
}

#[test]
fn a_phrase_ranks_above_its_terms_scattered() {
    check_phrase(
        "index rebuild lock",
        "the lock is held; an index may rebuild",
        "the index rebuild lock is held; an may",
    );
    check_phrase("Index-Rebuild", "rebuild the index", "the INDEX rebuild");
    check_phrase("索引重建", "重建之后的索引", "之后的索引重建");
}

#[test]
fn equal_candidates_keep_their_fused_order() {
    let world = world("q")
        .note("b", &["one"])
        .note("a", &["two"])
        .words("fts5", &["b#0"])
        .dense(&["a#0"]);
    assert_eq!(packet(&world.run()), "a#0 b#0", "a tie goes by resource id");
}

struct Broken(fn(usize) -> Result<Vec<PairScore>, ScoreError>);

impl PairScorer for Broken {
    fn revision(&self) -> &str {
        "broken"
    }

    fn score(&self, _: &str, passages: &[Passage<'_>], _: &dyn Cancel) -> Result<Vec<PairScore>, ScoreError> {
        (self.0)(passages.len())
    }
}

fn two() -> World {
    world("q")
        .note("a", &["one"])
        .note("b", &["two"])
        .words("fts5", &["a#0", "b#0"])
}

#[test]
fn a_broken_scorer_leaves_the_fused_order() {
    for broken in [
        Broken(|_| Err(ScoreError::Other("told to".into()))),
        Broken(|_| panic!("fake scorer panics as told")),
        Broken(|_| Ok(Vec::new())),
        Broken(|count| Ok(vec![PairScore::new(f32::NAN); count])),
        Broken(|count| Ok(vec![PairScore::new(0.5).with_contrast(f32::INFINITY); count])),
    ] {
        let mut world = two();
        world.scorer = Some(Box::new(broken));
        let activation = world.run();
        assert_eq!(packet(&activation), "a#0 b#0");
        assert!(codes(&activation).contains(&"rerank_skipped"));
        assert_eq!(candidate(&activation, "a#0").scores.reranker, None);
    }
}

/// Two notes, "a" first in every list, with these pairs.
fn ranked(a: PairScore, b: PairScore) -> Activation {
    let mut world = two();
    world.scorer = Some(Box::new(Fixed([a, b])));
    world.run()
}

struct Fixed([PairScore; 2]);

impl PairScorer for Fixed {
    fn revision(&self) -> &str {
        "fixed"
    }

    fn score(&self, _: &str, passages: &[Passage<'_>], _: &dyn Cancel) -> Result<Vec<PairScore>, ScoreError> {
        let of = |passage: &Passage<'_>| self.0[usize::from(passage.text == "two")];
        Ok(passages.iter().map(of).collect())
    }
}

#[test]
fn the_contrast_orders_and_the_score_judges() {
    let pair = |score, contrast| PairScore::new(score).with_contrast(contrast);
    let activation = ranked(pair(0.6, 0.1), pair(0.5, 0.4));
    assert_eq!(packet(&activation), "b#0 a#0");
    assert_eq!(candidate(&activation, "a#0").pair_score, Some(0.6));
    // The best contrast with too low a score is no answer.
    let activation = ranked(pair(0.6, 0.1), pair(0.1, 0.4));
    assert_eq!(packet(&activation), "a#0");
    assert_eq!(candidate(&activation, "b#0").disposition, Disposition::BelowRelevance);
}

#[test]
fn any_scale_of_scores_orders() {
    let second_is_better = |worse, better| {
        let activation = ranked(PairScore::new(worse), PairScore::new(better));
        let scores = ["a#0", "b#0"].map(|unit| candidate(&activation, unit).scores.reranker.unwrap());
        assert!(scores.iter().all(|ranked| ranked.score.is_finite()), "{scores:?}");
        assert!(scores[1].rank == 1, "{worse} {better}: {scores:?}");
    };
    second_is_better(0.1, 0.9);
    second_is_better(100.0, 900.0);
    second_is_better(-9.0, -1.0);
    second_is_better(-1.0, 1.0);
    second_is_better(f32::MIN, f32::MAX);
}

#[test]
fn lists_that_found_nothing_near_give_finite_scores() {
    let mut world = world("q").note("a", &["one"]).scores(&[("one", 0.9)]);
    world.config.fusion = casebook_ranker::Fusion::Weighted;
    world.dense = Some(casebook_testkit::FakeLane::scored("dense", &[("a#0", 0.0)]));
    let activation = world.run();
    assert!(candidate(&activation, "a#0").scores.reranker.unwrap().score.is_finite());
}

#[test]
fn a_deadline_that_passes_while_scoring_skips_the_rerank() {
    let mut world = two();
    // Each look at the clock takes a second, and this scorer does not look.
    world.scorer = Some(Box::new(Broken(|count| Ok(vec![PairScore::new(0.5); count]))));
    world.clock = FixedClock::stepping(casebook_corpus::Timestamp::from_unix_millis(0), 1_000_000);
    world.config.deadline_ms = 5_000;
    let activation = world.run();
    assert!(codes(&activation).contains(&"rerank_skipped"), "{activation:#?}");
    assert_eq!(packet(&activation), "a#0 b#0");
}

#[test]
fn recall_that_outlasts_the_deadline_fails() {
    let mut world = two();
    world.clock = FixedClock::stepping(casebook_corpus::Timestamp::from_unix_millis(0), 1_000_000);
    world.config.deadline_ms = 1;
    let error = world.try_run().unwrap_err();
    assert_eq!((error.code(), error.stage()), ("deadline_exceeded", "lexical"));
}
