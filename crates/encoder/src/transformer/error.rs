//! Why a pack cannot be used.

use std::io;

/// A pack's files cannot be used: each case names the file, and the tensor or the key where there is one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransformerError {
    /// A file is not there or cannot be read.
    #[error("file {file} of the model pack cannot be read")]
    Read {
        /// Its name in the pack's folder.
        file: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A file is not as long as the manifest says.
    #[error("file {file} of the model pack has {found} bytes, expected {expected}")]
    Length {
        /// Its name in the pack's folder.
        file: String,
        /// Its length.
        found: u64,
        /// Its length by the manifest.
        expected: u64,
    },
    /// A file has another content than the manifest says.
    #[error("file {file} of the model pack was changed: its SHA-256 is not the one in pack.json")]
    Content {
        /// Its name in the pack's folder.
        file: String,
    },
    /// A file is not of the format that its name stands for.
    #[error("file {file} of the model pack is malformed: {problem}")]
    Format {
        /// Its name in the pack's folder.
        file: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A key of a file has a value that the network cannot be built from.
    #[error("file {file} of the model pack says {found} for {key}, expected {expected}")]
    Setting {
        /// Its name in the pack's folder.
        file: String,
        /// The key.
        key: String,
        /// Its value.
        found: String,
        /// What is read.
        expected: String,
    },
    /// The weights lack a tensor.
    #[error("file {file} of the model pack has no tensor {tensor}")]
    MissingTensor {
        /// Its name in the pack's folder.
        file: String,
        /// The tensor, by its Hugging Face name.
        tensor: String,
    },
    /// A tensor is of another shape than the configuration says.
    #[error("tensor {tensor} of file {file} of the model pack has shape {found:?}, expected {expected:?}")]
    Shape {
        /// Its name in the pack's folder.
        file: String,
        /// The tensor, by its name in the file.
        tensor: String,
        /// Its shape.
        found: Vec<usize>,
        /// Its shape by the configuration.
        expected: Vec<usize>,
    },
    /// A tensor's numbers are stored in a way that is not read.
    #[error("tensor {tensor} of file {file} of the model pack is stored as {found}, which is not read")]
    Storage {
        /// Its name in the pack's folder.
        file: String,
        /// The tensor, by its name in the file.
        tensor: String,
        /// The storage, by its name or number in the file.
        found: String,
    },
    /// A tensor holds something that is no number.
    #[error("tensor {tensor} of file {file} of the model pack holds an infinity or no number")]
    NotFinite {
        /// Its name in the pack's folder.
        file: String,
        /// The tensor, by its name in the file.
        tensor: String,
    },
    /// The tokenizer cannot be used.
    #[error("file tokenizer.json of the model pack is malformed")]
    Tokenizer(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The threads that encode cannot be started.
    #[error("threads of the encoder cannot be started")]
    Threads(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl TransformerError {
    pub(super) fn format(file: &str, problem: impl Into<String>) -> Self {
        Self::Format {
            file: file.to_owned(),
            problem: problem.into(),
        }
    }

    pub(super) fn setting(file: &str, key: &str, found: impl ToString, expected: impl ToString) -> Self {
        Self::Setting {
            file: file.to_owned(),
            key: key.to_owned(),
            found: found.to_string(),
            expected: expected.to_string(),
        }
    }

    pub(super) fn read(file: &str, source: io::Error) -> Self {
        Self::Read {
            file: file.to_owned(),
            source,
        }
    }
}
