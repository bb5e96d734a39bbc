//! Packs on disk: one folder each, taken in and given up in one step.
//!
//! The one thing a newcomer gets wrong: a folder is a pack only under its own name. An import works in a folder whose name
//! no pack can have; the rename at its end is the moment at which the pack exists. What a killed import leaves is removed
//! by the next one, which knows that nobody else is at work because it holds the lock.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use super::files;
use super::names::{check_pack_name, check_path};
use super::staging::{early_name, import};
use super::{ImportRequest, Means, OnProgress, PACK_FORMAT, PackError, PackManifest, TryPack, checked, licence, means};

/// The file in a pack's folder that describes it.
pub(crate) const MANIFEST: &str = "pack.json";
/// Where an import works; no pack can have this name.
const STAGE: &str = ".import";
/// Where a removed pack goes on its way.
const TRASH: &str = ".removed";
/// Held while packs come and go.
const LOCK: &str = ".lock";

/// The folder of all packs.
#[derive(Clone, Debug)]
pub struct PackStore {
    dir: PathBuf,
}

/// What [`PackStore::list`] found.
#[derive(Debug, Default)]
pub struct PackList {
    /// Packs in order of names.
    pub packs: Vec<PackManifest>,
    /// Folders whose manifest cannot be used.
    pub problems: Vec<PackError>,
}

impl PackStore {
    /// Names the folder; it is created when the first pack is added.
    pub fn open(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// The folder of a pack, there or not.
    ///
    /// # Errors
    /// [`PackError::NameInvalid`].
    pub fn path(&self, name: &str) -> Result<PathBuf, PackError> {
        check_pack_name(name)?;
        Ok(self.dir.join(name))
    }

    /// Imports a model without running it. A pack of the same name and content is left as it is; one of other content is an
    /// error.
    ///
    /// # Errors
    /// Every way in which a source can be refused; the store is then as it was.
    pub fn add(&self, request: &ImportRequest, on_progress: OnProgress<'_>) -> Result<PackManifest, PackError> {
        self.add_tried(request, on_progress, &mut |_, _| Ok(Means::new()))
    }

    /// Imports a model as [`PackStore::add`] does, and has it run before it becomes a pack; see [`try_pack`](crate::try_pack).
    ///
    /// # Errors
    /// As [`PackStore::add`], and what running it gives.
    pub fn add_tried(
        &self,
        request: &ImportRequest,
        on_progress: OnProgress<'_>,
        try_pack: TryPack<'_>,
    ) -> Result<PackManifest, PackError> {
        let _lock = self.lock()?;
        let stage = self.dir.join(STAGE);
        files::create_dir(&stage)?;
        let added = self.add_staged(request, &stage, on_progress, try_pack);
        if added.is_err() {
            // The error that ended the import is the one to tell.
            let _ = fs::remove_dir_all(&stage);
        }
        added
    }

    fn add_staged(
        &self,
        request: &ImportRequest,
        stage: &Path,
        on_progress: OnProgress<'_>,
        try_pack: TryPack<'_>,
    ) -> Result<PackManifest, PackError> {
        let mut manifest = import(request, stage, on_progress)?;
        // Their hashes were taken a moment ago.
        checked::remember(stage, &manifest);
        means::complete(stage, &mut manifest, try_pack)?;
        checked::remember(stage, &manifest);
        let target = self.path(&manifest.name)?;
        if fs::symlink_metadata(&target).is_ok() {
            let there = self.manifest(&manifest.name);
            if there.as_ref().is_ok_and(|there| *there == manifest) {
                fs::remove_dir_all(stage).map_err(PackError::writing(stage))?;
                return Ok(manifest);
            }
            return Err(PackError::Exists { name: manifest.name });
        }
        files::write(&stage.join(MANIFEST), &to_bytes(&manifest))?;
        files::sync_dir(stage)?;
        fs::rename(stage, &target).map_err(PackError::writing(&target))?;
        files::sync_dir(&self.dir)?;
        Ok(manifest)
    }

    /// Refuses what can be refused before the source is here: a name that is none, or that a pack of another source or
    /// revision has, and a licence that is not taken. `card` is the model card, where it is here; the revision counts only
    /// where the request has one.
    ///
    /// # Errors
    /// As [`PackStore::add`] would.
    pub fn check_request(&self, request: &ImportRequest, card: Option<&str>) -> Result<(), PackError> {
        if let Some(name) = early_name(request)
            && fs::symlink_metadata(self.path(&name)?).is_ok()
        {
            let same = |there: &PackManifest| {
                let revision = request.revision.as_ref();
                request.source.as_ref() == Some(&there.source) && revision.is_none_or(|asked| *asked == there.revision)
            };
            if !self.manifest(&name).is_ok_and(|there| same(&there)) {
                return Err(PackError::Exists { name });
            }
        }
        let declared = [card.and_then(licence::of_card), request.declared_licence.clone()];
        match licence::decide(request.licence.as_deref(), declared, request.allow_licence) {
            // Before the card is here, nobody has been asked.
            Err(PackError::LicenceMissing) if card.is_none() => Ok(()),
            decided => decided.map(drop),
        }
    }

    /// Returns a file of some pack that has this SHA-256 by the manifest; what is in it is for the caller to check.
    pub fn file_of(&self, sha256: &str) -> Option<PathBuf> {
        let packs = self.list().ok()?.packs;
        packs.iter().find_map(|pack| {
            let file = pack.files.iter().find(|file| file.sha256 == sha256)?;
            check_path(&file.name).ok()?;
            Some(self.dir.join(&pack.name).join(&file.name))
        })
    }

    /// Reads all manifests. Reads no other file: [`PackStore::verify`] does.
    ///
    /// # Errors
    /// When the folder cannot be read; a missing one has no packs.
    pub fn list(&self) -> Result<PackList, PackError> {
        let mut list = PackList::default();
        let entries = match fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(list),
            Err(error) => return Err(PackError::reading(&self.dir)(error)),
        };
        let mut names = Vec::new();
        for entry in entries {
            let name = entry.map_err(PackError::reading(&self.dir))?.file_name();
            names.extend(
                name.to_str()
                    .filter(|name| check_pack_name(name).is_ok())
                    .map(ToOwned::to_owned),
            );
        }
        names.sort();
        for name in names {
            match self.manifest(&name) {
                Ok(manifest) => list.packs.push(manifest),
                Err(problem) => list.problems.push(problem),
            }
        }
        Ok(list)
    }

    /// Reads the manifest of a pack and checks its form.
    ///
    /// # Errors
    /// When there is no such pack or its manifest cannot be used.
    pub fn manifest(&self, name: &str) -> Result<PackManifest, PackError> {
        let folder = self.path(name)?;
        if !folder.is_dir() {
            return Err(PackError::Unknown { name: name.to_owned() });
        }
        let path = folder.join(MANIFEST);
        let invalid = |why: String| PackError::ManifestInvalid {
            name: name.to_owned(),
            why,
        };
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(invalid(format!("{MANIFEST} is missing")));
            }
            Err(error) => return Err(PackError::reading(&path)(error)),
        };
        let manifest: PackManifest = serde_json::from_slice(&bytes).map_err(|error| invalid(error.to_string()))?;
        if manifest.format != PACK_FORMAT {
            return Err(invalid(format!("it has format {}, not {PACK_FORMAT}", manifest.format)));
        }
        if manifest.name != name {
            return Err(invalid(format!("it is that of {}", manifest.name)));
        }
        Ok(manifest)
    }

    /// Removes a pack: its name is free at once, its files a moment later.
    ///
    /// # Errors
    /// When there is no such pack or it cannot be removed.
    pub fn remove(&self, name: &str) -> Result<(), PackError> {
        let folder = self.path(name)?;
        if !folder.is_dir() {
            return Err(PackError::Unknown { name: name.to_owned() });
        }
        let _lock = self.lock()?;
        let trash = self.dir.join(TRASH);
        fs::rename(&folder, &trash).map_err(PackError::writing(&folder))?;
        files::sync_dir(&self.dir)?;
        fs::remove_dir_all(&trash).map_err(PackError::writing(&trash))
    }

    /// Takes the lock, and removes what a killed process left.
    fn lock(&self) -> Result<File, PackError> {
        files::create_dir(&self.dir)?;
        let path = self.dir.join(LOCK);
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path).map_err(PackError::writing(&path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(PackError::Busy),
            Err(TryLockError::Error(error)) => return Err(PackError::writing(&path)(error)),
        }
        for left in [STAGE, TRASH].map(|name| self.dir.join(name)) {
            if fs::symlink_metadata(&left).is_ok() {
                fs::remove_dir_all(&left).map_err(PackError::writing(&left))?;
            }
        }
        Ok(file)
    }
}

/// Writes a manifest as it is kept: the same value gives the same bytes.
fn to_bytes(manifest: &PackManifest) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(manifest).expect("a manifest can be written");
    bytes.push(b'\n');
    bytes
}
