//! Compares a pack with its manifest.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;

use super::checked::CHECKED;
use super::files::{self, Meter};
use super::means::MEANS;
use super::names::check_path;
use super::staging::{GGUF, SAFETENSORS, SPARSE};
use super::store::MANIFEST;
use super::{ImportStage, OnProgress, PackError, PackManifest, PackStore};

/// What is wrong with a pack.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PackFault {
    /// The manifest cannot be used, or says what cannot be.
    Manifest(String),
    /// A file is not there.
    Missing(String),
    /// A file cannot be read.
    Unreadable(String, String),
    /// A file has another length: found, expected.
    Length(String, u64, u64),
    /// A file has another content.
    Content(String),
    /// A file is not in the manifest.
    Unknown(String),
}

impl fmt::Display for PackFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Manifest(why) => write!(f, "{MANIFEST}: {why}"),
            Self::Missing(name) => write!(f, "{name} is missing"),
            Self::Unreadable(name, why) => write!(f, "{name} cannot be read: {why}"),
            Self::Length(name, found, expected) => write!(f, "{name} has {found} bytes, the manifest says {expected}"),
            Self::Content(name) => write!(f, "{name} has another SHA-256 than the manifest says"),
            Self::Unknown(name) => write!(f, "{name} is not in the manifest"),
        }
    }
}

impl PackStore {
    /// Reads every file of a pack and compares it with the manifest; returns everything that is wrong.
    ///
    /// # Errors
    /// When there is no such pack, or its folder cannot be read at all.
    pub fn verify(&self, name: &str, on_progress: OnProgress<'_>) -> Result<Vec<PackFault>, PackError> {
        let folder = self.path(name)?;
        let manifest = match self.manifest(name) {
            Ok(manifest) => manifest,
            Err(PackError::ManifestInvalid { why, .. }) => return Ok(vec![PackFault::Manifest(why)]),
            Err(error) => return Err(error),
        };
        let mut faults: Vec<_> = form(&manifest).into_iter().map(PackFault::Manifest).collect();
        let mut there = BTreeSet::new();
        for entry in fs::read_dir(&folder).map_err(PackError::reading(&folder))? {
            let entry = entry.map_err(PackError::reading(&folder))?;
            there.insert(entry.file_name().to_string_lossy().into_owned());
        }
        there.remove(MANIFEST);
        there.remove(CHECKED);
        let total = manifest
            .files
            .iter()
            .fold(0_u64, |sum, file| sum.saturating_add(file.bytes));
        let mut meter = Meter::new(ImportStage::Hashing, total, on_progress);
        for file in &manifest.files {
            if !there.remove(&file.name) {
                faults.push(PackFault::Missing(file.name.clone()));
                continue;
            }
            let path = folder.join(&file.name);
            let fault = match fs::symlink_metadata(&path) {
                Err(error) => Some(PackFault::Unreadable(file.name.clone(), error.to_string())),
                Ok(kind) if !kind.is_file() => {
                    Some(PackFault::Unreadable(file.name.clone(), "it is no file".to_owned()))
                }
                Ok(kind) if kind.len() != file.bytes => {
                    Some(PackFault::Length(file.name.clone(), kind.len(), file.bytes))
                }
                Ok(_) => match files::digest(&path, &mut meter) {
                    Err(error) => Some(PackFault::Unreadable(file.name.clone(), error.to_string())),
                    Ok((_, sha256)) if sha256 != file.sha256 => Some(PackFault::Content(file.name.clone())),
                    Ok(_) => None,
                },
            };
            faults.extend(fault);
        }
        faults.extend(there.into_iter().map(PackFault::Unknown));
        Ok(faults)
    }
}

/// Returns what the manifest says that no pack could be.
fn form(manifest: &PackManifest) -> Vec<String> {
    let mut faults = Vec::new();
    let names: Vec<_> = manifest.files.iter().map(|file| file.name.as_str()).collect();
    if !names.is_sorted_by(|one, other| one < other) {
        faults.push("its files are not in order, or one is there twice".to_owned());
    }
    for file in &manifest.files {
        if check_path(&file.name).is_err() || file.name.contains('/') || file.name == MANIFEST {
            faults.push(format!("{:?} is no name of a pack's file", file.name));
        }
        if file.sha256.len() != 64
            || !file
                .sha256
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        {
            faults.push(format!("the hash of {} is no SHA-256", file.name));
        }
    }
    let has = |name: &str| names.contains(&name);
    for name in ["config.json", "tokenizer.json"].into_iter().filter(|name| !has(name)) {
        faults.push(format!("{name} is not among its files"));
    }
    if has(SAFETENSORS) == has(GGUF) {
        faults.push(format!("it needs {SAFETENSORS} or {GGUF}"));
    }
    for (said, name) in [(manifest.sparse, SPARSE), (manifest.means, MEANS)] {
        if said && !has(name) {
            faults.push(format!("{name} is not among its files"));
        }
    }
    if manifest.max_tokens == 0 || manifest.licence.is_empty() || manifest.revision.is_empty() {
        faults.push("it lacks a licence, a revision or a number of tokens".to_owned());
    }
    faults
}
