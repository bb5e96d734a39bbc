//! A `tokenizer.json` of someone else is loaded once before a model is taken.

use serde_json::Value;
use tokenizers::Tokenizer;

use super::from_base64;
use crate::packs::{PackError, charsmap};

/// Checks that a tokenizer can be loaded, cannot lead its reader astray, and has no id beyond the rows of the word table.
pub(crate) fn check_tokenizer(file: &str, bytes: &[u8], rows: u64) -> Result<(), PackError> {
    let invalid = |why: String| PackError::description(file, why);
    let json: Value = serde_json::from_slice(bytes).map_err(|error| invalid(error.to_string()))?;
    check_charsmaps(&json).map_err(invalid)?;
    let tokenizer = Tokenizer::from_bytes(bytes).map_err(|error| invalid(error.to_string()))?;
    let last = tokenizer.get_vocab(true).into_values().max().map_or(0, u64::from);
    if last >= rows {
        return Err(invalid(format!("it has the id {last}, the weights have {rows} rows")));
    }
    let probe = tokenizer.encode("日志 rotation 每 10 MB 轮转 Ａ", true);
    let probe = probe.map_err(|error| invalid(format!("it cannot cut a text: {error}")))?;
    if probe.is_empty() {
        return Err(invalid("it finds no token in a text".to_owned()));
    }
    Ok(())
}

/// Looks for precompiled character maps anywhere in the normaliser.
fn check_charsmaps(json: &Value) -> Result<(), String> {
    let mut open = vec![json.get("normalizer").unwrap_or(&Value::Null)];
    while let Some(value) = open.pop() {
        if let Some(map) = value.get("precompiled_charsmap").filter(|map| !map.is_null()) {
            let text = map.as_str().ok_or("its character map is no text")?;
            charsmap::check(&from_base64(text).ok_or("its character map is not base 64")?)?;
        }
        open.extend(value.get("normalizers").and_then(Value::as_array).into_iter().flatten());
    }
    Ok(())
}
