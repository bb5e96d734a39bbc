//! How the main job grows with the memory: time and bytes of a build, an edit, a refresh and an answer against the number
//! of units. Memory is generated, see `casebook_testkit::Generator`.
//!
//! `CASEBOOK_BENCH_UNITS=1000,10000,100000 cargo bench -p casebook --bench growth` measures other sizes.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark reads the clock, prints, and ends at the first fault"
)]

#[path = "support/measure.rs"]
mod measure;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use casebook_api::{Refresh, Service};
use casebook_index::BuildReport;
use casebook_ranker::{ActivationRequest, Stage};
use casebook_storage::bytes_below;
use casebook_testkit::Generator;

use self::measure::{median, megabytes, open, peak_memory, percentile, ratio, time, walk};

/// Names the folder whose memory this process, a child, is to answer from.
const ANSWER_FROM: &str = "CASEBOOK_BENCH_ANSWER_FROM";
const EDITS: usize = 7;
const QUESTIONS: usize = 200;

fn main() {
    let generator = Generator::new(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata"), 1);
    let units = std::env::var("CASEBOOK_BENCH_UNITS").unwrap_or_else(|_| "1000,10000".to_owned());
    let units = units.split(',').map(|units| units.parse::<usize>().unwrap());
    if let Some(work) = std::env::var_os(ANSWER_FROM) {
        return units.for_each(|units| answer(Path::new(&work), &generator.questions(units, QUESTIONS)));
    }
    for units in units {
        grow(units, &generator);
    }
}

fn grow(units: usize, generator: &Generator) {
    let work = tempfile::tempdir().unwrap();
    let root = work.path().join("corpus");
    let mut bytes = 0;
    let mut files = Vec::new();
    for note in generator.notes(units) {
        let file = root.join(note.path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        bytes += note.text.len() as u64;
        std::fs::write(&file, note.text).unwrap();
        files.push(file);
    }
    let service = open(&root, work.path(), true);
    let (cold, report) = time(|| service.build(false, &()).unwrap());
    let index_bytes = bytes_below(&root.join(".casebook"));
    println!(
        "{} units, {} files, {:.1} MB: build {cold:.2?}, {:.0} µs and {:.0} bytes of index a unit, {:.2} MB/s; peak memory {:.0} MB",
        report.units,
        files.len(),
        megabytes(bytes),
        cold.as_micros() as f64 / report.units as f64,
        index_bytes as f64 / report.units as f64,
        megabytes(bytes) / cold.as_secs_f64(),
        megabytes(peak_memory().unwrap_or_default()),
    );
    let stat = median(EDITS, || {
        walk(&root).iter().filter(|file| file.metadata().is_ok()).count()
    });
    let refresh = median(EDITS, || assert_eq!(service.build(false, &()).unwrap().rows_written, 0));
    println!(
        "  refresh without change {refresh:.2?}, {:.2} x walk and stat",
        ratio(refresh, stat)
    );
    edits(&service, &files);
    drop(service);
    let child = Command::new(std::env::current_exe().unwrap())
        .env(ANSWER_FROM, work.path())
        .env("CASEBOOK_BENCH_UNITS", units.to_string())
        .status();
    assert!(child.unwrap().success());
}

fn edits(service: &Service, files: &[PathBuf]) {
    let mut last: Option<BuildReport> = None;
    let mut round = 0;
    let edit = median(EDITS, || {
        let file = &files[(round * 7919) % files.len()];
        let text = std::fs::read_to_string(file).unwrap();
        std::fs::write(file, format!("{text}\nEdited in round {round}.\n")).unwrap();
        round += 1;
        last = Some(service.build(false, &()).unwrap());
    });
    let report = last.unwrap();
    println!(
        "  edit to new head {edit:.2?}: {} unit encoded, {} written, {} rows, {} bytes read, {} of segments",
        report.encoded, report.units_written, report.rows_written, report.bytes_read, report.segment_bytes
    );
}

/// Answers in a process of its own, which has built nothing.
fn answer(work: &Path, questions: &[String]) {
    let start = Instant::now();
    let service = open(&work.join("corpus"), work, true);
    let ask = |query: &String| {
        let request = ActivationRequest {
            query: query.clone(),
            ..ActivationRequest::default()
        };
        time(|| service.activate(&request, Refresh::No, Vec::new(), &()).unwrap())
    };
    ask(&questions[0]);
    let first = start.elapsed();
    let answers: Vec<_> = questions.iter().map(ask).collect();
    let mut times: Vec<Duration> = answers.iter().map(|(took, _)| *took).collect();
    times.sort_unstable();
    let stage = |stage: Stage, percent: usize| {
        let latencies = answers.iter().flat_map(|(_, answer)| &answer.activation.latencies);
        let mut times: Vec<Duration> = latencies
            .filter(|latency| latency.stage == stage)
            .map(|latency| Duration::from_micros(latency.micros))
            .collect();
        times.sort_unstable();
        percentile(&times, percent)
    };
    println!(
        "  start to first answer {first:.2?}; answer p50 {:.2?}, p95 {:.2?} (lexical {:.2?}, {:.2?}; dense {:.2?}, {:.2?}); memory {:.0} MB",
        percentile(&times, 50),
        percentile(&times, 95),
        stage(Stage::Lexical, 50),
        stage(Stage::Lexical, 95),
        stage(Stage::Dense, 50),
        stage(Stage::Dense, 95),
        megabytes(peak_memory().unwrap_or_default()),
    );
}
