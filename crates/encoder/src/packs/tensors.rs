//! Tensors as the headers of weight files list them.

use super::PackError;

/// How numbers are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TensorType {
    /// 32-bit floats.
    F32,
    /// 16-bit floats.
    F16,
    /// 16-bit floats with the exponent of 32-bit ones.
    BF16,
    /// Blocks of 32 weights: an f16 scale and 4 bits each.
    Q4_0,
    /// Blocks of 32 weights: an f16 scale and 8 bits each.
    Q8_0,
    /// Anything else, by its name; it can be listed but not run.
    Other(String),
}

impl TensorType {
    /// Weights of a block and its bytes; `None` for types that cannot be run.
    pub(crate) const fn block(&self) -> Option<(u64, u64)> {
        match self {
            Self::F32 => Some((1, 4)),
            Self::F16 | Self::BF16 => Some((1, 2)),
            Self::Q4_0 => Some((32, 18)),
            Self::Q8_0 => Some((32, 34)),
            Self::Other(_) => None,
        }
    }

    /// Bytes of so many weights; `None` where they do not fill whole blocks, or are too many.
    pub(crate) fn bytes(&self, weights: u64) -> Option<u64> {
        let (size, bytes) = self.block()?;
        weights
            .is_multiple_of(size)
            .then(|| (weights / size).checked_mul(bytes))?
    }
}

impl std::fmt::Display for TensorType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::F32 => "F32",
            Self::F16 => "F16",
            Self::BF16 => "BF16",
            Self::Q4_0 => "Q4_0",
            Self::Q8_0 => "Q8_0",
            Self::Other(name) => name,
        })
    }
}

/// A tensor of a weight file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorEntry {
    /// Its name.
    pub name: String,
    /// How its numbers are stored.
    pub kind: TensorType,
    /// Its shape, outermost first.
    pub shape: Vec<u64>,
    /// Where it begins in the file.
    pub start: u64,
    /// Its length.
    pub bytes: u64,
}

/// Multiplies a shape; `None` where that is more than any file holds.
pub(crate) fn weights(shape: &[u64]) -> Option<u64> {
    shape.iter().try_fold(1_u64, |product, side| product.checked_mul(*side))
}

/// What a network's weights must have, beside what nobody looks for.
#[derive(Clone, Debug)]
pub(crate) struct Expected {
    /// Table of word vectors: vocabulary x hidden.
    pub(crate) vocabulary: u64,
    pub(crate) hidden: u64,
    pub(crate) layers: u64,
    /// Names as this kind of file writes them, `{}` for the layer.
    pub(crate) embedding: &'static str,
    pub(crate) layer: &'static str,
    /// What may stand before each name.
    pub(crate) prefixes: &'static [&'static str],
}

/// Checks that the tensors are of the network that the description says: the word table has its shape, every layer is
/// there and none more, and what is there can be run.
pub(crate) fn check(file: &str, tensors: &[TensorEntry], expected: &Expected) -> Result<(), PackError> {
    let find = |name: &str| {
        tensors.iter().find(|tensor| {
            let bare = expected
                .prefixes
                .iter()
                .find_map(|prefix| tensor.name.strip_prefix(prefix));
            bare == Some(name) || tensor.name == name
        })
    };
    let needed = |name: &str| {
        let sample = tensors.first().map_or("none", |tensor| tensor.name.as_str());
        find(name).ok_or_else(|| {
            PackError::weights(
                file,
                format!(
                    "they have no {name}: they are of another network than config.json says (the first is {sample})"
                ),
            )
        })
    };
    let table = needed(expected.embedding)?;
    let shape = [expected.vocabulary, expected.hidden];
    if table.shape != shape {
        let why = format!("{} is {:?}, config.json says {shape:?}", table.name, table.shape);
        return Err(PackError::weights(file, why));
    }
    for layer in 0..expected.layers {
        needed(&expected.layer.replace("{}", &layer.to_string()))?;
    }
    let next = expected.layer.replace("{}", &expected.layers.to_string());
    if find(&next).is_some() {
        let why = format!(
            "they have more layers than the {} that config.json says",
            expected.layers
        );
        return Err(PackError::weights(file, why));
    }
    let odd = tensors.iter().find(|tensor| {
        // Buffers such as position ids are whole numbers and are not read.
        tensor.kind.block().is_none() && !tensor.name.ends_with("position_ids")
    });
    match odd {
        None => Ok(()),
        Some(tensor) => Err(PackError::unsupported(format!(
            "{} of {file} is {}; F32, F16 and BF16 can be run, in GGUF also Q4_0 and Q8_0",
            tensor.name, tensor.kind
        ))),
    }
}
