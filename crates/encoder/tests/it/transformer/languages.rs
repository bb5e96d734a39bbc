//! Vectors relative to the mean of their language, and packs that are opened when they are needed.

use casebook_encoder::{LazyTransformer, language_means};
use casebook_index::{EncodeError, Passage, TextEncoder};
use serde_json::json;

use super::pack::{Pack, full};

fn passage(text: &str) -> Passage<'_> {
    Passage {
        path: "",
        heading_path: &[],
        text,
    }
}

fn length(vector: &[f32]) -> f32 {
    vector.iter().map(|number| number * number).sum::<f32>().sqrt()
}

#[test]
fn a_vector_is_taken_relative_to_the_mean_of_its_language() {
    let texts = ["the build lock", "构建锁", "0 1 2"];
    let raw = Pack::new("bert-mean").encoder().unwrap();
    let mut pack = Pack::new("bert-mean");
    let mean: Vec<f32> = (0..32).map(|index| index as f32 / 64.0).collect();
    pack.manifest.means = true;
    pack.replace("means.json", json!({"en": mean}).to_string().as_bytes());
    let centred = pack.encoder().unwrap();
    let before = raw.encode_passages(&texts.map(passage), &()).unwrap();
    let after = centred.encode_passages(&texts.map(passage), &()).unwrap();
    let mut expected: Vec<f32> = before[0]
        .vector
        .iter()
        .zip(&mean)
        .map(|(one, other)| one - other)
        .collect();
    let scale = length(&expected);
    expected.iter_mut().for_each(|number| *number /= scale);
    for (found, expected) in after[0].vector.iter().zip(&expected) {
        assert!((found - expected).abs() < 1e-5);
    }
    assert_eq!(after[1], before[1], "there is no mean of Chinese");
    assert_eq!(after[2], before[2], "digits are no language");
    let query = centred.encode_query(texts[0]).unwrap();
    assert!((length(&query) - 1.0).abs() < 1e-5);
    assert_ne!(query, raw.encode_query(texts[0]).unwrap());
}

#[test]
fn the_means_are_those_of_both_languages() {
    let encoder = Pack::new("bert-mean").encoder().unwrap();
    let means = language_means(&encoder).unwrap();
    assert_eq!(means.keys().map(String::as_str).collect::<Vec<_>>(), ["en", "zh"]);
    assert!(
        means
            .values()
            .all(|mean| mean.len() == 32 && (0.01..1.0).contains(&length(mean)))
    );
    assert_ne!(means["en"], means["zh"]);
}

#[test]
fn a_pack_is_opened_when_it_is_first_asked_and_says_why_it_cannot_be() {
    let pack = Pack::new("bert-mean");
    let lazy = LazyTransformer::new(pack.path().to_owned(), pack.manifest.clone(), full());
    let eager = pack.encoder().unwrap();
    assert_eq!(
        (lazy.revision(), lazy.dimension()),
        (eager.revision(), eager.dimension())
    );
    assert_eq!(lazy.max_input_tokens(), eager.max_input_tokens());
    assert_eq!(
        lazy.encode_query("锁 lock").unwrap(),
        eager.encode_query("锁 lock").unwrap()
    );

    let gone = LazyTransformer::new(pack.path().join("gone"), pack.manifest.clone(), full());
    assert_eq!(gone.revision(), eager.revision());
    for _ in 0..2 {
        let error = gone.encode_query("lock").unwrap_err();
        let EncodeError::Other(reason) = error else {
            panic!("{error}");
        };
        let reason = reason.to_string();
        assert!(
            reason.contains("bert-mean") && reason.contains("cannot be read"),
            "{reason}"
        );
    }
}
