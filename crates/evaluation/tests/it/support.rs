//! A small encoder and scorer, and data sets on disk.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use casebook_index::{Cancel, EncodeError, EncoderRevision, Passage, PassageVector, TextEncoder};
use casebook_ranker::{PairScore, PairScorer, ScoreError};

/// Counts the characters of a text in 64 bins.
pub(crate) struct CharacterCounts(EncoderRevision);

impl CharacterCounts {
    pub(crate) fn new() -> Self {
        Self("character-counts".into())
    }
}

impl TextEncoder for CharacterCounts {
    fn revision(&self) -> &EncoderRevision {
        &self.0
    }

    fn dimension(&self) -> usize {
        64
    }

    fn max_input_tokens(&self) -> usize {
        usize::MAX
    }

    fn encode_query(&self, query: &str) -> Result<Vec<f32>, EncodeError> {
        let mut vector = vec![0.0_f32; 64];
        let letters = query.chars().filter(|character| character.is_alphanumeric());
        letters.for_each(|character| vector[character as usize % 64] += 1.0);
        let norm = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
        if norm > 0.0 {
            vector.iter_mut().for_each(|number| *number /= norm);
        }
        Ok(vector)
    }

    fn encode_passages(&self, passages: &[Passage<'_>], _: &dyn Cancel) -> Result<Vec<PassageVector>, EncodeError> {
        let encode = |passage: &Passage<'_>| {
            let vector = self.encode_query(passage.text)?;
            Ok(PassageVector {
                vector,
                input_windows: 1,
            })
        };
        passages.iter().map(encode).collect()
    }
}

/// The share of the query's characters that the text has.
pub(crate) struct SharedCharacters;

impl PairScorer for SharedCharacters {
    fn revision(&self) -> &str {
        "shared-characters"
    }

    fn score(&self, query: &str, passages: &[Passage<'_>], _: &dyn Cancel) -> Result<Vec<PairScore>, ScoreError> {
        let wanted: BTreeSet<char> = query.chars().filter(|character| character.is_alphanumeric()).collect();
        let share = |text: &str| {
            let found = wanted.iter().filter(|character| text.contains(**character)).count();
            found as f32 / wanted.len().max(1) as f32
        };
        Ok(passages
            .iter()
            .map(|passage| PairScore::new(share(passage.text)))
            .collect())
    }
}

/// Writes a project's three files into a new folder.
pub(crate) fn write_project(parent: &Path, name: &str, corpus: &str, queries: &str, judgements: &str) -> PathBuf {
    let folder = parent.join(name);
    std::fs::create_dir_all(&folder).unwrap();
    for (file, text) in [
        ("corpus.jsonl", corpus),
        ("queries.jsonl", queries),
        ("qrels.tsv", judgements),
    ] {
        std::fs::write(folder.join(file), text).unwrap();
    }
    folder
}

pub(crate) const CORPUS: &str = r#"{"id": "a", "path": "notes/a.md", "title": "Backup", "text": "A backup is made every night.", "lang": "en", "scope": "ops", "observed_at": "2023-01-02T03:04:05"}
{"id": "b", "path": "notes/b.md", "title": "", "text": "重建索引期间查询仍然可用。", "lang": "zh", "scope": "dev"}

{"id": "c", "path": "notes/c.md", "title": "Releases", "text": "A release is cut on Friday; the backup is checked first.", "lang": "en", "scope": "dev"}
"#;

pub(crate) const QUERIES: &str = r#"{"id": "q1", "text": "when is the backup made", "lang": "en", "kind": "fact", "scope": "ops"}
{"id": "q2", "text": "重建索引", "lang": "zh", "kind": "fact"}
{"id": "q3", "text": "release day", "lang": "en", "kind": "time", "asked_at": "2024-01-01"}
{"id": "q4", "text": "nobody knows", "lang": "en", "kind": "time"}
"#;

pub(crate) const JUDGEMENTS: &str = "q1\t0\ta\t1\nq2\t0\tb\t1\nq3\t0\tc\t1\nq4\t0\ta\t0\n";
