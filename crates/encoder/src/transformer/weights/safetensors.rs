//! The table of contents of a safetensors file: eight bytes with its length, JSON, then the numbers.

use std::collections::HashMap;
use std::io::Read;

use serde::Deserialize;

use super::{Entry, Storage};

/// Bytes that a table of contents may have; the format's own bound.
const MOST: u64 = 100_000_000;

#[derive(Deserialize)]
struct Listed {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (u64, u64),
}

/// Reads the table of contents of a file of so many bytes.
pub(super) fn read(file: &mut impl Read, length: u64) -> Result<HashMap<String, Entry>, String> {
    let mut size = [0; 8];
    file.read_exact(&mut size)
        .map_err(|_| "it ends before its table of contents".to_owned())?;
    let size = u64::from_le_bytes(size);
    if size > MOST || size > length.saturating_sub(8) {
        return Err(format!("its table of contents has {size} bytes"));
    }
    let mut json = vec![0; size as usize];
    file.read_exact(&mut json).map_err(|error| error.to_string())?;
    let listed: HashMap<String, serde_json::Value> =
        serde_json::from_slice(&json).map_err(|error| format!("its table of contents is no JSON: {error}"))?;
    let start = 8 + size;
    let entry = |(name, value): (String, serde_json::Value)| {
        let listed: Listed = serde_json::from_value(value).map_err(|error| format!("tensor {name}: {error}"))?;
        let (begin, end) = listed.data_offsets;
        if begin > end || end > length - start {
            return Err(format!("tensor {name} lies outside the file"));
        }
        let entry = Entry {
            storage: match listed.dtype.as_str() {
                "F32" => Ok(Storage::F32),
                "F16" => Ok(Storage::F16),
                "BF16" => Ok(Storage::Bf16),
                _ => Err(listed.dtype),
            },
            shape: listed.shape,
            offset: start + begin,
            bytes: end - begin,
        };
        entry.check(&name)?;
        Ok((name, entry))
    };
    listed
        .into_iter()
        .filter(|(name, _)| name != "__metadata__")
        .map(entry)
        .collect()
}
