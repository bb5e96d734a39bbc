//! The main job over one folder: cold build, no-change refresh, one edit, answers. Every figure comes with a ratio to a
//! plain peer measured in the same run.
//!
//! `CASEBOOK_BENCH_CORPUS=DIR cargo bench --bench project` measures a folder of your own; the default is the
//! project's own documents. The folder is copied, never written.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark reads the clock, prints, and ends at the first fault"
)]

#[path = "support/measure.rs"]
mod measure;

use std::path::{Path, PathBuf};
use std::time::Duration;

use casebook_api::{Refresh, Service};
use casebook_corpus::ContentHash;
use casebook_ranker::{ActivationRequest, Stage};
use casebook_storage::bytes_below;

use self::measure::{median, megabytes, open, peak_memory, percentile, ratio, time, walk};

/// Rounds of everything that is measured more than once.
const ROUNDS: usize = 20;
/// Questions asked at most.
const QUESTIONS: usize = 200;

fn main() {
    let source = std::env::var_os("CASEBOOK_BENCH_CORPUS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs"),
        PathBuf::from,
    );
    let work = tempfile::tempdir().unwrap();
    let root = work.path().join("corpus");
    copy_markdown(&source, &root);
    let files = walk(&root);
    let bytes: u64 = files.iter().map(|file| file.metadata().unwrap().len()).sum();
    println!(
        "corpus: {} files, {:.2} MB of Markdown ({})",
        files.len(),
        megabytes(bytes),
        source.display()
    );

    let stat = median(ROUNDS, || {
        walk(&root)
            .iter()
            .map(|file| file.metadata().unwrap().len())
            .sum::<u64>()
    });
    let hash = median(ROUNDS, || {
        walk(&root)
            .iter()
            .map(|file| ContentHash::of(std::fs::read(file).unwrap()))
            .max()
    });
    println!("peer: walk and stat {stat:.2?}; walk, stat, read and hash {hash:.2?}");

    let service = open(&root, work.path(), true);
    let (cold, report) = time(|| service.build(false, &()).unwrap());
    println!(
        "cold build: {cold:.2?}, {:.1} MB/s, {:.0} units/s ({} units), {:.1} x the hash peer",
        megabytes(bytes) / cold.as_secs_f64(),
        report.units as f64 / cold.as_secs_f64(),
        report.units,
        ratio(cold, hash),
    );
    let index_bytes = bytes_below(&root.join(".casebook"));
    println!(
        "index: {:.2} MB, {:.2} x the corpus",
        megabytes(index_bytes),
        index_bytes as f64 / bytes as f64
    );

    let refresh = median(ROUNDS, || {
        let report = service.build(false, &()).unwrap();
        assert_eq!(
            (report.rows_written, report.encoder_calls, report.bytes_read),
            (0, 0, 0)
        );
    });
    println!(
        "no-change refresh: {refresh:.2?}, {:.2} x stat, {:.2} x hash",
        ratio(refresh, stat),
        ratio(refresh, hash)
    );

    let mut encoded = 0;
    let mut round = 0;
    let edit = median(ROUNDS, || {
        let file = &files[(round * 7919) % files.len()];
        let text = std::fs::read_to_string(file).unwrap();
        std::fs::write(file, format!("{text}\nEdited in round {round}.\n")).unwrap();
        round += 1;
        encoded += service.build(false, &()).unwrap().encoded;
    });
    println!("one-file edit to new head: {edit:.2?} ({encoded} units encoded in {ROUNDS} edits)");

    answers(&service, &open(&root, work.path(), false), &questions(&files));
    if let Some(peak) = peak_memory() {
        println!("peak memory: {:.1} MB", megabytes(peak));
    }
}

/// Asks every question twice and reports the second time, with and without the history.
fn answers(service: &Service, silent: &Service, questions: &[String]) {
    let mut stages: Vec<(Stage, Vec<Duration>)> = Stage::ALL.iter().map(|stage| (*stage, Vec::new())).collect();
    let mut ask = |service: &Service, refresh: Refresh| {
        let mut times: Vec<Duration> = Vec::new();
        for round in 0..2 {
            times.clear();
            for query in questions {
                let request = ActivationRequest {
                    query: query.clone(),
                    ..ActivationRequest::default()
                };
                let (took, answer) = time(|| service.activate(&request, refresh, Vec::new(), &()).unwrap());
                times.push(took);
                for latency in answer.activation.latencies.iter().filter(|_| round == 1) {
                    let stage = stages.iter_mut().find(|(stage, _)| *stage == latency.stage).unwrap();
                    stage.1.push(Duration::from_micros(latency.micros));
                }
            }
        }
        times.sort_unstable();
        times
    };
    let without = ask(silent, Refresh::No);
    let with = ask(service, Refresh::No);
    let refreshed = ask(service, Refresh::First);
    let (p50, p95) = (percentile(&with, 50), percentile(&with, 95));
    println!("answers ({} questions): p50 {p50:.2?}, p95 {p95:.2?}", questions.len());
    println!(
        "  not recorded: p50 {:.2?}; recording costs x {:.2}",
        percentile(&without, 50),
        ratio(p50, percentile(&without, 50))
    );
    println!(
        "  refreshed first: p50 {:.2?}, x {:.2}",
        percentile(&refreshed, 50),
        ratio(percentile(&refreshed, 50), p50)
    );
    for (stage, mut times) in stages {
        times.sort_unstable();
        println!(
            "  {:9} p50 {:.2?}, p95 {:.2?}",
            stage.as_str(),
            percentile(&times, 50),
            percentile(&times, 95)
        );
    }
}

/// Headings make fair questions: words of the corpus, spread over it.
fn questions(files: &[PathBuf]) -> Vec<String> {
    let headings: Vec<String> = files
        .iter()
        .filter_map(|file| std::fs::read_to_string(file).ok())
        .flat_map(|text| {
            text.lines()
                .filter(|line| line.starts_with("## "))
                .map(ToOwned::to_owned)
                .collect::<Vec<_>>()
        })
        .map(|heading| heading.trim_start_matches('#').trim().to_owned())
        .filter(|heading| !heading.is_empty())
        .collect();
    let step = headings.len().div_ceil(QUESTIONS).max(1);
    headings.into_iter().step_by(step).collect()
}

fn copy_markdown(from: &Path, to: &Path) {
    for file in walk(from) {
        let target = to.join(file.strip_prefix(from).unwrap());
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::write(target, std::fs::read(file).unwrap()).unwrap();
    }
}
