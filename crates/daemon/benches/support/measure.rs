//! What the benchmarks of the binary share: a service over a folder, times, sizes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use casebook_api::{History, Parts, Project, Service};
use casebook_corpus::{Clock, FilesConfig, Timestamp};
use casebook_encoder::{StaticEncoder, StaticLateInteraction, embedded_table};
use casebook_index::IndexOptions;
use casebook_ranker::RankerConfig;
use casebook_recorder::{InstanceId, RunId};

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

pub(crate) fn open(root: &Path, work: &Path, recorded: bool) -> Service {
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
        records: Project::records_file(&data_dir, &id),
        id,
        root: root.to_owned(),
        files: FilesConfig::default(),
        index: IndexOptions::default(),
        ranker: RankerConfig::default(),
        audiences: Vec::new(),
    };
    Service::open(project, history, parts).unwrap()
}

pub(crate) fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut files = walk_all(folder);
    files.retain(|file| file.extension().is_some_and(|extension| extension == "md"));
    files
}

pub(crate) fn walk_all(folder: &Path) -> Vec<PathBuf> {
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

pub(crate) fn time<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let started = Instant::now();
    let value = work();
    (started.elapsed(), value)
}

/// Runs work so many times.
pub(crate) fn median<T>(rounds: usize, mut work: impl FnMut() -> T) -> Duration {
    let mut times: Vec<_> = (0..rounds).map(|_| time(&mut work).0).collect();
    times.sort_unstable();
    percentile(&times, 50)
}

pub(crate) fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    sorted
        .get((sorted.len() * percent / 100).min(sorted.len().saturating_sub(1)))
        .copied()
        .unwrap_or_default()
}

pub(crate) fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64()
}

pub(crate) fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

pub(crate) fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}
