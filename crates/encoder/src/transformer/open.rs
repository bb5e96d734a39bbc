//! What both kinds of pack need when they are opened.

use std::path::Path;

use casebook_index::Passage;
use sha2::{Digest as _, Sha256};

use super::{TransformerError, WeightPrecision};
use crate::packs::{Architecture, PACK_FORMAT, PackManifest, PackTask, differing};

const FILE: &str = "pack.json";
/// To be raised when the same weights and text give other numbers than before.
const ENGINE: u32 = 1;
/// Hexadecimal digits of the digest in a revision.
const DIGEST_DIGITS: usize = 12;

/// Compares a pack's files with its manifest: their lengths, and their hashes where they were not compared since they were
/// written. Nothing else is opened.
///
/// # Errors
/// When a file is missing or is not what the manifest says; the error names it.
pub fn check_pack(dir: &Path, manifest: &PackManifest) -> Result<(), TransformerError> {
    for file in &manifest.files {
        let found = std::fs::metadata(dir.join(&file.name));
        let found = found
            .map_err(|source| TransformerError::read(&file.name, source))?
            .len();
        if found != file.bytes {
            return Err(TransformerError::Length {
                file: file.name.clone(),
                found,
                expected: file.bytes,
            });
        }
    }
    match differing(dir, manifest) {
        Ok(None) => Ok(()),
        Ok(Some(file)) => Err(TransformerError::Content { file }),
        Err(error) => Err(TransformerError::format(FILE, error.to_string())),
    }
}

/// Compares the manifest with what it is opened for, and the files with the manifest: vectors of other weights under the
/// same revision would never be found out.
pub(super) fn check(dir: &Path, manifest: &PackManifest, task: PackTask) -> Result<(), TransformerError> {
    if manifest.format != PACK_FORMAT {
        return Err(TransformerError::setting(FILE, "format", manifest.format, PACK_FORMAT));
    }
    if manifest.task != task {
        let name = |task| match task {
            PackTask::Embed => "embed",
            PackTask::Rerank => "rerank",
        };
        return Err(TransformerError::setting(FILE, "task", name(manifest.task), name(task)));
    }
    check_pack(dir, manifest)
}

/// Returns what determines a pack's numbers: its files and settings, the precision, and this engine.
pub(super) fn revision(manifest: &PackManifest, precision: WeightPrecision) -> String {
    let mut digest = Sha256::new();
    let mut add = |part: &str| {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    };
    let architecture = match manifest.architecture {
        Architecture::Bert => "bert",
        Architecture::XlmRoberta => "xlm-roberta",
        Architecture::Qwen3 => "qwen3",
    };
    add(&format!(
        "{ENGINE} {architecture} {:?} {:?} {} {} {} {precision:?} {} {}",
        manifest.task,
        manifest.pooling,
        manifest.normalise,
        manifest.dimension,
        manifest.max_tokens,
        manifest.means,
        manifest.sparse
    ));
    add(&manifest.query_prefix);
    add(&manifest.passage_prefix);
    for file in &manifest.files {
        add(&file.name);
        add(&file.sha256);
    }
    let digest: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}.{ENGINE}-{}", manifest.name, &digest[..DIGEST_DIGITS])
}

/// Returns a passage's context, or nothing where it has neither a path nor headings.
pub(super) fn context_of(passage: &Passage<'_>, context: impl Fn(&Passage<'_>) -> String) -> String {
    if passage.path.is_empty() && passage.heading_path.is_empty() {
        String::new()
    } else {
        context(passage)
    }
}
