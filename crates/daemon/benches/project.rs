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

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use casebook_api::{History, Parts, Project, Refresh, Service};
use casebook_corpus::{Clock, ContentHash, FilesConfig, Timestamp};
use casebook_encoder::{StaticEncoder, StaticLateInteraction, embedded_table};
use casebook_index::IndexOptions;
use casebook_ranker::{ActivationRequest, RankerConfig, Stage};
use casebook_recorder::{InstanceId, RunId};

/// Rounds of everything that is measured more than once.
const ROUNDS: usize = 20;
/// Questions asked at most.
const QUESTIONS: usize = 200;

struct WallClock(Instant);

impl Clock for WallClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        Timestamp::from_unix_millis(i64::try_from(since.as_millis()).unwrap())
    }

    fn monotonic_micros(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_micros()).unwrap()
    }
}

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

    let stat = median(|| {
        walk(&root)
            .iter()
            .map(|file| file.metadata().unwrap().len())
            .sum::<u64>()
    });
    let hash = median(|| {
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
    let index_bytes: u64 = walk_all(&root.join(".casebook"))
        .iter()
        .map(|file| file.metadata().unwrap().len())
        .sum();
    println!(
        "index: {:.2} MB, {:.2} x the corpus",
        megabytes(index_bytes),
        index_bytes as f64 / bytes as f64
    );

    let refresh = median(|| {
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
    let edit = median(|| {
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

fn open(root: &Path, work: &Path, recorded: bool) -> Service {
    let clock = Arc::new(WallClock(Instant::now()));
    let table = embedded_table();
    let counter = AtomicU64::new(0);
    let parts = Parts {
        scorer: Arc::new(StaticLateInteraction::new(Arc::clone(&table))),
        encoder: Arc::new(StaticEncoder::new(table)),
        preferred: None,
        clock: clock.clone(),
        run_ids: Arc::new(move || RunId::new(format!("run-{}", counter.fetch_add(1, Ordering::Relaxed)))),
        problems: Vec::new(),
    };
    let data_dir = work.join("data");
    let history = if recorded {
        History::open(&data_dir, InstanceId::new("bench"), clock)
    } else {
        Err(casebook_api::ApiError::new(
            "history_unavailable",
            casebook_api::ErrorKind::Internal,
            "not wanted",
        ))
    };
    let id = Project::derived_id(root);
    let project = Project {
        index_dirs: Project::index_homes(root, &data_dir, &id, false),
        id,
        root: root.to_owned(),
        files: FilesConfig::default(),
        index: IndexOptions::default(),
        ranker: RankerConfig::default(),
        audiences: Vec::new(),
    };
    Service::open(project, history, parts).unwrap()
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

fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut files = walk_all(folder);
    files.retain(|file| file.extension().is_some_and(|extension| extension == "md"));
    files
}

fn walk_all(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path())
            } else {
                files.push(entry.path())
            }
        }
    }
    files.sort_unstable();
    files
}

fn time<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let started = Instant::now();
    let value = work();
    (started.elapsed(), value)
}

fn median<T>(mut work: impl FnMut() -> T) -> Duration {
    let mut times: Vec<_> = (0..ROUNDS).map(|_| time(&mut work).0).collect();
    times.sort_unstable();
    percentile(&times, 50)
}

fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    sorted
        .get((sorted.len() * percent / 100).min(sorted.len().saturating_sub(1)))
        .copied()
        .unwrap_or_default()
}

fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64()
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}
