//! GGUF files that hold everything: their metadata become the files that every pack has.

use casebook_encoder::{Architecture, GgufHeader, PackTask, Pooling, Prune};
use serde_json::Value;

use crate::packs_fixture::{Put, Shelf, from};

/// A GGUF file in the making.
#[derive(Clone, Default)]
struct Gguf {
    metadata: Vec<Vec<u8>>,
    tensors: Vec<(&'static str, u32, Vec<u64>, usize)>,
}

impl Gguf {
    fn entry(mut self, key: &str, kind: u32, value: &[u8]) -> Self {
        let mut bytes = Vec::new();
        bytes.text(key).put(kind.to_le_bytes()).put(value);
        self.metadata.push(bytes);
        self
    }

    fn text(self, key: &str, value: &str) -> Self {
        let mut bytes = Vec::new();
        bytes.text(value);
        self.entry(key, 8, &bytes)
    }

    fn int(self, key: &str, value: u32) -> Self {
        self.entry(key, 4, &value.to_le_bytes())
    }

    fn float(self, key: &str, value: f32) -> Self {
        self.entry(key, 6, &value.to_le_bytes())
    }

    fn flag(self, key: &str, value: bool) -> Self {
        self.entry(key, 7, &[u8::from(value)])
    }

    fn list<const N: usize>(self, key: &str, kind: u32, items: impl IntoIterator<Item = [u8; N]>) -> Self {
        let items: Vec<_> = items.into_iter().collect();
        let mut bytes = Vec::new();
        bytes
            .put(kind.to_le_bytes())
            .put((items.len() as u64).to_le_bytes())
            .put(items.concat());
        self.entry(key, 9, &bytes)
    }

    fn texts(self, key: &str, items: &[&str]) -> Self {
        let mut bytes = Vec::new();
        bytes.put(8_u32.to_le_bytes()).put((items.len() as u64).to_le_bytes());
        for item in items {
            bytes.text(item);
        }
        self.entry(key, 9, &bytes)
    }

    /// Adds a tensor; its shape is innermost first, as GGUF writes it.
    fn tensor(mut self, name: &'static str, kind: u32, shape: &[u64], bytes: usize) -> Self {
        self.tensors.push((name, kind, shape.to_vec(), bytes));
        self
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = b"GGUF".to_vec();
        bytes
            .put(3_u32.to_le_bytes())
            .put((self.tensors.len() as u64).to_le_bytes());
        bytes
            .put((self.metadata.len() as u64).to_le_bytes())
            .put(self.metadata.concat());
        let mut data = Vec::new();
        for (name, kind, shape, length) in &self.tensors {
            bytes.text(name).put((shape.len() as u32).to_le_bytes());
            for side in shape {
                bytes.put(side.to_le_bytes());
            }
            bytes.put(kind.to_le_bytes()).put((data.len() as u64).to_le_bytes());
            data.extend((0..*length).map(|at| (at % 251) as u8));
            data.resize(data.len().next_multiple_of(32), 0);
        }
        bytes.resize(bytes.len().next_multiple_of(32), 0);
        bytes.put(data);
        bytes
    }
}

fn bert() -> Gguf {
    Gguf::default()
        .text("general.architecture", "bert")
        .text("general.license", "mit")
        .int("bert.embedding_length", 32)
        .int("bert.feed_forward_length", 64)
        .int("bert.context_length", 40)
        .int("bert.block_count", 1)
        .int("bert.attention.head_count", 2)
        .float("bert.attention.layer_norm_epsilon", 1e-12)
        .tensor("token_embd.weight", 2, &[32, 8], 8 * 18)
        .tensor("position_embd.weight", 0, &[32, 40], 40 * 128)
        .tensor("token_types.weight", 0, &[32, 2], 256)
        .tensor("blk.0.attn_q.weight", 8, &[32, 32], 32 * 34)
}

fn kinds(of: [i32; 8]) -> [[u8; 4]; 8] {
    of.map(i32::to_le_bytes)
}

fn unigram() -> Gguf {
    bert()
        .int("bert.pooling_type", 1)
        .text("tokenizer.ggml.model", "t5")
        .texts(
            "tokenizer.ggml.tokens",
            &["<s>", "<pad>", "</s>", "<unk>", "▁log", "s", "日志", "да"],
        )
        .list(
            "tokenizer.ggml.scores",
            6,
            [0.0, 0.0, 0.0, 0.0, -1.0, -2.0, -3.0, -4.0_f32].map(f32::to_le_bytes),
        )
        .list("tokenizer.ggml.token_type", 5, kinds([3, 3, 3, 2, 1, 1, 1, 1]))
        .int("tokenizer.ggml.bos_token_id", 0)
        .int("tokenizer.ggml.eos_token_id", 2)
        .int("tokenizer.ggml.padding_token_id", 1)
        .int("tokenizer.ggml.unknown_token_id", 3)
}

/// Cuts a text with the tokenizer of a pack.
fn ids(shelf: &Shelf, name: &str, text: &str) -> Vec<u32> {
    let path = shelf.store.path(name).unwrap().join("tokenizer.json");
    let tokenizer = tokenizers::Tokenizer::from_file(path).unwrap();
    tokenizer.encode(text, true).unwrap().get_ids().to_vec()
}

#[test]
fn a_unigram_bert_becomes_a_pack() {
    let shelf = Shelf::new();
    let manifest = shelf
        .add(&from(
            shelf.write("multilingual-e5-small.Q4_0.gguf", &unigram().bytes()),
        ))
        .unwrap();
    assert_eq!(manifest.name, "multilingual-e5-small.q4_0");
    assert_eq!(
        (manifest.architecture, manifest.pooling),
        (Architecture::Bert, Pooling::Mean)
    );
    assert_eq!(
        (manifest.query_prefix.as_str(), manifest.licence.as_str()),
        ("query: ", "MIT")
    );
    assert_eq!((manifest.dimension, manifest.max_tokens), (32, 40));
    assert_eq!(ids(&shelf, &manifest.name, "logs  日志"), [0, 4, 5, 3, 6, 2]);
    let config = std::fs::read(shelf.store.path(&manifest.name).unwrap().join("config.json")).unwrap();
    let config: Value = serde_json::from_slice(&config).unwrap();
    assert_eq!(
        (&config["vocab_size"], &config["type_vocab_size"]),
        (&8.into(), &2.into())
    );
    assert_eq!(config["pad_token_id"], 1);
}

#[test]
fn quantised_rows_are_pruned_as_they_are() {
    let shelf = Shelf::new();
    let mut request = from(shelf.write("m.gguf", &unigram().bytes()));
    request.prune = Some(Prune::ZhEn);
    shelf.add(&request).unwrap();
    let bytes = std::fs::read(shelf.store.path("m-zh-en").unwrap().join("model.gguf")).unwrap();
    let header = GgufHeader::read(bytes.as_slice(), bytes.len() as u64).unwrap();
    let table = header
        .tensors
        .iter()
        .find(|tensor| tensor.name == "token_embd.weight")
        .unwrap();
    assert_eq!(table.shape, [7, 32]);
    let start = table.start as usize;
    let expected: Vec<u8> = (0..7 * 18).map(|at| (at % 251) as u8).collect();
    assert_eq!(bytes[start..start + 7 * 18], expected);
    assert!(!header.metadata.keys().any(|key| key.starts_with("tokenizer.")));
    assert_eq!(ids(&shelf, "m-zh-en", "log日志"), [0, 4, 6, 2]);
}

#[test]
fn a_word_piece_bert_becomes_a_pack() {
    let file = bert()
        .int("bert.pooling_type", 2)
        .text("tokenizer.ggml.model", "bert")
        .texts(
            "tokenizer.ggml.tokens",
            &["[PAD]", "[UNK]", "[CLS]", "[SEP]", "▁log", "s", "▁日", "▁志"],
        )
        .list("tokenizer.ggml.token_type", 5, kinds([3, 2, 3, 3, 1, 1, 1, 1]))
        .int("tokenizer.ggml.unknown_token_id", 1)
        .int("tokenizer.ggml.cls_token_id", 2)
        .int("tokenizer.ggml.seperator_token_id", 3);
    let shelf = Shelf::new();
    let manifest = shelf.add(&from(shelf.write("m.gguf", &file.bytes()))).unwrap();
    assert_eq!(manifest.pooling, Pooling::Cls);
    assert_eq!(ids(&shelf, "m", "Logs 日志 x"), [2, 4, 5, 6, 7, 1, 3]);
}

fn qwen() -> Gguf {
    Gguf::default()
        .text("general.architecture", "qwen3")
        .text("general.name", "Qwen3 Embedding 0.6B")
        .text("general.license", "apache-2.0")
        .int("qwen3.embedding_length", 32)
        .int("qwen3.feed_forward_length", 64)
        .int("qwen3.context_length", 32768)
        .int("qwen3.block_count", 1)
        .int("qwen3.attention.head_count", 2)
        .int("qwen3.attention.head_count_kv", 1)
        .int("qwen3.attention.key_length", 16)
        .int("qwen3.pooling_type", 3)
        .float("qwen3.attention.layer_norm_rms_epsilon", 1e-6)
        .float("qwen3.rope.freq_base", 1_000_000.0)
        .tensor("token_embd.weight", 1, &[32, 8], 8 * 64)
        .tensor("blk.0.attn_q.weight", 1, &[32, 32], 32 * 64)
        .text("tokenizer.ggml.model", "gpt2")
        .text("tokenizer.ggml.pre", "qwen2")
        .texts(
            "tokenizer.ggml.tokens",
            &["l", "o", "g", "lo", "log", "Ġ", "Ġlog", "<|endoftext|>"],
        )
        .texts("tokenizer.ggml.merges", &["l o", "lo g", "Ġ log"])
        .list("tokenizer.ggml.token_type", 5, kinds([1, 1, 1, 1, 1, 1, 1, 3]))
        .int("tokenizer.ggml.eos_token_id", 7)
        .flag("tokenizer.ggml.add_eos_token", true)
}

#[test]
fn a_qwen3_becomes_a_pack() {
    let shelf = Shelf::new();
    let manifest = shelf
        .add(&from(shelf.write("Qwen3-Embedding-0.6B-f16.gguf", &qwen().bytes())))
        .unwrap();
    assert_eq!(
        (manifest.architecture, manifest.task),
        (Architecture::Qwen3, PackTask::Embed)
    );
    assert_eq!((manifest.pooling, manifest.max_tokens), (Pooling::Last, 8192));
    assert!(manifest.query_prefix.starts_with("Instruct: "));
    assert_eq!(ids(&shelf, &manifest.name, "log log"), [4, 6, 7]);
}

#[test]
fn files_that_cannot_be_run_are_refused() {
    let shelf = Shelf::new();
    let check = |file: &Gguf, code: &str, words: &str| {
        shelf.refuses(&from(shelf.write("m.gguf", &file.bytes())), code, words);
    };
    let other = Gguf::default()
        .text("general.architecture", "llama")
        .text("general.license", "mit");
    check(&other, "pack_architecture_unknown", "llama");
    check(
        &bert().int("bert.pooling_type", 9),
        "pack_description_invalid",
        "tokenizer.ggml.tokens",
    );
    check(
        &unigram().tensor("blk.1.attn_q.weight", 0, &[1], 4),
        "pack_weights_broken",
        "more layers",
    );
    check(
        &unigram().tensor("x", 12, &[256], 0),
        "pack_unsupported",
        "GGML type 12",
    );
    let mut pre = qwen();
    pre.metadata
        .retain(|entry| !entry.windows(5).any(|window| window == b"qwen2"));
    check(&pre, "pack_unsupported", "nobody says who");
    let mut missing = qwen();
    missing
        .metadata
        .retain(|entry| !entry.windows(9).any(|window| window == b"freq_base"));
    check(&missing, "pack_description_invalid", "qwen3.rope.freq_base");
    let mut map = unigram();
    map = map.list("tokenizer.ggml.precompiled_charsmap", 0, [[1], [0], [0], [0], [9]]);
    check(&map, "pack_description_invalid", "character map");
}

#[test]
fn files_cut_anywhere_are_refused() {
    let bytes = unigram().bytes();
    let shelf = Shelf::new();
    for length in [4, 8, 100, 700, bytes.len() / 2, bytes.len() - 33] {
        shelf.refuses(
            &from(shelf.write("m.gguf", &bytes[..length])),
            "pack_weights_broken",
            "",
        );
    }
    shelf.refuses(&from(shelf.write("m.gguf", b"\x80\x02}.")), "pack_pickle", "m.gguf");
}
