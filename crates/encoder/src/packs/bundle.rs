//! What a model comes in: a folder, a zip archive (wheels are such) or a single file, seen as checked paths with lengths.
//!
//! The one thing a newcomer gets wrong: nothing is unpacked because it is there. Every name and length is checked first,
//! then the few files that an importer asks for are copied, under names of our own.

mod folder;
mod zip;

pub use zip::zip_listing;

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use ::zip::ZipArchive;

use super::files::{self, Meter};
use super::names::unsafe_path;
use super::{ImportLimits, ImportStage, PackError};

/// A file of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundleEntry {
    /// Its path: relative, with forward slashes.
    pub path: String,
    /// Its declared length.
    pub bytes: u64,
    /// Its place in the archive.
    pub(crate) index: usize,
}

/// A source whose names and lengths have been checked.
pub(crate) struct Bundle {
    place: PathBuf,
    entries: Vec<BundleEntry>,
    content: Content,
}

enum Content {
    Folder,
    Zip(Box<ZipArchive<File>>),
    File,
}

impl Bundle {
    /// Looks at a source and checks every name and length in it.
    pub(crate) fn open(from: &Path, limits: &ImportLimits) -> Result<Self, PackError> {
        let kind = std::fs::metadata(from).map_err(PackError::reading(from))?;
        let (entries, content) = if kind.is_dir() {
            (folder::entries(from, limits)?, Content::Folder)
        } else if !kind.is_file() {
            return Err(unsafe_path(
                &from.to_string_lossy(),
                "it is neither a file nor a folder",
            ));
        } else {
            let name = from.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let file = File::open(from).map_err(PackError::reading(from))?;
            // PyTorch's files are zips of pickles: their names decide before their first bytes do.
            if starts_with(from, b"PK")? && !super::names::is_pickle_name(&name) {
                let mut archive = zip::open(file)?;
                (zip::check(&mut archive, limits)?, Content::Zip(Box::new(archive)))
            } else {
                check_total(kind.len(), limits)?;
                let entry = BundleEntry {
                    path: name,
                    bytes: kind.len(),
                    index: 0,
                };
                (vec![entry], Content::File)
            }
        };
        Ok(Self {
            place: from.to_owned(),
            entries,
            content,
        })
    }

    /// The source's own name, for people.
    pub(crate) fn name(&self) -> String {
        let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
        // `.` and `..` have no name of their own.
        let full = || self.place.canonicalize().ok();
        name(&self.place)
            .or_else(|| name(&full()?))
            .unwrap_or_else(|| "model".to_owned())
    }

    /// Whether the source is one file, archives included; then its SHA-256 is its revision.
    pub(crate) fn is_file(&self) -> bool {
        !matches!(self.content, Content::Folder)
    }

    /// Where the source lies.
    pub(crate) fn place(&self) -> &Path {
        &self.place
    }

    /// Every file, in order of paths.
    pub(crate) fn entries(&self) -> &[BundleEntry] {
        &self.entries
    }

    /// Finds a file.
    pub(crate) fn find(&self, path: &str) -> Option<&BundleEntry> {
        self.entries.iter().find(|entry| entry.path == path)
    }

    /// Refuses a file that is too large to be read whole, there or not.
    pub(crate) fn check_text(&self, path: &str, limits: &ImportLimits) -> Result<(), PackError> {
        match self.find(path) {
            Some(entry) if entry.bytes > limits.text_bytes => Err(PackError::TooLarge {
                what: entry.path.clone(),
                found: entry.bytes,
                unit: "bytes",
                limit: limits.text_bytes,
            }),
            _ => Ok(()),
        }
    }

    /// Reads a small file whole; `None` where it is missing.
    pub(crate) fn read(&mut self, path: &str, limits: &ImportLimits) -> Result<Option<Vec<u8>>, PackError> {
        let Some(entry) = self.find(path).cloned() else {
            return Ok(None);
        };
        self.check_text(path, limits)?;
        let mut bytes = Vec::new();
        let mut silent = |_| {};
        let mut meter = Meter::new(ImportStage::Copying, 0, &mut silent);
        let place = self.place.clone();
        self.with_reader(&entry, |reader, read_error| {
            files::copy(reader, read_error, &mut bytes, &place, &mut meter)
        })?;
        Ok(Some(bytes))
    }

    /// Reads a small file as text.
    pub(crate) fn text(&mut self, path: &str, limits: &ImportLimits) -> Result<Option<String>, PackError> {
        let Some(bytes) = self.read(path, limits)? else {
            return Ok(None);
        };
        let text = String::from_utf8(bytes).map_err(|_| PackError::description(path, "it is not UTF-8"))?;
        Ok(Some(text))
    }

    /// Returns the first bytes of a file, fewer where it is shorter.
    pub(crate) fn start(&mut self, entry: &BundleEntry, count: u64) -> Result<Vec<u8>, PackError> {
        let mut bytes = Vec::new();
        self.with_reader(entry, |reader, read_error| {
            reader.take(count).read_to_end(&mut bytes).map_err(read_error)?;
            Ok(entry.bytes)
        })?;
        Ok(bytes)
    }

    /// Lets a caller read the beginning of a file, as far as it likes.
    pub(crate) fn with_start<T>(
        &mut self,
        entry: &BundleEntry,
        work: impl FnOnce(&mut dyn Read) -> Result<T, PackError>,
    ) -> Result<T, PackError> {
        let mut found = None;
        self.with_reader(entry, |reader, _| {
            found = Some(work(&mut std::io::BufReader::new(reader))?);
            Ok(entry.bytes)
        })?;
        found.ok_or_else(|| PackError::weights(&entry.path, "they cannot be read"))
    }

    /// Copies a file to a new one that only its owner may read, and presses it to the disk.
    pub(crate) fn copy(&mut self, entry: &BundleEntry, to: &Path, meter: &mut Meter<'_>) -> Result<(), PackError> {
        let mut target = files::create(to)?;
        self.with_reader(entry, |reader, read_error| {
            files::copy(reader, read_error, &mut target, to, meter)
        })?;
        target
            .flush()
            .and_then(|()| target.sync_all())
            .map_err(PackError::writing(to))
    }

    /// Opens a file for `work`, which returns how many bytes there were; more or fewer than declared is an error.
    fn with_reader(
        &mut self,
        entry: &BundleEntry,
        work: impl FnOnce(&mut dyn Read, &dyn Fn(std::io::Error) -> PackError) -> Result<u64, PackError>,
    ) -> Result<(), PackError> {
        // One byte more than declared is enough to see a lie.
        let most = entry.bytes.saturating_add(1);
        let found = match &mut self.content {
            Content::Zip(archive) => {
                let broken = |error: std::io::Error| PackError::ArchiveBroken {
                    why: format!("{}: {error}", entry.path),
                };
                let reader = archive.by_index(entry.index).map_err(|error| zip::broken(&error))?;
                work(&mut reader.take(most), &broken)?
            }
            content => {
                let path = match content {
                    Content::Folder => self.place.join(&entry.path),
                    _ => self.place.clone(),
                };
                let unreadable = |error| PackError::reading(&path)(error);
                let file = File::open(&path).map_err(unreadable)?;
                work(&mut file.take(most), &unreadable)?
            }
        };
        if found == entry.bytes {
            return Ok(());
        }
        Err(PackError::ArchiveBroken {
            why: format!("{} has not the {} bytes that were declared", entry.path, entry.bytes),
        })
    }
}

fn starts_with(path: &Path, magic: &[u8]) -> Result<bool, PackError> {
    let mut start = Vec::new();
    let file = File::open(path).map_err(PackError::reading(path))?;
    file.take(magic.len() as u64)
        .read_to_end(&mut start)
        .map_err(PackError::reading(path))?;
    Ok(start == magic)
}

fn check_total(bytes: u64, limits: &ImportLimits) -> Result<(), PackError> {
    if bytes <= limits.total_bytes {
        return Ok(());
    }
    Err(PackError::TooLarge {
        what: "the model".to_owned(),
        found: bytes,
        unit: "bytes",
        limit: limits.total_bytes,
    })
}

fn check_count(count: usize, limits: &ImportLimits) -> Result<(), PackError> {
    if count <= limits.files {
        return Ok(());
    }
    Err(PackError::TooLarge {
        what: "the number of files".to_owned(),
        found: count as u64,
        unit: "files",
        limit: limits.files as u64,
    })
}
