//! The files of an index.

use std::fs;
use std::path::{Path, PathBuf};

use casebook_storage::{FileError, bytes_below, create_private_dir, write_atomic};

/// Where the files of an index are.
pub(crate) struct Files {
    pub(crate) dir: PathBuf,
    pub(crate) database: PathBuf,
    pub(crate) tantivy: PathBuf,
    /// Vectors that need not be read out of the database.
    pub(crate) vectors: PathBuf,
    pub(crate) lock: PathBuf,
    /// There where a read found the database broken.
    pub(crate) suspicion: PathBuf,
    /// There where the tables of words or of substrings alone were found broken.
    pub(crate) full_text_suspicion: PathBuf,
    /// Held by who fills vectors in.
    pub(crate) fill_lock: PathBuf,
    /// There while nobody may fill vectors in.
    pub(crate) fill_pause: PathBuf,
}

/// How many broken databases are kept for whoever wants to know what happened.
const KEPT_BROKEN: u32 = 3;

impl Files {
    pub(crate) fn new(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            database: dir.join("index.db"),
            tantivy: dir.join("tantivy"),
            vectors: dir.join("vectors"),
            lock: dir.join("build.lock"),
            suspicion: dir.join("index.db.suspect"),
            full_text_suspicion: dir.join("lexical.suspect"),
            fill_lock: dir.join("fill.lock"),
            fill_pause: dir.join("fill.paused"),
        }
    }

    /// Creates the folder, and keeps it out of the project's version control.
    pub(crate) fn prepare_folder(&self) -> Result<(), FileError> {
        create_private_dir(&self.dir)?;
        let ignore = self.dir.join(".gitignore");
        if ignore.exists() {
            return Ok(());
        }
        write_atomic(&ignore, b"*\n")
    }

    /// Creates the folder again where somebody deleted it. The project's own is left to whoever took it away: an empty one
    /// in its place would look like a memory without files.
    pub(crate) fn renew_folder(&self) -> Result<(), FileError> {
        let above = self.dir.parent().unwrap_or(Path::new(""));
        if self.dir.exists() || above.is_dir() {
            return self.prepare_folder();
        }
        Err(FileError {
            path: above.to_owned(),
            source: std::io::ErrorKind::NotFound.into(),
        })
    }

    /// Moves the database aside and removes what was made from it. Returns the new name.
    pub(crate) fn set_aside(&self) -> std::io::Result<PathBuf> {
        let names = (1..=KEPT_BROKEN).map(|n| self.dir.join(format!("index.db.corrupt-{n}")));
        let mut names: Vec<PathBuf> = names.collect();
        let free = names.iter().position(|name| !name.exists()).unwrap_or(names.len() - 1);
        let name = names.swap_remove(free);
        // The log first: left behind, it would be played into the new database.
        for suffix in ["-wal", "-shm"] {
            gone(fs::remove_file(with_suffix(&self.database, suffix)))?;
        }
        gone(fs::rename(&self.database, &name))?;
        gone(fs::remove_dir_all(&self.tantivy))?;
        gone(fs::remove_dir_all(&self.vectors))?;
        self.trust_full_text()?;
        // Last: where this process ends before, the next build starts over.
        gone(fs::remove_file(&self.suspicion))?;
        Ok(name)
    }

    /// Forgets that the tables of words or of substrings were found broken.
    pub(crate) fn trust_full_text(&self) -> std::io::Result<()> {
        gone(fs::remove_file(&self.full_text_suspicion))
    }

    /// Returns whether nobody may fill vectors in.
    pub(crate) fn is_fill_paused(&self) -> bool {
        self.fill_pause.exists()
    }

    /// Lets fills go on.
    pub(crate) fn end_pause(&self) -> std::io::Result<()> {
        gone(fs::remove_file(&self.fill_pause))
    }

    /// Returns the bytes of everything in the folder.
    pub(crate) fn bytes(&self) -> u64 {
        bytes_below(&self.dir)
    }
}

/// What is not there need not be removed.
fn gone(result: std::io::Result<()>) -> std::io::Result<()> {
    match result {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
