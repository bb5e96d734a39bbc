//! Packs put together from the checked-in parts.

use std::fs;
use std::path::{Path, PathBuf};

use casebook_encoder::{
    Architecture, CrossEncoder, PACK_FORMAT, PackFile, PackManifest, PackTask, Pooling, TransformerEncoder,
    TransformerError, TransformerOptions, WeightPrecision,
};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

/// What `tools/reference/make.py` wrote about one model.
#[derive(Debug, Deserialize)]
pub(super) struct Expected {
    architecture: Architecture,
    config: String,
    tokenizer: String,
    weights: String,
    #[serde(default)]
    pooling: Option<Pooling>,
    #[serde(default)]
    query_prefix: String,
    #[serde(default)]
    passage_prefix: String,
    max_tokens: usize,
    #[serde(default)]
    pub(super) texts: Vec<Text>,
    #[serde(default)]
    pub(super) pairs: Vec<Pair>,
    #[serde(default)]
    pub(super) sparse: Vec<Sparse>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Text {
    pub(super) side: String,
    pub(super) path: String,
    pub(super) headings: Vec<String>,
    pub(super) text: String,
    pub(super) windows: u32,
    pub(super) vector: Vec<f32>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Pair {
    pub(super) query: String,
    pub(super) passage: String,
    pub(super) cut: bool,
    pub(super) score: f32,
}

#[derive(Debug, Deserialize)]
pub(super) struct Sparse {
    pub(super) text: String,
    pub(super) weights: Vec<(u32, f32)>,
}

/// A pack in a folder of its own.
pub(super) struct Pack {
    folder: TempDir,
    pub(super) manifest: PackManifest,
    pub(super) expected: Expected,
}

pub(super) fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/transformer")
}

/// One thread, whole numbers.
pub(super) fn full() -> TransformerOptions {
    TransformerOptions {
        threads: 1,
        precision: WeightPrecision::Full,
    }
}

fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Pack {
    pub(super) fn new(name: &str) -> Self {
        let expected = fs::read(data().join(format!("{name}.expected.json"))).unwrap();
        let expected: Expected = serde_json::from_slice(&expected).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let ending = expected.weights.rsplit_once('.').unwrap().1;
        let mut files = vec![
            (format!("{}.config.json", expected.config), "config.json".to_owned()),
            (expected.weights.clone(), format!("model.{ending}")),
            (
                format!("{}.tokenizer.json", expected.tokenizer),
                "tokenizer.json".to_owned(),
            ),
        ];
        if !expected.sparse.is_empty() {
            let head = "sparse_linear.safetensors".to_owned();
            files.push((head.clone(), head));
        }
        let listed = files.iter().map(|(from, to)| PackFile {
            name: to.clone(),
            bytes: fs::copy(data().join(from), folder.path().join(to)).unwrap(),
            sha256: sha256(&fs::read(data().join(from)).unwrap()),
        });
        let embeds = !expected.texts.is_empty();
        let manifest = PackManifest {
            format: PACK_FORMAT,
            name: name.to_owned(),
            source: String::new(),
            revision: String::new(),
            licence: "MIT".to_owned(),
            architecture: expected.architecture,
            task: if embeds { PackTask::Embed } else { PackTask::Rerank },
            pooling: expected.pooling.unwrap_or(Pooling::Mean),
            normalise: true,
            query_prefix: expected.query_prefix.clone(),
            passage_prefix: expected.passage_prefix.clone(),
            dimension: if embeds { 32 } else { 0 },
            max_tokens: expected.max_tokens,
            sparse: !expected.sparse.is_empty(),
            means: false,
            files: listed.collect(),
        };
        Self {
            folder,
            manifest,
            expected,
        }
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn encoder(&self) -> Result<TransformerEncoder, TransformerError> {
        TransformerEncoder::open_with(self.path(), &self.manifest, &full())
    }

    pub(super) fn cross_encoder(&self) -> Result<CrossEncoder, TransformerError> {
        CrossEncoder::open_with(self.path(), &self.manifest, &full())
    }

    /// Replaces a file, and what the manifest says of it.
    pub(super) fn replace(&mut self, name: &str, bytes: &[u8]) {
        fs::write(self.path().join(name), bytes).unwrap();
        let listed = self.manifest.files.iter_mut().find(|file| file.name == name);
        if let Some(listed) = listed {
            listed.bytes = bytes.len() as u64;
            listed.sha256 = sha256(bytes);
        }
    }

    pub(super) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path().join(name)).unwrap()
    }

    /// Changes `config.json`.
    pub(super) fn configure(&mut self, key: &str, value: serde_json::Value) {
        let mut config: serde_json::Value = serde_json::from_slice(&self.read("config.json")).unwrap();
        config[key] = value;
        self.replace("config.json", config.to_string().as_bytes());
    }
}
