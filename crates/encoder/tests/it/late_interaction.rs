//! Scores: in range for any text, and higher where the query's words are.

use std::sync::Arc;

use casebook_encoder::{LateInteraction, StaticEncoder, embedded_table};
use casebook_index::{
    Cancel, EncodeError, EncoderRevision, Passage, PassageVector, TextEncoder, TextSide, TokenVector,
};
use casebook_ranker::{PairScorer as _, ScoreError};
use proptest::prelude::*;

use crate::support::{After, plain};

fn scorer() -> LateInteraction {
    LateInteraction::new(Arc::new(StaticEncoder::new(embedded_table())))
}

fn scores(query: &str, texts: &[&str]) -> Vec<f32> {
    let passages: Vec<_> = texts.iter().map(|text| plain(text)).collect();
    let scores = scorer().score(query, &passages, &()).unwrap();
    scores.into_iter().map(|score| score.score).collect()
}

#[test]
fn more_of_the_query_is_a_higher_score() {
    for (query, texts) in [
        (
            "rebuild the vector index",
            [
                "to rebuild the vector index, run it again",
                "the index of a book",
                "a quiet kitchen",
            ],
        ),
        ("重建向量索引", ["重建向量索引的步骤", "书的索引", "安静的厨房"]),
        (
            "重跑gen-itgc后",
            ["重跑 gen-itgc 之后要检查", "itgc 的说明", "别的事情"],
        ),
    ] {
        let found = scores(query, &texts);
        assert!(found[0] > found[1] && found[1] > found[2], "{query}: {found:?}");
        assert!(found[0] > 0.6 && found[2] < 0.1, "{query}: {found:?}");
    }
}

#[test]
fn headings_and_path_are_searched_too() {
    let headings = ["Backup drill".to_owned()];
    let passage = Passage {
        path: "docs/recovery.md",
        heading_path: &headings,
        text: "Step one.",
    };
    let score = |query| scorer().score(query, &[passage], &()).unwrap()[0].score;
    assert!(score("backup drill") > 0.5 && score("recovery") > 0.5 && score("kitchen") < 0.1);
}

#[test]
fn a_query_of_nothing_scores_nothing() {
    for query in ["", "???", "🎉"] {
        assert_eq!(scores(query, &["some text", ""]), [0.0, 0.0]);
    }
}

#[test]
fn a_caller_can_stop_it() {
    // Once while sentences are encoded, then before each passage.
    for asked in 0..4 {
        let stopped = scorer().score("query", &[plain("text"); 3], &After::new(asked));
        assert!(matches!(stopped, Err(ScoreError::Cancelled)), "{asked}");
    }
}

/// One token per word; its vector depends on how many words there are.
struct Contextual(EncoderRevision);

impl TextEncoder for Contextual {
    fn revision(&self) -> &EncoderRevision {
        &self.0
    }

    fn dimension(&self) -> usize {
        2
    }

    fn max_input_tokens(&self) -> usize {
        8
    }

    fn encode_query(&self, _query: &str) -> Result<Vec<f32>, EncodeError> {
        Ok(vec![0.0; 2])
    }

    fn encode_passages(&self, passages: &[Passage<'_>], _: &dyn Cancel) -> Result<Vec<PassageVector>, EncodeError> {
        let zero = PassageVector {
            vector: vec![0.0; 2],
            input_windows: 1,
        };
        Ok(vec![zero; passages.len()])
    }

    fn token_vectors(&self, text: &str, _side: TextSide) -> Result<Option<Vec<TokenVector>>, EncodeError> {
        let alone = text.split_whitespace().count() == 1;
        let token = |word: &str| TokenVector {
            span: text.find(word).map(|start| start..start + word.len()).unwrap(),
            weight: 1.0,
            vector: if alone { vec![1.0, 0.0] } else { vec![0.0, 1.0] },
        };
        Ok(Some(text.split_whitespace().map(token).collect()))
    }
}

#[test]
fn the_same_letters_may_mean_another_thing_elsewhere() {
    let scorer = LateInteraction::new(Arc::new(Contextual("contextual".into())));
    let scores = scorer
        .score("bank", &[plain("bank"), plain("river bank"), plain("bank")], &())
        .unwrap();
    let scores: Vec<_> = scores.into_iter().map(|score| score.score).collect();
    assert_eq!(scores, [0.75, 0.0, 0.75]);
}

#[test]
fn an_encoder_without_token_vectors_is_an_error() {
    struct Opaque(EncoderRevision);
    impl TextEncoder for Opaque {
        fn revision(&self) -> &EncoderRevision {
            &self.0
        }
        fn dimension(&self) -> usize {
            1
        }
        fn max_input_tokens(&self) -> usize {
            1
        }
        fn encode_query(&self, _query: &str) -> Result<Vec<f32>, EncodeError> {
            Ok(vec![1.0])
        }
        fn encode_passages(&self, _: &[Passage<'_>], _: &dyn Cancel) -> Result<Vec<PassageVector>, EncodeError> {
            Ok(Vec::new())
        }
    }
    let scorer = LateInteraction::new(Arc::new(Opaque("opaque".into())));
    assert!(matches!(
        scorer.score("query", &[plain("text")], &()),
        Err(ScoreError::Other(_))
    ));
}

/// A word that the table can spell.
fn known_word() -> impl Strategy<Value = String> {
    let chinese = prop::sample::select(vec!["索引", "重建", "查询", "数据库", "备份", "用户"]);
    prop_oneof!["[a-m]{4,9}", chinese.prop_map(ToOwned::to_owned)]
}

proptest! {
    #[test]
    fn scores_are_in_range_and_do_not_depend_on_the_others(query in any::<String>(), texts in prop::collection::vec(any::<String>(), 1..4)) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let together = scores(&query, &texts);
        for (text, score) in texts.iter().zip(together) {
            prop_assert!((0.0..=1.001).contains(&score), "{}", score);
            prop_assert_eq!(scores(&query, &[text]), [score]);
        }
    }

    #[test]
    fn a_text_with_all_words_of_the_query_beats_a_stranger(
        words in prop::collection::vec(known_word(), 1..8), filler in "([n-z]{3,8} ){0,30}",
    ) {
        let query = words.join(" ");
        let found = scores(&query, &[&format!("{filler}{query} {filler}"), &filler]);
        prop_assert!(found[0] > found[1], "{:?}", found);
    }
}
