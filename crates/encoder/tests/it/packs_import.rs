//! What is imported, and what its manifest says.

use casebook_encoder::{Architecture, ImportRequest, PackManifest, PackTask, Pooling, Prune};
use serde_json::json;

use crate::packs_fixture::{Files, HIDDEN, Shelf, bert_config, from, safetensors};

#[track_caller]
fn import(files: &Files, change: impl FnOnce(&mut ImportRequest)) -> PackManifest {
    let shelf = Shelf::new();
    let mut request = from(files.write(shelf.dir.path().join("some-model")));
    change(&mut request);
    let manifest = shelf.add(&request).unwrap();
    assert_eq!(shelf.store.verify(&manifest.name, &mut |_| {}).unwrap(), []);
    manifest
}

#[test]
fn a_folder_says_how_it_is_used() {
    let manifest = import(&Files::bert(), |_| {});
    assert_eq!(manifest.name, "some-model");
    assert_eq!(
        (manifest.architecture, manifest.task),
        (Architecture::Bert, PackTask::Embed)
    );
    assert_eq!((manifest.pooling, manifest.normalise), (Pooling::Mean, true));
    assert_eq!((manifest.dimension, manifest.max_tokens), (32, 16));
    assert_eq!(
        (manifest.licence.as_str(), manifest.source.as_str()),
        ("Apache-2.0", "some-model")
    );
    assert_eq!(
        (manifest.query_prefix.as_str(), manifest.sparse, manifest.means),
        ("", false, false)
    );
    let names: Vec<_> = manifest.files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["config.json", "model.safetensors", "tokenizer.json"]);
    assert_eq!(manifest.revision.len(), 64);
}

#[test]
fn the_same_content_gives_the_same_manifest_from_any_place() {
    let files = Files::bert();
    assert_eq!(import(&files, |_| {}), import(&files, |_| {}));
    let shelf = Shelf::new();
    let zipped = shelf.add(&from(shelf.write("some-model.zip", &files.zip()))).unwrap();
    assert_eq!(zipped.files, import(&files, |_| {}).files);
    assert_eq!(zipped.name, "some-model");
    let mut inner = Files::default();
    for (path, bytes) in &files.0 {
        inner = inner.with(&format!("repo/model/{path}"), bytes.clone());
    }
    let nested = shelf.add(&from(shelf.write("other.zip", &inner.zip()))).unwrap();
    assert_eq!((nested.files, nested.max_tokens), (zipped.files, 16));
}

#[test]
fn prefixes_come_from_flags_then_files_then_the_family() {
    let e5 = |files: &Files, change: &dyn Fn(&mut ImportRequest)| {
        let manifest = import(files, |request| {
            request.name = Some("multilingual-e5-small".to_owned());
            change(request);
        });
        (manifest.query_prefix, manifest.passage_prefix)
    };
    let text = |query: &str, passage: &str| (query.to_owned(), passage.to_owned());
    let files = Files::bert();
    assert_eq!(e5(&files, &|_| {}), text("query: ", "passage: "));
    let told = files.clone().with(
        "config_sentence_transformers.json",
        r#"{"prompts":{"query":"问：","document":"文：","other":"x"}}"#,
    );
    assert_eq!(e5(&told, &|_| {}), text("问：", "文："));
    let asked = |request: &mut ImportRequest| {
        request.query_prefix = Some(String::new());
        request.passage_prefix = Some("p ".to_owned());
    };
    assert_eq!(e5(&told, &asked), text("", "p "));
    let named = files.with(
        "README.md",
        "---\nlicense: mit\nmodel-index:\n- name: bge-small-zh-v1.5\n---\n",
    );
    assert_eq!(
        import(&named, |_| {}).query_prefix,
        "为这个句子生成表示以用于检索相关文章："
    );
}

#[test]
fn a_wheel_and_a_hub_say_names_and_licences() {
    let wheel = |files: Files| {
        files.with(
            "tiny_model-1.0.dist-info/METADATA",
            "Name: tiny-model\nLicense: MIT\n\nText",
        )
    };
    let mut files = Files::default();
    for (path, bytes) in Files::bert().without("README.md").0 {
        files = files.with(&format!("tiny_model/model/{path}"), bytes);
    }
    let shelf = Shelf::new();
    let path = shelf.write("tiny_model-1.0-py3-none-any.whl", &wheel(files).zip());
    let manifest = shelf.add(&from(&path)).unwrap();
    assert_eq!(
        (manifest.name.as_str(), manifest.licence.as_str()),
        ("tiny-model", "MIT")
    );
    let request = ImportRequest {
        source: Some("hf:owner/Tiny-Model-v2@main".to_owned()),
        revision: Some("0123456789abcdef0123456789abcdef01234567".to_owned()),
        declared_licence: Some("bsd-3-clause".to_owned()),
        ..from(Files::bert().without("README.md").write(shelf.dir.path().join("x")))
    };
    let manifest = shelf.add(&request).unwrap();
    assert_eq!(
        (manifest.name.as_str(), manifest.licence.as_str()),
        ("tiny-model-v2", "BSD-3-Clause")
    );
    assert_eq!(Some(manifest.revision), request.revision);
}

#[test]
fn a_cross_encoder_reranks() {
    let files = Files::bert()
        .without("modules.json")
        .without("1_Pooling/config.json")
        .set("config.json", "architectures", json!(["BertForSequenceClassification"]))
        .set("config.json", "id2label", json!({"0": "LABEL_0"}));
    let manifest = import(&files, |_| {});
    assert_eq!(
        (manifest.task, manifest.dimension, manifest.normalise),
        (PackTask::Rerank, 0, false)
    );
}

#[test]
fn xlm_roberta_loses_the_positions_of_padding() {
    let files = Files::bert()
        .without("sentence_bert_config.json")
        .set("config.json", "model_type", json!("xlm-roberta"))
        .set("config.json", "pad_token_id", json!(1));
    let manifest = import(&files, |_| {});
    assert_eq!(
        (manifest.architecture, manifest.max_tokens),
        (Architecture::XlmRoberta, 38)
    );
}

#[test]
fn qwen3_needs_to_say_what_it_is_for() {
    let tensors = [
        ("model.embed_tokens.weight", "BF16", vec![10, HIDDEN], 2),
        (
            "model.layers.0.self_attn.q_proj.weight",
            "BF16",
            vec![HIDDEN, HIDDEN],
            2,
        ),
    ];
    let files = Files::bert()
        .without("modules.json")
        .without("1_Pooling/config.json")
        .with("model.safetensors", safetensors(&tensors))
        .set("config.json", "model_type", json!("qwen3"))
        .set("config.json", "hidden_act", json!("silu"))
        .set("config.json", "architectures", json!(["Qwen3ForCausalLM"]));
    let shelf = Shelf::new();
    let mut request = from(files.write(shelf.dir.path().join("qwen3")));
    shelf.refuses(&request, "pack_unsupported", "1_Pooling/config.json");
    request.pooling = Some(Pooling::Last);
    assert_eq!(shelf.add(&request).unwrap().task, PackTask::Embed);
    let request = from(files.write(shelf.dir.path().join("Qwen3-Reranker-0.6B")));
    let manifest = shelf.add(&request).unwrap();
    assert_eq!((manifest.task, manifest.pooling), (PackTask::Rerank, Pooling::Last));
    let request = from(files.write(shelf.dir.path().join("Qwen3-Embedding-0.6B")));
    let manifest = shelf.add(&request).unwrap();
    assert_eq!((manifest.task, manifest.pooling), (PackTask::Embed, Pooling::Last));
    assert!(manifest.query_prefix.ends_with("\nQuery:"), "{manifest:?}");
}

#[test]
fn a_sparse_head_and_means_come_along() {
    let head = |hidden: u64| safetensors(&[("weight", "F16", vec![1, hidden], 2), ("bias", "F16", vec![1], 2)]);
    let files = Files::bert()
        .with("sparse_linear.safetensors", head(HIDDEN))
        .with("means.json", r#"{"en":[0.0]}"#);
    let manifest = import(&files, |_| {});
    assert!(manifest.sparse && manifest.means);
    assert_eq!(manifest.files.len(), 5);
    let shelf = Shelf::new();
    let wrong = files.with("sparse_linear.safetensors", head(HIDDEN + 1));
    let request = from(wrong.write(shelf.dir.path().join("m")));
    shelf.refuses(&request, "pack_weights_broken", "1 x 32");
}

#[test]
fn a_pack_can_be_carried_to_another_store() {
    let shelf = Shelf::new();
    let mut request = from(Files::bert().write(shelf.dir.path().join("m")));
    request.query_prefix = Some("查询：".to_owned());
    let first = shelf.add(&request).unwrap();
    let other = Shelf::new();
    let second = other.add(&from(shelf.store.path("m").unwrap())).unwrap();
    assert_eq!((second.files, second.query_prefix), (first.files, first.query_prefix));
    assert_eq!((second.licence, second.max_tokens), (first.licence, first.max_tokens));
}

#[test]
fn pruning_keeps_rows_as_they_are() {
    let pieces = ["<s>", "<pad>", "</s>", "<unk>", "▁log", "привет", "日志", "ção"];
    let vocab: Vec<_> = pieces.iter().map(|piece| json!([piece, -1.5])).collect();
    let tokenizer = json!({
        "version": "1.0",
        "added_tokens": [{"id": 2, "content": "</s>", "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false, "special": true}],
        "normalizer": null,
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true},
        "post_processor": null, "decoder": null,
        "model": {"type": "Unigram", "unk_id": 3, "vocab": vocab, "byte_fallback": false}
    });
    let tensors = [
        ("embeddings.word_embeddings.weight", "F32", vec![8, HIDDEN], 4),
        ("encoder.layer.0.attention.self.query.weight", "F32", vec![1], 4),
    ];
    let files = Files::bert()
        .with("tokenizer.json", tokenizer.to_string())
        .with("model.safetensors", safetensors(&tensors))
        .with("config.json", bert_config().to_string())
        .set("config.json", "vocab_size", json!(8));
    let shelf = Shelf::new();
    let mut request = from(files.write(shelf.dir.path().join("m")));
    request.prune = Some(Prune::ZhEn);
    let manifest = shelf.add(&request).unwrap();
    assert_eq!(manifest.name, "m-zh-en");
    let read = |name: &str| std::fs::read(shelf.store.path("m-zh-en").unwrap().join(name)).unwrap();
    let weights = read("model.safetensors");
    let tensors = casebook_encoder::safetensors_header(weights.as_slice(), weights.len() as u64).unwrap();
    assert_eq!(tensors[0].shape, [6, HIDDEN]);
    let row = |id: u64| {
        (id * 128..(id + 1) * 128)
            .map(|at| (at % 251) as u8)
            .collect::<Vec<_>>()
    };
    let expected = [0, 1, 2, 3, 4, 6].map(row).concat();
    let start = tensors[0].start as usize;
    assert_eq!(weights[start..start + expected.len()], expected);
    let tokenizer: serde_json::Value = serde_json::from_slice(&read("tokenizer.json")).unwrap();
    assert_eq!(tokenizer["model"]["vocab"][5][0], "日志");
    let mut request = from(Files::bert().write(shelf.dir.path().join("wordpiece")));
    request.prune = Some(Prune::ZhEn);
    shelf.refuses(&request, "pack_unsupported", "Unigram");
}

#[test]
fn means_are_computed_before_a_pack_exists() {
    let shelf = Shelf::new();
    let request = from(Files::bert().write(shelf.dir.path().join("m")));
    let add = |mean: Vec<f32>| {
        let mut compute = |folder: &std::path::Path, manifest: &PackManifest| {
            assert!(folder.join("model.safetensors").is_file() && manifest.name == "m");
            Ok([("zh".to_owned(), mean.clone())].into())
        };
        shelf.store.add_tried(&request, &mut |_| {}, &mut compute)
    };
    for wrong in [vec![0.5; 31], vec![f32::NAN; 32]] {
        assert_eq!(add(wrong).unwrap_err().code(), "pack_trial_failed");
        assert!(shelf.left().is_empty());
    }
    let manifest = add(vec![0.5; 32]).unwrap();
    assert!(manifest.means && manifest.files.iter().any(|file| file.name == "means.json"));
    assert_eq!(shelf.store.verify("m", &mut |_| {}).unwrap(), []);
    assert_eq!(add(vec![0.5; 32]).unwrap(), manifest);
}

#[test]
fn a_reranker_may_have_parts_of_its_own() {
    let files = Files::bert()
        .with(
            "modules.json",
            r#"[{"type":"x.Transformer","path":""},{"type":"x.LogitScore","path":"1_LogitScore"}]"#,
        )
        .set("config.json", "architectures", json!(["BertForSequenceClassification"]))
        .set("config.json", "id2label", json!({"0": "LABEL_0"}));
    assert_eq!(import(&files, |_| {}).task, PackTask::Rerank);
}
