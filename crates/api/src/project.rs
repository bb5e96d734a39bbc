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
    /// Where its index may live, best place first; see [`Project::index_homes`].
    pub index_dirs: Vec<PathBuf>,
    /// Where the records that a host pushes are kept; see [`Project::records_file`].
    pub records: PathBuf,
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

    /// Returns where a project's index may live: `.casebook` in the folder, unless `central` is wanted; then, for a folder
    /// that cannot be written, below the data folder. The place there is keyed by id and folder, so that a copy of a
    /// project, which has the same id, has an index of its own.
    pub fn index_homes(root: &Path, data_dir: &Path, id: &ProjectId, central: bool) -> Vec<PathBuf> {
        let name = format!("{}-{}", file_name(id), Self::derived_id(root));
        let below_data = data_dir.join("projects").join(name).join("index");
        let inside = (!central).then(|| root.join(".casebook"));
        inside.into_iter().chain([below_data]).collect()
    }

    /// Returns where a project's pushed records are kept: in the data folder, so that they outlive the index, in a file
    /// named by the SHA-256 of the id, so that no two ids share one on any file system.
    pub fn records_file(data_dir: &Path, id: &ProjectId) -> PathBuf {
        let digest = ContentHash::of(id.as_str());
        data_dir.join("records").join(format!("{digest}.db"))
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
