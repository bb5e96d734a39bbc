//! The two fusions: what is gone on with, and what is recorded of both; and which words met.

use casebook_index::{Cancel, Passage};
use casebook_ranker::{Language, PairScore, PairScorer, RankerConfig, ScoreError, WordMatch};

use crate::support::{World, candidate, packet, render, world};

/// A question in English; its answer is Chinese, beside English notes that share its words.
fn mixed_pool() -> World {
    let world = world("how is the build lock released")
        .note("answer", &["构建锁在崩溃之后由系统释放"])
        .note("near", &["the build lock"])
        .note("words", &["the lock of the bike was released"]);
    world
        .words("tantivy", &["words#0", "near#0"])
        .dense(&["answer#0", "near#0", "words#0"])
}

#[test]
fn a_text_in_another_language_needs_no_words() {
    let weighted = mixed_pool()
        .config(|config| {
            *config = RankerConfig {
                fusion_weights: config.fusion_weights,
                ..RankerConfig::v3()
            }
        })
        .run();
    let by_ranks = mixed_pool().run();
    assert_eq!(
        weighted.candidates[0].unit_key.as_str(),
        "answer#0",
        "{}",
        render(&weighted)
    );
    assert_eq!(
        by_ranks.candidates[0].unit_key.as_str(),
        "words#0",
        "{}",
        render(&by_ranks)
    );
    assert_eq!(weighted.query_language, Language::En);
    assert_eq!(candidate(&weighted, "answer#0").language, Language::Zh);
}

#[test]
fn both_fusions_are_recorded_whichever_is_gone_on_with() {
    let weighted = mixed_pool()
        .config(|config| config.fusion = casebook_ranker::Fusion::Weighted)
        .run();
    let by_ranks = mixed_pool().run();
    for key in ["answer#0", "near#0", "words#0"] {
        let (one, other) = (&candidate(&weighted, key).scores, &candidate(&by_ranks, key).scores);
        assert_eq!((one.rrf, one.weighted), (other.rrf, other.weighted), "{key}");
        assert_eq!((one.fused, other.fused), (one.weighted, other.rrf), "{key}");
        assert!(one.rrf.is_some() && one.weighted.is_some(), "{key}");
    }
}

#[test]
fn a_question_in_no_language_is_foreign_to_nothing() {
    let mut world = mixed_pool().config(|config| *config = RankerConfig::v3());
    world.request.query = "2024-01-01".into();
    let activation = world.run();
    assert_eq!(activation.query_language, Language::Other);
    assert!(candidate(&activation, "answer#0").scores.weighted.unwrap().score < 1.0);
}

/// Says that words met where it is told to.
struct Matching(Vec<WordMatch>);

impl PairScorer for Matching {
    fn revision(&self) -> &str {
        "matching"
    }

    fn score(&self, _: &str, passages: &[Passage<'_>], _: &dyn Cancel) -> Result<Vec<PairScore>, ScoreError> {
        Ok(passages.iter().map(|_| PairScore::new(0.5)).collect())
    }

    fn matches(&self, _: &str, texts: &[&str]) -> Vec<Vec<WordMatch>> {
        assert!(!self.0.is_empty(), "nothing to say");
        texts.iter().map(|_| self.0.clone()).collect()
    }
}

fn met(query: std::ops::Range<usize>, text: std::ops::Range<usize>) -> WordMatch {
    WordMatch {
        query,
        text,
        nearness: 0.5,
        share: 0.25,
    }
}

#[test]
fn the_words_that_met_are_in_the_trace_where_they_lie_in_the_texts() {
    let mut world = mixed_pool();
    // The second ends in the middle of a character of the answer, the third behind the question.
    world.scorer = Some(Box::new(Matching(vec![
        met(0..3, 0..6),
        met(0..3, 0..7),
        met(0..300, 0..6),
    ])));
    let activation = world.run();
    assert_eq!(candidate(&activation, "answer#0").matches, [met(0..3, 0..6)]);
    assert_eq!(
        candidate(&activation, "near#0").matches,
        [met(0..3, 0..6), met(0..3, 0..7)]
    );
}

#[test]
fn a_scorer_that_panics_over_matches_takes_nothing_with_it() {
    let mut world = mixed_pool();
    world.scorer = Some(Box::new(Matching(Vec::new())));
    let activation = world.run();
    assert_eq!(packet(&activation).split(' ').count(), 3, "{}", render(&activation));
    assert!(candidate(&activation, "near#0").matches.is_empty());
}
