//! `casebook activate`

use std::io::{BufRead, ErrorKind};
use std::path::Path;

use casebook_api::wire::{ActivateResponse, ActivationState, ErrorBody};
use casebook_api::{Refresh, Service};
use casebook_corpus::{Degradation, Scope, Timestamp};
use casebook_ranker::ActivationRequest;

use crate::cli::{ActivateArgs, Common};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::wire::Setup;
use crate::{output, render};

/// The state that was given is not one of ours; the answer starts from an empty context.
const STATE_INVALID: &str = "state_invalid";

pub(crate) fn run(common: &Common, args: &ActivateArgs) -> Result<(), Failure> {
    let mut setup = Setup::new(common)?;
    if let Some(tokens) = args.max_tokens {
        setup
            .layers
            .add_flag("--max-tokens", "ranker.token_budget", i64::from(tokens));
    }
    if let Some(fragments) = args.max_fragments {
        setup
            .layers
            .add_flag("--max-fragments", "ranker.fragment_limit", i64::from(fragments));
    }
    let template = request(args)?;
    let service = setup.service()?;
    match (&args.batch, &args.query) {
        (Some(file), _) => batch(&service, args, &template, file),
        (None, query) => {
            let response = answer(&service, args, &template, query.as_deref().unwrap_or_default())?;
            if common.json {
                output::json(&response)
            } else {
                output::line(render::activation(&response))
            }
        }
    }
}

/// Returns the request without its question and its state.
fn request(args: &ActivateArgs) -> Result<ActivationRequest, Failure> {
    let as_of = args.as_of.as_deref().map(str::parse::<Timestamp>).transpose();
    Ok(ActivationRequest {
        as_of: as_of.map_err(|error| Failure::input("time_invalid", format!("--as-of: {error}")))?,
        scopes: args.scope.iter().map(|scope| Scope::new(scope.as_str())).collect(),
        topics: args.topic.clone(),
        entities: args.entity.clone(),
        audiences: args.audience.clone(),
        ..ActivationRequest::default()
    })
}

fn answer(
    service: &Service,
    args: &ActivateArgs,
    template: &ActivationRequest,
    query: &str,
) -> Result<ActivateResponse, Failure> {
    let mut request = ActivationRequest {
        query: query.to_owned(),
        ..template.clone()
    };
    request.audiences.extend_from_slice(&service.project().audiences);
    let mut problems = Vec::new();
    if let Some(file) = &args.state {
        (request.state, problems) = read_state(file)?;
    }
    let refresh = if args.no_refresh { Refresh::No } else { Refresh::First };
    let progress = Progress::new();
    let activated = service.activate(&request, refresh, problems, &progress);
    progress.finish();
    let activated = activated?;
    let run_id = activated.run_id.as_ref().map(|id| id.as_str());
    let response = ActivateResponse::new(run_id, &activated.activation, args.explain);
    if let Some(file) = &args.state {
        write_state(file, &response.state)?;
    }
    Ok(response)
}

/// Reads what the caller holds. What is not ours costs tokens, never an answer: it is named, and counts as nothing held.
fn read_state(file: &Path) -> Result<(casebook_ranker::ActivationState, Vec<Degradation>), Failure> {
    let bytes = match std::fs::read(file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Default::default()),
        Err(error) => {
            let message = format!("--state {} cannot be read: {error}", file.display());
            return Err(Failure::input("state_unreadable", message));
        }
    };
    let (state, problems) = match serde_json::from_slice::<ActivationState>(&bytes) {
        Ok(state) => state.into_ranker(),
        Err(error) => (
            Default::default(),
            vec![format!("{} is not a state: {error}", file.display())],
        ),
    };
    Ok((
        state,
        problems
            .into_iter()
            .map(|problem| Degradation::new(STATE_INVALID, problem))
            .collect(),
    ))
}

fn write_state(file: &Path, state: &ActivationState) -> Result<(), Failure> {
    let failed = |error: &(dyn std::error::Error + 'static)| {
        Failure::internal(
            "state_unwritable",
            format!("--state {} cannot be written", file.display()),
            error,
        )
    };
    let bytes = serde_json::to_vec(state).map_err(|error| failed(&error))?;
    casebook_storage::write_atomic(file, &bytes).map_err(|error| failed(&error))
}

/// Answers every line, also after one that fails; the first failure decides the exit code.
fn batch(service: &Service, args: &ActivateArgs, template: &ActivationRequest, file: &Path) -> Result<(), Failure> {
    let unreadable = |error: &std::io::Error| {
        Failure::input(
            "batch_unreadable",
            format!("--batch {} cannot be read: {error}", file.display()),
        )
    };
    let input: Box<dyn BufRead> = if file == Path::new("-") {
        Box::new(std::io::stdin().lock())
    } else {
        Box::new(std::io::BufReader::new(
            std::fs::File::open(file).map_err(|error| unreadable(&error))?,
        ))
    };
    let mut first_failure = None;
    for line in input.lines() {
        let line = line.map_err(|error| unreadable(&error))?;
        if line.trim().is_empty() {
            continue;
        }
        match answer(service, args, template, &line) {
            Ok(response) => output::json_line(&response)?,
            Err(failure) => {
                let error = ErrorBody::from(&failure.0);
                output::json_line(&serde_json::json!({ "query": line, "error": error }))?;
                first_failure.get_or_insert(failure);
            }
        }
    }
    first_failure.map_or(Ok(()), Err)
}
