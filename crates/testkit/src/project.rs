//! A project folder that is gone when the test is.

use std::fs;
use std::path::{Path, PathBuf};

/// A project in a temporary folder. Its methods panic where the file system refuses: a test cannot go on then.
#[derive(Debug)]
pub struct TempProject {
    folder: tempfile::TempDir,
}

impl TempProject {
    /// Makes an empty project.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("the temporary folder can be written");
        Self { folder }
    }

    /// Makes a project with these files.
    pub fn with(files: &[(&str, &str)]) -> Self {
        let project = Self::new();
        for (path, text) in files {
            project.write(path, text);
        }
        project
    }

    /// Returns the project's folder.
    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    /// Returns where a path relative to the root is.
    pub fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    /// Writes a file, and the folders it needs.
    pub fn write(&self, path: &str, text: &str) {
        self.write_bytes(path, text.as_bytes());
    }

    /// Writes a file that need not be text, and the folders it needs.
    pub fn write_bytes(&self, path: &str, bytes: &[u8]) {
        let path = self.path(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).expect("a folder can be made in the project");
        }
        fs::write(path, bytes).expect("a file can be written in the project");
    }

    /// Removes a file.
    pub fn remove(&self, path: &str) {
        fs::remove_file(self.path(path)).expect("the file to remove exists");
    }
}

impl Default for TempProject {
    fn default() -> Self {
        Self::new()
    }
}
