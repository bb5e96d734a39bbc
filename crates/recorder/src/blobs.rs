//! Texts as files named by their SHA-256.
//!
//! The name is the promise: a file whose content has another hash counts as absent, whoever changed it. So a file needs
//! no rename and no flush of its own, which for the dozen texts of one answer would take longer than the answer did:
//! writers of one name write the same bytes, a part that a killed writer left is completed by the next, and what a loss
//! of power took is named on reading.

use std::io::Write;
use std::path::{Path, PathBuf};

use casebook_corpus::ContentHash;
use casebook_storage::FileError;

pub(crate) struct BlobStore {
    dir: PathBuf,
}

impl BlobStore {
    pub(crate) fn new(data_dir: &Path) -> Self {
        Self {
            dir: data_dir.join("evaluation-corpora").join("blobs"),
        }
    }

    /// Stores the text under its hash, unless it is there. A text with another hash is not stored: it could never be
    /// read back under this one.
    pub(crate) fn put(&self, hash: ContentHash, text: &str) -> Result<(), FileError> {
        let path = self.path(hash);
        let stored = std::fs::metadata(&path).is_ok_and(|found| found.len() == text.len() as u64);
        if stored || ContentHash::of(text) != hash {
            return Ok(());
        }
        if let Some(folder) = path.parent() {
            casebook_storage::create_private_dir(folder)?;
        }
        let mut file = casebook_storage::create_private_file(&path)?;
        // Not truncated before: another process may be reading what is already whole.
        file.write_all(text.as_bytes())
            .and_then(|()| file.set_len(text.len() as u64))
            .map_err(|source| FileError { path, source })
    }

    /// Returns the text, if it is there and is what its name says.
    pub(crate) fn get(&self, hash: ContentHash) -> Option<String> {
        let text = std::fs::read_to_string(self.path(hash)).ok()?;
        (ContentHash::of(&text) == hash).then_some(text)
    }

    fn path(&self, hash: ContentHash) -> PathBuf {
        let name = hash.to_string();
        self.dir.join(&name[..2]).join(name)
    }
}
