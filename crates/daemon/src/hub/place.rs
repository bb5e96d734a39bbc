//! Where a download lies: a folder for each repository and commit, with whole files apart from halves.
//!
//! ```text
//! .downloads/OWNER--NAME--COMMIT.lock     one process at a time
//! .downloads/OWNER--NAME--COMMIT/files/   whole and checked
//! .downloads/OWNER--NAME--COMMIT/parts/   NAME.part, and NAME.tag: the entity tag that the part was sent under
//! ```

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use casebook_storage::{FileLock, bytes_below, create_private_dir, create_private_file, write_atomic};

use super::choice::WantedFile;
use super::{HubError, HubSpec};

/// Of a `README.md`, only its front matter counts.
const READ_ME_BYTES: u64 = 64 << 10;
/// Longer than any entity tag.
const MAX_TAG: usize = 300;

/// The folder of all downloads.
const DOWNLOADS: &str = ".downloads";
/// Ending of a lock's name.
const LOCK: &str = ".lock";

/// A download that waits for its import, or to go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeptDownload {
    /// `hf:owner/name`.
    pub(crate) source: String,
    pub(crate) bytes: u64,
    folder: String,
}

/// The folder of one download, held for this process.
#[derive(Debug)]
pub(super) struct Place {
    root: PathBuf,
    lock_path: PathBuf,
    _lock: FileLock,
}

impl Place {
    /// Takes the folder of a repository at a commit.
    ///
    /// # Errors
    /// When another process holds it, or it cannot be created.
    pub(super) fn open(into: &Path, spec: &HubSpec, commit: &str) -> Result<Self, HubError> {
        let folder = into.join(DOWNLOADS);
        let name = format!("{}--{}--{commit}", spec.owner(), spec.name());
        create_private_dir(&folder).map_err(HubError::disk(&folder))?;
        let place = Self::take(&folder, &name)?;
        for folder in [place.files(), place.parts()] {
            create_private_dir(&folder).map_err(HubError::disk(&folder))?;
        }
        Ok(place)
    }

    /// Takes a folder that is there or will be.
    fn take(folder: &Path, name: &str) -> Result<Self, HubError> {
        let lock_path = folder.join(format!("{name}{LOCK}"));
        let lock = FileLock::try_acquire(&lock_path).map_err(HubError::disk(&lock_path))?;
        // Who had it before may have removed its file.
        let lock = lock.filter(|lock| lock.is_at(&lock_path)).ok_or(HubError::Busy)?;
        Ok(Self {
            root: folder.join(name),
            lock_path,
            _lock: lock,
        })
    }

    /// Returns the downloads that wait in a folder.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub(super) fn list(into: &Path) -> Result<Vec<KeptDownload>, HubError> {
        let folder = into.join(DOWNLOADS);
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(HubError::disk(&folder)(error)),
        };
        let mut found = Vec::new();
        for entry in entries {
            let path = entry.map_err(HubError::disk(&folder))?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let mut parts = name.split("--");
            if let (true, Some(owner), Some(model), Some(_), None) =
                (path.is_dir(), parts.next(), parts.next(), parts.next(), parts.next())
            {
                found.push(KeptDownload {
                    source: format!("hf:{owner}/{model}"),
                    bytes: bytes_below(&path),
                    folder: name.to_owned(),
                });
            }
        }
        found.sort_by(|one, other| one.folder.cmp(&other.folder));
        Ok(found)
    }

    /// Takes a download that waits.
    pub(super) fn of(into: &Path, kept: &KeptDownload) -> Result<Self, HubError> {
        Self::take(&into.join(DOWNLOADS), &kept.folder)
    }

    /// Returns the folder of whole files.
    pub(super) fn files(&self) -> PathBuf {
        self.root.join("files")
    }

    fn parts(&self) -> PathBuf {
        self.root.join("parts")
    }

    /// Returns the place of a whole file.
    pub(super) fn file(&self, file: &WantedFile) -> PathBuf {
        self.files().join(&file.local)
    }

    /// Returns the place of what has come of a file; parts of files in subfolders lie flat.
    pub(super) fn part(&self, file: &WantedFile) -> PathBuf {
        self.parts().join(format!("{}.part", file.name.replace('/', "--")))
    }

    fn tag_path(&self, file: &WantedFile) -> PathBuf {
        self.part(file).with_extension("tag")
    }

    /// Opens what has come of a file; nothing, where it is new.
    pub(super) fn open_part(&self, file: &WantedFile) -> Result<File, HubError> {
        let path = self.part(file);
        create_private_file(&path).map_err(HubError::disk(&path))
    }

    /// Returns the entity tag that the part was sent under.
    pub(super) fn tag(&self, file: &WantedFile) -> Option<String> {
        let tag = fs::read_to_string(self.tag_path(file)).ok()?;
        is_strong_tag(&tag).then_some(tag)
    }

    /// Keeps the entity tag that a new part is sent under; a weak one says nothing of bytes and is not kept.
    pub(super) fn set_tag(&self, file: &WantedFile, tag: Option<&str>) -> Result<(), HubError> {
        let path = self.tag_path(file);
        match tag.filter(|tag| is_strong_tag(tag)) {
            Some(tag) => write_atomic(&path, tag.as_bytes()).map_err(HubError::disk(&path)),
            None => remove(&path),
        }
    }

    /// Drops what has come of a file.
    pub(super) fn discard(&self, file: &WantedFile) -> Result<(), HubError> {
        remove(&self.part(file))?;
        remove(&self.tag_path(file))
    }

    /// Gives a whole part its name.
    pub(super) fn publish(&self, file: &WantedFile) -> Result<(), HubError> {
        let path = self.file(file);
        if let Some(folder) = path.parent() {
            create_private_dir(folder).map_err(HubError::disk(folder))?;
        }
        fs::rename(self.part(file), &path).map_err(HubError::disk(&path))?;
        remove(&self.tag_path(file))
    }

    /// Removes whole files of an earlier choice: who imports the folder must not find two models.
    pub(super) fn keep_only(&self, wanted: &[WantedFile]) -> Result<(), HubError> {
        let root = self.files();
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).map_err(HubError::disk(&folder))? {
                let entry = entry.map_err(HubError::disk(&folder))?;
                let path = entry.path();
                if entry.file_type().map_err(HubError::disk(&path))?.is_dir() {
                    folders.push(path);
                } else if !wanted.iter().any(|file| root.join(&file.local) == path) {
                    remove(&path)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the start of the `README.md`; `None` where there is none.
    pub(super) fn read_me(&self) -> Result<Option<String>, HubError> {
        let path = self.files().join("README.md");
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(HubError::disk(&path)(error)),
        };
        let mut bytes = Vec::new();
        file.take(READ_ME_BYTES)
            .read_to_end(&mut bytes)
            .map_err(HubError::disk(&path))?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Whether anything but one file has come.
    pub(super) fn has_more_than(&self, name: &str) -> bool {
        let only = self.files().join(name).metadata().map_or(0, |found| found.len());
        bytes_below(&self.root) > only
    }

    /// Removes the download and, last and while it is held, the lock's file.
    pub(super) fn remove(self) -> Result<(), HubError> {
        if self.root.exists() {
            fs::remove_dir_all(&self.root).map_err(HubError::disk(&self.root))?;
        }
        remove(&self.lock_path)
    }
}

/// `"..."`, of characters that may stand in a header.
fn is_strong_tag(tag: &str) -> bool {
    let inner = |tag: &str| !tag.contains('"') && tag.bytes().all(|byte| byte.is_ascii_graphic());
    let quoted = tag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"'));
    tag.len() <= MAX_TAG && quoted.is_some_and(inner)
}

fn remove(path: &Path) -> Result<(), HubError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(HubError::disk(path)(error)),
        _ => Ok(()),
    }
}
