//! The embedded table: whole, and cut as the tool that made it cuts.

use casebook_encoder::{StaticEncoder, StaticLateInteraction, embedded_table};
use casebook_index::{Passage, TextEncoder};
use casebook_ranker::PairScorer as _;
use serde::Deserialize;

const GOLDEN: &str = include_str!("../../assets/golden.jsonl");

#[derive(Deserialize)]
struct Golden {
    text: String,
    ids: Vec<u32>,
    vector: Option<Vec<f32>>,
}

fn golden() -> impl Iterator<Item = Golden> {
    GOLDEN.lines().map(|line| serde_json::from_str(line).unwrap())
}

#[test]
fn the_table_matches_its_digest() {
    assert_eq!(embedded_table().verify(), Ok(()));
}

#[test]
fn texts_are_cut_as_when_the_table_was_made() {
    let table = embedded_table();
    let mut checked = 0;
    for golden in golden() {
        let found: Vec<u32> = table.tokens(&golden.text).into_iter().map(|token| token.row).collect();
        assert_eq!(found, golden.ids, "{:?}", golden.text);
        checked += 1;
    }
    assert!(checked > 100, "{checked}");
}

#[test]
fn vectors_are_those_of_the_tool() {
    let encoder = StaticEncoder::new(embedded_table());
    for golden in golden() {
        let Some(expected) = golden.vector else { continue };
        let found = encoder.encode_query(&golden.text).unwrap();
        let far = found
            .iter()
            .zip(&expected)
            .any(|(one, other)| (one - other).abs() > 1e-4);
        assert!(!far, "{:?}", golden.text);
    }
}

/// What the table is for.
#[test]
fn a_question_is_nearest_to_its_answer_in_the_other_language() {
    let encoder = StaticEncoder::new(embedded_table());
    let cosine = |one: &str, other: &str| -> f32 {
        let (one, other) = (encoder.encode_query(one).unwrap(), encoder.encode_query(other).unwrap());
        one.iter().zip(&other).map(|(one, other)| one * other).sum()
    };
    let texts = [
        "queries while the index is rebuilt",
        "how to restore the database from a backup",
        "who is on call tonight",
    ];
    for (question, answer) in [("索引重建期间的查询", 0), ("怎么从备份恢复数据库", 1)] {
        let best = (0..texts.len())
            .max_by(|one, other| cosine(question, texts[*one]).total_cmp(&cosine(question, texts[*other])));
        assert_eq!(best, Some(answer), "{question}");
    }
}

/// More words times pieces than are kept at once.
#[test]
fn a_page_as_the_query_is_found_in_a_page() {
    let lines: Vec<String> = golden().map(|golden| golden.text).collect();
    let (part, whole) = (lines[..50].join("\n"), lines.join("\n"));
    let passages = [&part, &whole, &part].map(|text| Passage {
        path: "",
        heading_path: &[],
        text,
    });
    let scorer = StaticLateInteraction::new(embedded_table());
    let found = scorer.score(&whole, &passages, &()).unwrap();
    assert!(found[0].score < 0.75 && found[1].score > 0.75, "{found:?}");
    assert_eq!(found[0], found[2]);
}

#[test]
fn odd_texts_give_valid_vectors() {
    let giant = "重建rebuild".repeat(1 << 16);
    let word = "a".repeat(1 << 20);
    let encoder = StaticEncoder::new(embedded_table());
    let scorer = StaticLateInteraction::new(embedded_table());
    for (text, known) in [
        ("", false),
        (" \n\t", false),
        ("。，！？ -- ...", false),
        ("\0\u{1}\u{7f}", false),
        ("\u{301}\u{302}", false),
        ("ꦧꦱꦗꦮ ᚠᚢᚦ", false),
        ("\0a\u{1b}[0m", true),
        (word.as_str(), true),
        (giant.as_str(), true),
    ] {
        let shown: String = text.chars().take(20).collect();
        let vector = encoder.encode_query(text).unwrap();
        let norm = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
        assert!(
            (norm - if known { 1.0 } else { 0.0 }).abs() < 1e-4,
            "{shown:?}: norm {norm}"
        );
        let passage = Passage {
            path: text,
            heading_path: &[text.to_owned()],
            text,
        };
        let score = scorer.score(text, &[passage], &()).unwrap()[0].score;
        assert!((0.0..1.001).contains(&score), "{shown:?}: {score}");
        assert_eq!(score > 0.0, known, "{shown:?}: {score}");
    }
}
