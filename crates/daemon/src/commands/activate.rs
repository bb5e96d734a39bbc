//! `casebook activate`

use std::io::{BufRead, ErrorKind};
use std::path::Path;

use casebook_api::ErrorKind::NotReady;
use casebook_api::wire::{ActivateResponse, ActivationState, ErrorBody};
use casebook_api::{ApiError, Refresh, Service};
use casebook_corpus::{Degradation, Scope, Timestamp};
use casebook_ranker::ActivationRequest;

use crate::cli::{ActivateArgs, Common};
use crate::failure::Failure;
use crate::output::Delivery;
use crate::progress::Progress;
use crate::wire::Setup;
use crate::{interrupt, output, render};

/// The state that was given is none, or some of its entries are not ours.
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
    let service = setup.service_for_answers()?;
    // After the index has its folder: a state may lie there.
    args.state.as_deref().map_or(Ok(()), check_place)?;
    let session = Session {
        service,
        args,
        template,
        shape: match (&args.batch, common.json) {
            (Some(_), _) => Shape::JsonLine,
            (None, true) => Shape::Json,
            (None, false) => Shape::Text,
        },
    };
    match (&args.batch, &args.query) {
        (Some(file), _) => batch(&session, file),
        (None, query) => session.answer(query.as_deref().unwrap_or_default()).map(drop),
    }
}

/// How answers are printed.
#[derive(Clone, Copy)]
enum Shape {
    Text,
    Json,
    JsonLine,
}

/// What all questions of one command share.
struct Session<'a> {
    service: Service,
    args: &'a ActivateArgs,
    /// The request without its question and its state.
    template: ActivationRequest,
    shape: Shape,
}

impl Session<'_> {
    /// Answers a question. What the caller holds is kept only once the answer is out: text that nobody got is not held.
    fn answer(&self, query: &str) -> Result<Delivery, Failure> {
        let response = self.ask(query)?;
        let text = match self.shape {
            Shape::Text => render::activation(&response),
            Shape::Json => output::to_json(&response, true)?,
            Shape::JsonLine => output::to_json(&response, false)?,
        };
        let delivery = output::deliver(text)?;
        if let (Some(file), Delivery::Done) = (&self.args.state, delivery) {
            write_state(file, &response.state)?;
        }
        Ok(delivery)
    }

    fn ask(&self, query: &str) -> Result<ActivateResponse, Failure> {
        let mut request = ActivationRequest {
            query: query.to_owned(),
            ..self.template.clone()
        };
        request.audiences.extend_from_slice(&self.service.project().audiences);
        let mut problems = Vec::new();
        if let Some(file) = &self.args.state {
            (request.state, problems) = read_state(file)?;
        }
        let refresh = if self.args.no_refresh {
            Refresh::No
        } else {
            Refresh::First
        };
        let progress = Progress::new();
        let activated = self.service.activate(&request, refresh, problems, &progress);
        progress.finish();
        let activated = activated?;
        let run_id = activated.run_id.as_ref().map(|id| id.as_str());
        Ok(ActivateResponse::new(run_id, &activated.activation, self.args.explain))
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

/// Reads what the caller holds. An entry that is not ours costs tokens, never an answer: it is named, and counts as not
/// held. A file that is no state at all is an error, since it would be written over.
fn read_state(file: &Path) -> Result<(casebook_ranker::ActivationState, Vec<Degradation>), Failure> {
    let bytes = match std::fs::read(file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        Err(error) => {
            let message = format!("--state {} cannot be read: {error}", file.display());
            return Err(Failure::input("state_unreadable", message));
        }
    };
    if bytes.is_empty() {
        return Ok(Default::default());
    }
    let state: ActivationState = serde_json::from_slice(&bytes).map_err(|error| {
        let message = format!(
            "--state {} is not a state and was left as it is: {error}",
            file.display()
        );
        Failure::input(STATE_INVALID, message)
    })?;
    let (state, problems) = state.into_ranker();
    let problems = problems
        .into_iter()
        .map(|problem| Degradation::new(STATE_INVALID, problem));
    Ok((state, problems.collect()))
}

/// Refuses a state that could not be kept, before anything is asked: only a regular file is ever written over.
fn check_place(file: &Path) -> Result<(), Failure> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let is_free = match file.metadata() {
        Ok(metadata) => metadata.is_file(),
        Err(_) => folder.is_none_or(Path::is_dir) && !file.is_symlink(),
    };
    if is_free {
        return Ok(());
    }
    let message = format!(
        "--state {} cannot be kept: its folder is missing, or it is no regular file",
        file.display()
    );
    Err(Failure::input("state_unwritable", message))
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
    // A link stays a link: what it leads to is written.
    let target = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    casebook_storage::write_atomic(&target, &bytes).map_err(|error| failed(&error))
}

/// Answers every line, also after one that fails; the first failure decides the exit code. Ends where nobody reads on.
fn batch(session: &Session<'_>, file: &Path) -> Result<(), Failure> {
    let unreadable = |error: &std::io::Error| {
        let message = format!("--batch {} cannot be read: {error}", file.display());
        Failure::input("batch_unreadable", message)
    };
    let input: Box<dyn BufRead> = if file == Path::new("-") {
        Box::new(std::io::stdin().lock())
    } else {
        Box::new(std::io::BufReader::new(
            std::fs::File::open(file).map_err(|error| unreadable(&error))?,
        ))
    };
    let mut first_failure = None;
    for line in input.split(b'\n') {
        if interrupt::is_asked() {
            let message = "stopped; the questions before are answered";
            return Err(Failure(ApiError::new("cancelled", NotReady, message)));
        }
        let bytes = line.map_err(|error| unreadable(&error))?;
        let line = String::from_utf8_lossy(&bytes);
        let query = line.trim_start_matches('\u{feff}').trim();
        if query.is_empty() {
            continue;
        }
        let answered = match std::str::from_utf8(&bytes) {
            Ok(_) => session.answer(query),
            Err(error) => Err(Failure::input(
                "query_not_utf8",
                format!("the line is not UTF-8: {error}"),
            )),
        };
        let delivery = answered.or_else(|failure| {
            let document = serde_json::json!({ "query": query, "error": ErrorBody::from(&failure.0) });
            first_failure.get_or_insert(failure);
            output::deliver(output::to_json(&document, false)?)
        })?;
        if delivery == Delivery::NobodyReads {
            break;
        }
    }
    first_failure.map_or(Ok(()), Err)
}
