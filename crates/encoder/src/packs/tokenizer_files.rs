//! `tokenizer.json`: written for models that bring their vocabulary in another form, and checked before a model is taken.

mod check;
mod growth;
mod wordpiece;

pub(crate) use check::check_tokenizer;
pub(crate) use wordpiece::{BytePairs, WordPieces, byte_pairs, word_pieces};

use serde_json::{Value, json};

/// A vocabulary of SentencePiece's Unigram kind.
pub(crate) struct Unigram {
    /// Pieces by id, each with its logarithmic probability.
    pub(crate) pieces: Vec<(String, f64)>,
    /// Id of the piece for what is unknown.
    pub(crate) unknown: u32,
    /// Ids of pieces that text never yields.
    pub(crate) specials: Vec<u32>,
    /// Put before a text, and after it.
    pub(crate) before: Option<u32>,
    pub(crate) after: Option<u32>,
    /// The precompiled normaliser.
    pub(crate) charsmap: Option<Vec<u8>>,
    /// Whether bytes have pieces of their own.
    pub(crate) byte_fallback: bool,
}

/// Writes a Unigram tokenizer as Hugging Face does for XLM-RoBERTa: characters mapped, runs of blanks made one, blanks shown
/// as U+2581 and one put before the text.
pub(crate) fn unigram(unigram: &Unigram) -> Value {
    let blanks = json!({ "type": "Replace", "pattern": { "Regex": " {2,}" }, "content": " " });
    let map = unigram
        .charsmap
        .as_ref()
        .map(|map| json!({ "type": "Precompiled", "precompiled_charsmap": base64(map) }));
    let normalisers: Vec<_> = map.into_iter().chain([blanks]).collect();
    let piece = |id: u32| unigram.pieces.get(id as usize).map_or("", |(piece, _)| piece);
    json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": added(unigram.specials.iter().map(|id| (*id, piece(*id)))),
        "normalizer": { "type": "Sequence", "normalizers": normalisers },
        "pre_tokenizer": {
            "type": "Metaspace", "replacement": "\u{2581}", "prepend_scheme": "always", "split": true
        },
        "post_processor": around(
            unigram.before.map(|id| (id, piece(id))),
            unigram.after.map(|id| (id, piece(id))),
        ),
        "decoder": { "type": "Metaspace", "replacement": "\u{2581}", "prepend_scheme": "always", "split": true },
        "model": {
            "type": "Unigram",
            "unk_id": unigram.unknown,
            "vocab": unigram.pieces,
            "byte_fallback": unigram.byte_fallback,
        },
    })
}

/// Lists special tokens, in order of ids.
fn added<'a>(tokens: impl Iterator<Item = (u32, &'a str)>) -> Value {
    let mut tokens: Vec<_> = tokens.collect();
    tokens.sort_unstable();
    tokens.dedup();
    let token = |(id, content): &(u32, &str)| {
        json!({
            "id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false,
            "special": true
        })
    };
    Value::Array(tokens.iter().map(token).collect())
}

/// Puts tokens before and after a text, and between two.
fn around(before: Option<(u32, &str)>, after: Option<(u32, &str)>) -> Value {
    let special = |token: &(u32, &str)| json!({ "SpecialToken": { "id": token.1, "type_id": 0 } });
    let text = |id: &str| json!({ "Sequence": { "id": id, "type_id": 0 } });
    let front: Vec<_> = before.iter().map(special).collect();
    let back: Vec<_> = after.iter().map(special).collect();
    let single = [front.clone(), vec![text("A")], back.clone()].concat();
    let pair = [single.clone(), back.clone(), vec![text("B")], back].concat();
    let tokens = before.iter().chain(&after).map(|(id, content)| {
        let value = json!({ "id": content, "ids": [id], "tokens": [content] });
        ((*content).to_owned(), value)
    });
    json!({
        "type": "TemplateProcessing",
        "single": single,
        "pair": pair,
        "special_tokens": tokens.collect::<serde_json::Map<_, _>>(),
    })
}

/// Writes bytes in base 64, as tokenizer files hold them.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let number = group.iter().fold(0_u32, |number, byte| number << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let letter = LETTERS[(number >> (18 - 6 * place) & 63) as usize];
            text.push(if place > group.len() { '=' } else { char::from(letter) });
        }
    }
    text
}

/// Reads bytes in base 64; `None` for anything else.
fn from_base64(text: &str) -> Option<Vec<u8>> {
    let value = |byte: u8| {
        Some(match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        })
    };
    let digits = text.trim_end_matches('=').as_bytes();
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    for group in digits.chunks(4) {
        let mut number = 0_u32;
        for place in 0..4 {
            number = number << 6 | u32::from(group.get(place).map_or(Some(0), |byte| value(*byte))?);
        }
        let length = [0, 0, 1, 2, 3][group.len()];
        bytes.extend_from_slice(&number.to_be_bytes()[1..=length]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_everyone_else() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
            assert_eq!(from_base64(text).unwrap(), bytes.as_bytes());
        }
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(from_base64(&base64(&all)).unwrap(), all);
        assert!(from_base64("a b").is_none());
    }
}
