//! WordPiece and byte-pair vocabularies, written as Hugging Face does for BERT and Qwen.

use serde_json::{Map, Value, json};

use super::{added, around};

/// How Qwen cuts a text before pairs of bytes are joined.
const QWEN_WORDS: &str = "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

/// A vocabulary of BERT's kind.
pub(crate) struct WordPieces {
    /// Pieces by id; those within a word begin with `##`.
    pub(crate) pieces: Vec<String>,
    /// Ids of the special ones.
    pub(crate) specials: Vec<u32>,
    /// Id of the piece for what is unknown.
    pub(crate) unknown: u32,
    /// Put before a text, and after it.
    pub(crate) before: Option<u32>,
    pub(crate) after: Option<u32>,
    /// Whether text is made lower case and loses its accents.
    pub(crate) lower: bool,
}

/// Writes a WordPiece tokenizer.
pub(crate) fn word_pieces(words: &WordPieces) -> Value {
    let piece = |id: u32| words.pieces.get(id as usize).map_or("", String::as_str);
    json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": added(words.specials.iter().map(|id| (*id, piece(*id)))),
        "normalizer": {
            "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null,
            "lowercase": words.lower
        },
        "pre_tokenizer": { "type": "BertPreTokenizer" },
        "post_processor": around(
            words.before.map(|id| (id, piece(id))),
            words.after.map(|id| (id, piece(id))),
        ),
        "decoder": { "type": "WordPiece", "prefix": "##", "cleanup": true },
        "model": {
            "type": "WordPiece", "unk_token": piece(words.unknown), "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": vocabulary(&words.pieces)
        },
    })
}

/// A vocabulary of joined bytes, as Qwen has it.
pub(crate) struct BytePairs {
    /// Pieces by id.
    pub(crate) pieces: Vec<String>,
    /// Ids of pieces that are found whole before anything is cut.
    pub(crate) specials: Vec<u32>,
    /// Pairs in order of joining, their halves apart by a blank.
    pub(crate) merges: Vec<String>,
    /// Put after a text.
    pub(crate) after: Option<u32>,
}

/// Writes a byte-pair tokenizer with Qwen's way of cutting.
pub(crate) fn byte_pairs(pairs: &BytePairs) -> Value {
    let piece = |id: u32| pairs.pieces.get(id as usize).map_or("", String::as_str);
    let specials: std::collections::HashSet<_> = pairs.specials.iter().map(|id| *id as usize).collect();
    let plain = pairs.pieces.iter().enumerate().filter(|(id, _)| !specials.contains(id));
    let vocabulary: Map<_, _> = plain.map(|(id, piece)| (piece.clone(), id.into())).collect();
    let bytes = json!({ "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": false });
    json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": added(pairs.specials.iter().map(|id| (*id, piece(*id)))),
        "normalizer": { "type": "NFC" },
        "pre_tokenizer": { "type": "Sequence", "pretokenizers": [
            { "type": "Split", "pattern": { "Regex": QWEN_WORDS }, "behavior": "Isolated", "invert": false },
            bytes.clone()
        ] },
        "post_processor": around(None, pairs.after.map(|id| (id, piece(id)))),
        "decoder": bytes,
        "model": {
            "type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": "",
            "end_of_word_suffix": "", "fuse_unk": false, "byte_fallback": false, "vocab": vocabulary,
            "merges": pairs.merges
        },
    })
}

fn vocabulary(pieces: &[String]) -> Map<String, Value> {
    let numbered = pieces.iter().enumerate();
    numbered.map(|(id, piece)| (piece.clone(), id.into())).collect()
}
