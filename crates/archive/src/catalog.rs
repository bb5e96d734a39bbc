//! `catalog.jsonl`: one line of metadata per raw source, appended and never edited.
//!
//! Compatibility: a field that this version does not know is kept when an entry is written on; a line that cannot be
//! read is reported with its number and the others are still read, so one torn write never hides the archive.

use std::collections::{BTreeMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use casebook_corpus::{ContentHash, Timestamp, string_id};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::CatalogError;

string_id! {
    /// Identity of a raw source, unique in a catalog.
    SourceId
}

/// What the catalog knows about one raw source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CatalogEntry {
    /// Identity.
    pub source_id: SourceId,
    /// What wrote it: the name of a transcript or export format.
    #[serde(rename = "type")]
    pub source_type: String,
    /// Time of its first record, where known.
    #[serde(default, with = "rfc3339::optional", skip_serializing_if = "Option::is_none")]
    pub from: Option<Timestamp>,
    /// Time of its last record, where known.
    #[serde(default, with = "rfc3339::optional", skip_serializing_if = "Option::is_none")]
    pub to: Option<Timestamp>,
    /// The curated resource that was made from it, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curated: Option<String>,
    /// Where the raw file is, relative to the archive, with `/`.
    pub path: String,
    /// Its length in bytes.
    pub size: u64,
    /// SHA-256 of its bytes.
    pub sha256: ContentHash,
    /// Its records: lines that are not blank.
    pub record_count: u64,
    /// When it was taken in.
    #[serde(with = "rfc3339")]
    pub imported_at: Timestamp,
    /// Fields of other versions, kept as they are.
    #[serde(flatten)]
    pub other: BTreeMap<String, Value>,
}

/// A line that could not be used, or should not be there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogProblem {
    /// Its number, from 1.
    pub line: usize,
    /// What is wrong.
    pub kind: ProblemKind,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemKind {
    /// The last line has no end: a write was interrupted.
    #[error("last line is truncated")]
    Truncated,
    /// The line is no entry.
    #[error("line is no catalog entry: {reason}")]
    Malformed {
        /// Why.
        reason: String,
    },
    /// An earlier line has the same id; both are read.
    #[error("source id {source_id} is listed before")]
    Repeated {
        /// The id.
        source_id: SourceId,
    },
}

impl std::fmt::Display for CatalogProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.kind)
    }
}

/// A catalog as read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalog {
    /// Entries in order of the file.
    pub entries: Vec<CatalogEntry>,
    /// Lines that could not be used, in order of the file.
    pub problems: Vec<CatalogProblem>,
}

impl Catalog {
    /// Reads a catalog file. One that does not exist is empty: nothing was archived yet.
    ///
    /// # Errors
    /// When the file is there and cannot be read.
    pub fn read(path: &Path) -> Result<Self, CatalogError> {
        match std::fs::read(path) {
            Ok(bytes) => Ok(Self::parse(&bytes)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(source) => Err(CatalogError::Read {
                path: path.to_owned(),
                source,
            }),
        }
    }

    /// Reads the bytes of a catalog.
    pub fn parse(bytes: &[u8]) -> Self {
        let mut catalog = Self::default();
        let mut ids = HashSet::new();
        for (index, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
            if line.trim_ascii().is_empty() {
                continue;
            }
            let problem = match serde_json::from_slice::<CatalogEntry>(line) {
                Ok(entry) => {
                    let source_id = entry.source_id.clone();
                    catalog.entries.push(entry);
                    (!ids.insert(source_id.clone())).then_some(ProblemKind::Repeated { source_id })
                }
                Err(_) if !line.ends_with(b"\n") => Some(ProblemKind::Truncated),
                Err(error) => Some(ProblemKind::Malformed { reason: reason(&error) }),
            };
            catalog
                .problems
                .extend(problem.map(|kind| CatalogProblem { line: index + 1, kind }));
        }
        catalog
    }

    /// Appends an entry to a catalog file and makes it durable. Makes the file, for its owner only, where it is missing;
    /// a truncated last line is closed first, so that it cannot swallow the entry.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn append(path: &Path, entry: &CatalogEntry) -> Result<(), CatalogError> {
        let mut line = serde_json::to_vec(entry).map_err(|source| CatalogError::Entry {
            source_id: entry.source_id.to_string(),
            source,
        })?;
        line.push(b'\n');
        append_line(path, line).map_err(|source| CatalogError::Write {
            path: path.to_owned(),
            source,
        })
    }
}

/// Returns what a line lacks, without the parser's own line number, which is always 1.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ")
        .map_or(text.as_str(), |(reason, _)| reason)
        .to_owned()
}

fn append_line(path: &Path, mut line: Vec<u8>) -> std::io::Result<()> {
    let mut file = open_for_append(path)?;
    if ends_within_a_line(&mut file)? {
        line.insert(0, b'\n');
    }
    file.write_all(&line)?;
    file.sync_all()
}

fn open_for_append(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn ends_within_a_line(file: &mut File) -> std::io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

/// Times as RFC 3339: people read the catalog too.
mod rfc3339 {
    use casebook_corpus::Timestamp;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(time: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(time)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }

    pub(super) mod optional {
        use super::{Deserializer, Serializer, Timestamp};
        use serde::Deserialize as _;

        pub(in super::super) fn serialize<S: Serializer>(
            time: &Option<Timestamp>,
            serializer: S,
        ) -> Result<S::Ok, S::Error> {
            match time {
                Some(time) => super::serialize(time, serializer),
                None => serializer.serialize_none(),
            }
        }

        pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<Option<Timestamp>, D::Error> {
            let text = Option::<String>::deserialize(deserializer)?;
            text.map(|text| text.parse().map_err(serde::de::Error::custom))
                .transpose()
        }
    }
}
