//! The embedded encoder and its late interaction over any text.

use casebook_encoder::{StaticEncoder, StaticLateInteraction, embedded_table};
use casebook_index::{Passage, TextEncoder, TextSide};
use casebook_ranker::PairScorer;

/// A text that is its own query scores at least the words' share, were no sentence near it.
const WORDS_SHARE: f32 = 0.74;
/// Longer texts say nothing new and take their time.
const BYTES: usize = 1024;
/// What rounding may do to a norm or to a sum of shares.
const ROUNDING: f32 = 1e-3;

/// Reads the bytes as a path, a heading, a query and a passage, one line each and the rest: vectors are finite and of norm
/// 1 or all zero, tokens lie in the text, scores lie from 0 to 1, and all of it is the same twice.
pub(crate) fn static_encoder(data: &[u8]) {
    let whole = String::from_utf8_lossy(&data[..data.len().min(BYTES)]);
    let mut parts = whole.splitn(4, '\n');
    let [path, heading, query, text] = std::array::from_fn(|_| parts.next().unwrap_or_default());
    let headings = [heading.to_owned()];
    let passage = Passage {
        path,
        heading_path: &headings,
        text,
    };
    let encoder = StaticEncoder::new(embedded_table());
    for text in [query, text] {
        check_tokens(&encoder, text);
    }
    check_passages(&encoder, &passage);
    check_scores(query, &passage);
}

fn check_tokens(encoder: &StaticEncoder, text: &str) {
    let encode = || encoder.encode_query(text).expect("any text has a vector");
    let vector = encode();
    check_norm(&vector, encoder.dimension());
    assert_eq!(vector, encode(), "the same text gives the same vector");
    let tokens = encoder.token_vectors(text, TextSide::Query);
    let tokens = tokens.expect("any text has tokens").expect("a table has token vectors");
    for token in &tokens {
        assert!(!text[token.span.clone()].is_empty(), "a token stands somewhere");
        assert!(token.weight > 0.0 && token.weight.is_finite());
        check_norm(&token.vector, encoder.dimension());
    }
    let zero = vector.iter().all(|number| *number == 0.0);
    assert_eq!(zero, tokens.is_empty(), "a text without known words has no direction");
}

fn check_passages(encoder: &StaticEncoder, passage: &Passage<'_>) {
    let encode = |passages: &[Passage<'_>]| {
        encoder
            .encode_passages(passages, &())
            .expect("any passage has a vector")
    };
    let alone = encode(&[*passage]);
    check_norm(&alone[0].vector, encoder.dimension());
    assert!(alone[0].input_windows > 0);
    let empty = Passage {
        path: "",
        heading_path: &[],
        text: "",
    };
    let together = encode(&[empty, *passage, *passage]);
    assert!(
        together[1] == alone[0] && together[2] == alone[0],
        "neighbours do not matter"
    );
}

fn check_scores(query: &str, passage: &Passage<'_>) {
    let scorer = StaticLateInteraction::new(embedded_table());
    let own = Passage {
        path: "",
        heading_path: &[],
        text: query,
    };
    let score = || {
        scorer
            .score(query, &[*passage, own, *passage], &())
            .expect("any pair has a score")
    };
    let scores = score();
    assert!(
        scores.iter().all(|it| (0.0..=1.0 + ROUNDING).contains(&it.score)),
        "{scores:?}"
    );
    assert_eq!(scores[0], scores[2], "neighbours do not matter");
    assert_eq!(scores, score(), "the same pair gives the same score");
    let matches = scorer.matches(query, &[passage.text]).remove(0);
    for found in &matches {
        assert!(!query[found.query.clone()].is_empty() && !passage.text[found.text.clone()].is_empty());
        assert!(found.nearness <= 1.0 + ROUNDING && found.share > 0.0);
    }
    let shares: f32 = matches.iter().map(|found| found.share).sum();
    assert!(shares <= 1.0 + ROUNDING, "{shares}");
    let known = !scorer.matches(query, &[query])[0].is_empty();
    assert!(
        !known || scores[1].score >= WORDS_SHARE,
        "a text matches itself: {}",
        scores[1].score
    );
}

fn check_norm(vector: &[f32], dimension: usize) {
    assert_eq!(vector.len(), dimension);
    let norm = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    let zero = vector.iter().all(|number| *number == 0.0);
    assert!(zero || (norm - 1.0).abs() < ROUNDING, "norm {norm}");
}
