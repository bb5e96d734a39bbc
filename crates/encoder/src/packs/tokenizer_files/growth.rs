//! How much longer a tokenizer may make a text before it cuts it.
//!
//! The one thing a newcomer gets wrong: no single step need look bad. What counts is the product over the chain, since each
//! step works on what the one before it wrote.

use serde_json::Value;

use super::from_base64;
use crate::packs::charsmap;

/// Characters that may come of one; XLM-RoBERTa's chain makes 36 at most.
const MOST_GROWTH: u64 = 128;
/// Steps of a chain.
const MOST_STEPS: usize = 64;
/// Characters of a text that a step puts in, or that a model puts before a piece.
const LONGEST_CONTENT: u64 = 64;
/// Characters of a word that a word piece model looks at: its work is the cube of them.
const LONGEST_WORD: u64 = 512;
/// A byte becomes a character, and a character has four bytes at most.
const BYTE_LEVEL: u64 = 4;

/// Checks that a tokenizer cannot make a text longer without bound.
///
/// # Errors
/// Says which step could.
pub(super) fn check(json: &Value) -> Result<(), String> {
    let steps = [&json["normalizer"], &json["pre_tokenizer"]].map(steps);
    let (mut growth, steps) = (1_u64, steps.concat());
    if steps.len() > MOST_STEPS {
        return Err(format!(
            "it has {} steps before a text is cut, at most {MOST_STEPS}",
            steps.len()
        ));
    }
    for step in steps {
        growth = growth.saturating_mul(of_step(step)?);
        if growth > MOST_GROWTH {
            return Err(format!(
                "it could make more than {MOST_GROWTH} characters of one before it cuts a text"
            ));
        }
    }
    check_model(&json["model"])
}

/// Returns the steps of a chain in order. They are told by their fields, because older files do not name their types.
fn steps(chain: &Value) -> Vec<&Value> {
    let inner = ["normalizers", "pretokenizers"].iter().filter_map(|key| chain.get(key));
    let inner: Vec<_> = inner.filter_map(Value::as_array).flatten().flat_map(steps).collect();
    match chain {
        Value::Null => inner,
        _ if inner.is_empty() => vec![chain],
        _ => inner,
    }
}

/// Returns how many characters a step makes of one at most.
fn of_step(step: &Value) -> Result<u64, String> {
    let mut growth = 1;
    if let Some(map) = step.get("precompiled_charsmap").filter(|map| !map.is_null()) {
        let text = map.as_str().ok_or("its character map is no text")?;
        let longest = charsmap::check(&from_base64(text).ok_or("its character map is not base 64")?)?;
        growth *= longest.max(1) as u64;
    }
    for key in ["content", "prepend"] {
        let content = short(step, key, LONGEST_CONTENT)?;
        if key == "content" && content > 0 {
            growth *= match step.pointer("/pattern/String").and_then(Value::as_str) {
                Some(pattern) if !pattern.is_empty() => content.div_ceil(pattern.chars().count() as u64),
                // A pattern may match between any two characters.
                _ => content + 1,
            };
        }
    }
    if step["type"] == "ByteLevel" || step.get("trim_offsets").is_some() {
        growth *= BYTE_LEVEL;
    }
    if step.get("replacement").is_some() {
        // A blank before every piece.
        growth *= 2;
    }
    Ok(growth)
}

fn check_model(model: &Value) -> Result<(), String> {
    short(model, "continuing_subword_prefix", LONGEST_CONTENT)?;
    short(model, "end_of_word_suffix", LONGEST_CONTENT)?;
    match model.get("max_input_chars_per_word").and_then(Value::as_u64) {
        Some(longest) if longest > LONGEST_WORD => {
            Err(format!("max_input_chars_per_word is {longest}, at most {LONGEST_WORD}"))
        }
        _ => Ok(()),
    }
}

/// Returns the characters of a text, 0 where there is none.
fn short(value: &Value, key: &str, most: u64) -> Result<u64, String> {
    let text = value.get(key).and_then(Value::as_str).unwrap_or_default();
    let length = text.chars().count() as u64;
    if length > most {
        return Err(format!("{key} has {length} characters, at most {most}"));
    }
    Ok(length)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn replace(pattern: Value, content: &str) -> Value {
        json!({"type": "Replace", "pattern": pattern, "content": content})
    }

    fn chain(steps: &[Value]) -> Value {
        json!({"normalizer": {"type": "Sequence", "normalizers": steps}})
    }

    #[test]
    fn chains_that_models_have_are_fine() {
        let byte_level = json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false});
        let split = json!({"type": "Split", "pattern": {"Regex": " ?x"}, "behavior": "Isolated"});
        let blanks = replace(json!({"Regex": " {2,}"}), "\u{2581}");
        for json in [
            json!({}),
            json!({"normalizer": null, "pre_tokenizer": null}),
            json!({"normalizer": {"type": "NFC"},
                "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, byte_level]}}),
            chain(&[
                json!({"type": "Prepend", "prepend": "\u{2581}"}),
                replace(json!({"String": " "}), "\u{2581}"),
            ]),
            json!({"normalizer": blanks, "pre_tokenizer": {"type": "Metaspace", "replacement": "\u{2581}"}}),
            chain(&[
                replace(json!({"String": "``"}), "\""),
                replace(json!({"String": "''"}), "\""),
            ]),
        ] {
            assert_eq!(check(&json), Ok(()), "{json}");
        }
    }

    #[test]
    fn a_chain_that_multiplies_text_is_refused() {
        let twice = replace(json!({"String": "§"}), "§§");
        let byte_level = json!({"type": "ByteLevel", "trim_offsets": true});
        for json in [
            chain(&[replace(json!({"String": "§"}), &"§".repeat(10_000))]),
            chain(&vec![twice.clone(); 8]),
            chain(&[chain(&vec![twice; 8])["normalizer"].clone()]),
            chain(&[
                replace(json!({"Regex": ""}), &"x".repeat(60)),
                replace(json!({"Regex": "."}), "abc"),
            ]),
            json!({"pre_tokenizer": {"type": "Sequence", "pretokenizers": vec![byte_level; 4]}}),
            chain(&vec![json!({"type": "Prepend", "prepend": "x"}); 65]),
            chain(&[json!({"type": "Prepend", "prepend": "x".repeat(65)})]),
            json!({"model": {"continuing_subword_prefix": "#".repeat(65)}}),
            json!({"model": {"end_of_word_suffix": "#".repeat(65)}}),
            json!({"model": {"max_input_chars_per_word": 1_000_000_000}}),
        ] {
            assert!(check(&json).is_err(), "{json}");
        }
    }
}
