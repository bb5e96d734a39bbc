//! The word lane's index: words with stemming, bigrams and single characters of scripts without spaces.
//!
//! Tantivy commits on its own, apart from the database, so each commit carries the revision that it belongs to. The one
//! thing a newcomer gets wrong: [`TantivyStore::lane`] answers `None` where the two differ, and that is no error but the
//! sign that the builder has to write the difference, or everything, again.
//!
//! Readers never write here: a missing or broken folder is made anew by the next [`TantivyStore::write`] alone, whose
//! caller holds the project's lock. Tantivy's own writer lock is an advisory file lock that ends with its process; readers
//! share its meta lock, for the moment of opening segments, with the collection of files that a merge left behind.

mod collector;
mod directory;
mod lane;
mod query;
mod schema;
#[cfg(test)]
mod tests;

use std::{
    fs, io,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use casebook_chunker::UnitKey;
use casebook_storage::{FileError, create_private_dir, create_private_file};
use tantivy::{
    Index, IndexReader, IndexWriter, ReloadPolicy, directory::MmapDirectory, indexer::IndexWriterOptions,
    merge_policy::LogMergePolicy,
};

pub(crate) use self::lane::TantivyLane;
use self::{directory::ReadableDirectory, schema::Fields};
use super::{LaneDocument, analyzer};
use crate::RevisionId;

/// Bytes of words that the indexing thread gathers before it writes a segment.
const MEMORY_BUDGET: usize = 48 << 20;

/// Share of deleted documents from which a segment is rewritten without them.
const DELETED_BEFORE_MERGE: f32 = 0.3;

/// Gives units one after another to whoever takes them, until that fails.
pub(crate) type Feed<'a, E> = dyn FnMut(&mut dyn FnMut(&LaneDocument<'_>) -> Result<(), E>) -> Result<(), E> + 'a;

/// The word index of a project.
pub(crate) struct TantivyStore {
    dir: PathBuf,
    /// There where a search failed: what is committed cannot be trusted.
    suspicion: PathBuf,
    opened: Mutex<Option<Opened>>,
}

/// An index with a schema that is ours.
#[derive(Clone)]
struct Opened {
    index: Index,
    reader: IndexReader,
    fields: Fields,
}

impl TantivyStore {
    /// Everything that determines what the lane finds: words, stemming, fields and their weights.
    pub(crate) fn lexical_revision() -> String {
        format!("tantivy0.27/{}", analyzer::REVISION)
    }

    /// Opens the index of a folder. A missing one, a broken one and one with another schema hold nothing until the next
    /// [`write`](Self::write).
    pub(crate) fn open(dir: &Path) -> Result<Self, TantivyError> {
        let folder = |source| TantivyError::Folder {
            path: dir.to_owned(),
            source,
        };
        match fs::metadata(dir) {
            Ok(found) if !found.is_dir() => return Err(folder(io::ErrorKind::NotADirectory.into())),
            Err(source) if source.kind() != io::ErrorKind::NotFound => return Err(folder(source)),
            _ => {}
        }
        Ok(Self {
            dir: dir.to_owned(),
            suspicion: dir.with_extension("suspect"),
            opened: Mutex::default(),
        })
    }

    /// Returns the revision of the last commit; `None` where there is none that this version can read, or a search of it
    /// failed.
    pub(crate) fn committed_revision(&self) -> Option<RevisionId> {
        if self.is_suspect() {
            return None;
        }
        self.opened().ok()?.and_then(|opened| opened.committed_revision().ok()?)
    }

    /// Returns whether a search failed since everything was written last.
    pub(crate) fn is_suspect(&self) -> bool {
        self.suspicion.exists()
    }

    /// Has the next [`write`](Self::write) begin with an empty folder.
    pub(crate) fn suspect(&self) {
        // Where no file can be made, nothing can be written anew either.
        let _ = create_private_file(&self.suspicion);
    }

    /// Removes and adds units in one commit that carries the revision; `wipe` removes everything first. `added` gives
    /// them one after another; `publish` is called when all is written and right before the commit. Where either fails,
    /// nothing is committed. Where the folder cannot be used it is made anew, empty, so a caller whose difference starts
    /// from another revision than the committed one wipes and adds everything. Returns when no thread works on the index
    /// any more.
    pub(crate) fn write<E: From<TantivyError>>(
        &self,
        revision: &RevisionId,
        removed: &mut dyn Iterator<Item = UnitKey>,
        added: &mut Feed<'_, E>,
        wipe: bool,
        publish: &mut dyn FnMut() -> Result<(), E>,
    ) -> Result<(), E> {
        // What was opened before the build began has an older list of the files that Tantivy looks after, and would leave
        // those that another process made since behind for ever.
        *self.opened.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let opened = match self.opened() {
            Ok(Some(opened)) if !self.is_suspect() => opened,
            _ => self.recreate()?,
        };
        let write = || opened.write(revision, removed, added, wipe, publish);
        let written = catch_unwind(AssertUnwindSafe(write));
        make_files_private(&self.dir);
        let written = written.unwrap_or_else(|_| Err(TantivyError::Write(panicked()).into()));
        if written.is_err() {
            self.forget();
        }
        written
    }

    /// Returns the lane of the revision; `None` where the last commit belongs to another.
    pub(crate) fn lane(&self, revision: &RevisionId) -> Result<Option<TantivyLane>, TantivyError> {
        let Some(opened) = self.opened()? else {
            return Ok(None);
        };
        let lane = guarded(|| opened.lane(revision, &self.suspicion));
        lane.map_err(|source| {
            self.forget();
            TantivyError::Read(source)
        })
    }

    /// Returns the index, opening it where it is not; `None` where there is none yet.
    fn opened(&self) -> Result<Option<Opened>, TantivyError> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if opened.is_none() && self.dir.join("meta.json").exists() {
            *opened = Some(guarded(|| Opened::open(&self.dir)).map_err(TantivyError::Read)?);
        }
        Ok(opened.clone())
    }

    /// Opens anew at the next call: the folder may have been replaced.
    fn forget(&self) {
        *self.opened.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn recreate(&self) -> Result<Opened, TantivyError> {
        let folder = |source| TantivyError::Folder {
            path: self.dir.clone(),
            source,
        };
        match fs::remove_dir_all(&self.dir) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => return Err(folder(source)),
            _ => create_private_dir(&self.dir)?,
        }
        match fs::remove_file(&self.suspicion) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => return Err(folder(source)),
            _ => {}
        }
        Index::create_in_dir(&self.dir, schema::schema()).map_err(TantivyError::Write)?;
        let opened = Opened::open(&self.dir).map_err(TantivyError::Write)?;
        *self.opened.lock().unwrap_or_else(PoisonError::into_inner) = Some(opened.clone());
        Ok(opened)
    }
}

impl Opened {
    fn open(dir: &Path) -> tantivy::Result<Self> {
        let index = Index::open(ReadableDirectory(MmapDirectory::open(dir)?))?;
        if index.schema() != schema::schema() {
            let message = "written with another schema".to_owned();
            return Err(tantivy::TantivyError::SchemaError(message));
        }
        index.tokenizers().register(analyzer::NAME, analyzer::stored());
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let fields = Fields::of(&index.schema())?;
        Ok(Self { index, reader, fields })
    }

    fn committed_revision(&self) -> tantivy::Result<Option<RevisionId>> {
        let payload = self.index.load_metas()?.payload;
        Ok(payload.as_deref().and_then(revision_of))
    }

    fn lane(&self, revision: &RevisionId, suspicion: &Path) -> tantivy::Result<Option<TantivyLane>> {
        // Commits come in the order of revisions, so what is loaded between two looks that see the same one is that one.
        let is_newest = || Ok::<_, tantivy::TantivyError>(self.committed_revision()?.as_ref() == Some(revision));
        if !is_newest()? {
            return Ok(None);
        }
        self.reader.reload()?;
        let searcher = self.reader.searcher();
        if !is_newest()? {
            return Ok(None);
        }
        let suspicion = suspicion.to_owned();
        Ok(Some(TantivyLane::new(
            revision.clone(),
            searcher,
            self.fields,
            suspicion,
        )))
    }

    fn write<E: From<TantivyError>>(
        &self,
        revision: &RevisionId,
        removed: &mut dyn Iterator<Item = UnitKey>,
        added: &mut Feed<'_, E>,
        wipe: bool,
        publish: &mut dyn FnMut() -> Result<(), E>,
    ) -> Result<(), E> {
        let failed = |error| E::from(TantivyError::Write(error));
        let mut writer = self.writer().map_err(failed)?;
        if wipe {
            writer.delete_all_documents().map_err(failed)?;
        }
        for unit in removed {
            writer.delete_term(self.fields.unit_term(&unit));
        }
        added(&mut |document| {
            let added = writer.add_document(self.fields.document(document));
            added.map(drop).map_err(failed)
        })?;
        let mut commit = writer.prepare_commit().map_err(failed)?;
        commit.set_payload(&payload_of(revision));
        publish()?;
        commit.commit().map_err(failed)?;
        writer.wait_merging_threads().map_err(failed)
    }

    fn writer(&self) -> tantivy::Result<IndexWriter> {
        let options = IndexWriterOptions::builder()
            .num_worker_threads(1)
            .memory_budget_per_thread(MEMORY_BUDGET)
            .num_merge_threads(1)
            .build();
        let writer: IndexWriter = self.index.writer_with_options(options)?;
        let mut merge_policy = LogMergePolicy::default();
        merge_policy.set_del_docs_ratio_before_merge(DELETED_BEFORE_MERGE);
        writer.set_merge_policy(Box::new(merge_policy));
        Ok(writer)
    }
}

/// Closes the files of the folder to all but their owner: Tantivy makes them as open as the umask allows. Until then the
/// folder keeps others out, and so it does on a file system that refuses the mode.
#[cfg(unix)]
fn make_files_private(dir: &Path) {
    use std::os::unix::fs::PermissionsExt;

    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let is_open = |found: fs::Metadata| found.is_file() && found.permissions().mode() & 0o077 != 0;
        if entry.metadata().is_ok_and(is_open) {
            let _ = fs::set_permissions(entry.path(), fs::Permissions::from_mode(0o600));
        }
    }
}

/// Elsewhere files take over who may read the folder.
#[cfg(not(unix))]
fn make_files_private(_dir: &Path) {}

/// Makes an error of a panic: over the bytes of a damaged segment Tantivy does panic.
fn guarded<T>(work: impl FnOnce() -> tantivy::Result<T>) -> tantivy::Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(panicked()))
}

fn panicked() -> tantivy::TantivyError {
    tantivy::TantivyError::InternalError("panicked, a segment may be damaged".to_owned())
}

/// The payload names our own version too: words cut by another version are not searched with this one's.
fn payload_of(revision: &RevisionId) -> String {
    format!("{} {revision}", TantivyStore::lexical_revision())
}

fn revision_of(payload: &str) -> Option<RevisionId> {
    let revision = payload
        .strip_prefix(&TantivyStore::lexical_revision())?
        .strip_prefix(' ')?;
    Some(RevisionId::from(revision))
}

/// The word index cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TantivyError {
    /// Its folder cannot be made or replaced.
    #[error("word index folder {path:?} cannot be used")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Its folder cannot be made private.
    #[error("word index folder cannot be made")]
    Create(#[from] FileError),
    /// It cannot be opened or searched.
    #[error("word index cannot be read")]
    Read(#[source] tantivy::TantivyError),
    /// It cannot be written; the last commit stands.
    #[error("word index cannot be written")]
    Write(#[source] tantivy::TantivyError),
}
