//! Scores of a static table: those of the generic scorer, and the matches behind them.

use std::sync::Arc;

use casebook_encoder::{LateInteraction, LateInteractionConfig, StaticEncoder, StaticLateInteraction, embedded_table};
use casebook_index::Passage;
use casebook_ranker::{PairScorer, ScoreError};
use proptest::prelude::*;

use crate::artefact::table;
use crate::static_encoder::texts;
use crate::support::{After, plain};

fn scorer() -> StaticLateInteraction {
    StaticLateInteraction::new(table())
}

fn scores(scorer: &dyn PairScorer, query: &str, passages: &[Passage<'_>]) -> Vec<f32> {
    let scores = scorer.score(query, passages, &()).unwrap();
    scores.into_iter().map(|score| score.score).collect()
}

fn contrasts(scorer: &dyn PairScorer, query: &str, passages: &[Passage<'_>]) -> Vec<f32> {
    let scores = scorer.score(query, passages, &()).unwrap();
    scores.into_iter().map(|score| score.contrast).collect()
}

#[test]
fn a_word_that_all_have_tells_none_apart() {
    for (query, texts) in [
        (
            "grafana dashboard password",
            ["grafana dashboard of disks", "grafana dashboard of queues", "password"],
        ),
        ("数据库 备份 密码", ["数据库备份的磁盘", "数据库备份的队列", "密码"]),
    ] {
        let passages = texts.map(plain);
        let embedded = StaticLateInteraction::new(embedded_table());
        let alone = scores(&embedded, query, &passages);
        let among = contrasts(&embedded, query, &passages);
        assert!(
            among[2] / among[0] > 1.2 * alone[2] / alone[0],
            "{query}: {alone:?} {among:?}"
        );
        let config = LateInteractionConfig {
            rarity_power: 0.0,
            ..LateInteractionConfig::default()
        };
        let by_own_weights = StaticLateInteraction::with_config(embedded_table(), config);
        assert_eq!(contrasts(&by_own_weights, query, &passages), alone);
    }
}

#[test]
fn more_of_the_query_is_a_higher_score() {
    for (query, texts) in [
        (
            "rebuild the vector index",
            ["rebuild the vector index again", "the index", "kitchen"],
        ),
        ("重建索引", ["重建索引的步骤", "索引的", "的"]),
    ] {
        let found = scores(&scorer(), query, &texts.map(plain));
        assert!(found[0] > found[1] && found[1] > found[2], "{query}: {found:?}");
        assert!(found[0] > 0.8, "{query}: {found:?}");
    }
}

#[test]
fn headings_and_path_are_searched_too() {
    let headings = ["Backup 重建".to_owned()];
    let passage = Passage {
        path: "docs/recovery.md",
        heading_path: &headings,
        text: "12",
    };
    let score = |query| scores(&scorer(), query, &[passage])[0];
    assert!(score("backup") > 0.7 && score("recovery") > 0.7 && score("重建") > 0.7);
}

#[test]
fn a_query_of_nothing_scores_nothing() {
    for query in ["", "???", "🎉", "@"] {
        assert_eq!(scores(&scorer(), query, &["the index", ""].map(plain)), [0.0, 0.0]);
    }
}

#[test]
fn a_caller_can_stop_it() {
    for asked in 0..3 {
        let stopped = scorer().score("index", &[plain("index"); 3], &After::new(asked));
        assert!(matches!(stopped, Err(ScoreError::Cancelled)), "{asked}");
    }
}

#[test]
fn its_revision_is_the_generic_one() {
    let generic = LateInteraction::new(Arc::new(StaticEncoder::new(table())));
    assert_eq!(scorer().revision(), generic.revision());
}

#[test]
fn matches_point_into_both_texts() {
    let query = "查詢 index 索引 索引";
    let text = "the Index, 后查询 index";
    let mut found = Vec::new();
    let mut shares = 0.0;
    let matches = scorer().matches(query, &["别的 text first", text]);
    for word in matches[1].clone() {
        shares += word.share;
        if word.nearness > 0.999 {
            found.push((&query[word.query], &text[word.text]));
        }
    }
    assert_eq!(found, [("查詢", "查询"), ("index", "Index")]);
    assert!(shares > 0.0 && shares <= 1.001);
    assert_eq!(scorer().matches("", &[text]), [[]]);
    assert_eq!(scorer().matches(query, &[""]), [[]]);
}

#[test]
fn a_giant_query_is_answered() {
    let query = "rebuild 索引 the 12 查詢 ".repeat(50_000);
    let found = scores(&scorer(), &query, &[plain("索引"), plain(&query)]);
    assert!(found[0] < found[1] && found[1] > 0.9, "{found:?}");
}

proptest! {
    #[test]
    fn scores_are_those_of_the_generic_scorer(
        query in texts(), bodies in prop::collection::vec(texts(), 1..4), path in texts(), heading in texts(),
        chance_cosine in prop::sample::select(vec![0.0_f32, 0.25]),
    ) {
        let headings = [heading];
        let passages: Vec<_> = bodies.iter().map(|text| Passage { path: &path, heading_path: &headings, text }).collect();
        let config = LateInteractionConfig { chance_cosine, ..LateInteractionConfig::default() };
        let generic = LateInteraction::with_config(Arc::new(StaticEncoder::new(table())), config);
        let fast = StaticLateInteraction::with_config(table(), config);
        let expected = scores(&generic, &query, &passages);
        let found = scores(&fast, &query, &passages);
        for (found, expected) in found.iter().zip(&expected) {
            prop_assert!((found - expected).abs() < 1e-3, "{} {}", found, expected);
            prop_assert!((0.0..=1.001).contains(found));
        }
        for (found, expected) in contrasts(&fast, &query, &passages).iter().zip(contrasts(&generic, &query, &passages)) {
            prop_assert!((found - expected).abs() < 2e-3, "{} {}", found, expected);
            prop_assert!((0.0..=1.001).contains(found));
        }
        for (passage, score) in passages.iter().zip(found) {
            prop_assert_eq!(scores(&fast, &query, &[*passage]), [score]);
        }
    }
}
