//! The index of one project: opening, healing, snapshots, status.

mod database;
mod files;
mod loaded;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use casebook_chunker::Chunker;
use casebook_corpus::{Degradation, Timestamp};
use casebook_storage::{FileLock, create_private_file};

pub(crate) use self::database::{FileId, Lent, Pool, Pooled};
use self::files::Files;
use self::loaded::Loaded;
pub(crate) use self::loaded::StateKey;
use crate::lexical::{Postings, TantivyError, TantivyStore, lexical_revision};
use crate::snapshot::{Reader, WordLane};
use crate::store::{self, is_broken, is_full_text_broken};
use crate::vector::Matrix;
use crate::{
    BuildError, BuildReport, BuildRequest, FillError, FillReport, FillRequest, FillStatus, OpenError, ReadError,
    Revision, RevisionId, Snapshot, builder, fill,
};

/// How an index is cut and which lexical lanes it has beside `identity`. Two processes that open one index with
/// different options rebuild each other's lanes, so take them from the project's configuration.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct IndexOptions {
    /// Cuts resources into units.
    pub chunker: Chunker,
    /// Whether there is a lane of words, in the database.
    pub impact: bool,
    /// Whether there is a lane of substrings.
    pub fts5: bool,
    /// Whether there is a lane of words by Tantivy.
    pub tantivy: bool,
    /// Bytes of vectors that are kept although the head does without them, for memory, settings and encoders that come
    /// back; builds delete the oldest of what is more. `None`: as many as the head's own take, and at least 64 MiB.
    pub cache_bytes: Option<u64>,
}

/// `heading-384` and the lane of words in the database: at the size of a hundred thousand units it answers within a twentieth
/// of the time of FTS5, finds what Tantivy finds, and costs a build the least.
impl Default for IndexOptions {
    fn default() -> Self {
        Self {
            chunker: Chunker::default(),
            impact: true,
            fts5: false,
            tantivy: false,
            cache_bytes: None,
        }
    }
}

impl IndexOptions {
    /// Returns the default with every lane.
    pub fn with_every_lane() -> Self {
        Self {
            impact: true,
            fts5: true,
            tantivy: true,
            ..Self::default()
        }
    }

    /// Returns whether there is a lane of this name beside `identity` that finds units by their words.
    pub fn has_lane(&self, name: &str) -> bool {
        match name {
            "impact" => self.impact,
            "fts5" => self.fts5,
            "tantivy" => self.tantivy,
            _ => false,
        }
    }
}

/// A build that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedBuild {
    /// What would have become the head.
    pub revision: RevisionId,
    /// Why it did not.
    pub reason: String,
    /// When it ended.
    pub at: Timestamp,
}

/// How an index stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexStatus {
    /// The head; `None` before the first build.
    pub head: Option<Revision>,
    /// The last build, where it failed after the head was made.
    pub last_failure: Option<FailedBuild>,
    /// Whether someone is building now.
    pub building: bool,
    /// The database was broken and is empty now; told until a build has made it whole again.
    pub rebuilt: Option<Degradation>,
    /// Bytes of all its files.
    pub bytes: u64,
}

/// The index of one project, in a folder of its own: `index.db`, `tantivy/`, `vectors/`, `build.lock`. All of it can be deleted at
/// any time and is built again from the sources. Many processes may have one index open; one builds at a time.
#[derive(Clone)]
pub struct Index {
    shared: Arc<Shared>,
}

/// What an index, its snapshots and its builds share.
pub(crate) struct Shared {
    files: Files,
    options: IndexOptions,
    lexical_revision: String,
    pool: Pool,
    matrices: Loaded<Matrix>,
    postings: Loaded<Postings>,
    tantivy: Mutex<Option<Arc<TantivyStore>>>,
    /// Told until a build has made the index whole again.
    rebuilt: Mutex<Option<Degradation>>,
}

impl Index {
    /// Opens the index in a folder with default options; a missing one is created empty. See [`open_with`](Self::open_with).
    ///
    /// # Errors
    /// See [`open_with`](Self::open_with).
    pub fn open(dir: &Path) -> Result<Self, OpenError> {
        Self::open_with(dir, IndexOptions::default())
    }

    /// Opens the index in a folder; a missing one is created empty. A broken database is moved aside as
    /// `index.db.corrupt-<n>` and made anew, empty, with the degradation `index_rebuilt` until it is built.
    ///
    /// # Errors
    /// When it was written by a newer version or the folder cannot be used.
    pub fn open_with(dir: &Path, options: IndexOptions) -> Result<Self, OpenError> {
        let files = Files::new(dir);
        files.prepare_folder().map_err(|error| OpenError::Folder {
            path: error.path,
            source: error.source,
        })?;
        let (pool, rebuilt) = Pool::open(&files)?;
        Ok(Self::of(files, options, pool, rebuilt))
    }

    /// Opens an index that is there and whose folder cannot be written, on a read-only disk or a full one. It answers as
    /// any other. A [`build`](Self::build) that finds nothing to do succeeds, any other fails until the folder can be
    /// written again.
    ///
    /// # Errors
    /// When there is none, it cannot be read, or it was written by another version.
    pub fn open_to_read(dir: &Path, options: IndexOptions) -> Result<Self, OpenError> {
        let files = Files::new(dir);
        let pool = Pool::open_to_read(&files)?;
        Ok(Self::of(files, options, pool, None))
    }

    fn of(files: Files, options: IndexOptions, pool: Pool, rebuilt: Option<Degradation>) -> Self {
        let lexical_revision = lexical_revision(&options);
        let shared = Arc::new(Shared {
            files,
            options,
            lexical_revision,
            pool,
            matrices: Loaded::default(),
            postings: Loaded::default(),
            tantivy: Mutex::default(),
            rebuilt: Mutex::new(rebuilt),
        });
        Self { shared }
    }

    /// Builds what changed and moves the head, in one step that readers see whole. Returns without a write where nothing
    /// changed. Safe against the end of the process at any moment.
    ///
    /// # Errors
    /// When the memory cannot be read or contradicts itself, when cancelled, busy, or when the index cannot be written.
    /// The head is then as it was, and [`status`](Self::status) tells the reason.
    pub fn build(&self, request: &BuildRequest<'_>) -> Result<BuildReport, BuildError> {
        builder::build(&self.shared, request)
    }

    /// Fills in what an encoder beside the one of the builds lacks at the head, newest resources first, and makes it the
    /// chosen one. Whoever ends it, also the end of the process, loses one batch at most; the next fill goes on. Builds and
    /// readers go on meanwhile, and a head that moves is followed. Once nothing is missing, vectors of encoders that are
    /// neither chosen nor used by builds are deleted, and not before.
    ///
    /// # Errors
    /// When there is no head, another fill is at work, the observer cancels, the encoder fails other than at single inputs,
    /// or the index cannot be written.
    pub fn fill(&self, request: &FillRequest<'_>) -> Result<FillReport, FillError> {
        fill::fill(&self.shared, request)
    }

    /// As [`fill`](Self::fill) for what an edit left behind: the chosen encoder stays what it was, where there was one, and
    /// nothing is deleted.
    ///
    /// # Errors
    /// See [`fill`](Self::fill).
    pub fn top_up(&self, request: &FillRequest<'_>) -> Result<FillReport, FillError> {
        fill::top_up(&self.shared, request)
    }

    /// Keeps everyone from filling until [`resume_fill`](Self::resume_fill), also after a restart. A fill at work ends
    /// before its next batch.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn pause_fill(&self) -> Result<(), FillError> {
        let paused = create_private_file(&self.shared.files.fill_pause);
        paused.map(drop).map_err(|error| FillError::Write(Box::new(error)))
    }

    /// Lets fills go on.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn resume_fill(&self) -> Result<(), FillError> {
        let resumed = self.shared.files.end_pause();
        resumed.map_err(|error| FillError::Write(Box::new(error)))
    }

    /// Returns whether filling is paused.
    pub fn is_fill_paused(&self) -> bool {
        self.shared.files.is_fill_paused()
    }

    /// Returns how the encoders stand.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn fill_status(&self) -> Result<FillStatus, ReadError> {
        let pooled = self
            .shared
            .pool
            .take(&self.shared.files)
            .map_err(|error| ReadError(Box::new(error)))?;
        let moment = pooled.db.unchecked_transaction();
        let encoders = moment
            .and_then(|moment| fill::encoders(&moment))
            .map_err(|error| self.shared.read_error(error))?;
        self.shared.give_back(pooled);
        Ok(FillStatus {
            encoders,
            filling: FileLock::is_held(&self.shared.files.fill_lock).map_err(|error| ReadError(Box::new(error)))?,
            paused: self.is_fill_paused(),
        })
    }

    /// Returns the head as it is now, `None` before the first build. Waits for no build, but for a moment where one is
    /// between the commits of its two stores.
    ///
    /// # Errors
    /// When the index cannot be read. Where that is because it is broken, the next [`build`](Self::build) makes it anew.
    pub fn snapshot(&self) -> Result<Option<Snapshot>, ReadError> {
        self.shared.snapshot()
    }

    /// Returns how the index stands.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn status(&self) -> Result<IndexStatus, ReadError> {
        let read = |error| self.shared.read_error(error);
        let pooled = self
            .shared
            .pool
            .take(&self.shared.files)
            .map_err(|error| ReadError(Box::new(error)))?;
        let head = store::head(&pooled.db).map_err(read)?.map(|head| head.revision);
        let last_failure = store::last_failure(&pooled.db).map_err(read)?;
        self.shared.give_back(pooled);
        Ok(IndexStatus {
            head,
            last_failure,
            rebuilt: self.shared.rebuilt().clone(),
            building: FileLock::is_held(&self.shared.files.lock).map_err(|error| ReadError(Box::new(error)))?,
            bytes: self.shared.files.bytes(),
        })
    }
}

impl Shared {
    pub(crate) fn options(&self) -> &IndexOptions {
        &self.options
    }

    pub(crate) fn lexical_revision(&self) -> &str {
        &self.lexical_revision
    }

    pub(crate) fn files(&self) -> &Files {
        &self.files
    }

    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }

    pub(crate) fn matrices(&self) -> &Loaded<Matrix> {
        &self.matrices
    }

    pub(crate) fn postings(&self) -> &Loaded<Postings> {
        &self.postings
    }

    pub(crate) fn give_back(&self, pooled: Pooled) {
        self.pool.give_back(pooled);
    }

    /// Takes note of an error that says that the database, or its tables of words or substrings alone, are broken; the next build, of
    /// whatever process, makes it anew.
    pub(crate) fn note(&self, error: &rusqlite::Error) {
        // Where not even an empty file can be written, nothing can be made anew either.
        if is_full_text_broken(error) {
            let _ = create_private_file(&self.files.full_text_suspicion);
        } else if is_broken(error) {
            let _ = create_private_file(&self.files.suspicion);
        }
    }

    /// Returns whether a read found the database broken.
    pub(crate) fn is_suspect(&self) -> bool {
        self.files.suspicion.exists()
    }

    /// Returns whether the tables of words or of substrings were found broken, and are wanted.
    pub(crate) fn is_full_text_suspect(&self) -> bool {
        (self.options.fts5 || self.options.impact) && self.files.full_text_suspicion.exists()
    }

    fn read_error(&self, error: rusqlite::Error) -> ReadError {
        self.note(&error);
        ReadError(Box::new(error))
    }

    /// What is told until a build has made the index whole again.
    pub(crate) fn rebuilt(&self) -> MutexGuard<'_, Option<Degradation>> {
        self.rebuilt.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the word index, opening it at the first call.
    pub(crate) fn word_index(&self) -> Result<Arc<TantivyStore>, TantivyError> {
        let mut opened = self.tantivy.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = &*opened {
            return Ok(Arc::clone(store));
        }
        let store = Arc::new(TantivyStore::open(&self.files.tantivy)?);
        *opened = Some(Arc::clone(&store));
        Ok(store)
    }

    /// Moves the broken database aside and forgets everything that was read from it. Only for who holds the build lock.
    pub(crate) fn replace_database(&self) -> Result<(), OpenError> {
        let degradation = self.pool.replace(&self.files)?;
        *self.rebuilt() = Some(degradation);
        *self.tantivy.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.matrices.clear();
        self.postings.clear();
        Ok(())
    }

    fn snapshot(self: &Arc<Self>) -> Result<Option<Snapshot>, ReadError> {
        /// A build commits to its two stores within moments.
        const PAUSE: Duration = Duration::from_millis(5);
        const LOOKS: u32 = 40;
        let mut looks = 0;
        loop {
            let pooled = self
                .pool
                .take(&self.files)
                .map_err(|error| ReadError(Box::new(error)))?;
            pooled
                .db
                .execute_batch("BEGIN")
                .map_err(|error| self.read_error(error))?;
            let Some(head) = store::head(&pooled.db).map_err(|error| self.read_error(error))? else {
                drop(Reader::new(Arc::clone(self), pooled));
                return Ok(None);
            };
            let reader = Arc::new(Reader::new(Arc::clone(self), pooled));
            let word_lane = self.word_lane(&head.revision.id);
            looks += 1;
            // One more look after the builder is gone: it may have committed between the two questions.
            let may_catch_up = looks < LOOKS && (looks == 1 || FileLock::is_held(&self.files.lock).unwrap_or(false));
            if matches!(word_lane, WordLane::Behind) && may_catch_up {
                drop(reader);
                std::thread::sleep(PAUSE);
                continue;
            }
            return Ok(Some(Snapshot::new(self, reader, head, word_lane)));
        }
    }

    fn word_lane(&self, revision: &RevisionId) -> WordLane {
        if !self.options.tantivy {
            return WordLane::Off;
        }
        match self.word_index().and_then(|store| store.lane(revision)) {
            Ok(Some(lane)) => WordLane::Ready(lane),
            Ok(None) => WordLane::Behind,
            Err(error) => WordLane::Broken(crate::error::chain(&error)),
        }
    }
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index")
            .field("dir", &self.dir())
            .finish_non_exhaustive()
    }
}

impl Index {
    /// Returns the folder.
    pub fn dir(&self) -> PathBuf {
        self.shared.files.dir.clone()
    }
}
