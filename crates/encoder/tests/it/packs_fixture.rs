//! Tiny models, built here: folders, archives and files as other people's would be.

use std::collections::BTreeMap;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use casebook_encoder::{ImportRequest, PackError, PackManifest, PackStore};
use serde_json::{Value, json};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

pub(crate) const HIDDEN: u64 = 32;
pub(crate) const PIECES: &[&str] = &[
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "log", "##s", "日", "志", "每", "deploy",
];

/// A store in a folder that goes away, and a place for sources.
pub(crate) struct Shelf {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) store: PackStore,
}

impl Shelf {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = PackStore::open(dir.path().join("models"));
        Self { dir, store }
    }

    pub(crate) fn models(&self) -> PathBuf {
        self.dir.path().join("models")
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    pub(crate) fn add(&self, request: &ImportRequest) -> Result<PackManifest, PackError> {
        self.store.add(request, &mut |_| {})
    }

    /// Everything in the store's folder but its lock.
    pub(crate) fn left(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.models()).into_iter().flatten();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.retain(|name| name != ".lock");
        names.sort();
        names
    }

    /// Checks that a source is refused with a code and words, and that nothing of it stays.
    #[track_caller]
    pub(crate) fn refuses(&self, request: &ImportRequest, code: &str, words: &str) {
        let before = self.left();
        let error = self.add(request).map(|pack| pack.name).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(self.left(), before);
    }
}

pub(crate) fn from(path: impl AsRef<Path>) -> ImportRequest {
    ImportRequest {
        from: path.as_ref().to_owned(),
        ..ImportRequest::default()
    }
}

/// The files of a model by path.
#[derive(Clone, Debug, Default)]
pub(crate) struct Files(pub(crate) BTreeMap<String, Vec<u8>>);

impl Files {
    /// A BERT of one layer with everything that a sentence model has.
    pub(crate) fn bert() -> Self {
        Self::default()
            .with("config.json", bert_config().to_string())
            .with("tokenizer.json", word_pieces().to_string())
            .with("model.safetensors", bert_weights())
            .with("README.md", "---\nlicense: apache-2.0\n---\n# A model\n")
            .with(
                "modules.json",
                r#"[{"type":"s.Transformer","path":""},{"type":"s.Pooling","path":"1_Pooling"},{"type":"s.Normalize"}]"#,
            )
            .with("1_Pooling/config.json", r#"{"pooling_mode_mean_tokens":true}"#)
            .with("sentence_bert_config.json", r#"{"max_seq_length":16}"#)
    }

    pub(crate) fn with(mut self, path: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.0.insert(path.to_owned(), bytes.into());
        self
    }

    pub(crate) fn without(mut self, path: &str) -> Self {
        assert!(self.0.remove(path).is_some(), "{path}");
        self
    }

    /// Sets a key of a JSON file.
    pub(crate) fn set(self, path: &str, key: &str, value: Value) -> Self {
        let mut json: Value = serde_json::from_slice(&self.0[path]).unwrap();
        json[key] = value;
        self.with(path, json.to_string())
    }

    pub(crate) fn write(&self, folder: impl AsRef<Path>) -> PathBuf {
        for (path, bytes) in &self.0 {
            let path = folder.as_ref().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        folder.as_ref().to_owned()
    }

    pub(crate) fn zip(&self) -> Vec<u8> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for (path, bytes) in &self.0 {
            zip.start_file(path.as_str(), packed()).unwrap();
            zip.write_all(bytes).unwrap();
        }
        zip.finish().unwrap().into_inner()
    }
}

pub(crate) fn packed() -> SimpleFileOptions {
    SimpleFileOptions::default().compression_method(CompressionMethod::Deflated)
}

pub(crate) fn bert_config() -> Value {
    json!({
        "architectures": ["BertModel"], "model_type": "bert", "hidden_act": "gelu", "hidden_size": HIDDEN,
        "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64, "max_position_embeddings": 40,
        "type_vocab_size": 2, "vocab_size": PIECES.len(), "layer_norm_eps": 1e-12, "pad_token_id": 0
    })
}

/// A WordPiece tokenizer of a few pieces.
pub(crate) fn word_pieces() -> Value {
    let vocab: serde_json::Map<_, _> = PIECES
        .iter()
        .zip(0..)
        .map(|(piece, id)| ((*piece).to_owned(), json!(id)))
        .collect();
    json!({
        "version": "1.0", "added_tokens": [],
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
            "strip_accents": null, "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"}, "post_processor": null, "decoder": null,
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": vocab}
    })
}

/// A tensor for [`safetensors`]: name, type, shape, bytes of one weight.
pub(crate) type Tensor = (&'static str, &'static str, Vec<u64>, u64);

/// A safetensors file whose bytes count up.
pub(crate) fn safetensors(tensors: &[Tensor]) -> Vec<u8> {
    let mut header = serde_json::Map::new();
    let mut at = 0;
    for (name, kind, shape, each) in tensors {
        let end = at + shape.iter().product::<u64>() * each;
        header.insert(
            (*name).to_owned(),
            json!({"dtype": kind, "shape": shape, "data_offsets": [at, end]}),
        );
        at = end;
    }
    let header = Value::Object(header).to_string();
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend((0..at).map(|at| (at % 251) as u8));
    bytes
}

pub(crate) fn bert_tensors() -> Vec<Tensor> {
    vec![
        (
            "embeddings.word_embeddings.weight",
            "F32",
            vec![PIECES.len() as u64, HIDDEN],
            4,
        ),
        (
            "encoder.layer.0.attention.self.query.weight",
            "F16",
            vec![HIDDEN, HIDDEN],
            2,
        ),
        ("embeddings.position_ids", "I64", vec![1, 40], 8),
    ]
}

pub(crate) fn bert_weights() -> Vec<u8> {
    safetensors(&bert_tensors())
}

/// Writes a number or text as the formats here do.
pub(crate) trait Put {
    fn put(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self;

    fn text(&mut self, text: &str) -> &mut Self {
        self.put((text.len() as u64).to_le_bytes()).put(text)
    }
}

impl Put for Vec<u8> {
    fn put(&mut self, bytes: impl AsRef<[u8]>) -> &mut Self {
        self.extend_from_slice(bytes.as_ref());
        self
    }
}
