//! GGUF files of our own: version 3, metadata in order of keys, tensors one after the other.

use std::io::{self, Write};

use super::{ALIGNMENT, GgufValue};
use crate::packs::tensors::TensorType;

/// A tensor to write.
#[derive(Clone, Debug)]
pub(crate) struct NewTensor {
    pub(crate) name: String,
    pub(crate) kind: TensorType,
    /// Outermost first.
    pub(crate) shape: Vec<u64>,
    pub(crate) bytes: u64,
}

/// Writes everything before the first tensor. Each tensor must follow, in order, with zeros up to the next multiple of the
/// returned alignment.
pub(crate) fn write_header(
    out: &mut dyn Write,
    metadata: &[(String, GgufValue)],
    tensors: &[NewTensor],
) -> io::Result<u64> {
    let mut bytes = b"GGUF".to_vec();
    bytes.extend_from_slice(&3_u32.to_le_bytes());
    bytes.extend_from_slice(&(tensors.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&(metadata.len() as u64).to_le_bytes());
    for (key, value) in metadata {
        string(&mut bytes, key);
        write_value(&mut bytes, value)?;
    }
    let mut offset = 0_u64;
    for tensor in tensors {
        string(&mut bytes, &tensor.name);
        bytes.extend_from_slice(&u32::try_from(tensor.shape.len()).unwrap_or(u32::MAX).to_le_bytes());
        for side in tensor.shape.iter().rev() {
            bytes.extend_from_slice(&side.to_le_bytes());
        }
        let kind: u32 = match tensor.kind {
            TensorType::F32 => 0,
            TensorType::F16 => 1,
            TensorType::Q4_0 => 2,
            TensorType::Q8_0 => 8,
            TensorType::BF16 => 30,
            TensorType::Other(_) => return Err(io::ErrorKind::InvalidInput.into()),
        };
        bytes.extend_from_slice(&kind.to_le_bytes());
        bytes.extend_from_slice(&offset.to_le_bytes());
        offset += tensor.bytes.next_multiple_of(ALIGNMENT);
    }
    bytes.resize(bytes.len().next_multiple_of(ALIGNMENT as usize), 0);
    out.write_all(&bytes)?;
    Ok(ALIGNMENT)
}

/// Writes a value with its type. Whole numbers become u32 where they fit, as readers of GGUF expect.
fn write_value(bytes: &mut Vec<u8>, value: &GgufValue) -> io::Result<()> {
    let mut kind = |number: u32| bytes.extend_from_slice(&number.to_le_bytes());
    match value {
        GgufValue::Int(number) => match u32::try_from(*number) {
            Ok(small) => {
                kind(4);
                bytes.extend_from_slice(&small.to_le_bytes());
            }
            Err(_) => {
                kind(11);
                bytes.extend_from_slice(&number.to_le_bytes());
            }
        },
        GgufValue::Float(number) => {
            kind(6);
            #[expect(clippy::cast_possible_truncation, reason = "GGUF writes such values as f32")]
            bytes.extend_from_slice(&(*number as f32).to_le_bytes());
        }
        GgufValue::Bool(yes) => {
            kind(7);
            bytes.push(u8::from(*yes));
        }
        GgufValue::Text(text) => {
            kind(8);
            string(bytes, text);
        }
        // The tokenizer is a file of its own, so no list is ever written.
        _ => return Err(io::ErrorKind::InvalidInput.into()),
    }
    Ok(())
}

fn string(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
    bytes.extend_from_slice(text.as_bytes());
}
