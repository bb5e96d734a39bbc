//! Metadata values, and the reader that never believes a length.

use std::io::Read;

/// Bytes of one string at most.
const LONGEST_STRING: u64 = 1 << 20;

/// A value of GGUF metadata. Lists are of one type; lists of lists are not used by any model and are refused.
#[derive(Clone, Debug, PartialEq)]
pub enum GgufValue {
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// Yes or no.
    Bool(bool),
    /// Text.
    Text(String),
    /// Whole numbers.
    Ints(Vec<i64>),
    /// Bytes.
    Bytes(Vec<u8>),
    /// Numbers.
    Floats(Vec<f64>),
    /// Texts.
    Texts(Vec<String>),
}

impl GgufValue {
    /// Returns a whole number from 0.
    pub fn unsigned(&self) -> Option<u64> {
        match self {
            Self::Int(value) => u64::try_from(*value).ok(),
            _ => None,
        }
    }
}

/// Reads numbers and texts, and counts.
pub(super) struct Cursor<R> {
    reader: R,
    at: u64,
    total: u64,
}

impl<R: Read> Cursor<R> {
    pub(super) fn new(reader: R, total: u64) -> Self {
        Self { reader, at: 0, total }
    }

    /// Bytes that have been read.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let mut bytes = [0; N];
        self.reader
            .read_exact(&mut bytes)
            .map_err(|_| "the file ends within its header".to_owned())?;
        self.at += N as u64;
        Ok(bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, String> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, String> {
        self.array().map(u64::from_le_bytes)
    }

    /// Reads a count of things that take so many bytes each at least: more than the rest of the file is a lie.
    fn count(&mut self, each: u64) -> Result<usize, String> {
        let count = self.u64()?;
        let left = self.total.saturating_sub(self.at);
        if count.checked_mul(each).is_none_or(|bytes| bytes > left) {
            return Err(format!("a list of {count} would be longer than the file"));
        }
        usize::try_from(count).map_err(|error| error.to_string())
    }

    pub(super) fn string(&mut self) -> Result<String, String> {
        let length = self.count(1)? as u64;
        if length > LONGEST_STRING {
            return Err(format!("a text of {length} bytes is too long"));
        }
        let mut bytes = Vec::new();
        let read = (&mut self.reader).take(length).read_to_end(&mut bytes);
        if read.map_err(|error| error.to_string())? as u64 != length {
            return Err("the file ends within its header".to_owned());
        }
        self.at += length;
        String::from_utf8(bytes).map_err(|_| "a text is not UTF-8".to_owned())
    }

    pub(super) fn value(&mut self) -> Result<GgufValue, String> {
        let kind = self.u32()?;
        if kind == 9 {
            return self.list();
        }
        self.scalar(kind)
    }

    fn scalar(&mut self, kind: u32) -> Result<GgufValue, String> {
        Ok(match kind {
            0 | 1 | 2 | 3 | 4 | 5 | 10 | 11 => GgufValue::Int(self.int(kind)?),
            6 => GgufValue::Float(f64::from(f32::from_le_bytes(self.array()?))),
            12 => GgufValue::Float(f64::from_le_bytes(self.array()?)),
            7 => GgufValue::Bool(self.array::<1>()? != [0]),
            8 => GgufValue::Text(self.string()?),
            other => return Err(format!("metadata of the unknown type {other}")),
        })
    }

    fn int(&mut self, kind: u32) -> Result<i64, String> {
        Ok(match kind {
            0 => i64::from(self.array::<1>()?[0]),
            1 => i64::from(i8::from_le_bytes(self.array()?)),
            2 => i64::from(u16::from_le_bytes(self.array()?)),
            3 => i64::from(i16::from_le_bytes(self.array()?)),
            4 => i64::from(self.u32()?),
            5 => i64::from(i32::from_le_bytes(self.array()?)),
            10 => i64::try_from(self.u64()?).map_err(|_| "a number is too large".to_owned())?,
            _ => i64::from_le_bytes(self.array()?),
        })
    }

    fn list(&mut self) -> Result<GgufValue, String> {
        let kind = self.u32()?;
        let each = match kind {
            0 | 1 | 7 => 1,
            2 | 3 => 2,
            4..=6 => 4,
            8 | 10..=12 => 8,
            other => return Err(format!("a list of the unknown type {other}")),
        };
        let count = self.count(each)?;
        Ok(match kind {
            0 => {
                let mut bytes = Vec::new();
                for _ in 0..count {
                    bytes.push(self.array::<1>()?[0]);
                }
                GgufValue::Bytes(bytes)
            }
            6 => GgufValue::Floats(self.many(count, |cursor| Ok(f64::from(f32::from_le_bytes(cursor.array()?))))?),
            12 => GgufValue::Floats(self.many(count, |cursor| Ok(f64::from_le_bytes(cursor.array()?)))?),
            7 => GgufValue::Ints(self.many(count, |cursor| Ok(i64::from(cursor.array::<1>()?[0])))?),
            8 => GgufValue::Texts(self.many(count, Self::string)?),
            kind => GgufValue::Ints(self.many(count, |cursor| cursor.int(kind))?),
        })
    }

    fn many<T>(&mut self, count: usize, one: impl Fn(&mut Self) -> Result<T, String>) -> Result<Vec<T>, String> {
        (0..count).map(|_| one(self)).collect()
    }
}
