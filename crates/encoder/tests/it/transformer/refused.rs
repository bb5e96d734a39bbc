//! Packs whose parts do not fit each other: each is refused with the file and what is wrong in it.

use casebook_encoder::{Architecture, CrossEncoder, PackTask, TransformerEncoder, TransformerError};
use casebook_index::TextEncoder as _;
use serde_json::json;

use super::pack::Pack;

fn refused(pack: &Pack) -> String {
    let error = pack.encoder().unwrap_err();
    let source = std::error::Error::source(&error).map(ToString::to_string);
    format!(
        "{error}{}",
        source.map(|source| format!(": {source}")).unwrap_or_default()
    )
}

#[test]
fn a_configuration_of_another_network_is_refused() {
    for (key, value, expected) in [
        (
            "model_type",
            json!("gpt2"),
            "config.json of the model pack says gpt2 for model_type, expected bert",
        ),
        (
            "hidden_act",
            json!("gelu_new"),
            "says gelu_new for hidden_act, expected gelu",
        ),
        (
            "position_embedding_type",
            json!("relative_key"),
            "says relative_key for position_embedding_type",
        ),
        ("hidden_size", json!(64), "says 64 for hidden_size, expected 32"),
        ("num_attention_heads", json!(5), "says 5 for num_attention_heads"),
        ("num_hidden_layers", json!(0), "says 0 for num_hidden_layers"),
        (
            "max_position_embeddings",
            json!(40),
            "says 40 for max_position_embeddings, expected room for 60 tokens",
        ),
        (
            "hidden_size",
            json!("many"),
            "config.json of the model pack is malformed",
        ),
        (
            "type_vocab_size",
            json!(3),
            "token_type_embeddings.weight of file model.safetensors of the model pack has shape [2, 32]",
        ),
        (
            "num_hidden_layers",
            json!(3),
            "model.safetensors of the model pack has no tensor encoder.layer.2.attention.output.dense.weight",
        ),
        (
            "intermediate_size",
            json!(48),
            "tensor encoder.layer.0.intermediate.dense.weight of file model.safetensors of the model pack has shape [32, 32], expected [48, 32]",
        ),
        (
            "vocab_size",
            json!(100),
            "word_embeddings.weight of file model.safetensors",
        ),
    ] {
        let mut pack = Pack::new("bert-mean");
        pack.configure(key, value.clone());
        let found = refused(&pack);
        assert!(found.contains(expected), "{key} {value}: {found}");
    }
    for (key, value, expected) in [
        (
            "rope_parameters",
            json!({"rope_type": "yarn", "factor": 4.0}),
            "for rope_parameters, expected default",
        ),
        (
            "rope_scaling",
            json!({"type": "linear"}),
            "for rope_scaling, expected default",
        ),
        ("rope_parameters", json!({"rope_theta": 0.0}), "says 0 for rope_theta"),
        ("use_sliding_window", json!(true), "use_sliding_window"),
        ("num_key_value_heads", json!(3), "says 3 for num_key_value_heads"),
        ("head_dim", json!(7), "says 7 for head_dim, expected an even number"),
        ("hidden_act", json!("gelu"), "says gelu for hidden_act, expected silu"),
    ] {
        let mut pack = Pack::new("qwen3-last");
        pack.configure(key, value.clone());
        let found = refused(&pack);
        assert!(found.contains(expected), "{key} {value}: {found}");
    }
}

#[test]
fn a_manifest_that_does_not_fit_is_refused() {
    let mut pack = Pack::new("bert-mean");
    pack.manifest.architecture = Architecture::Qwen3;
    assert!(refused(&pack).contains("says bert for model_type, expected qwen3"));

    let mut pack = Pack::new("bert-mean");
    pack.manifest.format = 2;
    assert!(refused(&pack).contains("pack.json of the model pack says 2 for format, expected 1"));

    let mut pack = Pack::new("bert-mean");
    pack.manifest.max_tokens = 9;
    assert!(refused(&pack).contains("says 9 for max_tokens"));

    let mut pack = Pack::new("bert-mean");
    pack.manifest.task = PackTask::Rerank;
    assert!(refused(&pack).contains("says rerank for task, expected embed"));
    let error = CrossEncoder::open(pack.path(), &pack.manifest).unwrap_err().to_string();
    assert_eq!(
        error,
        "file model.safetensors of the model pack has no tensor pooler.dense.weight"
    );

    let mut pack = Pack::new("bert-mean");
    pack.manifest.files[0].bytes += 1;
    assert!(matches!(pack.encoder(), Err(TransformerError::Length { file, .. }) if file == "config.json"));

    let mut pack = Pack::new("bert-mean");
    pack.manifest.sparse = true;
    assert!(refused(&pack).starts_with("file sparse_linear.safetensors of the model pack cannot be read"));
}

#[test]
fn weights_that_were_changed_under_their_length_are_refused_and_found_again_when_mended() {
    let pack = Pack::new("bert-mean");
    let text = "锁 lock";
    let right = pack.encoder().unwrap().encode_query(text).unwrap();
    assert!(pack.path().join(".checked").is_file(), "the next one reads no hashes");
    let whole = pack.read("model.safetensors");
    let mut changed = whole.clone();
    *changed.last_mut().unwrap() ^= 1;
    std::fs::write(pack.path().join("model.safetensors"), &changed).unwrap();
    for _ in 0..2 {
        assert!(refused(&pack).contains("file model.safetensors of the model pack was changed"));
    }
    std::fs::write(pack.path().join("model.safetensors"), &whole).unwrap();
    assert_eq!(pack.encoder().unwrap().encode_query(text).unwrap(), right);
}

#[test]
fn each_missing_file_is_named() {
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        let mut pack = Pack::new("bert-mean");
        std::fs::remove_file(pack.path().join(file)).unwrap();
        assert!(refused(&pack).starts_with(&format!("file {file} of the model pack cannot be read")));
        pack.manifest.files.clear();
        assert!(refused(&pack).starts_with(&format!("file {file} of the model pack cannot be read")));
    }
}

#[test]
fn means_have_to_fit_the_vectors() {
    let mut pack = Pack::new("bert-mean");
    pack.manifest.means = true;
    for (means, expected) in [
        (
            json!({"en": vec![0.5; 31]}),
            "file means.json of the model pack says 31 numbers for en, expected 32",
        ),
        (json!({"en": "none"}), "file means.json of the model pack is malformed"),
    ] {
        pack.replace("means.json", means.to_string().as_bytes());
        assert!(refused(&pack).contains(expected), "{}", refused(&pack));
    }
    pack.replace("means.json", json!({"en": vec![0.5; 32]}).to_string().as_bytes());
    pack.encoder().unwrap();
}

#[test]
fn a_tokenizer_of_more_words_than_the_table_has_is_refused() {
    let mut pack = Pack::new("bert-mean");
    let other = Pack::new("qwen3-last");
    pack.replace("tokenizer.json", &other.read("tokenizer.json"));
    assert!(refused(&pack).contains("file tokenizer.json of the model pack says 290 for vocab"));
}

#[test]
fn a_reranker_is_no_encoder() {
    let pack = Pack::new("bert-rerank");
    let error = TransformerEncoder::open(pack.path(), &pack.manifest).unwrap_err();
    assert_eq!(
        error.to_string(),
        "file pack.json of the model pack says rerank for task, expected embed"
    );
}
