//! Recorded Runs on the wire.

use casebook_recorder as recorder;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ActivateResponse;

/// Recent Runs, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunListResponse {
    /// The Runs.
    pub runs: Vec<RunSummary>,
}

/// One Run in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunSummary {
    /// The Run.
    pub run_id: String,
    /// The project.
    pub project_id: String,
    /// The question.
    pub query: String,
    /// `running`, `succeeded` or `failed`.
    pub status: String,
    /// When it began, RFC 3339.
    pub started_at: String,
    /// When it ended.
    pub finished_at: Option<String>,
    /// The revision that was searched, where known.
    pub revision: Option<String>,
    /// The memory that it held, where known.
    pub effective_hash: Option<String>,
    /// Candidates recorded.
    pub candidates: u64,
    /// Fragments selected.
    pub fragments: u64,
    /// Stable code of why it failed.
    pub failure_code: Option<String>,
}

/// Why a Run failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunFailure {
    /// The stage that it had reached, where known.
    pub stage: Option<String>,
    /// Stable code.
    pub code: String,
    /// What happened.
    pub summary: String,
}

/// One Run: the explained answer where it succeeded, else what is known of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RunResponse {
    /// It succeeded: the same document that the activation gave when it was asked to explain.
    Answered(Box<ActivateResponse>),
    /// It is running or it failed.
    Unanswered(Box<UnansweredRun>),
}

/// A Run without an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnansweredRun {
    /// What is known of it.
    #[serde(flatten)]
    pub run: RunSummary,
    /// Why it failed; null while it is running.
    pub failure: Option<RunFailure>,
}

impl From<&recorder::RunSummary> for RunSummary {
    fn from(run: &recorder::RunSummary) -> Self {
        Self {
            run_id: run.id.to_string(),
            project_id: run.project.to_string(),
            query: run.query.clone(),
            status: run.status.to_string(),
            started_at: run.started_at.to_string(),
            finished_at: run.finished_at.map(|at| at.to_string()),
            revision: run.revision.as_ref().map(ToString::to_string),
            effective_hash: run.effective_hash.map(|hash| hash.to_string()),
            candidates: run.candidates,
            fragments: run.fragments,
            failure_code: run.failure_code.clone(),
        }
    }
}

impl From<&recorder::RunRecord> for RunResponse {
    fn from(record: &recorder::RunRecord) -> Self {
        match &record.activation {
            Some(activation) => {
                let mut answer = ActivateResponse::new(Some(record.summary.id.as_str()), activation, true);
                answer.degradations.extend(record.degradations.iter().map(Into::into));
                Self::Answered(Box::new(answer))
            }
            None => Self::Unanswered(Box::new(UnansweredRun {
                run: (&record.summary).into(),
                failure: record.failure.as_ref().map(|failure| RunFailure {
                    stage: failure.stage.clone(),
                    code: failure.code.clone(),
                    summary: failure.summary.clone(),
                }),
            })),
        }
    }
}
