//! What a caller asks an import for, and what it hears meanwhile.

use std::path::PathBuf;

use super::Pooling;

/// What to import, and what the caller knows better than the model's own files.
#[derive(Clone, Debug, Default)]
pub struct ImportRequest {
    /// A folder, a zip archive, a wheel or a GGUF file.
    pub from: PathBuf,
    /// Where it came from, for people; none: the name of the file or folder.
    pub source: Option<String>,
    /// The pinned revision; none: the SHA-256 of what is imported.
    pub revision: Option<String>,
    /// The pack's name; none: made from the source.
    pub name: Option<String>,
    /// The path of the weights where the source has more than one model.
    pub file: Option<String>,
    /// The licence as the caller has read it; above everything that is declared.
    pub licence: Option<String>,
    /// The licence that the place of the source declares; below what the model's card says.
    pub declared_licence: Option<String>,
    /// Takes a licence, too, that is not known to allow every use.
    pub allow_licence: bool,
    /// Put before every query, instead of what the model says.
    pub query_prefix: Option<String>,
    /// Put before every passage, instead of what the model says.
    pub passage_prefix: Option<String>,
    /// How token vectors become one, instead of what the model says.
    pub pooling: Option<Pooling>,
    /// Which part of the vocabulary to keep.
    pub prune: Option<Prune>,
    /// What is too much.
    pub limits: ImportLimits,
}

/// Which part of a vocabulary is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prune {
    /// Pieces of Han, of basic Latin letters, of digits and of punctuation: Chinese, English and code.
    ZhEn,
}

/// What is too much. Refused before anything is copied.
#[derive(Clone, Copy, Debug)]
pub struct ImportLimits {
    /// Bytes of all files of an archive or folder, and of a pack.
    pub total_bytes: u64,
    /// Bytes of one file that is read as a whole, such as `tokenizer.json`.
    pub text_bytes: u64,
    /// Files of an archive or folder.
    pub files: usize,
    /// Unpacked bytes for each packed byte of a file.
    pub ratio: u64,
}

impl Default for ImportLimits {
    fn default() -> Self {
        Self {
            total_bytes: 8 << 30,
            text_bytes: 64 << 20,
            files: 10_000,
            ratio: 200,
        }
    }
}

/// What an import is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportStage {
    /// Copies files out of the source.
    Copying,
    /// Writes the weights anew.
    Converting,
    /// Reads the finished files and takes their hashes.
    Hashing,
}

/// How far an import or a check is, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImportProgress {
    /// What it is doing.
    pub stage: ImportStage,
    /// Bytes of this stage that are done.
    pub done: u64,
    /// Bytes of this stage in all.
    pub total: u64,
}

/// Hears how far an import is.
pub type OnProgress<'a> = &'a mut dyn FnMut(ImportProgress);
