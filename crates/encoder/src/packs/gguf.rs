//! GGUF files: what their header says, checked against the file's length; and files of our own.
//!
//! The one thing a newcomer gets wrong: GGUF writes a shape innermost first. [`TensorEntry::shape`] is outermost first for
//! every kind of file, so it is turned here, in both directions.

mod value;
mod write;

pub use value::GgufValue;
pub(crate) use write::{NewTensor, write_header};

use std::collections::BTreeMap;
use std::io::Read;

use super::tensors::{TensorEntry, TensorType, weights};
use value::Cursor;

/// Bytes between tensors where the file does not say.
const ALIGNMENT: u64 = 32;
/// Tensors and metadata at most.
const MOST: u64 = 100_000;

/// What the header of a GGUF file says.
#[derive(Clone, Debug)]
pub struct GgufHeader {
    /// Metadata by key.
    pub metadata: BTreeMap<String, GgufValue>,
    /// The tensors, in order of their bytes.
    pub tensors: Vec<TensorEntry>,
}

impl GgufHeader {
    /// Reads and checks the header of a GGUF file of `total` bytes: version 2 or 3, every tensor within the file, none over
    /// another. Reads no tensor.
    ///
    /// # Errors
    /// Says what does not hold.
    pub fn read(reader: impl Read, total: u64) -> Result<Self, String> {
        let mut cursor = Cursor::new(reader, total);
        if cursor.array::<4>()? != *b"GGUF" {
            return Err("it does not begin with GGUF".to_owned());
        }
        let version = cursor.u32()?;
        if !matches!(version, 2 | 3) {
            return Err(format!("it is of version {version}; 2 and 3 can be read"));
        }
        let (count, pairs) = (cursor.u64()?, cursor.u64()?);
        if count > MOST || pairs > MOST {
            return Err(format!("it would have {count} tensors and {pairs} metadata"));
        }
        let mut metadata = BTreeMap::new();
        for _ in 0..pairs {
            let key = cursor.string()?;
            let value = cursor.value()?;
            if metadata.insert(key.clone(), value).is_some() {
                return Err(format!("{key:?} is there twice"));
            }
        }
        let alignment = match metadata.get("general.alignment") {
            None => ALIGNMENT,
            Some(value) => value
                .unsigned()
                .filter(|bytes| bytes.is_power_of_two() && *bytes <= 1 << 20)
                .ok_or("its alignment is no power of two")?,
        };
        let mut tensors = Vec::new();
        for _ in 0..count {
            tensors.push(tensor(&mut cursor, alignment)?);
        }
        let start = cursor.at().next_multiple_of(alignment);
        place(&mut tensors, start, total)?;
        Ok(Self { metadata, tensors })
    }

    /// Finds a tensor.
    pub(crate) fn tensor(&self, name: &str) -> Option<&TensorEntry> {
        self.tensors.iter().find(|tensor| tensor.name == name)
    }
}

fn tensor<R: Read>(cursor: &mut Cursor<R>, alignment: u64) -> Result<TensorEntry, String> {
    let name = cursor.string()?;
    let dimensions = cursor.u32()?;
    if dimensions > 4 {
        return Err(format!("{name} has {dimensions} dimensions"));
    }
    let mut shape = (0..dimensions).map(|_| cursor.u64()).collect::<Result<Vec<_>, _>>()?;
    let row = shape.first().copied().unwrap_or(1);
    shape.reverse();
    let kind = match cursor.u32()? {
        0 => TensorType::F32,
        1 => TensorType::F16,
        2 => TensorType::Q4_0,
        8 => TensorType::Q8_0,
        30 => TensorType::BF16,
        other => TensorType::Other(format!("of the GGML type {other}")),
    };
    let start = cursor.u64()?;
    if !start.is_multiple_of(alignment) {
        return Err(format!(
            "{name} begins at byte {start}, which is no multiple of {alignment}"
        ));
    }
    let count = weights(&shape).ok_or_else(|| format!("{name} is too large: {shape:?}"))?;
    let bytes = match kind.block() {
        // How long it is cannot be told; that it cannot be run is told later.
        None => 0,
        Some((size, _)) if !row.is_multiple_of(size) => {
            return Err(format!("rows of {name} have {row} weights, no multiple of {size}"));
        }
        Some(_) => kind
            .bytes(count)
            .ok_or_else(|| format!("{name} is too large: {shape:?}"))?,
    };
    Ok(TensorEntry {
        name,
        kind,
        shape,
        start,
        bytes,
    })
}

/// Turns offsets into places in the file and checks that they lie in it, one after the other.
fn place(tensors: &mut [TensorEntry], start: u64, total: u64) -> Result<(), String> {
    tensors.sort_by(|one, other| (one.start, one.bytes, &one.name).cmp(&(other.start, other.bytes, &other.name)));
    let mut end = start;
    for tensor in &mut *tensors {
        let outside = || format!("{} does not lie within the file: it is cut off or damaged", tensor.name);
        tensor.start = start.checked_add(tensor.start).ok_or_else(outside)?;
        if tensor.start < end {
            return Err(format!("{} lies over another tensor", tensor.name));
        }
        end = tensor.start.checked_add(tensor.bytes).ok_or_else(outside)?;
        if end > total {
            return Err(outside());
        }
    }
    let mut names: Vec<_> = tensors.iter().map(|tensor| tensor.name.as_str()).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("{} is there twice", pair[0])),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
