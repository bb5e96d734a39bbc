//! A `tokenizer.json` of someone else is loaded once before a model is taken.

use serde_json::Value;
use tokenizers::Tokenizer;

use super::growth;
use crate::packs::PackError;

/// Checks that a tokenizer can be loaded, cannot lead its reader astray or swell a text, and has no id beyond the rows of
/// the word table.
pub(crate) fn check_tokenizer(file: &str, bytes: &[u8], rows: u64) -> Result<(), PackError> {
    let invalid = |why: String| PackError::description(file, why);
    let json: Value = serde_json::from_slice(bytes).map_err(|error| invalid(error.to_string()))?;
    growth::check(&json).map_err(invalid)?;
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
