//! The list of an encoder's segments: which files belong together. It is replaced as a whole.

use std::fmt::Write;
use std::path::Path;

use casebook_storage::{FileError, write_atomic};

const FIRST_LINE: &str = "casebook vectors 1";

/// A segment as the list names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) bytes: u64,
}

/// The segments that belong together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct List {
    pub(super) entries: Vec<Entry>,
}

impl List {
    /// Reads a list; `None` where there is none that can be used.
    pub(super) fn read(path: &Path) -> Option<Self> {
        Self::parse(&std::fs::read_to_string(path).ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        let (body, end) = text.trim_end_matches('\n').rsplit_once('\n')?;
        let checksum = u32::from_str_radix(end.strip_prefix("end ")?, 16).ok()?;
        if crc32fast::hash(body.as_bytes()) != checksum {
            return None;
        }
        let mut lines = body.lines();
        if lines.next()? != FIRST_LINE {
            return None;
        }
        let entry = |line: &str| {
            let (name, bytes) = line.split_once(' ')?;
            let is_name = name.strip_suffix(".seg")?.bytes().all(|byte| byte.is_ascii_hexdigit());
            is_name.then_some(Entry {
                name: name.to_owned(),
                bytes: bytes.parse().ok()?,
            })
        };
        let entries = lines.map(entry).collect::<Option<Vec<_>>>()?;
        Some(Self { entries })
    }

    pub(super) fn write(&self, path: &Path) -> Result<(), FileError> {
        write_atomic(path, self.to_text().as_bytes())
    }

    fn to_text(&self) -> String {
        let mut text = FIRST_LINE.to_owned();
        for entry in &self.entries {
            text.push_str(&format!("\n{} {}", entry.name, entry.bytes));
        }
        let checksum = crc32fast::hash(text.as_bytes());
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\nend {checksum:08x}");
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_as_it_was_written_and_a_changed_one_is_none() {
        let entry = |name: &str, bytes| Entry {
            name: name.to_owned(),
            bytes,
        };
        let list = List {
            entries: vec![entry("0af3.seg", 7), entry("22.seg", 1 << 40)],
        };
        let text = list.to_text();
        assert_eq!(List::parse(&text), Some(list));
        assert_eq!(List::parse(&List::default().to_text()), Some(List::default()));
        for at in 0..text.len() {
            assert_eq!(
                List::parse(&text[..at]).filter(|_| at + 1 < text.len()),
                None,
                "cut at {at}"
            );
            let changed: String = text
                .char_indices()
                .map(|(n, c)| if n == at { '~' } else { c })
                .collect();
            assert!(
                List::parse(&changed).is_none() || at + 1 == text.len(),
                "changed at {at}"
            );
        }
        let outside = List {
            entries: vec![entry("../0a.seg", 1)],
        };
        assert_eq!(List::parse(&outside.to_text()), None, "a name leads nowhere else");
    }
}
