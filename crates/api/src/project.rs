//! A folder with memory, as its configuration describes it.

use std::path::{Path, PathBuf};

use casebook_corpus::{ContentHash, FilesConfig, ProjectId};
use casebook_index::IndexOptions;
use casebook_ranker::RankerConfig;

/// A folder with memory: the isolation boundary. All values are checked by the layer that uses them.
#[derive(Clone, Debug)]
pub struct Project {
    /// Identity in the history.
    pub id: ProjectId,
    /// The folder, canonical.
    pub root: PathBuf,
    /// Where its index lives; see [`Project::index_home`].
    pub index_dir: PathBuf,
    /// Which files are memory.
    pub files: FilesConfig,
    /// How the index is built.
    pub index: IndexOptions,
    /// How candidates are ranked.
    pub ranker: RankerConfig,
    /// Audiences that callers on this machine speak for.
    pub audiences: Vec<String>,
}

impl Project {
    /// Returns the id of a folder that declares none: it depends on the folder's place alone.
    pub fn derived_id(root: &Path) -> ProjectId {
        let digest = ContentHash::of(root.as_os_str().as_encoded_bytes()).to_string();
        ProjectId::new(format!("folder-{}", &digest[..16]))
    }

    /// Returns where a project's index lives: `.casebook` in the folder, or, where the folder cannot be written or
    /// `central` is wanted, below the data folder under the project's id.
    pub fn index_home(root: &Path, data_dir: &Path, id: &ProjectId, central: bool) -> PathBuf {
        let inside = root.join(".casebook");
        if !central && (inside.is_dir() || casebook_storage::create_private_dir(&inside).is_ok()) {
            return inside;
        }
        data_dir.join("projects").join(file_name(id)).join("index")
    }
}

/// Returns a file name for any id: readable where it is plain, else a digest.
fn file_name(id: &ProjectId) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if (1..=80).contains(&id.as_str().len()) && id.as_str().chars().all(plain) {
        return id.to_string();
    }
    ContentHash::of(id.as_str()).to_string()
}
