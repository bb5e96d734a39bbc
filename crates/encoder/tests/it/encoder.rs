//! Vectors: valid for any text, the same for the same text, near for texts that share rare words.

use std::sync::atomic::{AtomicUsize, Ordering};

use casebook_encoder::HashedEncoder;
use casebook_index::{Cancel, EncodeError, Passage, TextEncoder as _, TextSide};
use proptest::prelude::*;

fn plain(text: &str) -> Passage<'_> {
    Passage {
        path: "",
        heading_path: &[],
        text,
    }
}

fn cosine(query: &str, passage: &Passage<'_>) -> f32 {
    let encoder = HashedEncoder::new();
    let query = encoder.encode_query(query).unwrap();
    let passage = &encoder.encode_passages(&[*passage], &()).unwrap()[0].vector;
    query.iter().zip(passage).map(|(query, passage)| query * passage).sum()
}

/// Checks norm 1, or all zero where `known` is false.
fn check_vector(vector: &[f32], known: bool) {
    assert_eq!(vector.len(), HashedEncoder::new().dimension());
    let norm = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    let expected = if known { 1.0 } else { 0.0 };
    assert!((norm - expected).abs() < 1e-4, "norm {norm}");
}

#[test]
fn a_question_is_nearest_to_the_passage_that_shares_its_rare_words() {
    let passages = [
        "The builder takes a lock that a crash releases, so that two processes never write one index.",
        "Chinese text is cut into pairs of characters; terms of one character work as well.",
        "重建期间查询看到的是旧的版本，提交之后才看到新的版本。",
        "删除一个文件之后，它的片段不会再出现在答案里。",
    ];
    for (query, expected) in [
        ("which lock does a crash release?", 0),
        ("one-character Chinese terms", 1),
        ("索引重建期间查询会怎样？", 2),
        ("文件删除后片段还会出现吗", 3),
    ] {
        let scores = passages.map(|passage| cosine(query, &plain(passage)));
        let best = (0..passages.len()).max_by(|&left, &right| scores[left].total_cmp(&scores[right]));
        assert_eq!(best, Some(expected), "{query}: {scores:?}");
        assert!(scores[expected] > 0.2, "{query}: {scores:?}");
    }
}

#[test]
fn forms_of_a_word_are_near() {
    for (query, text) in [
        ("runs", "running"),
        ("重建索引", "索引的重建"),
        ("readFile", "read_file"),
        ("ＡＢＣ", "abc"),
    ] {
        assert!(cosine(query, &plain(text)) > 0.4, "{query} {text}");
    }
}

#[test]
fn path_and_headings_count_less_than_the_text() {
    let headings = ["备份 Backup".to_owned()];
    let passage = Passage {
        path: "docs/recovery.md",
        heading_path: &headings,
        text: "restore the snapshot",
    };
    let [text, heading, path, stranger] =
        ["restore snapshot", "backup", "recovery", "kitchen"].map(|query| cosine(query, &passage));
    assert!(
        text > heading && heading > path && path > stranger,
        "{text} {heading} {path} {stranger}"
    );
}

#[test]
fn an_endless_path_is_shortened_from_the_front() {
    let long = format!("{}/recovery.md", "非常长/very-long".repeat(10_000));
    let encode = |path| {
        let passages = [Passage {
            path,
            ..plain("restore")
        }];
        HashedEncoder::new().encode_passages(&passages, &()).unwrap()
    };
    let end = &long[long.len() - 256..];
    assert_eq!(encode(&long), encode(end));
    assert_ne!(encode(&long), encode(""));
}

#[test]
fn no_text_of_a_long_passage_is_lost() {
    let long = format!("{} zebra", "filler words of no interest ".repeat(2_000));
    let encoded = HashedEncoder::new()
        .encode_passages(&[plain(&long), plain("zebra")], &())
        .unwrap();
    assert_eq!(encoded[0].input_windows, 20);
    assert_eq!(encoded[1].input_windows, 1);
    check_vector(&encoded[0].vector, true);
    let without = format!("{} ", "filler words of no interest ".repeat(2_000));
    assert_ne!(encoded[0].vector, HashedEncoder::new().encode_query(&without).unwrap());
}

#[test]
fn odd_texts_give_valid_vectors() {
    let giant = "a".repeat(1 << 20);
    let marks = "\u{301}".repeat(100_000);
    for (text, known) in [
        ("", false),
        (" \n\t", false),
        ("。，！？ -- ...", false),
        ("\0\u{1}\u{1b}[0m", true),
        ("\0\u{1}\u{7f}", false),
        ("🎉🎉", false),
        ("\u{345}", false),
        (marks.as_str(), false),
        (giant.as_str(), true),
        ("ꦧꦱꦗꦮ ᚠᚢᚦ", true),
        ("\u{FFFD}x", true),
    ] {
        let vector = HashedEncoder::new().encode_query(text).unwrap();
        check_vector(&vector, known);
    }
}

#[test]
fn a_caller_can_stop_it() {
    struct After(AtomicUsize);
    impl Cancel for After {
        fn cancelled(&self) -> bool {
            self.0.fetch_sub(1, Ordering::Relaxed) == 0
        }
    }
    let passages = vec![plain("text"); 1_000];
    let stopped = HashedEncoder::new().encode_passages(&passages, &After(AtomicUsize::new(2)));
    assert!(matches!(stopped, Err(EncodeError::Cancelled)));
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        proptest::string::string_regex("([a-zA-Z]{1,9}[ _.-]?|[一-龥]{1,4}|[0-9]{1,4} ){0,40}").unwrap(),
    ]
}

proptest! {
    #[test]
    fn vectors_are_of_norm_one_or_zero_and_do_not_depend_on_the_batch(
        texts in prop::collection::vec(texts(), 1..5), path in texts(), heading in texts(),
    ) {
        let encoder = HashedEncoder::new();
        let headings = [heading];
        let passages: Vec<_> = texts.iter().map(|text| Passage { path: &path, heading_path: &headings, text }).collect();
        let together = encoder.encode_passages(&passages, &()).unwrap();
        for (passage, vector) in passages.iter().zip(&together) {
            prop_assert_eq!(&encoder.encode_passages(&[*passage], &()).unwrap()[0], vector);
            let norm = vector.vector.iter().map(|number| number * number).sum::<f32>().sqrt();
            prop_assert!(norm == 0.0 || (norm - 1.0).abs() < 1e-4, "norm {}", norm);
        }
    }

    #[test]
    fn tokens_have_valid_spans_weights_and_rows(text in texts()) {
        let tokens = HashedEncoder::new().token_vectors(&text, TextSide::Passage).unwrap().unwrap();
        for token in &tokens {
            prop_assert!(!text[token.span.clone()].is_empty());
            prop_assert!(token.weight > 0.0);
            let norm = token.vector.iter().map(|number| number * number).sum::<f32>();
            prop_assert!((norm - 1.0).abs() < 1e-3);
        }
        let zero = HashedEncoder::new().encode_query(&text).unwrap().iter().all(|number| *number == 0.0);
        prop_assert_eq!(zero, tokens.is_empty());
    }
}
