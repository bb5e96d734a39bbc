//! `casebook models fill`, `pause`, `resume`, `status`
//!
//! The one thing a newcomer gets wrong: on battery a fill ends and is begun again when mains power is back. Waiting within
//! it would keep every other process from filling.

mod background;
mod watch;

use std::time::Duration;

use casebook_api::wire::{FillResponse, FillStatusResponse};
use casebook_api::{ApiError, Service};
use casebook_index::{Cancel, EncoderRevision, FillEnd, FillObserver, FillReport};

use self::watch::Watch;
use crate::cli::{Common, FillArgs, FillCommand};
use crate::failure::Failure;
use crate::output::{self, note};
use crate::power::Power;
use crate::progress::Progress;
use crate::wire::Setup;
use crate::{priority, render};

/// How often a fill that waits for mains power looks for it.
const LOOK_EVERY: Duration = Duration::from_secs(15);

pub(crate) fn run(common: &Common, command: &FillCommand) -> Result<(), Failure> {
    match command {
        FillCommand::Fill(args) => fill(common, args),
        FillCommand::Pause => {
            let service = Setup::new(common)?.service_for_status()?;
            service.pause_fill()?;
            status(common, &service)
        }
        FillCommand::Resume => {
            let service = Setup::new(common)?.service_for_status()?;
            service.resume_fill()?;
            status(common, &service)
        }
        FillCommand::Status => status(common, &Setup::new(common)?.service_for_status()?),
    }
}

fn status(common: &Common, service: &Service) -> Result<(), Failure> {
    let response = FillStatusResponse::from(&service.fill_status()?).with_problems(service.problems());
    if common.json {
        output::json(&response)
    } else {
        output::line(render::fill_status(&response))
    }
}

fn fill(common: &Common, args: &FillArgs) -> Result<(), Failure> {
    if args.detached {
        priority::leave_terminal();
    }
    let setup = Setup::new(common)?;
    if args.background {
        return background::start(common, args, &setup);
    }
    // Before the encoder starts its threads: they take the priority over.
    priority::step_back();
    let service = setup.service_for_fill(args.threads)?;
    let progress = Progress::new();
    let built = service.build(false, &progress);
    progress.finish();
    built?;
    let power = (!args.on_battery).then(Power::of_this_machine);
    let chosen = service.preferred().map(|encoder| encoder.revision().clone());
    let is_wanted = || chosen.as_ref().is_none_or(|chosen| is_chosen(common, chosen));
    let watch = Watch::new(power, &is_wanted);
    let report = fill_through(&service, &watch, &mut || watch.wait(LOOK_EVERY));
    watch.finish();
    let encoder = service
        .preferred()
        .map_or_else(String::new, |encoder| encoder.revision().to_string());
    let response = FillResponse::new(&encoder, &report?);
    if common.json {
        output::json(&response)
    } else {
        output::line(render::fill(&response))
    }
}

/// Whether the settings choose this encoder now, and its pack is there. Settings that cannot be read choose nothing: a fill
/// that ends too early is gone on with, and one that ends too late deletes what another pack answers from.
fn is_chosen(common: &Common, revision: &EncoderRevision) -> bool {
    Setup::new(common).is_ok_and(|setup| setup.chooses(revision))
}

/// Fills until nothing is missing or filling is paused; while the machine runs on battery it waits, and lets others fill.
fn fill_through(service: &Service, watch: &Watch, wait: &mut dyn FnMut()) -> Result<FillReport, ApiError> {
    let mut before: Option<FillReport> = None;
    loop {
        let mut report = service.fill(watch)?;
        if let Some(before) = before {
            report.encoded += before.encoded;
            report.refused += before.refused;
            report.unweighed += before.unweighed;
            report.encoder_calls += before.encoder_calls;
            report.rows_written += before.rows_written;
            report.elapsed_ms += before.elapsed_ms;
        }
        if report.end != FillEnd::Held {
            return Ok(report);
        }
        note("casebook: on battery; waiting for mains power (--on-battery goes on without)");
        while watch.is_on_battery() && watch.is_wanted() && !watch.cancelled() && !service.is_fill_paused() {
            wait();
        }
        before = Some(report);
    }
}

#[cfg(test)]
mod tests;
