//! The same numbers as PyTorch and transformers.

use casebook_encoder::{CrossEncoder, LazyTransformer, TransformerEncoder, TransformerOptions, WeightPrecision};
use casebook_index::{Passage, TextEncoder as _, TextSide};
use casebook_ranker::PairScorer as _;

use super::pack::{Expected, Pack, full};
use crate::support::plain;

const EMBEDDING: [&str; 8] = [
    "bert-mean",
    "bert-cls",
    "bert-gguf-f16",
    "bert-gguf-q8_0",
    "bert-gguf-q4_0",
    "xlm-roberta-sparse",
    "qwen3-last",
    "qwen3-gguf-q4_0",
];
const RERANKING: [&str; 3] = ["bert-rerank", "xlm-roberta-rerank", "qwen3-rerank"];
/// Rounding of f32 arithmetic; the outputs are checked in with six decimals. Weights are the same numbers in both, also
/// where the file quantises them.
const FULL: f32 = 2e-5;
/// Weights of 11 bits in networks that are much more sensitive than trained ones.
const HALF: f32 = 1e-2;

fn half() -> TransformerOptions {
    TransformerOptions {
        threads: 3,
        precision: WeightPrecision::Half,
    }
}

fn passages(expected: &Expected) -> Vec<Passage<'_>> {
    let texts = expected.texts.iter().filter(|text| text.side == "passage");
    texts
        .map(|text| Passage {
            path: &text.path,
            heading_path: &text.headings,
            text: &text.text,
        })
        .collect()
}

fn assert_close(found: &[f32], expected: &[f32], tolerance: f32, what: &str) {
    assert_eq!(found.len(), expected.len());
    let differences = found
        .iter()
        .zip(expected)
        .map(|(found, expected)| (found - expected).abs());
    let largest = differences.fold(0.0, f32::max);
    assert!(largest <= tolerance, "{what}: differs by {largest}");
}

fn check_vectors(pack: &Pack, encoder: &TransformerEncoder, tolerance: f32) {
    let expected = &pack.expected;
    let encoded = encoder.encode_passages(&passages(expected), &()).unwrap();
    let mut encoded = encoded.into_iter();
    for text in &expected.texts {
        let what = format!("{} {} {}", pack.manifest.name, text.side, text.text);
        let vector = if text.side == "query" {
            encoder.encode_query(&text.text).unwrap()
        } else {
            let passage = encoded.next().unwrap();
            assert_eq!(passage.input_windows, text.windows, "{what}");
            passage.vector
        };
        assert_close(&vector, &text.vector, tolerance, &what);
    }
}

#[test]
fn vectors_are_those_of_the_reference() {
    for name in EMBEDDING {
        let pack = Pack::new(name);
        check_vectors(&pack, &pack.encoder().unwrap(), FULL);
        let half = TransformerEncoder::open_with(pack.path(), &pack.manifest, &half()).unwrap();
        check_vectors(&pack, &half, HALF);
    }
}

#[test]
fn long_texts_are_pooled_from_windows() {
    let pack = Pack::new("bert-mean");
    assert!(pack.expected.texts.iter().any(|text| text.windows > 3));
}

#[test]
fn sparse_weights_are_those_of_the_reference() {
    let pack = Pack::new("xlm-roberta-sparse");
    let encoder = pack.encoder().unwrap();
    for sparse in &pack.expected.sparse {
        let found = encoder
            .sparse_weights(&sparse.text, TextSide::Passage)
            .unwrap()
            .unwrap();
        let tokens: Vec<u32> = found.iter().map(|weight| weight.token).collect();
        assert_eq!(
            tokens,
            sparse.weights.iter().map(|(token, _)| *token).collect::<Vec<_>>()
        );
        for (found, (_, expected)) in found.iter().zip(&sparse.weights) {
            assert!(
                (found.weight - expected).abs() < FULL * expected.max(1.0),
                "{} {expected}",
                found.weight
            );
        }
    }
    assert!(pack.expected.sparse[0].weights.len() > 1);
    let without = Pack::new("bert-mean").encoder().unwrap();
    assert_eq!(without.sparse_weights("a", TextSide::Query).unwrap(), None);
}

#[test]
fn scores_are_those_of_the_reference() {
    for name in RERANKING {
        let pack = Pack::new(name);
        for (options, tolerance) in [(full(), FULL), (half(), HALF)] {
            let scorer = CrossEncoder::open_with(pack.path(), &pack.manifest, &options).unwrap();
            for pair in &pack.expected.pairs {
                let found = scorer.score(&pair.query, &[plain(&pair.passage)], &()).unwrap();
                let what = format!("{name} {} {}", pair.query, pair.passage);
                assert_close(&[found[0].score], &[pair.score], tolerance, &what);
            }
            let cut = pack.expected.pairs.iter().filter(|pair| pair.cut).count();
            assert_eq!(scorer.cut_passages(), cut as u64);
            assert!(cut > 0);
        }
    }
}

#[test]
fn a_text_has_the_same_bits_in_any_batch_and_on_any_number_of_threads() {
    for name in ["bert-mean", "qwen3-last"] {
        let pack = Pack::new(name);
        let many = TransformerEncoder::open_with(pack.path(), &pack.manifest, &half()).unwrap();
        let options = TransformerOptions { threads: 1, ..half() };
        let one = TransformerEncoder::open_with(pack.path(), &pack.manifest, &options).unwrap();
        let passages = passages(&pack.expected);
        let together = many.encode_passages(&passages, &()).unwrap();
        for _ in 0..3 {
            assert_eq!(many.encode_passages(&passages, &()).unwrap(), together);
        }
        for (passage, expected) in passages.iter().zip(&together) {
            let alone = one.encode_passages(std::slice::from_ref(passage), &()).unwrap();
            assert_eq!(&alone[0], expected);
        }
    }
}

#[test]
fn a_revision_is_made_of_everything_that_counts() {
    let pack = Pack::new("bert-mean");
    let revision = |change: &dyn Fn(&mut casebook_encoder::PackManifest)| {
        let mut manifest = pack.manifest.clone();
        change(&mut manifest);
        // Files that the manifest is not about need no opening.
        let encoder = LazyTransformer::new(pack.path().to_owned(), manifest, full());
        encoder.revision().to_string()
    };
    let same = revision(&|_| ());
    assert!(same.starts_with("bert-mean.1-"), "{same}");
    assert_eq!(same, revision(&|manifest| manifest.source = "elsewhere".to_owned()));
    let others = [
        revision(&|manifest| manifest.query_prefix.clear()),
        revision(&|manifest| manifest.passage_prefix = "text: ".to_owned()),
        revision(&|manifest| manifest.pooling = casebook_encoder::Pooling::Cls),
        revision(&|manifest| manifest.normalise = false),
        revision(&|manifest| manifest.max_tokens = 50),
        revision(&|manifest| manifest.sparse = true),
        revision(&|manifest| manifest.means = true),
        revision(&|manifest| manifest.files[1].sha256 = "other".to_owned()),
        TransformerEncoder::open_with(pack.path(), &pack.manifest, &half())
            .unwrap()
            .revision()
            .to_string(),
    ];
    for (at, other) in others.iter().enumerate() {
        assert_ne!(other, &same, "{at}");
    }
}
