//! What a Run looks like to those who read it.

use casebook_corpus::{Degradation, EffectiveHash, ProjectId, Timestamp};
use casebook_ranker::{Activation, ActivationRequest, RankerConfig, RevisionId};

use crate::{InstanceId, RunId};

/// Failure code of a Run whose process ended before it was done.
pub const RETRIEVAL_INTERRUPTED: &str = "retrieval_interrupted";

/// Degradation code: a fragment's text is not there any more, or is not what it was. The fragment's `text` is then empty.
pub const FRAGMENT_TEXT_UNAVAILABLE: &str = "fragment_text_unavailable";

/// Where a Run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RunStatus {
    /// Started, without an end yet.
    Running,
    /// It answered.
    Succeeded,
    /// It did not.
    Failed,
}

impl RunStatus {
    /// Every value, in order of declaration.
    pub const ALL: &'static [Self] = &[Self::Running, Self::Succeeded, Self::Failed];

    /// Returns the stored text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
        }
    }

    /// Returns the value of a stored text.
    pub fn from_str_opt(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|status| status.as_str() == text)
    }
}

impl std::fmt::Display for RunStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

/// Why a Run failed, as far as it got.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFailure {
    /// The stage that failed, where known; cut to 64 characters.
    pub stage: Option<String>,
    /// Stable code, `snake_case`; cut to 64 characters.
    pub code: String,
    /// What happened, for a person; cut to 500 characters.
    pub summary: String,
    /// The revision that was searched, where one was reached.
    pub revision: Option<RevisionId>,
    /// The memory that it holds.
    pub effective_hash: Option<EffectiveHash>,
}

/// One line of history.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSummary {
    /// The Run.
    pub id: RunId,
    /// Its project.
    pub project: ProjectId,
    /// The question.
    pub query: String,
    /// Where it stands.
    pub status: RunStatus,
    /// When it was asked.
    pub started_at: Timestamp,
    /// When it ended; `None` while it runs.
    pub finished_at: Option<Timestamp>,
    /// The revision that was searched, where known.
    pub revision: Option<RevisionId>,
    /// The memory that it holds, where known.
    pub effective_hash: Option<EffectiveHash>,
    /// Candidates in its trace.
    pub candidates: u64,
    /// Fragments in its answer.
    pub fragments: u64,
    /// The code of its failure.
    pub failure_code: Option<String>,
}

/// Everything recorded of one Run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRecord {
    /// Its line of history.
    pub summary: RunSummary,
    /// The process that recorded it.
    pub instance: InstanceId,
    /// What was asked.
    pub request: ActivationRequest,
    /// The constants it was ranked with.
    pub config: RankerConfig,
    /// The answer with its full trace, where it succeeded.
    pub activation: Option<Activation>,
    /// Why it failed.
    pub failure: Option<RunFailure>,
    /// What could not be read back. Those of the retrieval itself are in `activation`.
    pub degradations: Vec<Degradation>,
}

/// Which Runs to list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFilter {
    /// Only Runs that stand so.
    pub status: Option<RunStatus>,
    /// At most so many.
    pub limit: usize,
}

impl Default for RunFilter {
    fn default() -> Self {
        Self {
            status: None,
            limit: 50,
        }
    }
}

/// The Runs that a shortened id may mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunMatch {
    /// No id starts so.
    None,
    /// One does, or one is exactly that.
    Unique(RunId),
    /// Several do; the first ten, in order of id.
    Ambiguous(Vec<RunId>),
}
