//! A smaller vocabulary: pieces of other scripts are left out, with their rows of the word table.
//!
//! The one thing a newcomer gets wrong: no kept number changes. A text of kept pieces has the same tokens and the same
//! vector as before; only their ids are others. Rows are copied as bytes, 4-bit blocks as well.

mod weights;

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;

use super::files;
use super::{OnProgress, PackError};

/// Keeps pieces of Han, basic Latin letters, digits and punctuation in a staged pack with a Unigram vocabulary.
pub(crate) fn zh_en(stage: &Path, on_progress: OnProgress<'_>) -> Result<(), PackError> {
    let mut tokenizer = read_json(&stage.join("tokenizer.json"))?;
    let kept = prune_tokenizer(&mut tokenizer)?;
    let mut config = read_json(&stage.join("config.json"))?;
    config["vocab_size"] = kept.len().into();
    weights::keep_rows(stage, &kept, on_progress)?;
    replace_json(&stage.join("tokenizer.json"), &tokenizer)?;
    replace_json(&stage.join("config.json"), &config)
}

fn read_json(path: &Path) -> Result<Value, PackError> {
    let bytes = std::fs::read(path).map_err(PackError::reading(path))?;
    serde_json::from_slice(&bytes).map_err(|error| PackError::description(&path.to_string_lossy(), error))
}

fn replace_json(path: &Path, value: &Value) -> Result<(), PackError> {
    std::fs::remove_file(path).map_err(PackError::writing(path))?;
    files::write(path, &serde_json::to_vec(value).expect("a JSON value can be written"))
}

/// Takes pieces out of a tokenizer and numbers the others anew; returns the old ids that stay, ascending.
fn prune_tokenizer(tokenizer: &mut Value) -> Result<Vec<u64>, PackError> {
    let wrong = |why: &str| PackError::description("tokenizer.json", why);
    let model = &mut tokenizer["model"];
    if model["type"] != "Unigram" {
        return Err(PackError::unsupported(format!(
            "--prune keeps pieces of a Unigram vocabulary; this one is {}",
            model["type"]
        )));
    }
    let unknown = model["unk_id"].as_u64().ok_or_else(|| wrong("it has no unk_id"))?;
    let pieces = model["vocab"].as_array_mut().ok_or_else(|| wrong("it has no vocab"))?;
    let pieces = std::mem::take(pieces);
    let added = tokenizer_ids(&tokenizer["added_tokens"]);
    let (mut kept, mut staying) = (Vec::new(), Vec::new());
    for (id, piece) in (0_u64..).zip(pieces) {
        let text = piece[0].as_str().ok_or_else(|| wrong("a piece is no text"))?;
        if id == unknown || added.contains(&id) || is_kept(text) {
            kept.push(id);
            staying.push(piece);
        }
    }
    tokenizer["model"]["vocab"] = Value::Array(staying);
    let new: HashMap<u64, u64> = kept.iter().copied().zip(0..).collect();
    let renumber = |value: &mut Value| -> Result<(), PackError> {
        let old = value.as_u64().and_then(|id| new.get(&id));
        *value = (*old.ok_or_else(|| wrong("a special token is not in the vocabulary"))?).into();
        Ok(())
    };
    renumber(&mut tokenizer["model"]["unk_id"])?;
    // `get_mut` throughout: indexing would put in what is not there.
    let added = tokenizer.get_mut("added_tokens").and_then(Value::as_array_mut);
    for id in added.into_iter().flatten().filter_map(|token| token.get_mut("id")) {
        renumber(id)?;
    }
    let Some(processor) = tokenizer.get_mut("post_processor") else {
        return Ok(kept);
    };
    let specials = processor.get_mut("special_tokens").and_then(Value::as_object_mut);
    let ids = specials
        .into_iter()
        .flatten()
        .filter_map(|(_, token)| token.get_mut("ids")?.as_array_mut());
    ids.flatten().try_for_each(renumber)?;
    for end in ["sep", "cls"] {
        if let Some(id) = processor.get_mut(end).and_then(|pair| pair.get_mut(1)) {
            renumber(id)?;
        }
    }
    Ok(kept)
}

fn tokenizer_ids(tokens: &Value) -> Vec<u64> {
    let tokens = tokens.as_array().into_iter().flatten();
    tokens.filter_map(|token| token["id"].as_u64()).collect()
}

/// Whether a piece is of Chinese, English or code. Single accented letters stay, so that a foreign name can be spelled.
fn is_kept(piece: &str) -> bool {
    let bare = piece.trim_start_matches('\u{2581}');
    let mut letters = bare.chars();
    if let (Some(letter), None) = (letters.next(), letters.next())
        && letter < '\u{250}'
    {
        return true;
    }
    bare.chars()
        .all(|c| c.is_ascii() || is_han(c) || c.is_numeric() || !c.is_alphabetic())
}

fn is_han(c: char) -> bool {
    matches!(c, '々' | '〇' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pieces_of_other_scripts_are_left_out() {
        for piece in [
            "▁",
            "▁deploy",
            "部署",
            "，",
            "①",
            "3.14",
            "é",
            "▁ü",
            "👍",
            "々",
            "(",
            "㎡",
        ] {
            assert!(is_kept(piece), "{piece}");
        }
        for piece in ["▁привет", "ひらがな", "ä́b", "ção", "ไทย", "한국", "α"] {
            assert!(!is_kept(piece), "{piece}");
        }
    }

    #[test]
    fn ids_are_numbered_anew_everywhere() {
        let mut tokenizer = json!({
            "added_tokens": [{"id": 0, "content": "<s>"}, {"id": 2, "content": "</s>"}, {"id": 5, "content": "<mask>"}],
            "post_processor": {"special_tokens": {"<s>": {"ids": [0]}, "</s>": {"ids": [2]}}, "sep": ["</s>", 2]},
            "model": {"type": "Unigram", "unk_id": 3, "vocab": [
                ["<s>", 0.0], ["да", -1.0], ["</s>", 0.0], ["<unk>", 0.0], ["库", -2.0], ["<mask>", 0.0]
            ]},
        });
        assert_eq!(prune_tokenizer(&mut tokenizer).unwrap(), [0, 2, 3, 4, 5]);
        let pieces = tokenizer["model"]["vocab"].as_array().unwrap();
        assert_eq!(pieces.len(), 5);
        assert_eq!(tokenizer["model"]["unk_id"], 2);
        assert_eq!(tokenizer["added_tokens"][2]["id"], 4);
        assert_eq!(tokenizer["post_processor"]["special_tokens"]["</s>"]["ids"], json!([1]));
        assert_eq!(tokenizer["post_processor"]["sep"], json!(["</s>", 1]));
        let mut other = json!({"model": {"type": "BPE"}});
        assert_eq!(prune_tokenizer(&mut other).unwrap_err().code(), "pack_unsupported");
    }
}
