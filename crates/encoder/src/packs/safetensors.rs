//! The header of a safetensors file: 8 bytes of length, JSON, then the tensors without gaps.

use std::fmt;
use std::io::Read;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

use super::tensors::{TensorEntry, TensorType, weights};

/// Bytes of a header at most, as in the format's own library.
const LONGEST_HEADER: u64 = 100_000_000;

/// Reads and checks the header of a safetensors file of `total` bytes: its tensors lie in the file one after the other, each
/// as long as its shape says. Reads no tensor.
///
/// # Errors
/// Says what does not hold.
pub fn safetensors_header(mut reader: impl Read, total: u64) -> Result<Vec<TensorEntry>, String> {
    let mut length = [0; 8];
    reader
        .read_exact(&mut length)
        .map_err(|_| "the file ends within its first 8 bytes".to_owned())?;
    let length = u64::from_le_bytes(length);
    if length > LONGEST_HEADER || length > total.saturating_sub(8) {
        return Err(format!("its header would be {length} bytes of {total}"));
    }
    let mut json = Vec::new();
    reader
        .take(length)
        .read_to_end(&mut json)
        .map_err(|error| error.to_string())?;
    if json.len() as u64 != length {
        return Err("the file ends within its header".to_owned());
    }
    let header: Header = serde_json::from_slice(&json).map_err(|error| format!("its header is not valid: {error}"))?;
    let start = 8 + length;
    let mut tensors = header
        .0
        .into_iter()
        .map(|(name, raw)| tensor(name, raw, start))
        .collect::<Result<Vec<_>, _>>()?;
    tensors.sort_by(|one, other| (one.start, one.bytes, &one.name).cmp(&(other.start, other.bytes, &other.name)));
    let mut end = start;
    for tensor in &tensors {
        if tensor.start != end {
            return Err(format!("{} begins at byte {}, not at {end}", tensor.name, tensor.start));
        }
        end = end
            .checked_add(tensor.bytes)
            .ok_or_else(|| format!("{} is too long", tensor.name))?;
    }
    if end == total {
        Ok(tensors)
    } else {
        Err(format!("its tensors end at byte {end} of {total}"))
    }
}

fn tensor(name: String, raw: RawTensor, start: u64) -> Result<TensorEntry, String> {
    let (size, kind) = match raw.dtype.as_str() {
        "F32" => (4, TensorType::F32),
        "F16" => (2, TensorType::F16),
        "BF16" => (2, TensorType::BF16),
        other => {
            let size = match other {
                "BOOL" | "U8" | "I8" | "F8_E4M3" | "F8_E5M2" | "F8_E8M0" => 1,
                "I16" | "U16" => 2,
                "I32" | "U32" => 4,
                "I64" | "U64" | "F64" => 8,
                _ => return Err(format!("{name} has the unknown type {other:?}")),
            };
            (size, TensorType::Other(other.to_owned()))
        }
    };
    let [from, to] = raw.data_offsets;
    let length = weights(&raw.shape).and_then(|count| count.checked_mul(size));
    if length.is_none() || to.checked_sub(from) != length {
        return Err(format!(
            "{name} has other bytes ({from} to {to}) than its shape {:?}",
            raw.shape
        ));
    }
    Ok(TensorEntry {
        start: start
            .checked_add(from)
            .ok_or_else(|| format!("{name} begins too far out"))?,
        bytes: to - from,
        shape: raw.shape,
        name,
        kind,
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTensor {
    dtype: String,
    shape: Vec<u64>,
    data_offsets: [u64; 2],
}

/// Tensors in the header's order: a map would hide a name that is there twice.
struct Header(Vec<(String, RawTensor)>);

impl<'de> Deserialize<'de> for Header {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Header;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of tensors")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Header, A::Error> {
                let mut tensors = Vec::new();
                let mut seen = std::collections::HashSet::new();
                while let Some(name) = map.next_key::<String>()? {
                    if name == "__metadata__" {
                        map.next_value::<IgnoredAny>()?;
                        continue;
                    }
                    if !seen.insert(name.clone()) {
                        return Err(serde::de::Error::custom(format!("{name} is there twice")));
                    }
                    tensors.push((name, map.next_value()?));
                }
                Ok(Header(tensors))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: usize) -> Vec<u8> {
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend_from_slice(header.as_bytes());
        bytes.resize(bytes.len() + data, 0);
        bytes
    }

    fn check(bytes: &[u8], problem: &str) {
        let error = safetensors_header(bytes, bytes.len() as u64).unwrap_err();
        assert!(error.contains(problem), "{error}");
    }

    #[test]
    fn tensors_are_listed_in_order_of_their_bytes() {
        let header = r#"{"__metadata__":{"format":"pt"},"b":{"dtype":"F16","shape":[2,3],"data_offsets":[4,16]},
            "a":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}"#;
        let bytes = file(header, 16);
        let tensors = safetensors_header(bytes.as_slice(), bytes.len() as u64).unwrap();
        let names: Vec<_> = tensors.iter().map(|tensor| tensor.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!((tensors[1].shape.as_slice(), tensors[1].bytes), ([2, 3].as_slice(), 12));
        assert_eq!(tensors[0].start, 8 + header.len() as u64);
    }

    #[test]
    fn a_header_that_does_not_hold_is_told() {
        check(b"\x01\x00", "first 8 bytes");
        check(&u64::MAX.to_le_bytes(), "its header would be");
        check(&file("{", 0), "not valid");
        check(&file("[]", 0), "not valid");
        let one = |rest: &str| format!(r#"{{"a":{{"dtype":"F32","shape":[2],{rest}}}}}"#);
        check(&file(&one(r#""data_offsets":[0,8],"x":1"#), 8), "not valid");
        check(&file(&one(r#""data_offsets":[0,4]"#), 4), "other bytes");
        check(&file(&one(r#""data_offsets":[8,0]"#), 8), "other bytes");
        check(&file(&one(r#""data_offsets":[4,12]"#), 12), "begins at byte");
        check(&file(&one(r#""data_offsets":[0,8]"#), 7), "end at byte");
        check(&file(&one(r#""data_offsets":[0,8]"#), 9), "end at byte");
        check(
            &file(r#"{"a":{"dtype":"F33","shape":[2],"data_offsets":[0,8]}}"#, 8),
            "unknown type",
        );
        let big = r#"{"a":{"dtype":"F32","shape":[4294967296,4294967296,2],"data_offsets":[0,0]}}"#;
        check(&file(big, 0), "other bytes");
        let twice = r#"{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}"#;
        check(&file(twice, 2), "twice");
        let overlap = r#"{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}"#;
        check(&file(overlap, 3), "begins at byte");
    }
}
