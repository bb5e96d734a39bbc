//! Any text gives a vector or an error that names it; nothing gives what is no number.

use casebook_encoder::TransformerEncoder;
use casebook_index::{EncodeError, TextEncoder as _};
use casebook_ranker::{PairScorer as _, ScoreError};
use proptest::prelude::*;

use super::pack::Pack;
use crate::support::{After, plain};

fn check(vector: &[f32]) {
    let norm: f32 = vector.iter().map(|number| number * number).sum();
    assert!((norm - 1.0).abs() < 1e-4 || norm == 0.0, "norm {norm}");
}

#[test]
fn strange_texts_have_vectors_and_scores() {
    let word = "a".repeat(20_000);
    let texts = [
        "",
        " ",
        "\n\n\t",
        "。，！？…",
        "\u{0}\u{1}\u{7f}\u{feff}\u{202e}",
        "𐎀𐎁𐎂 ᚠᚢᚦ 🦀👩‍👩‍👧‍👦",
        "\u{fffd}\u{fffd}",
        "[CLS] </s> <|endoftext|> <|im_end|>",
        &word,
    ];
    for name in ["bert-mean", "xlm-roberta-sparse", "qwen3-last"] {
        let encoder = Pack::new(name).encoder().unwrap();
        let passages = texts.map(plain);
        for (encoded, text) in encoder.encode_passages(&passages, &()).unwrap().iter().zip(texts) {
            check(&encoded.vector);
            check(&encoder.encode_query(text).unwrap());
        }
    }
    for name in ["bert-rerank", "xlm-roberta-rerank", "qwen3-rerank"] {
        let scorer = Pack::new(name).cross_encoder().unwrap();
        for score in scorer.score("索引", &texts.map(plain), &()).unwrap() {
            assert!((0.0..=1.0).contains(&score.score));
        }
    }
}

#[test]
fn a_text_without_end_is_cut_in_pieces_and_read_in_so_many_windows() {
    for name in ["bert-mean", "xlm-roberta-sparse", "qwen3-last"] {
        let encoder = Pack::new(name).encoder().unwrap();
        let words = |count: usize| " lock the 锁".repeat(count);
        let (two, three) = (encoder.count_tokens(&words(2)), encoder.count_tokens(&words(3)));
        let (two, three) = (two.unwrap(), three.unwrap());
        // The pieces begin at blanks, so that they have the tokens that the whole text would have.
        let expected = two + 9_998 * (three - two);
        assert_eq!(encoder.count_tokens(&words(10_000)).unwrap(), expected, "{name}");
    }
    let encoder = Pack::new("bert-mean").encoder().unwrap();
    let encoded = encoder.encode_passages(&[plain(&"lock ".repeat(20_000))], &()).unwrap();
    assert_eq!(encoded[0].input_windows, 256);
    check(&encoded[0].vector);
}

#[test]
fn a_text_that_spells_a_special_token_does_not_become_one() {
    let pack = Pack::new("qwen3-rerank");
    let scorer = pack.cross_encoder().unwrap();
    // Would the words end the prompt, the rest of the document would stand where the answer does.
    let passages = ["<|im_end|>", "<|im_start|>"].map(plain);
    let encoder = Pack::new("qwen3-last").encoder().unwrap();
    assert!(encoder.count_tokens("<|im_end|>").unwrap() > 1);
    assert_eq!(scorer.score("a", &passages, &()).unwrap().len(), 2);
}

#[test]
fn a_query_that_leaves_no_room_for_a_passage_is_refused() {
    let scorer = Pack::new("bert-rerank").cross_encoder().unwrap();
    let long = "index rebuild ".repeat(60);
    let Err(ScoreError::Other(error)) = scorer.score(&long, &[plain("a text that has to fit as well, 重建")], &())
    else {
        panic!("the query was cut");
    };
    assert!(
        error
            .to_string()
            .contains("the query leaves 0 of 60 tokens to a passage"),
        "{error}"
    );
}

#[test]
fn weights_that_overflow_name_the_text() {
    let mut pack = Pack::new("bert-mean");
    let mut bytes = pack.read("model.safetensors");
    // The first norm's weights: the numbers stay finite in the file, but not their products.
    let header = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let listed: serde_json::Value = serde_json::from_slice(&bytes[8..8 + header]).unwrap();
    let range = listed["embeddings.LayerNorm.weight"]["data_offsets"]
        .as_array()
        .unwrap()
        .clone();
    let [begin, end] = [0, 1].map(|at| 8 + header + range[at].as_u64().unwrap() as usize);
    for number in bytes[begin..end].chunks_mut(4) {
        number.copy_from_slice(&3e38_f32.to_le_bytes());
    }
    pack.replace("model.safetensors", &bytes);
    let encoder = pack.encoder().unwrap();
    assert!(matches!(
        encoder.encode_query("索引"),
        Err(EncodeError::Input { index: 0, .. })
    ));
    let error = encoder
        .encode_passages(&[plain("索引"), plain("index")], &())
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "input 0 cannot be encoded: the model's numbers overflow on it"
    );
}

#[test]
fn work_stops_between_windows() {
    let pack = Pack::new("bert-mean");
    let encoder = pack.encoder().unwrap();
    let texts = ["索引"; 8].map(plain);
    for asked in 0..16 {
        let stopped = encoder.encode_passages(&texts, &After::new(asked));
        assert!(matches!(stopped, Err(EncodeError::Cancelled)), "{asked}");
    }
    assert!(encoder.encode_passages(&texts, &After::new(16)).is_ok());
    let scorer = Pack::new("bert-rerank").cross_encoder().unwrap();
    assert!(matches!(
        scorer.score("a", &texts, &After::new(3)),
        Err(ScoreError::Cancelled)
    ));
}

#[test]
fn nothing_to_do_is_done() {
    let encoder = Pack::new("bert-mean").encoder().unwrap();
    assert!(encoder.encode_passages(&[], &()).unwrap().is_empty());
    assert_eq!((encoder.dimension(), encoder.max_input_tokens()), (32, 60));
    assert!(encoder.weight_bytes() > 10_000);
}

fn models() -> &'static [TransformerEncoder; 3] {
    static MODELS: std::sync::OnceLock<[TransformerEncoder; 3]> = std::sync::OnceLock::new();
    MODELS.get_or_init(|| {
        ["bert-mean", "xlm-roberta-sparse", "qwen3-last"].map(|name| Pack::new(name).encoder().unwrap())
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn any_text_has_a_vector_that_is_the_same_again(text in "\\PC{0,200}|[\\x00-\\x7f]{0,200}|\\p{Han}{0,80}") {
        for encoder in models() {
            let vector = encoder.encode_query(&text).unwrap();
            check(&vector);
            prop_assert_eq!(&vector, &encoder.encode_query(&text).unwrap());
        }
    }
}
