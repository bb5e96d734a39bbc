//! The way into history.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use casebook_corpus::{Clock, EffectiveHash, Manifest, ProjectId};
use casebook_ranker::{Activation, ActivationRequest, RankerConfig};
use casebook_storage::{FileLock, OpenOptions, Synchronous};
use rusqlite::{Connection, TransactionBehavior};

use crate::blobs::BlobStore;
use crate::instance::Instances;
use crate::log::{self, Pending};
use crate::schema::{APPLICATION_ID, MIGRATIONS};
use crate::stored::{CorpusFrozen, Event, RunFailed, RunStarted, RunSucceeded, StoredConfig, StoredRequest};
use crate::{InstanceId, OpenError, ReadError, RecordError, RunFailure, RunId, Verification, projection, recovery};

/// How long a writer waits for another. Long enough for many at once, short enough for one that was stopped in the midst
/// of a write: an answer must not wait for its record.
const BUSY_LIMIT: Duration = Duration::from_secs(1);

/// Records retrievals and reads them back. Shared by the threads of a process; many processes may have one each.
///
/// A call that records returns when its events survive the end of the process, or with an error after which nothing of
/// them is there (but for the two errors that say otherwise). Nothing is pressed to the disk: history is best effort, and
/// an answer does not wait for it. After a loss of power the last Runs and texts may be missing; the log is whole up to
/// there, and reading names a missing text.
pub struct Recorder {
    db: Mutex<Connection>,
    pub(crate) blobs: BlobStore,
    instance: InstanceId,
    clock: Arc<dyn Clock>,
    /// Tells the other processes that this one lives.
    _alive: FileLock,
}

impl Recorder {
    /// Opens the history in `dir` (the user's data folder), creates it where it is missing, and closes the Runs of
    /// processes that are gone. `instance` must be unique to this process.
    ///
    /// # Errors
    /// When the folder or the database cannot be used, is damaged or of a newer version. The caller then goes on without
    /// history and says so.
    pub fn open(dir: &Path, instance: InstanceId, clock: Arc<dyn Clock>) -> Result<Self, OpenError> {
        casebook_storage::create_private_dir(dir)?;
        let path = dir.join("local.db");
        let mut db = open_database(&path).map_err(|source| OpenError::Database { path, source })?;
        let instances = Instances::new(dir)?;
        let alive = instances.enter(&instance)?;
        recovery::close_interrupted(&mut db, &instances, &instance, &*clock)?;
        instances.sweep()?;
        Ok(Self {
            db: Mutex::new(db),
            blobs: BlobStore::new(dir),
            instance,
            clock,
            _alive: alive,
        })
    }

    /// Records that a retrieval begins.
    ///
    /// # Errors
    /// When the Run exists or cannot be recorded.
    pub fn start_run(
        &self,
        run: &RunId,
        project: &ProjectId,
        request: &ActivationRequest,
        config: &RankerConfig,
    ) -> Result<(), RecordError> {
        let event = Event::RunStarted(RunStarted {
            project: project.clone(),
            instance: self.instance.clone(),
            request: StoredRequest::from_runtime(request),
            config: StoredConfig::from_runtime(config),
        });
        log::append_one(&mut self.db(), &run_stream(run), 0, &*self.clock, &event)
    }

    /// Records the answer of a Run with its full trace, and the texts it shows. `manifest` is asked for the memory that
    /// was searched only where history does not have it yet.
    ///
    /// A fragment whose text is not what its hash says is recorded without it; reading then names it.
    ///
    /// # Errors
    /// When the Run is not running or cannot be recorded. After [`RecordError::Blob`] and [`RecordError::Manifest`] the
    /// Run is recorded, only that part is not.
    pub fn finish_run(
        &self,
        run: &RunId,
        activation: &Activation,
        manifest: &dyn Fn() -> Option<Manifest>,
    ) -> Result<(), RecordError> {
        // Before the event, so that no reader finds an event whose texts are still to come.
        let texts = self.store_texts(activation);
        let (corpus, frozen) = match self.new_corpus(activation.effective_hash, manifest) {
            Ok(corpus) => (corpus, Ok(())),
            Err(error) => (None, Err(error)),
        };
        let succeeded = Event::RunSucceeded(RunSucceeded::from_runtime(activation));
        self.append_finish(run, activation.effective_hash, corpus.as_ref(), &succeeded)?;
        texts.and(frozen)
    }

    /// Records that a Run failed.
    ///
    /// # Errors
    /// When the Run is not running or cannot be recorded.
    pub fn fail_run(&self, run: &RunId, failure: &RunFailure) -> Result<(), RecordError> {
        let event = Event::RunFailed(RunFailed::from_runtime(failure));
        log::append_one(&mut self.db(), &run_stream(run), 1, &*self.clock, &event)
    }

    /// Walks the hash chain of the whole log and names the first event that does not hold.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn verify(&self) -> Result<Verification, ReadError> {
        log::verify(&self.db())
    }

    /// Makes every projection again from the log, in one transaction.
    ///
    /// # Errors
    /// When an event cannot be read; the projections are then as before.
    pub fn rebuild(&self) -> Result<(), ReadError> {
        let mut db = self.db();
        let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        projection::clear(&tx)?;
        log::replay(&tx)?;
        Ok(tx.commit()?)
    }

    /// A panic elsewhere leaves no half transaction behind, so the connection stays good.
    pub(crate) fn db(&self) -> MutexGuard<'_, Connection> {
        self.db.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores what it can and returns the first problem.
    fn store_texts(&self, activation: &Activation) -> Result<(), RecordError> {
        let mut outcome = Ok(());
        for fragment in &activation.fragments {
            let hash = fragment.content_hash;
            let stored = self.blobs.put(hash, &fragment.text);
            outcome = outcome.and(stored.map_err(|source| RecordError::Blob { hash, source }));
        }
        outcome
    }

    fn new_corpus(
        &self,
        expected: EffectiveHash,
        manifest: &dyn Fn() -> Option<Manifest>,
    ) -> Result<Option<Event>, RecordError> {
        if log::stream_version(&self.db(), &corpus_stream(expected))? > 0 {
            return Ok(None);
        }
        let Some(manifest) = manifest() else { return Ok(None) };
        let found = manifest.effective_hash();
        if found != expected {
            return Err(RecordError::Manifest { expected, found });
        }
        Ok(Some(Event::CorpusFrozen(CorpusFrozen::from_runtime(
            expected, &manifest,
        ))))
    }

    fn append_finish(
        &self,
        run: &RunId,
        memory: EffectiveHash,
        corpus: Option<&Event>,
        succeeded: &Event,
    ) -> Result<(), RecordError> {
        let payload = succeeded.encode()?;
        let frozen = corpus.map(Event::encode).transpose()?;
        let mut db = self.db();
        let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let recorded_at = self.clock.now();
        if let (Some(event), Some(payload)) = (corpus, &frozen) {
            let stream = corpus_stream(memory);
            let pending = Pending {
                stream: &stream,
                expected: 0,
                recorded_at,
                event,
                payload,
            };
            match log::append(&tx, &pending) {
                // Another process froze the same memory since we looked.
                Err(RecordError::Conflict { .. }) => {}
                other => other?,
            }
        }
        let stream = run_stream(run);
        log::append(
            &tx,
            &Pending {
                stream: &stream,
                expected: 1,
                recorded_at,
                event: succeeded,
                payload: &payload,
            },
        )?;
        Ok(tx.commit()?)
    }
}

fn open_database(path: &Path) -> Result<Connection, casebook_storage::DatabaseError> {
    let options = OpenOptions {
        busy_timeout: BUSY_LIMIT,
        ..OpenOptions::new(APPLICATION_ID, Synchronous::Normal)
    };
    let mut db = casebook_storage::open(path, &options)?;
    casebook_storage::migrate(&mut db, MIGRATIONS)?;
    db.set_prepared_statement_cache_capacity(32);
    Ok(db)
}

pub(crate) fn run_stream(run: &RunId) -> String {
    format!("run/{run}")
}

pub(crate) fn corpus_stream(memory: EffectiveHash) -> String {
    format!("corpus/{memory}")
}
