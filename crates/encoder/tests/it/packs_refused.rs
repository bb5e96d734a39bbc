//! Models that are refused, each with its reason, and nothing of them stays.

use casebook_encoder::{ImportLimits, ImportRequest, Pooling};
use serde_json::json;

use crate::packs_fixture::{Files, HIDDEN, Shelf, bert_tensors, bert_weights, from, safetensors};

#[track_caller]
fn refused(files: &Files, code: &str, words: &str) {
    refused_with(files, |_| {}, code, words);
}

/// The same files are refused from a folder and from an archive.
#[track_caller]
fn refused_with(files: &Files, change: impl Fn(&mut ImportRequest), code: &str, words: &str) {
    let shelf = Shelf::new();
    let folder = files.write(shelf.dir.path().join("folder"));
    for place in [folder, shelf.write("archive.zip", &files.zip())] {
        let mut request = from(place);
        change(&mut request);
        shelf.refuses(&request, code, words);
    }
}

#[test]
fn nothing_that_is_a_model() {
    let shelf = Shelf::new();
    std::fs::create_dir(shelf.dir.path().join("empty")).unwrap();
    shelf.refuses(&from(shelf.dir.path().join("empty")), "pack_unrecognised", "no files");
    shelf.refuses(&from(shelf.dir.path().join("missing")), "pack_unreadable", "missing");
    shelf.refuses(
        &from(shelf.write("notes.txt", b"text")),
        "pack_unrecognised",
        "looked for config.json",
    );
    refused(
        &Files::default().with("a.txt", "x").with("b.txt", "y"),
        "pack_unrecognised",
        "it has a.txt, b.txt",
    );
    refused(
        &Files::bert().without("model.safetensors"),
        "pack_unrecognised",
        "looked for config.json",
    );
    refused(
        &Files::bert().without("tokenizer.json"),
        "pack_description_invalid",
        "vocab.txt",
    );
}

#[test]
fn pickles_by_name_and_by_content() {
    let bare = Files::bert().without("model.safetensors");
    for name in ["pytorch_model.bin", "model.pt", "model.pkl", "weights.ckpt", "m.joblib"] {
        refused(&bare.clone().with(name, b"\x80\x02}q\0."), "pack_pickle", name);
    }
    let disguised = bare
        .clone()
        .with("model.safetensors", b"\x80\x04\x95\0\0\0\0\0\0\0\0.".as_slice());
    refused(&disguised, "pack_pickle", "model.safetensors");
    let zipped = bare.with("model.safetensors", b"PK\x03\x04archive/data.pkl".as_slice());
    refused(&zipped, "pack_pickle", "model.safetensors");
    let shelf = Shelf::new();
    shelf.refuses(
        &from(shelf.write("model.pt", b"PK\x03\x04rest")),
        "pack_pickle",
        "model.pt",
    );
    shelf.refuses(
        &from(shelf.write("model.bin", b"\x80\x02}.")),
        "pack_pickle",
        "pickle is never read",
    );
    refused(
        &Files::bert().with("sparse_linear.pt", "x"),
        "pack_pickle",
        "sparse_linear.safetensors",
    );
}

#[test]
fn a_pickle_beside_good_weights_is_not_copied() {
    let shelf = Shelf::new();
    let files = Files::bert()
        .with("pytorch_model.bin", b"\x80\x02}.".as_slice())
        .with("rust_model.ot", "x");
    let manifest = shelf.add(&from(files.write(shelf.dir.path().join("m")))).unwrap();
    assert_eq!(manifest.files.len(), 3);
    assert!(!shelf.store.path("m").unwrap().join("pytorch_model.bin").exists());
}

/// A header of 640 bytes begins with the bytes of a pickle.
#[test]
fn a_header_that_looks_like_a_pickle_is_none() {
    let mut weights = bert_weights();
    let length = u64::from_le_bytes(weights[..8].try_into().unwrap()) as usize;
    let padding = vec![b' '; 640 - length];
    weights.splice(8 + length..8 + length, padding);
    weights[..8].copy_from_slice(&640_u64.to_le_bytes());
    let shelf = Shelf::new();
    let files = Files::bert().with("model.safetensors", weights);
    shelf.add(&from(files.write(shelf.dir.path().join("m")))).unwrap();
}

#[test]
fn weights_that_are_broken_or_of_another_network() {
    let weights = |bytes: &[u8]| Files::bert().with("model.safetensors", bytes);
    let good = bert_weights();
    refused(&weights(&good[..good.len() - 1]), "pack_weights_broken", "end at byte");
    refused(&weights(&good[..20]), "pack_weights_broken", "header would be");
    refused(&weights(&[0xff; 64]), "pack_weights_broken", "header would be");
    let with = |index: usize, tensor| {
        let mut tensors = bert_tensors();
        tensors[index] = tensor;
        weights(&safetensors(&tensors))
    };
    let name = "embeddings.word_embeddings.weight";
    refused(
        &with(0, ("wte.weight", "F32", vec![10, HIDDEN], 4)),
        "pack_weights_broken",
        "another network",
    );
    refused(
        &with(0, (name, "F32", vec![9, HIDDEN], 4)),
        "pack_weights_broken",
        "[9, 32]",
    );
    refused(
        &with(0, (name, "F8_E4M3", vec![10, HIDDEN], 1)),
        "pack_unsupported",
        "F8_E4M3",
    );
    refused(
        &with(1, ("x", "F32", vec![1], 4)),
        "pack_weights_broken",
        "encoder.layer.0",
    );
    let more = ("encoder.layer.1.attention.self.query.weight", "F32", vec![1], 4);
    refused(&with(2, more), "pack_weights_broken", "more layers");
    let sharded = Files::bert().with("model.safetensors.index.json", "{}");
    refused(&sharded, "pack_unsupported", "several files");
}

#[test]
fn networks_that_cannot_be_run() {
    let files = Files::bert().set("config.json", "model_type", json!("t5"));
    refused(&files, "pack_architecture_unknown", "t5");
    let files = Files::bert().set("config.json", "hidden_act", json!("relu"));
    refused(&files, "pack_unsupported", "relu");
    let files = Files::bert().with("1_Pooling/config.json", r#"{"pooling_mode_max_tokens":true}"#);
    refused(&files, "pack_unsupported", "max");
    let files = Files::bert().with("modules.json", r#"[{"type":"x.Dense"}]"#);
    refused(&files, "pack_unsupported", "Dense");
    refused_with(
        &files,
        |request| request.pooling = Some(Pooling::Mean),
        "pack_unsupported",
        "Dense",
    );
    let files = Files::bert().without("modules.json").without("1_Pooling/config.json");
    refused(&files, "pack_unsupported", "--pooling");
    refused(
        &Files::bert().with("config.json", "{"),
        "pack_description_invalid",
        "config.json",
    );
}

#[test]
fn tokenizers_that_do_not_fit_or_would_lead_astray() {
    let files = Files::bert();
    refused(
        &files.clone().with("tokenizer.json", "{}"),
        "pack_description_invalid",
        "tokenizer.json",
    );
    let mut tokenizer: serde_json::Value = serde_json::from_slice(&files.0["tokenizer.json"]).unwrap();
    tokenizer["model"]["vocab"]["far"] = json!(10);
    refused(
        &files.clone().with("tokenizer.json", tokenizer.to_string()),
        "pack_description_invalid",
        "has the id 10",
    );
    let section = json!({"type": "Replace", "pattern": {"String": "§"}, "content": "§".repeat(10_000)});
    let normalizer = json!({"type": "Sequence", "normalizers": [section, section]});
    let swelling = files.clone().set("tokenizer.json", "normalizer", normalizer);
    refused(&swelling, "pack_description_invalid", "content has 10000 characters");
    let swelling = files.clone().set(
        "tokenizer.json",
        "normalizer",
        json!({"type": "Replace", "pattern": {"Regex": "."}, "content": "abcdefgh".repeat(8)}),
    );
    let swelling = swelling.set("tokenizer.json", "pre_tokenizer", json!({"type": "ByteLevel"}));
    refused(&swelling, "pack_description_invalid", "more than 128 characters of one");
    for map in ["AAAAAA==", "BAAAAP////8=", "!", ""] {
        let normalizer = json!({"type": "Sequence", "normalizers": [
            {"type": "Precompiled", "precompiled_charsmap": map}
        ]});
        let files = files.clone().set("tokenizer.json", "normalizer", normalizer);
        refused(&files, "pack_description_invalid", "character map");
    }
}

#[test]
fn a_tokenizer_that_is_too_large_to_be_read() {
    let shelf = Shelf::new();
    let mut request = from(Files::bert().write(shelf.dir.path().join("m")));
    let tokenizer = Files::bert().0["tokenizer.json"].len() as u64;
    request.limits.text_bytes = tokenizer;
    shelf.add(&request).unwrap();
    request.limits.text_bytes = tokenizer - 1;
    shelf.refuses(
        &request,
        "pack_too_large",
        &format!("tokenizer.json is too large: {tokenizer} bytes, at most"),
    );
}

#[test]
fn licences_that_are_missing_or_not_free() {
    let card = |text: &str| Files::bert().with("README.md", text);
    refused(&Files::bert().without("README.md"), "pack_licence_missing", "--licence");
    refused(&card("# No front matter"), "pack_licence_missing", "--licence");
    for licence in ["cc-by-nc-4.0", "other", "gemma", "llama3.1", "unknown"] {
        refused(
            &card(&format!("---\nlicense: {licence}\n---")),
            "pack_licence_refused",
            "--allow-licence",
        );
    }
    let shelf = Shelf::new();
    let mut request = from(card("---\nlicense: gemma\n---").write(shelf.dir.path().join("m")));
    request.allow_licence = true;
    assert_eq!(shelf.add(&request).unwrap().licence, "gemma");
    request.licence = Some("MIT".to_owned());
    request.name = Some("other".to_owned());
    request.allow_licence = false;
    assert_eq!(shelf.add(&request).unwrap().licence, "MIT");
}

#[test]
fn more_than_is_allowed() {
    let limit = |change: fn(&mut ImportLimits)| move |request: &mut ImportRequest| change(&mut request.limits);
    let files = Files::bert();
    refused_with(
        &files,
        limit(|limits| limits.total_bytes = 3000),
        "pack_too_large",
        "the model is too large",
    );
    refused_with(
        &files,
        limit(|limits| limits.files = 3),
        "pack_too_large",
        "number of files",
    );
    refused_with(
        &files,
        limit(|limits| limits.text_bytes = 100),
        "pack_too_large",
        "config.json is too large",
    );
    let shelf = Shelf::new();
    let mut request = from(shelf.write("model.gguf", &[0; 4000]));
    request.limits.total_bytes = 3000;
    shelf.refuses(&request, "pack_too_large", "the model is too large");
}

#[test]
fn several_models_until_one_is_named() {
    let mut files = Files::default();
    for (path, bytes) in Files::bert().0 {
        files = files
            .with(&format!("a/{path}"), bytes.clone())
            .with(&format!("b/{path}"), bytes);
    }
    refused(&files, "pack_ambiguous", "a/model.safetensors, b/model.safetensors");
    let ask = |file: &'static str| move |request: &mut ImportRequest| request.file = Some(file.to_owned());
    refused_with(
        &files,
        ask("c.gguf"),
        "pack_unrecognised",
        "no weights are called c.gguf",
    );
    refused_with(&files, ask("model.safetensors"), "pack_ambiguous", "a/model");
    let shelf = Shelf::new();
    let mut request = from(files.write(shelf.dir.path().join("m")));
    request.file = Some("b/model.safetensors".to_owned());
    assert_eq!(shelf.add(&request).unwrap().name, "b");
}

#[test]
#[cfg(unix)]
fn links_in_folders() {
    let shelf = Shelf::new();
    let folder = Files::bert().without("README.md").write(shelf.dir.path().join("m"));
    std::os::unix::fs::symlink("/etc/hostname", folder.join("README.md")).unwrap();
    shelf.refuses(&from(&folder), "pack_path_unsafe", "symbolic link");
    std::fs::remove_file(folder.join("README.md")).unwrap();
    std::os::unix::fs::symlink("/etc", folder.join("more")).unwrap();
    shelf.refuses(&from(&folder), "pack_path_unsafe", "symbolic link");
    std::fs::remove_file(folder.join("more")).unwrap();
    std::fs::write(folder.join("a\u{1b}[2J"), "x").unwrap();
    shelf.refuses(&from(&folder), "pack_path_unsafe", "control characters");
}
