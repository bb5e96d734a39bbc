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

use casebook_storage::{FileLock, create_private_dir, create_private_file, write_atomic};

use super::choice::WantedFile;
use super::{HubError, HubSpec};

/// Of a `README.md`, only its front matter counts.
const READ_ME_BYTES: u64 = 64 << 10;
/// Longer than any entity tag.
const MAX_TAG: usize = 300;

/// The folder of one download, held for this process.
#[derive(Debug)]
pub(super) struct Place {
    root: PathBuf,
    _lock: FileLock,
}

impl Place {
    /// Takes the folder of a repository at a commit.
    ///
    /// # Errors
    /// When another process holds it, or it cannot be created.
    pub(super) fn open(into: &Path, spec: &HubSpec, commit: &str) -> Result<Self, HubError> {
        let folder = into.join(".downloads");
        let name = format!("{}--{}--{commit}", spec.owner(), spec.name());
        create_private_dir(&folder).map_err(HubError::disk(&folder))?;
        let lock_path = folder.join(format!("{name}.lock"));
        let lock = FileLock::try_acquire(&lock_path).map_err(HubError::disk(&lock_path))?;
        let place = Self {
            root: folder.join(name),
            _lock: lock.ok_or(HubError::Busy)?,
        };
        for folder in [place.files(), place.parts()] {
            create_private_dir(&folder).map_err(HubError::disk(&folder))?;
        }
        Ok(place)
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

    /// Removes the download. The lock's file stays: without it two processes could hold locks of one name.
    pub(super) fn remove(self) -> Result<(), HubError> {
        fs::remove_dir_all(&self.root).map_err(HubError::disk(&self.root))
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
