//! The history of a user's projects: recording, which is best effort, and reading.

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;

use casebook_corpus::{Clock, Degradation, EffectiveHash, Manifest, ProjectId};
use casebook_evaluation::Replay;
use casebook_ranker::{Activation, ActivationRequest, RankerConfig, RevisionId};
use casebook_recorder::{
    InstanceId, RecordError, Recorder, RunFailure, RunFilter, RunId, RunMatch, RunRecord, RunSummary, Verification,
};

use crate::error::chain;
use crate::{ApiError, ErrorKind};

/// The history could not be opened or written.
pub(crate) const HISTORY_UNAVAILABLE: &str = "history_unavailable";

/// A Run was recorded, but not all that belongs to it.
pub(crate) const HISTORY_INCOMPLETE: &str = "history_incomplete";

/// The history of all projects of a user.
pub struct History {
    recorder: Recorder,
}

impl History {
    /// Opens the history in the data folder. Runs that a process left `running` when it died become failed ones here.
    ///
    /// # Errors
    /// When it cannot be opened; nothing in it is moved or deleted.
    pub fn open(data_dir: &Path, instance: InstanceId, clock: Arc<dyn Clock>) -> Result<Self, ApiError> {
        let recorder = Recorder::open(data_dir, instance, clock).map_err(|error| {
            let message = format!("the history in {} cannot be opened", data_dir.display());
            ApiError::new(HISTORY_UNAVAILABLE, ErrorKind::Internal, message).because(&error)
        })?;
        Ok(Self { recorder })
    }

    /// Returns recent Runs, newest first, of one project or of all.
    ///
    /// # Errors
    /// When the history cannot be read.
    pub fn runs(&self, project: Option<&ProjectId>, limit: usize) -> Result<Vec<RunSummary>, ApiError> {
        let filter = RunFilter {
            limit,
            ..RunFilter::default()
        };
        self.recorder.runs(project, &filter).map_err(|error| unreadable(&error))
    }

    /// Returns the latest Run of a project.
    ///
    /// # Errors
    /// When there is none, or the history cannot be read.
    pub fn latest_run(&self, project: &ProjectId) -> Result<RunRecord, ApiError> {
        let latest = self.runs(Some(project), 1)?.into_iter().next().ok_or_else(|| {
            ApiError::new(
                "run_unknown",
                ErrorKind::Input,
                "this project has no Runs yet; `casebook activate` makes one",
            )
        })?;
        self.run(latest.id.as_str())
    }

    /// Returns the one Run whose id is, starts or ends with `part`.
    ///
    /// # Errors
    /// When there is none or more than one, or the history cannot be read.
    pub fn run(&self, part: &str) -> Result<RunRecord, ApiError> {
        let wrong = |code, message| Err(ApiError::new(code, ErrorKind::Input, message));
        let run = match self.recorder.find_run(part).map_err(|error| unreadable(&error))? {
            RunMatch::Unique(run) => run,
            RunMatch::None => {
                return wrong(
                    "run_unknown",
                    format!("no Run starts or ends with {part:?}; `casebook runs list` shows them"),
                );
            }
            RunMatch::Ambiguous(runs) => {
                let runs: Vec<_> = runs.iter().map(ToString::to_string).collect();
                return wrong(
                    "run_ambiguous",
                    format!("{part:?} is the start or end of {}; give more of it", runs.join(", ")),
                );
            }
        };
        match self.recorder.run(&run).map_err(|error| unreadable(&error))? {
            Some(record) => Ok(record),
            None => wrong("run_unknown", format!("Run {run} is gone")),
        }
    }

    /// Recomputes a Run's ranking from its recorded lane ranks and pair scores.
    ///
    /// # Errors
    /// When the Run has no answer.
    pub fn replay(record: &RunRecord) -> Result<Replay, ApiError> {
        let Some(activation) = &record.activation else {
            let message = format!("Run {} has no answer to replay", record.summary.id);
            return Err(ApiError::new("run_unanswered", ErrorKind::Input, message));
        };
        Ok(casebook_evaluation::replay(activation, &record.config))
    }

    /// Walks the event log's chain. Returns the number of events.
    ///
    /// # Errors
    /// Names the first event that does not hold.
    pub fn verify(&self) -> Result<u64, ApiError> {
        let verification = self.recorder.verify().map_err(|error| unreadable(&error))?;
        match verification {
            Verification::Intact { events } => Ok(events),
            Verification::Broken { seq, fault } => {
                let message = format!("event {seq} does not hold: {fault}");
                Err(ApiError::new("history_broken", ErrorKind::CheckFailed, message))
            }
        }
    }

    /// Rebuilds the tables beside the log from the log.
    ///
    /// # Errors
    /// When the history cannot be read or written; the tables are then as they were.
    pub fn rebuild(&self) -> Result<(), ApiError> {
        self.recorder.rebuild().map_err(|error| unreadable(&error))
    }
}

fn unreadable(error: &(dyn std::error::Error + 'static)) -> ApiError {
    ApiError::new("history_unreadable", ErrorKind::Internal, "the history cannot be read").because(error)
}

/// One Run being recorded, or the reason why it is not.
pub(crate) struct RunRecording<'a> {
    recorder: Option<&'a Recorder>,
    run: RunId,
    problem: RefCell<Option<Degradation>>,
}

impl<'a> RunRecording<'a> {
    /// Records the start. `history` is what opening the recorder gave.
    pub(crate) fn start(
        history: &'a Result<History, ApiError>,
        run: RunId,
        project: &ProjectId,
        request: &ActivationRequest,
        config: &RankerConfig,
    ) -> Self {
        let recording = Self {
            recorder: history.as_ref().ok().map(|history| &history.recorder),
            run,
            problem: RefCell::new(None),
        };
        match history {
            Err(error) => recording.give_up(error.summary()),
            Ok(history) => {
                if let Err(error) = history.recorder.start_run(&recording.run, project, request, config) {
                    recording.give_up(chain(&error).join(": "));
                }
            }
        }
        recording
    }

    /// Records the answer. Returns what could not be kept of a Run that was recorded all the same.
    pub(crate) fn succeed(
        &self,
        activation: &Activation,
        manifest: &dyn Fn() -> Option<Manifest>,
    ) -> Option<Degradation> {
        let mut incomplete = None;
        self.record(|recorder| match recorder.finish_run(&self.run, activation, manifest) {
            Err(error @ (RecordError::Blob { .. } | RecordError::Manifest { .. })) => {
                incomplete = Some(Degradation::new(HISTORY_INCOMPLETE, chain(&error).join(": ")));
                Ok(())
            }
            outcome => outcome,
        });
        incomplete
    }

    /// Records why there is no answer.
    pub(crate) fn fail(&self, error: &ApiError, stage: &'static str, known: Option<(RevisionId, EffectiveHash)>) {
        let (revision, effective_hash) = known.unzip();
        let failure = RunFailure {
            stage: Some(stage.into()),
            code: error.code.into(),
            summary: error.summary(),
            revision,
            effective_hash,
        };
        self.record(|recorder| recorder.fail_run(&self.run, &failure));
    }

    /// Returns the Run's id, or why there is none.
    pub(crate) fn outcome(self) -> Result<RunId, Degradation> {
        match self.problem.into_inner() {
            Some(problem) => Err(problem),
            None => Ok(self.run),
        }
    }

    fn record<E: std::error::Error + 'static>(&self, write: impl FnOnce(&Recorder) -> Result<(), E>) {
        let Some(recorder) = self.recorder.filter(|_| self.problem.borrow().is_none()) else {
            return;
        };
        if let Err(error) = write(recorder) {
            self.give_up(chain(&error).join(": "));
        }
    }

    fn give_up(&self, reason: String) {
        self.problem
            .replace(Some(Degradation::new(HISTORY_UNAVAILABLE, reason)));
    }
}
