//! Vectors of a static table: the sum that they are said to be, valid for any text.

use std::sync::Arc;

use casebook_encoder::StaticEncoder;
use casebook_index::{EncodeError, Passage, TextEncoder as _, TextSide};
use proptest::prelude::*;

use crate::artefact::{DIMENSION, PIECES, row, table};
use crate::support::{After, plain};

fn encoder() -> StaticEncoder {
    StaticEncoder::new(table())
}

fn cosine(query: &str, passage: &Passage<'_>) -> f32 {
    let query = encoder().encode_query(query).unwrap();
    let passage = &encoder().encode_passages(&[*passage], &()).unwrap()[0].vector;
    query.iter().zip(passage).map(|(query, passage)| query * passage).sum()
}

/// Returns the normalised sum of pieces times amounts.
fn sum(pieces: &[(&str, f32)]) -> Vec<f32> {
    let mut sum = [0.0; DIMENSION];
    for &(piece, amount) in pieces {
        let piece = PIECES.iter().position(|(text, _)| *text == piece).unwrap();
        // The scale that the small table has for it.
        let scale = (1.0 + 19.0 * piece as f32 / 1024.0) / 32.0;
        sum.iter_mut()
            .zip(row(piece))
            .for_each(|(sum, number)| *sum += amount * scale * f32::from(number));
    }
    let norm = sum.iter().map(|number| number * number).sum::<f32>().sqrt();
    sum.iter().map(|number| number / norm).collect()
}

fn check(text: &str, expected: &[(&str, f32)]) {
    let found = encoder().encode_query(text).unwrap();
    for (found, expected) in found.iter().zip(sum(expected)) {
        assert!((found - expected).abs() < 1e-5, "{text}: {found} {expected}");
    }
}

#[test]
fn a_text_is_the_sum_of_its_rows_by_the_root_of_their_counts() {
    check("index", &[("index", 1.0)]);
    check("重建索引后", &[("重建", 1.0), ("索引", 1.0), ("后", 1.0)]);
    check("index the index, Index", &[("index", 3.0_f32.sqrt()), ("the", 1.0)]);
}

#[test]
fn the_revision_names_the_artefact() {
    assert_eq!(
        encoder().revision().as_str(),
        format!("static-{DIMENSION}.1-{}", &table().digest()[..12])
    );
    assert_eq!(encoder().dimension(), DIMENSION);
}

#[test]
fn path_and_headings_count_less_than_the_text() {
    let headings = ["备份 Backup".to_owned()];
    let passage = Passage {
        path: "docs/recovery.md",
        heading_path: &headings,
        text: "rebuild the vector index",
    };
    let [text, heading, path, stranger] =
        ["rebuild index vector", "backup", "docs recovery md", "kitchen"].map(|query| cosine(query, &passage));
    assert!(
        text > heading && heading > path && path > stranger,
        "{text} {heading} {path} {stranger}"
    );
}

#[test]
fn an_endless_path_is_shortened_from_the_front() {
    let long = format!("{}/recovery.md", "索引/docs".repeat(10_000));
    let encode = |path| {
        let passages = [Passage {
            path,
            ..plain("rebuild")
        }];
        encoder().encode_passages(&passages, &()).unwrap()
    };
    let end = &long[long.len() - 256..];
    assert_eq!(encode(&long), encode(end));
    assert_ne!(encode(&long), encode(""));
}

#[test]
fn no_text_of_a_long_passage_is_lost() {
    let long = format!("{} kitchen", "rebuild the vector index ".repeat(2_000));
    let encoded = encoder()
        .encode_passages(&[plain(&long), plain("kitchen")], &())
        .unwrap();
    assert_eq!(encoded[0].input_windows, 16);
    assert_eq!(encoded[1].input_windows, 1);
    let norm = encoded[0].vector.iter().map(|number| number * number).sum::<f32>();
    assert!((norm - 1.0).abs() < 1e-4);
    assert_ne!(
        encoded[0].vector,
        encoder().encode_query(&long.replace("kitchen", "")).unwrap()
    );
    let again = encoder().encode_passages(&[plain(&long), plain(&long)], &()).unwrap();
    assert_eq!(again[0], again[1]);
}

#[test]
fn odd_texts_give_valid_vectors() {
    let giant = "a".repeat(1 << 20);
    let marks = "\u{301}".repeat(100_000);
    for (text, known) in [
        ("", false),
        (" \n\t", false),
        ("。，！？ -- ...", false),
        ("\0a\u{1}\u{1b}[0m", true),
        ("\0\u{1}\u{7f}", false),
        ("🎉🎉", false),
        (marks.as_str(), false),
        (giant.as_str(), true),
        ("ꦧꦱꦗꦮ ᚠᚢᚦ", false),
        ("\u{FFFD}a", true),
        // Its row is all zero.
        ("@", false),
    ] {
        let vector = encoder().encode_query(text).unwrap();
        let norm = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
        assert!((norm - if known { 1.0 } else { 0.0 }).abs() < 1e-4, "norm {norm}");
    }
}

#[test]
fn a_caller_can_stop_it() {
    let passages = vec![plain("index"); 1_000];
    let stopped = encoder().encode_passages(&passages, &After::new(2));
    assert!(matches!(stopped, Err(EncodeError::Cancelled)));
}

#[test]
fn it_is_shared_between_threads() {
    let encoder = Arc::new(encoder());
    let expected = encoder.encode_query("重建 the index").unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(encoder.encode_query("重建 the index").unwrap(), expected));
        }
    });
}

pub(crate) fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "((rebuild|the|index|vector|索引|重建|查詢|kitchen|readFile|12|a|@)[ ,.。\n]?){0,60}",
    ]
}

proptest! {
    #[test]
    fn vectors_are_of_norm_one_or_zero_and_do_not_depend_on_the_batch(
        texts in prop::collection::vec(texts(), 1..5), path in texts(), heading in texts(),
    ) {
        let headings = [heading];
        let passages: Vec<_> = texts.iter().map(|text| Passage { path: &path, heading_path: &headings, text }).collect();
        let together = encoder().encode_passages(&passages, &()).unwrap();
        for (passage, vector) in passages.iter().zip(&together) {
            prop_assert_eq!(&encoder().encode_passages(&[*passage], &()).unwrap()[0], vector);
            let norm = vector.vector.iter().map(|number| number * number).sum::<f32>().sqrt();
            prop_assert!(norm == 0.0 || (norm - 1.0).abs() < 1e-4, "norm {}", norm);
        }
    }

    #[test]
    fn tokens_have_valid_spans_weights_and_rows(text in texts()) {
        let tokens = encoder().token_vectors(&text, TextSide::Passage).unwrap().unwrap();
        for token in &tokens {
            prop_assert!(!text[token.span.clone()].is_empty());
            prop_assert!(token.weight > 0.0);
            let norm = token.vector.iter().map(|number| number * number).sum::<f32>();
            prop_assert!((norm - 1.0).abs() < 1e-3);
        }
        let zero = encoder().encode_query(&text).unwrap().iter().all(|number| *number == 0.0);
        prop_assert_eq!(zero, tokens.is_empty());
    }
}
