//! Whether a file is the one that the hub lists.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use sha1::Sha1;
use sha2::{Digest, Sha256};

use super::HubError;
use super::HubOptions;
use super::patience::stop_if_asked;

/// What the hub tells to check a file by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Checksum {
    /// SHA-256 of the content, of files in large file storage.
    Sha256(String),
    /// Git's id of the content: SHA-1 of `blob LENGTH`, a zero byte and the content. Good against accidents, and against
    /// forgery as good as git itself.
    GitBlob(String),
    /// Nothing but the size.
    SizeOnly,
}

/// Returns what differs; `None` where the file is as listed.
pub(super) fn difference(
    path: &Path,
    size: u64,
    checksum: &Checksum,
    options: &HubOptions<'_>,
) -> Result<Option<&'static str>, HubError> {
    let mut file = File::open(path).map_err(HubError::disk(path))?;
    let length = file.metadata().map_err(HubError::disk(path))?.len();
    if length != size {
        return Ok(Some("its size differs"));
    }
    let same = match checksum {
        Checksum::Sha256(expected) => hash(Sha256::new(), &mut file, path, options)? == *expected,
        Checksum::GitBlob(expected) => {
            let start = Sha1::new_with_prefix(format!("blob {size}\0"));
            hash(start, &mut file, path, options)? == *expected
        }
        Checksum::SizeOnly => true,
    };
    Ok((!same).then_some("its checksum differs"))
}

fn hash<D: Digest>(mut hasher: D, file: &mut File, path: &Path, options: &HubOptions<'_>) -> Result<String, HubError> {
    let mut buffer = vec![0; 1 << 20];
    loop {
        stop_if_asked(options)?;
        match file.read(&mut buffer).map_err(HubError::disk(path))? {
            0 => break,
            read => hasher.update(&buffer[..read]),
        }
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}
