//! Composes the layers: memory, index, ranker, history.

mod fill;
mod sources;

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use casebook_corpus::{Clock, Degradation, EffectiveHash, FileSources, FileWatcher, ResourceMeta};
use casebook_index::{
    BuildError, BuildObserver, BuildReport, BuildRequest, Index, LockWait, OpenError, ReadError, RecordStore, Snapshot,
    TextEncoder,
};
use casebook_ranker::{Activation, ActivationRequest, Lanes, PairScorer, Preferred, RevisionId, SourceState, Tools};
use casebook_recorder::RunId;

use self::sources::Sources;
use crate::error::chain;
use crate::history::{History, RunRecording};
use crate::{ApiError, ErrorKind, Project};

/// The head is older than the memory.
pub(crate) const INDEX_STALE: &str = "index_stale";
/// Some files are not in the index.
pub(crate) const FILES_SKIPPED: &str = "files_skipped";

/// There is nothing to find.
pub(crate) const MEMORY_EMPTY: &str = "memory_empty";

/// How long an answer waits for another process's build when it could answer from the head.
const BUSY_WAIT_MS: u64 = 250;

/// What only the binary can pick.
#[derive(Clone)]
pub struct Parts {
    /// Makes vectors while the index is built: always there, and quick.
    pub encoder: Arc<dyn TextEncoder>,
    /// Makes better vectors, slowly: they are filled in beside, and answer once they are complete.
    pub preferred: Option<Arc<dyn TextEncoder>>,
    /// Reranks.
    pub scorer: Arc<dyn PairScorer>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Makes ids of Runs: unique, rising with time.
    pub run_ids: Arc<dyn Fn() -> RunId + Send + Sync>,
    /// What was asked for and is not among these parts; builds and answers carry it.
    pub problems: Vec<Degradation>,
}

/// Whether an answer brings the index up to date first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refresh {
    /// Yes; the cost follows what changed. Without a head the first build is waited for.
    First,
    /// No: answer from the head as it is.
    No,
}

/// An answer and the Run that recorded it.
#[derive(Clone, Debug, PartialEq)]
pub struct Activated {
    /// The Run; `None` where the history could not be written.
    pub run_id: Option<RunId>,
    /// The answer. Where `run_id` is `None`, its degradations say why.
    pub activation: Activation,
}

/// One project, open.
pub struct Service {
    project: Project,
    sources: Sources,
    index: Index,
    history: Result<History, ApiError>,
    parts: Parts,
}

impl Service {
    /// Opens a project. `history` is what opening it gave: an answer does without where it failed.
    ///
    /// # Errors
    /// When the memory or the index cannot be opened, or a setting is out of its range.
    pub fn open(project: Project, history: Result<History, ApiError>, parts: Parts) -> Result<Self, ApiError> {
        let files = open_sources(&project)?;
        let records = RecordStore::at(&project.records, &project.id);
        let sources = Sources { files, records };
        project.ranker.validate().map_err(|error| {
            ApiError::new(
                "config_invalid",
                ErrorKind::Input,
                format!("the [ranker] settings are wrong: {error}"),
            )
        })?;
        let index = open_index(&project)?;
        Ok(Self {
            project,
            sources,
            index,
            history,
            parts,
        })
    }

    /// Returns the project.
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// Brings the index up to date.
    ///
    /// # Errors
    /// When the memory cannot be published or the index cannot be written; the head is as it was.
    pub fn build(&self, full: bool, observer: &dyn BuildObserver) -> Result<BuildReport, ApiError> {
        let mut report = self.build_with(full, LockWait::UntilFree, observer)?;
        report.degradations.extend(self.awaited_vectors());
        report.degradations.extend_from_slice(self.problems());
        Ok(report)
    }

    /// Returns what was asked for and could not be had when the project was opened.
    pub fn problems(&self) -> &[Degradation] {
        &self.parts.problems
    }

    /// Returns what notices changes of the memory.
    ///
    /// # Errors
    /// When the memory cannot be read.
    pub fn watcher(&self) -> Result<FileWatcher, ApiError> {
        Ok(FileWatcher::new(open_sources(&self.project)?))
    }

    fn build_with(&self, full: bool, wait: LockWait, observer: &dyn BuildObserver) -> Result<BuildReport, BuildError> {
        // Before the index: it lies in the folder, and would be missed for another reason.
        self.sources.files.check()?;
        let mut report = self.index.build(&BuildRequest {
            source: &self.sources,
            encoder: Some(&*self.parts.encoder),
            clock: &*self.parts.clock,
            observer,
            full,
            wait,
        })?;
        report.degradations.extend(self.top_up(report.head_moved, observer));
        Ok(report)
    }

    /// Returns the folder of the index.
    pub fn index_dir(&self) -> PathBuf {
        self.index.dir()
    }

    /// Answers a question, on the record. `problems` are what the caller could not use of the request; the answer names
    /// them.
    ///
    /// # Errors
    /// A wrong request, or nothing to answer from. The Run is then recorded as failed.
    pub fn activate(
        &self,
        request: &ActivationRequest,
        refresh: Refresh,
        problems: Vec<Degradation>,
        observer: &dyn BuildObserver,
    ) -> Result<Activated, ApiError> {
        if request.query.trim().is_empty() {
            return Err(ApiError::new(
                "query_empty",
                ErrorKind::Input,
                "the question is empty; say what you look for",
            ));
        }
        let run = (self.parts.run_ids)();
        let recording = RunRecording::start(&self.history, run, &self.project.id, request, &self.project.ranker);
        let mut answered = self.answer(request, refresh, &problems, observer);
        if refresh == Refresh::First && answered.as_ref().is_err_and(|failed| failed.is_broken_index()) {
            // What found it broken left a mark, and the refresh makes it anew.
            answered = self.answer(request, refresh, &problems, observer);
        }
        let (mut activation, snapshot) = answered.map_err(|failed| {
            recording.fail(&failed.error, failed.stage, failed.known);
            failed.error
        })?;
        let incomplete = recording.succeed(&activation, &|| snapshot.manifest().ok());
        activation.degradations.extend(incomplete);
        let run_id = match recording.outcome() {
            Ok(run_id) => Some(run_id),
            Err(problem) => {
                activation.degradations.push(problem);
                None
            }
        };
        Ok(Activated { run_id, activation })
    }

    fn answer(
        &self,
        request: &ActivationRequest,
        refresh: Refresh,
        problems: &[Degradation],
        observer: &dyn BuildObserver,
    ) -> Result<(Activation, Snapshot), Box<Failed>> {
        let without_head = |error| {
            Box::new(Failed {
                error,
                stage: "index",
                known: None,
            })
        };
        let (snapshot, staleness) = self.refreshed(refresh, observer).map_err(without_head)?;
        let degradations = problems.iter().cloned().chain(staleness).collect();
        match self.rank(request, &snapshot, degradations) {
            Ok(activation) => Ok((activation, snapshot)),
            Err(error) => {
                let revision = snapshot.revision();
                let known = Some((revision.id.clone(), revision.effective_hash));
                Err(Box::new(Failed {
                    error,
                    stage: "rank",
                    known,
                }))
            }
        }
    }

    /// Returns a snapshot to answer from, and what is not as fresh as it could be.
    fn refreshed(
        &self,
        refresh: Refresh,
        observer: &dyn BuildObserver,
    ) -> Result<(Snapshot, Vec<Degradation>), ApiError> {
        let mut degradations = Vec::new();
        // An index that cannot be read is broken: the build makes it anew.
        let has_head = self.index.snapshot().is_ok_and(|head| head.is_some());
        if refresh == Refresh::First {
            let wait = if has_head {
                LockWait::Millis(BUSY_WAIT_MS)
            } else {
                LockWait::UntilFree
            };
            match self.build_with(false, wait, observer) {
                Ok(report) => degradations.extend(told_once(report)),
                // Whoever stops it does not want an answer.
                Err(error @ BuildError::Cancelled) => return Err(error.into()),
                Err(error) if has_head => degradations.push(Degradation::new(
                    INDEX_STALE,
                    format!("answered from the last ready revision: {}", chain(&error).join(": ")),
                )),
                Err(error) => return Err(error.into()),
            }
        }
        let snapshot = self.index.snapshot()?.ok_or_else(|| {
            let mut error = ApiError::new(
                "index_preparing",
                ErrorKind::NotReady,
                "there is no index yet; run `casebook index` first",
            );
            let rebuilt = self.index.status().ok().and_then(|status| status.rebuilt);
            error.details.extend(rebuilt.map(|rebuilt| rebuilt.detail));
            error
        })?;
        Ok((snapshot, degradations))
    }

    fn rank(
        &self,
        request: &ActivationRequest,
        snapshot: &Snapshot,
        mut degradations: Vec<Degradation>,
    ) -> Result<Activation, ApiError> {
        degradations.extend_from_slice(snapshot.degradations());
        degradations.extend_from_slice(self.problems());
        if snapshot.revision().resources == 0 {
            let detail = format!(
                "no Markdown file below {} is memory, and no record is pushed",
                self.project.root.display()
            );
            degradations.push(Degradation::new(MEMORY_EMPTY, detail));
        }
        let further = self
            .preferred()
            .map(|encoder| Ok::<_, ApiError>((encoder, snapshot.lanes_of(encoder.revision())?)));
        let further = further.transpose()?;
        let sparse = further.as_ref().and_then(|(encoder, lanes)| lanes.sparse(*encoder));
        let preferred = further.as_ref().map(|(encoder, lanes)| Preferred {
            encoder: *encoder,
            dense: lanes.dense(),
            sparse: sparse.as_deref(),
            coverage: lanes.coverage(),
        });
        let lanes = Lanes {
            encoder: Some(&*self.parts.encoder),
            preferred,
            degradations,
            ..Lanes::from(snapshot)
        };
        let unreadable = OnceLock::new();
        let freshness = |meta: &ResourceMeta| {
            let state = self.state_of(snapshot, meta, &request.audiences);
            state.unwrap_or_else(|error| {
                // Only the first is told.
                let _ = unreadable.set(error);
                SourceState::Gone
            })
        };
        let tools = Tools {
            scorer: Some(&*self.parts.scorer),
            clock: &*self.parts.clock,
            freshness: &freshness,
        };
        let activation = casebook_ranker::activate(request, &lanes, &self.project.ranker, &tools)?;
        // What could not be looked up was left out: half an answer is none.
        unreadable
            .into_inner()
            .map_or(Ok(activation), |error| Err(error.into()))
    }

    /// Looks at what a candidate was read from.
    fn state_of(
        &self,
        snapshot: &Snapshot,
        meta: &ResourceMeta,
        audiences: &[String],
    ) -> Result<SourceState, ReadError> {
        let place = snapshot.place(&meta.id)?;
        Ok(place.map_or(SourceState::Gone, |place| self.sources.state_of(&place, audiences)))
    }
}

/// Why there is no answer, and how far it had come.
struct Failed {
    error: ApiError,
    stage: &'static str,
    known: Option<(RevisionId, EffectiveHash)>,
}

impl Failed {
    fn is_broken_index(&self) -> bool {
        matches!(self.error.code, "units_unreadable" | "index_unreadable")
    }
}

fn open_sources(project: &Project) -> Result<FileSources, BuildError> {
    Ok(FileSources::new(&project.root, project.files.clone())?)
}

/// Opens the index in the first place that can be written; where none can, one that can be read. One that a newer version
/// wrote is not passed over.
fn open_index(project: &Project) -> Result<Index, ApiError> {
    let mut refused = None;
    for dir in &project.index_dirs {
        match Index::open_with(dir, project.index.clone()) {
            Ok(index) => return Ok(index),
            Err(error @ OpenError::Newer { .. }) => return Err(error.into()),
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    for dir in &project.index_dirs {
        match Index::open_to_read(dir, project.index.clone()) {
            Err(error @ OpenError::Newer { .. }) => return Err(error.into()),
            Err(_) => {}
            Ok(index) => return Ok(index),
        }
    }
    Err(refused.map_or_else(
        || {
            ApiError::new(
                "index_unusable",
                ErrorKind::Input,
                "the project names no place for its index",
            )
        },
        ApiError::from,
    ))
}

/// Skipped files are named where the index was written; after that a count is enough. What is no matter of a file is told
/// each time.
fn told_once(report: BuildReport) -> Vec<Degradation> {
    if report.head_moved {
        return report.degradations;
    }
    let (files, mut told): (Vec<_>, Vec<_>) = report
        .degradations
        .into_iter()
        .partition(|degradation| degradation.path.is_some());
    if !files.is_empty() {
        let count = files.len();
        let detail = format!("{count} problem(s) in the memory folder; `casebook index` names them");
        told.push(Degradation::new(FILES_SKIPPED, detail));
    }
    told
}
