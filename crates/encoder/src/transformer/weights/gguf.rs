//! The table of contents of a GGUF file, versions 2 and 3: metadata, which is skipped, then tensors, then their numbers.
//!
//! Counts and lengths come from the file, so nothing is reserved before it is known to be there.

use std::collections::HashMap;
use std::io::Read;

use super::{Entry, Storage};

/// Bytes that a name may have.
const LONGEST_NAME: u64 = 65_535;
/// Arrays inside arrays.
const DEEPEST: u32 = 4;
/// Sizes that a tensor may have: `GGML_MAX_DIMS`.
const MOST_SIZES: u32 = 4;
/// What tensors are aligned to where the metadata says nothing.
const ALIGNMENT: u32 = 32;

/// Reads the table of contents of a file of so many bytes.
pub(super) fn read(file: &mut impl Read, length: u64) -> Result<HashMap<String, Entry>, String> {
    let mut reader = Reader { file, left: length };
    if reader.bytes()? != *b"GGUF" {
        return Err("it does not begin with GGUF".to_owned());
    }
    let version = reader.word()?;
    if !(2..=3).contains(&version) {
        return Err(format!("it is of version {version}"));
    }
    let (tensors, values) = (reader.long()?, reader.long()?);
    let mut alignment = ALIGNMENT;
    for _ in 0..values {
        let key = reader.name()?;
        let kind = reader.word()?;
        if key == "general.alignment" && kind == 4 {
            alignment = reader.word()?;
        } else {
            reader.skip_value(kind, 0)?;
        }
    }
    if !alignment.is_power_of_two() {
        return Err(format!("its alignment is {alignment}"));
    }
    let mut listed = Vec::new();
    for _ in 0..tensors {
        let name = reader.name()?;
        let sizes = reader.word()?;
        if sizes > MOST_SIZES {
            return Err(format!("tensor {name} has {sizes} sizes"));
        }
        let mut shape = Vec::new();
        for _ in 0..sizes {
            let size = reader.long()?;
            shape.push(usize::try_from(size).map_err(|_| format!("tensor {name} has a size of {size}"))?);
        }
        // GGUF puts the fastest running size first.
        shape.reverse();
        let storage = match reader.word()? {
            0 => Ok(Storage::F32),
            1 => Ok(Storage::F16),
            2 => Ok(Storage::Q4),
            8 => Ok(Storage::Q8),
            30 => Ok(Storage::Bf16),
            other => Err(format!("ggml type {other}")),
        };
        listed.push((name, storage, shape, reader.long()?));
    }
    let start = (length - reader.left).next_multiple_of(u64::from(alignment));
    let mut entries = HashMap::new();
    for (name, storage, shape, offset) in listed {
        let bytes = match &storage {
            Ok(storage) => {
                Entry::needed(*storage, &shape).ok_or_else(|| format!("tensor {name} has shape {shape:?}"))?
            }
            // How long it is does not matter: nothing reads it.
            Err(_) => 0,
        };
        let offset = start
            .checked_add(offset)
            .filter(|offset| offset.checked_add(bytes).is_some_and(|end| end <= length));
        let Some(offset) = offset else {
            return Err(format!("tensor {name} lies outside the file"));
        };
        let entry = Entry {
            storage,
            shape,
            offset,
            bytes,
        };
        if entries.insert(name.clone(), entry).is_some() {
            return Err(format!("tensor {name} is there twice"));
        }
    }
    Ok(entries)
}

struct Reader<'f, R> {
    file: &'f mut R,
    left: u64,
}

impl<R: Read> Reader<'_, R> {
    fn take(&mut self, bytes: u64) -> Result<(), String> {
        self.left = self
            .left
            .checked_sub(bytes)
            .ok_or("it ends inside its table of contents")?;
        Ok(())
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], String> {
        self.take(N as u64)?;
        let mut bytes = [0; N];
        self.file.read_exact(&mut bytes).map_err(|error| error.to_string())?;
        Ok(bytes)
    }

    fn word(&mut self) -> Result<u32, String> {
        self.bytes().map(u32::from_le_bytes)
    }

    fn long(&mut self) -> Result<u64, String> {
        self.bytes().map(u64::from_le_bytes)
    }

    fn name(&mut self) -> Result<String, String> {
        let length = self.long()?;
        if length > LONGEST_NAME {
            return Err(format!("a name has {length} bytes"));
        }
        self.take(length)?;
        let mut name = vec![0; length as usize];
        self.file.read_exact(&mut name).map_err(|error| error.to_string())?;
        String::from_utf8(name).map_err(|_| "a name is not UTF-8".to_owned())
    }

    fn skip(&mut self, bytes: u64) -> Result<(), String> {
        self.take(bytes)?;
        let mut part = self.file.take(bytes);
        let skipped = std::io::copy(&mut part, &mut std::io::sink()).map_err(|error| error.to_string())?;
        if skipped == bytes {
            Ok(())
        } else {
            Err("it ends inside its metadata".to_owned())
        }
    }

    fn skip_value(&mut self, kind: u32, depth: u32) -> Result<(), String> {
        if let Some(size) = size(kind) {
            return self.skip(size);
        }
        match kind {
            8 => {
                let length = self.long()?;
                self.skip(length)
            }
            9 if depth < DEEPEST => {
                let kind = self.word()?;
                let count = self.long()?;
                if let Some(size) = size(kind) {
                    return self.skip(count.checked_mul(size).ok_or("an array of its metadata is too long")?);
                }
                // Each value takes at least one byte, so a count that is too high ends with the file.
                for _ in 0..count {
                    self.skip_value(kind, depth + 1)?;
                }
                Ok(())
            }
            _ => Err(format!("its metadata has a value of kind {kind}")),
        }
    }
}

/// Returns the bytes of a value that always has as many.
fn size(kind: u32) -> Option<u64> {
    match kind {
        0 | 1 | 7 => Some(1),
        2 | 3 => Some(2),
        4..=6 => Some(4),
        10..=12 => Some(8),
        _ => None,
    }
}
