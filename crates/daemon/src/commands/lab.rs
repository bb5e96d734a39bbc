//! `casebook lab`

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use casebook_api::Parts;
use casebook_evaluation::{Arm, DataSet, LabProgress, LabReport, LabRequest, ScopeUse, run_lab};
use casebook_index::IndexOptions;
use casebook_ranker::RankerConfig;
use serde_json::json;

use crate::cli::{Common, LabCommand};
use crate::failure::Failure;
use crate::progress::bar_style;
use crate::wire::Setup;
use crate::{output, render, settings};

pub(crate) fn run(common: &Common, command: &LabCommand) -> Result<(), Failure> {
    match command {
        LabCommand::Run { data, arms, out } => {
            let setup = Setup::new(common)?;
            let config = settings::ranker(&setup.layers)?;
            let index = settings::index(&setup.layers)?;
            let mut parts = setup.parts_to_measure()?;
            // Here a chosen pack makes the vectors of the build: nobody waits for an answer.
            parts.encoder = parts.preferred.take().unwrap_or(parts.encoder);
            let report = measure(data, arms, out, (&index, &config), &parts)?;
            if common.json {
                let timings = report.sets.iter().map(|set| (set.set.clone(), json!(set.timings)));
                let timings: serde_json::Map<_, _> = timings.collect();
                output::json(&json!({ "report": report, "timings": timings }))
            } else {
                output::line(render::lab(&report))
            }
        }
    }
}

fn measure(
    data: &[PathBuf],
    arms: &[String],
    out: &Path,
    (index, config): (&IndexOptions, &RankerConfig),
    parts: &Parts,
) -> Result<LabReport, Failure> {
    let arms: Vec<Arm> = arms
        .iter()
        .map(|arm| {
            arm.parse()
                .map_err(|error| Failure::input("arm_unknown", format!("--arms: {error}")))
        })
        .collect::<Result<_, _>>()?;
    let sets = DataSet::load_all(data).map_err(|error| {
        let mut failure = Failure::input("data_set_invalid", "a data set cannot be used");
        failure.0 = failure.0.because(&error);
        failure
    })?;
    let bar = indicatif::ProgressBar::new(0);
    bar.set_style(bar_style(true));
    let named = Mutex::new(String::new());
    let report = run_lab(&LabRequest {
        sets: &sets,
        arms: &arms,
        scopes: ScopeUse::Honour,
        index,
        out,
        encoder: &*parts.encoder,
        scorer: &*parts.scorer,
        config,
        clock: &*parts.clock,
        progress: &|progress| show(&bar, &named, progress),
    });
    bar.finish_and_clear();
    report.map_err(|error| Failure::internal("lab_failed", "the lab cannot go on", &error))
}

fn show(bar: &indicatif::ProgressBar, named: &Mutex<String>, progress: LabProgress<'_>) {
    let (words, done, total) = match progress {
        LabProgress::Building { set, done, total, .. } => (format!("{set}: building"), done, total.unwrap_or(done)),
        LabProgress::Asking { set, done, total } => (format!("{set}: asking"), done, total),
    };
    let mut named = named.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if *named != words {
        bar.set_message(words.clone());
        *named = words;
    }
    bar.set_length(total as u64);
    bar.set_position(done as u64);
}
