//! Where a pack's tensors are read from: one at a time, so that the file is never in memory as a whole.

mod gguf;
mod numbers;
mod safetensors;

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;

pub(super) use numbers::{Storage, to_half};

use super::TransformerError;

/// What Hugging Face writes before the names of a network that has a head.
const PREFIXES: [&str; 4] = ["", "bert.", "roberta.", "model."];

/// A tensor in a weight file.
struct Entry {
    /// How its numbers are stored, or the file's word for what is not read.
    storage: Result<Storage, String>,
    /// Slowest running size first.
    shape: Vec<usize>,
    offset: u64,
    bytes: u64,
}

impl Entry {
    fn needed(storage: Storage, shape: &[usize]) -> Option<u64> {
        let numbers = shape
            .iter()
            .try_fold(1_usize, |product, &size| product.checked_mul(size))?;
        let row = shape.last().copied().unwrap_or(1);
        // A row of blocks that ends inside a block would share it with the next.
        storage.bytes(row)?;
        storage.bytes(numbers).map(|bytes| bytes as u64)
    }

    fn check(&self, name: &str) -> Result<(), String> {
        match &self.storage {
            Ok(storage) if Self::needed(*storage, &self.shape) != Some(self.bytes) => Err(format!(
                "tensor {name} of shape {:?} has {} bytes",
                self.shape, self.bytes
            )),
            _ => Ok(()),
        }
    }
}

/// The two names of a tensor: Hugging Face's without a prefix, and llama.cpp's.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub(super) plain: String,
    pub(super) gguf: String,
}

impl Name {
    pub(super) fn new(plain: impl Into<String>, gguf: impl Into<String>) -> Self {
        Self {
            plain: plain.into(),
            gguf: gguf.into(),
        }
    }

    /// Returns the names with `.weight` or `.bias` after them.
    pub(super) fn part(&self, part: &str) -> Self {
        Self::new(format!("{}.{part}", self.plain), format!("{}.{part}", self.gguf))
    }
}

/// A tensor's numbers as they are stored.
pub(super) struct Stored {
    file: String,
    name: String,
    count: usize,
    pub(super) storage: Storage,
    pub(super) bytes: Vec<u8>,
}

impl Stored {
    /// Returns the numbers.
    ///
    /// # Errors
    /// When one is infinite or none.
    pub(super) fn numbers(&self) -> Result<Vec<f32>, TransformerError> {
        let mut numbers = vec![0.0; self.count];
        self.storage.decode(&self.bytes, &mut numbers);
        self.check(&numbers)?;
        Ok(numbers)
    }

    /// Visits rows of so many numbers, without all of them in memory at once.
    ///
    /// # Errors
    /// When a number is infinite or none.
    pub(super) fn rows(&self, length: usize, mut visit: impl FnMut(&[f32])) -> Result<(), TransformerError> {
        let mut numbers = vec![0.0; length];
        let bytes = self.bytes.len() / (self.count / length).max(1);
        for row in self.bytes.chunks_exact(bytes) {
            self.storage.decode(row, &mut numbers);
            self.check(&numbers)?;
            visit(&numbers);
        }
        Ok(())
    }

    /// Returns one row of so many numbers, all zero where there are fewer rows.
    pub(super) fn row(&self, row: usize, length: usize) -> Vec<f32> {
        let bytes = self.bytes.len() / (self.count / length).max(1);
        let mut numbers = vec![0.0; length];
        let found = self.bytes.chunks_exact(bytes).nth(row);
        self.storage.decode(found.unwrap_or_default(), &mut numbers);
        numbers
    }

    fn check(&self, numbers: &[f32]) -> Result<(), TransformerError> {
        if numbers.iter().all(|number| number.is_finite()) {
            Ok(())
        } else {
            Err(TransformerError::NotFinite {
                file: self.file.clone(),
                tensor: self.name.clone(),
            })
        }
    }
}

/// An open weight file.
pub(super) struct Weights {
    name: String,
    file: File,
    entries: HashMap<String, Entry>,
}

impl Weights {
    /// Opens `model.safetensors` or, where there is none, `model.gguf`.
    pub(super) fn open_model(dir: &Path) -> Result<Self, TransformerError> {
        let name = if dir.join("model.safetensors").exists() || !dir.join("model.gguf").exists() {
            "model.safetensors"
        } else {
            "model.gguf"
        };
        Self::open(dir, name)
    }

    /// Opens a file by its name; the ending says what it is.
    pub(super) fn open(dir: &Path, name: &str) -> Result<Self, TransformerError> {
        let failed = |source| TransformerError::read(name, source);
        let file = File::open(dir.join(name)).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let mut reader = BufReader::with_capacity(1 << 16, file);
        let entries = if name.ends_with(".gguf") {
            gguf::read(&mut reader, length)
        } else {
            safetensors::read(&mut reader, length)
        };
        Ok(Self {
            name: name.to_owned(),
            file: reader.into_inner(),
            entries: entries.map_err(|problem| TransformerError::format(name, problem))?,
        })
    }

    /// Returns the file's name.
    pub(super) fn file(&self) -> &str {
        &self.name
    }

    fn find(&self, name: &Name) -> Option<(&str, &Entry)> {
        let plain = PREFIXES.iter().map(|prefix| format!("{prefix}{}", name.plain));
        // Checkpoints from before 2019 call the numbers of a layer norm gamma and beta.
        let old = name
            .plain
            .replace("Norm.weight", "Norm.gamma")
            .replace("Norm.bias", "Norm.beta");
        let old = PREFIXES.iter().map(|prefix| format!("{prefix}{old}"));
        std::iter::once(name.gguf.clone())
            .chain(plain)
            .chain(old)
            .find_map(|name| self.entries.get_key_value(&name))
            .map(|(name, entry)| (name.as_str(), entry))
    }

    /// Returns whether there is such a tensor.
    pub(super) fn has(&self, name: &Name) -> bool {
        self.find(name).is_some()
    }

    /// Returns the shape of a tensor, slowest running size first.
    pub(super) fn shape(&self, name: &Name) -> Result<&[usize], TransformerError> {
        self.found(name).map(|(_, entry)| entry.shape.as_slice())
    }

    fn found(&self, name: &Name) -> Result<(&str, &Entry), TransformerError> {
        self.find(name).ok_or_else(|| TransformerError::MissingTensor {
            file: self.name.clone(),
            tensor: name.plain.clone(),
        })
    }

    /// Reads a tensor that has to have this shape.
    pub(super) fn stored(&mut self, name: &Name, shape: &[usize]) -> Result<Stored, TransformerError> {
        let (found, entry) = self.found(name)?;
        let found = found.to_owned();
        if entry.shape != shape {
            return Err(TransformerError::Shape {
                file: self.name.clone(),
                tensor: found,
                found: entry.shape.clone(),
                expected: shape.to_vec(),
            });
        }
        let storage = match &entry.storage {
            Ok(storage) => *storage,
            Err(storage) => {
                return Err(TransformerError::Storage {
                    file: self.name.clone(),
                    tensor: found,
                    found: storage.clone(),
                });
            }
        };
        let (offset, length) = (entry.offset, entry.bytes);
        let mut bytes = vec![0; length as usize];
        self.file
            .seek(SeekFrom::Start(offset))
            .and_then(|_| self.file.read_exact(&mut bytes))
            .map_err(|source| TransformerError::read(&self.name, source))?;
        Ok(Stored {
            file: self.name.clone(),
            name: found,
            count: shape.iter().product(),
            storage,
            bytes,
        })
    }

    /// Reads the numbers of a tensor that has to have this shape.
    pub(super) fn numbers(&mut self, name: &Name, shape: &[usize]) -> Result<Vec<f32>, TransformerError> {
        self.stored(name, shape)?.numbers()
    }
}
