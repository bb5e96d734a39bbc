//! `models`: added, listed, checked, used and removed.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, texts};

/// A tiny BERT of random weights as Hugging Face lays it out; a reranker where asked.
fn model(sandbox: &Sandbox, name: &str, reranks: bool) -> PathBuf {
    let folder = sandbox.outside(name);
    std::fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.join(name), bytes).unwrap();
    let class = if reranks {
        "BertForSequenceClassification"
    } else {
        "BertModel"
    };
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../encoder/tests/data/transformer");
    let read = |name: &str| std::fs::read(data.join(name)).unwrap();
    let mut config: Value = serde_json::from_slice(&read("bert.config.json")).unwrap();
    config["architectures"] = json!([class]);
    config["id2label"] = json!({"0": "LABEL_0"});
    write("config.json", config.to_string().as_bytes());
    write("tokenizer.json", &read("bert.tokenizer.json"));
    let weights = if reranks {
        "bert-rerank-bf16.safetensors"
    } else {
        "bert-f32.safetensors"
    };
    write("model.safetensors", &read(weights));
    write("README.md", b"---\nlicense: mit\n---\n");
    folder
}

/// Changes the header and the numbers of a model's weights.
fn alter(folder: &Path, change: impl FnOnce(&mut Value, &mut [u8])) {
    let path = folder.join("model.safetensors");
    let mut bytes = std::fs::read(&path).unwrap();
    let length = usize::try_from(u64::from_le_bytes(bytes[..8].try_into().unwrap())).unwrap();
    let mut header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    change(&mut header, &mut bytes[8 + length..]);
    let header = header.to_string();
    let mut changed = (header.len() as u64).to_le_bytes().to_vec();
    changed.extend_from_slice(header.as_bytes());
    changed.extend_from_slice(&bytes[8 + length..]);
    std::fs::write(path, changed).unwrap();
}

/// Makes every number of a tensor none.
fn poison(folder: &Path, tensor: &str) {
    alter(folder, |header, numbers| {
        let at = |n: usize| usize::try_from(header[tensor]["data_offsets"][n].as_u64().unwrap()).unwrap();
        numbers[at(0)..at(1)].fill(0xff);
    });
}

/// Gives a tensor another name.
fn rename(folder: &Path, tensor: &str) {
    alter(folder, |header, _| {
        let moved = header.as_object_mut().unwrap().remove(tensor).unwrap();
        header["other.weight"] = moved;
    });
}

/// Sets a key of a model's `config.json`.
fn configure(folder: &Path, key: &str, value: Value) {
    let path = folder.join("config.json");
    let mut config: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    config[key] = value;
    std::fs::write(path, config.to_string()).unwrap();
}

fn zip(folder: &Path, target: &Path) {
    let mut zip = zip::ZipWriter::new(std::fs::File::create(target).unwrap());
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(&std::fs::read(&path).unwrap()).unwrap();
    }
    zip.finish().unwrap();
}

/// Adds a model with a pooling and returns what was printed.
fn add(sandbox: &Sandbox, source: &Path, more: &[&str]) -> Value {
    let source = source.to_str().unwrap();
    sandbox.json(&[&["models", "add", source, "--pooling", "mean"], more].concat())
}

/// Runs a command that must fail and returns code and message.
fn refused(sandbox: &Sandbox, args: &[&str], exit: i32) -> (String, String) {
    let failed = sandbox.run(&[args, &["--json"]].concat()).expect(exit).json();
    let text = |pointer: &str| {
        failed
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    (text("/error/code"), text("/error/message"))
}

#[test]
fn a_model_comes_is_used_and_goes() {
    let sandbox = Sandbox::with(&[("casebook.toml", "# 项目\nid = 'x' # mine\n"), ("a.md", "Alpha.\n")]);
    assert_eq!(sandbox.json(&["models", "list"])["models"], json!([]));
    let added = add(&sandbox, &model(&sandbox, "tiny", false), &["--query-prefix", "查询："]);
    assert_eq!((&added["name"], &added["licence"]), (&json!("tiny"), &json!("MIT")));
    assert_eq!(added["query_prefix"], "查询：");
    let archive = sandbox.outside("judge.zip");
    zip(&model(&sandbox, "judge", true), &archive);
    assert_eq!(add(&sandbox, &archive, &["--name", "judge-1"])["task"], "rerank");
    let used = sandbox
        .run(&["models", "use", "tiny", "--reranker", "judge-1"])
        .expect(0);
    assert!(used.stdout.contains("Next: `casebook models fill`"), "{}", used.stdout);
    let file = std::fs::read_to_string(sandbox.root().join("casebook.toml")).unwrap();
    let expected = "# 项目\nid = 'x' # mine\n\n[encoder]\nmodel = \"tiny\"\nreranker = \"judge-1\"\n";
    assert_eq!(file, expected);
    let listed = sandbox.json(&["models", "list"]);
    assert_eq!(texts(&listed["models"], "/name"), ["judge-1", "tiny"]);
    assert_eq!(listed["models"][0]["in_use"], json!(["reranker"]));
    assert_eq!(
        (&listed["models"][1]["dimension"], &listed["models"][1]["in_use"]),
        (&json!(32), &json!(["model"]))
    );
    let table = sandbox.run(&["models", "list"]).expect(0).stdout;
    assert!(
        table.contains("This project encodes with tiny and reranks with judge-1."),
        "{table}"
    );
    let (code, message) = refused(&sandbox, &["models", "remove", "tiny"], 5);
    assert!(
        code == "pack_in_use" && message.contains("casebook models use"),
        "{message}"
    );
    sandbox.json(&["models", "use", "embedded"]);
    sandbox.json(&["models", "remove", "tiny"]);
    sandbox.json(&["models", "remove", "judge-1", "--force"]);
    let listed = sandbox.json(&["models", "list"]);
    assert_eq!(listed["models"], json!([]));
    assert!(listed["problems"][0].as_str().unwrap().contains("judge-1"), "{listed}");
}

#[test]
fn a_changed_file_is_found() {
    let sandbox = Sandbox::new();
    add(&sandbox, &model(&sandbox, "one", false), &[]);
    add(&sandbox, &model(&sandbox, "two", false), &[]);
    assert_eq!(sandbox.json(&["models", "verify"])["models"], json!(["one", "two"]));
    std::fs::write(sandbox.data_dir().join("models/two/config.json"), "{}").unwrap();
    sandbox.json(&["models", "verify", "one"]);
    let failed = sandbox.run(&["models", "verify", "--json"]).expect(1).json();
    assert_eq!(failed.pointer("/error/code").unwrap(), "pack_differs");
    let details = failed.pointer("/error/details/0").and_then(Value::as_str).unwrap();
    assert!(details.starts_with("two: config.json has 2 bytes"), "{details}");
    std::fs::write(sandbox.data_dir().join("models/one/pack.json"), "{}").unwrap();
    let failed = sandbox.run(&["models", "verify"]).expect(1).stderr;
    assert!(failed.contains("one: pack.json"), "{failed}");
}

#[test]
fn what_is_refused_says_why() {
    let sandbox = Sandbox::new();
    let source = model(&sandbox, "tiny", false);
    let source = source.to_str().unwrap();
    let (code, message) = refused(&sandbox, &["models", "add", source], 3);
    assert!(code == "pack_unsupported" && message.contains("--pooling"), "{message}");
    std::fs::write(sandbox.outside("tiny/README.md"), "none").unwrap();
    let (code, message) = refused(&sandbox, &["models", "add", source, "--pooling", "cls"], 3);
    assert!(
        code == "pack_licence_missing" && message.contains("--licence"),
        "{message}"
    );
    let nc = ["models", "add", source, "--pooling", "cls", "--licence", "cc-by-nc-4.0"];
    assert_eq!(refused(&sandbox, &nc, 3).0, "pack_licence_refused");
    sandbox.json(&[&nc[..], &["--allow-licence"]].concat());
    let other = ["models", "add", source, "--pooling", "mean", "--licence", "MIT"];
    assert_eq!(refused(&sandbox, &other, 5).0, "pack_exists");
    let small = [&other[..], &["--max-bytes", "100"]].concat();
    assert_eq!(refused(&sandbox, &small, 3).0, "pack_too_large");
    assert_eq!(refused(&sandbox, &["models", "use", "nothing"], 3).0, "pack_unknown");
    assert_eq!(
        refused(&sandbox, &["models", "use", "--reranker", "tiny"], 3).0,
        "pack_task_wrong"
    );
    assert_eq!(refused(&sandbox, &["models", "verify", "nothing"], 3).0, "pack_unknown");
    assert_eq!(
        refused(&sandbox, &["models", "remove", "../x"], 3).0,
        "pack_name_invalid"
    );
    sandbox.run(&["models", "use"]).expect(2);
    assert!(!sandbox.root().join("casebook.toml").exists());
}

#[test]
fn what_cannot_be_run_is_no_pack_and_the_model_is_at_fault() {
    let sandbox = Sandbox::new();
    let check = |folder: &Path, code: &str, words: &str| {
        let add = ["models", "add", folder.to_str().unwrap(), "--pooling", "mean"];
        let found = refused(&sandbox, &add, 3);
        assert!(
            found.0 == code && found.1.contains(words),
            "{found:?}, not {code}: {words}"
        );
        std::fs::remove_dir_all(folder).unwrap();
    };
    for (reranks, tensor) in [
        (true, "classifier.weight"),
        (true, "bert.pooler.dense.weight"),
        (true, "bert.encoder.layer.0.attention.self.query.weight"),
        (false, "encoder.layer.0.attention.self.query.weight"),
    ] {
        let folder = model(&sandbox, "poisoned", reranks);
        poison(&folder, tensor);
        let named = tensor.trim_start_matches("bert.");
        check(&folder, "pack_weights_broken", &format!("{named} holds"));
        let folder = model(&sandbox, "renamed", reranks);
        rename(&folder, tensor);
        check(&folder, "pack_weights_broken", "model.safetensors");
    }
    for reranks in [true, false] {
        for (key, value) in [
            ("num_attention_heads", json!(0)),
            ("num_attention_heads", json!(1_000_000_000)),
            ("num_attention_heads", json!(5)),
            ("layer_norm_eps", json!(-1)),
            ("layer_norm_eps", json!(1e300)),
            ("max_position_embeddings", json!(4_000_000_000_u32)),
        ] {
            let folder = model(&sandbox, "absurd", reranks);
            configure(&folder, key, value);
            check(&folder, "pack_description_invalid", key);
        }
    }
    let folder = model(&sandbox, "short", false);
    std::fs::write(folder.join("sentence_bert_config.json"), r#"{"max_seq_length":2}"#).unwrap();
    check(&folder, "pack_description_invalid", "max_tokens");
    assert_eq!(sandbox.json(&["models", "list"])["models"], json!([]));
}

#[test]
fn the_hub_is_asked_only_for_its_own_scheme() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(&["models", "add", "hf:owner/name", "--json"]);
    command.env("HF_HUB_OFFLINE", "1");
    let failed = crate::sandbox::finish(&mut command).expect(3).json();
    assert_eq!(failed.pointer("/error/code").unwrap(), "hub_offline");
    assert_eq!(
        refused(&sandbox, &["models", "add", "hf:../x"], 3).0,
        "hub_spec_invalid"
    );
    let (code, message) = refused(&sandbox, &["models", "add", "owner/name"], 3);
    assert!(
        code == "pack_unreadable" && message.ends_with("write hf:owner/name"),
        "{message}"
    );
}

#[test]
fn a_setting_above_the_written_one_is_told() {
    let sandbox = Sandbox::new();
    add(&sandbox, &model(&sandbox, "tiny", false), &[]);
    let mut command = sandbox.command(&["models", "use", "tiny", "--user", "--json"]);
    command.env("CASEBOOK_ENCODER_MODEL", "embedded");
    let told = crate::sandbox::finish(&mut command).expect(0).json();
    assert!(
        told["overridden"][0]
            .as_str()
            .unwrap()
            .contains("$CASEBOOK_ENCODER_MODEL"),
        "{told}"
    );
    assert!(told["file"].as_str().unwrap().ends_with("config.toml"), "{told}");
    assert_eq!(
        sandbox.json(&["models", "list"])["models"][0]["in_use"],
        json!(["model"])
    );
    assert!(!sandbox.root().join("casebook.toml").exists());
}

/// Runs everything that goes on without the chosen packs, and returns what the answer is degraded by.
#[track_caller]
fn degraded_by(sandbox: &Sandbox) -> Value {
    sandbox.json(&["index"]);
    for verb in ["pause", "status", "resume"] {
        sandbox.json(&["models", verb]);
    }
    let answer = sandbox.json(&["activate", "Alpha"]);
    assert_eq!(texts(&answer["fragments"], "/path"), ["a.md"], "{answer}");
    answer["degradations"].clone()
}

/// Checks that a degradation names the setting, where it stands and the way out.
#[track_caller]
fn assert_told(degradations: &Value, code: &str, parts: &[&str]) {
    let all = degradations.as_array().unwrap();
    let told = all.iter().find(|told| told["code"] == code);
    let detail = told.unwrap_or_else(|| panic!("{code}: {degradations}"))["detail"]
        .as_str()
        .unwrap();
    for part in parts.iter().chain(&["casebook.toml", "`casebook models add`"]) {
        assert!(detail.contains(part), "{part}: {detail}");
    }
}

#[test]
fn a_reranker_that_cannot_be_opened_stops_nothing() {
    // Weights of chance find nothing relevant.
    let settings = "[ranker]\nmin_relevance = 0\n";
    let sandbox = Sandbox::with(&[("casebook.toml", settings), ("a.md", "Alpha.\n")]);
    add(&sandbox, &model(&sandbox, "judge", true), &[]);
    sandbox.json(&["models", "use", "--reranker", "judge"]);
    assert_eq!(degraded_by(&sandbox), json!([]));
    let weights = sandbox.data_dir().join("models/judge/model.safetensors");
    let bytes = std::fs::read(&weights).unwrap();
    std::fs::write(&weights, &bytes[..bytes.len() / 2]).unwrap();
    let parts = [
        "encoder.reranker = \"judge\"",
        "`casebook models use --reranker embedded`",
        "the embedded reranker scored",
    ];
    assert_told(&degraded_by(&sandbox), "chosen_reranker_failed", &parts);
    std::fs::remove_dir_all(sandbox.data_dir().join("models/judge")).unwrap();
    assert_told(&degraded_by(&sandbox), "chosen_reranker_failed", &parts);
    let listed = sandbox.run(&["models", "list"]).expect(0).stdout;
    assert!(
        listed.contains("reranks with judge, which cannot be used (the embedded reranker stands in)."),
        "{listed}"
    );
}

#[test]
fn an_encoder_that_is_gone_or_damaged_stops_nothing() {
    let sandbox = Sandbox::with(&[("a.md", "Alpha.\n")]);
    add(&sandbox, &model(&sandbox, "tiny", false), &[]);
    sandbox.json(&["models", "use", "tiny"]);
    sandbox.json(&["models", "fill"]);
    assert_eq!(degraded_by(&sandbox), json!([]));
    let parts = ["encoder.model = \"tiny\"", "`casebook models use embedded`"];
    let manifest = sandbox.data_dir().join("models/tiny/pack.json");
    let kept = std::fs::read(&manifest).unwrap();
    for (damage, code) in [(Some("{}"), "pack_manifest_invalid"), (None, "pack_manifest_invalid")] {
        match damage {
            Some(text) => std::fs::write(&manifest, text).unwrap(),
            None => std::fs::remove_file(&manifest).unwrap(),
        }
        assert_told(&degraded_by(&sandbox), "chosen_encoder_failed", &parts);
        // Whoever asks for the pack itself gets an error.
        assert_eq!(refused(&sandbox, &["models", "use", "tiny"], 3).0, code);
    }
    std::fs::write(&manifest, kept).unwrap();
    assert_eq!(degraded_by(&sandbox), json!([]));
    sandbox.json(&["models", "remove", "tiny", "--force"]);
    assert_told(&degraded_by(&sandbox), "chosen_encoder_failed", &parts);
    for fill in [
        &["models", "fill"] as &[&str],
        &["models", "fill", "--background"],
        &["models", "use", "tiny"],
    ] {
        assert_eq!(refused(&sandbox, fill, 3).0, "pack_unknown");
    }
    let built = sandbox.json(&["index"]);
    assert_told(&built["degradations"], "chosen_encoder_failed", &parts);
    assert_told(
        &sandbox.json(&["models", "status"])["problems"],
        "chosen_encoder_failed",
        &parts,
    );
    let listed = sandbox.run(&["models", "list"]).expect(0).stdout;
    assert!(
        listed.contains("encodes with tiny, which cannot be used (the embedded encoder stands in)"),
        "{listed}"
    );
}

#[test]
fn a_fill_refuses_a_pack_that_was_changed_under_its_length() {
    let sandbox = Sandbox::with(&[("a.md", "Alpha.\n")]);
    add(&sandbox, &model(&sandbox, "tiny", false), &[]);
    sandbox.json(&["models", "use", "tiny"]);
    sandbox.json(&["index"]);
    let weights = sandbox.data_dir().join("models/tiny/model.safetensors");
    let whole = std::fs::read(&weights).unwrap();
    let mut changed = whole.clone();
    *changed.last_mut().unwrap() ^= 1;
    std::fs::write(&weights, &changed).unwrap();
    for args in [
        &["models", "fill"] as &[&str],
        &["models", "fill", "--background"],
        &["models", "use", "tiny"],
    ] {
        let (code, message) = refused(&sandbox, args, 3);
        assert_eq!(code, "model_unusable", "{message}");
        assert!(message.contains("casebook models verify tiny"), "{message}");
    }
    std::fs::write(&weights, &whole).unwrap();
    assert_eq!(sandbox.json(&["models", "fill"])["end"], "complete");
    let answering = || {
        let status = sandbox.json(&["models", "status"]);
        let encoders = status["encoders"].as_array().unwrap().clone();
        let answering = encoders.iter().find(|encoder| encoder["answers"] == true).unwrap();
        (
            answering["role"].as_str().unwrap().to_owned(),
            status["problems"].clone(),
        )
    };
    assert_eq!(answering(), ("chosen".to_owned(), json!([])));
    std::fs::write(&weights, &changed).unwrap();
    let (role, problems) = answering();
    assert_eq!(role, "embedded");
    assert_told(&problems, "chosen_encoder_failed", &["tiny", "was changed"]);
    std::fs::write(&weights, &whole).unwrap();
    assert_eq!(sandbox.json(&["models", "verify"])["models"], json!(["tiny"]));
}

#[test]
fn what_is_refused_anyway_is_not_asked_of_the_hub() {
    let sandbox = Sandbox::new();
    add(&sandbox, &model(&sandbox, "tiny", false), &[]);
    let refused_offline = |args: &[&str]| {
        let mut command = sandbox.command(&[&["models", "add"], args, &["--json"]].concat());
        command.env("HF_HUB_OFFLINE", "1");
        let failed = crate::sandbox::finish(&mut command);
        assert!([3, 5].contains(&failed.code), "{}", failed.stdout);
        let failed = failed.json();
        failed
            .pointer("/error/code")
            .and_then(Value::as_str)
            .unwrap()
            .to_owned()
    };
    for (args, code) in [
        (&["hf:owner/name", "--name", "BAD!"] as &[&str], "pack_name_invalid"),
        (&["hf:owner/tiny"], "pack_exists"),
        (&["hf:owner/name", "--name", "tiny"], "pack_exists"),
        (&["hf:owner/name", "--licence", "cc-by-nc-4.0"], "pack_licence_refused"),
        (&["hf:owner/tiny", "--name", "other"], "hub_offline"),
    ] {
        assert_eq!(refused_offline(args), code, "{args:?}");
    }
    assert!(!sandbox.data_dir().join("downloads").exists());
}

#[test]
fn a_download_that_waits_is_listed_and_can_be_removed() {
    let sandbox = Sandbox::new();
    let place = sandbox.data_dir().join("downloads/.downloads/owner--name--0123/files");
    std::fs::create_dir_all(&place).unwrap();
    std::fs::write(place.join("model.safetensors"), [0; 9]).unwrap();
    let listed = sandbox.json(&["models", "list"]);
    let problem = listed["problems"][0].as_str().unwrap();
    assert!(
        problem.contains("`casebook models remove hf:owner/name`") && problem.contains("1 MB"),
        "{problem}"
    );
    sandbox.json(&["models", "remove", "hf:owner/name"]);
    assert!(!place.exists());
    assert_eq!(sandbox.json(&["models", "list"])["problems"], json!([]));
    assert_eq!(
        refused(&sandbox, &["models", "remove", "hf:owner/name"], 3).0,
        "pack_unknown"
    );
}
