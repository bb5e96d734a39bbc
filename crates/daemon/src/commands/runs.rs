//! `casebook runs`

use casebook_api::wire::{RunListResponse, RunResponse};
use casebook_api::{ApiError, ErrorKind, History};
use casebook_evaluation::Replay;

use crate::cli::{Common, RunsCommand};
use crate::failure::Failure;
use crate::wire::Setup;
use crate::{output, render, settings};

pub(crate) fn run(common: &Common, command: &RunsCommand) -> Result<(), Failure> {
    let setup = Setup::new(common)?;
    let history = setup.history()?;
    let project = settings::project(setup.root.clone(), &setup.data_dir, &setup.layers)?;
    let find = |run: &Option<String>| match run {
        Some(part) => history.run(part),
        None => history.latest_run(&project.id),
    };
    match command {
        RunsCommand::List { limit, all } => {
            let runs = history.runs((!all).then_some(&project.id), *limit)?;
            let response = RunListResponse {
                runs: runs.iter().map(Into::into).collect(),
            };
            if common.json {
                output::json(&response)
            } else {
                output::line(render::runs(&response))
            }
        }
        RunsCommand::Show { run } => {
            let response = RunResponse::from(&find(run)?);
            if common.json {
                output::json(&response)
            } else {
                output::line(render::run(&response))
            }
        }
        RunsCommand::Replay { run } => {
            let record = find(run)?;
            replayed(common, record.summary.id.as_str(), &History::replay(&record)?)
        }
    }
}

fn replayed(common: &Common, run_id: &str, replay: &Replay) -> Result<(), Failure> {
    match replay {
        Replay::Same if common.json => output::json(&serde_json::json!({ "run_id": run_id, "same": true })),
        Replay::Same => output::line(format!(
            "Run {run_id} replays: fusion, the reranker's order, relevance, budgets and delta follow from the lane ranks \
             and pair scores recorded with it."
        )),
        Replay::Different(difference) => {
            let message = format!("Run {run_id} does not replay: {difference}");
            Err(ApiError::new("replay_differs", ErrorKind::CheckFailed, message).into())
        }
    }
}
