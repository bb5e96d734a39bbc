//! The dense lane: one scan beside a plain read of the bytes that it reads and beside the f32 scan, and the time from
//! opening an index to its first dense answer, with segments and without.
//!
//! `CASEBOOK_BENCH_UNITS=1000,10000` measures other sizes.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark reads the clock, prints, and ends at the first fault"
)]

#[path = "../src/vector/dot.rs"]
mod dot;
#[path = "../src/vector/quantise.rs"]
mod quantise;
#[expect(dead_code, reason = "the bench uses a part of it")]
#[path = "../src/vector/scan.rs"]
mod scan;

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use casebook_corpus::{Clock, Found, KnownItems, MemorySource, Scan, ScanItem, SourceError, Stamp, Timestamp};
use casebook_index::{
    BuildReport, BuildRequest, Cancel, EncodeError, EncoderRevision, Index, IndexOptions, Passage, PassageVector,
    TextEncoder, VectorLane,
};
use casebook_testkit::{FixedClock, resource};

use self::dot::dot;
use self::quantise::Query;
use self::scan::Codes;

const LIMIT: usize = 60;
const DIMENSIONS: [usize; 2] = [256, 384];
/// Sections of one file.
const SECTIONS: usize = 100;

fn main() {
    let units = std::env::var("CASEBOOK_BENCH_UNITS").unwrap_or_else(|_| "10000,100000".to_owned());
    let units: Vec<usize> = units.split(',').map(|units| units.parse().unwrap()).collect();
    for rows in &units {
        for dimension in DIMENSIONS {
            scans(*rows, dimension);
        }
    }
    for rows in units {
        starts(rows, DIMENSIONS[0]);
    }
}

/// The lower quartile of several rounds: what others do to the machine is only ever added.
fn time<T>(rounds: usize, mut work: impl FnMut() -> T) -> Duration {
    let mut times: Vec<Duration> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            black_box(work());
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[rounds / 4]
}

fn random(seed: &mut u64) -> f32 {
    *seed = seed
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 40) as f32 / (1 << 24) as f32 - 0.5
}

fn vector(seed: u64, dimension: usize) -> Vec<f32> {
    let mut seed = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut vector: Vec<f32> = (0..dimension).map(|_| random(&mut seed) + random(&mut seed)).collect();
    let scale = dot::inverse_norm(&vector).unwrap();
    vector.iter_mut().for_each(|number| *number *= scale);
    vector
}

/// Every product and the best of them, as without 8-bit numbers.
fn plain(numbers: &[f32], query: &[f32]) -> Vec<(usize, f32)> {
    let mut scored: Vec<(usize, f32)> = numbers
        .chunks_exact(query.len())
        .map(|row| dot(row, query))
        .enumerate()
        .collect();
    let falling = |left: &(usize, f32), right: &(usize, f32)| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0));
    scored.select_nth_unstable_by(LIMIT, falling);
    scored.truncate(LIMIT);
    scored.sort_unstable_by(falling);
    scored
}

fn read(bytes: &[u8]) -> u64 {
    let words = bytes.as_chunks().0.iter();
    words.fold(0, |sum, word| sum.wrapping_add(u64::from_le_bytes(*word)))
}

fn scans(rows: usize, dimension: usize) {
    let mut codes = Codes::new(dimension);
    let mut numbers = Vec::with_capacity(rows * dimension);
    for row in 0..rows {
        let row = vector(row as u64, dimension);
        codes.push(&row);
        numbers.extend(row);
    }
    let query = vector(u64::MAX, dimension);
    let small = Query::new(&query).unwrap();
    let candidates = codes.candidates(&small, LIMIT);
    let row = |row: usize| &numbers[row * dimension..(row + 1) * dimension];
    let mut best: Vec<_> = candidates.iter().map(|at| (*at, dot(row(*at), &query))).collect();
    best.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
    best.truncate(LIMIT);
    assert_eq!(best, plain(&numbers, &query), "the answers are the same");

    let arch = pulp::Arch::new();
    let peer = time(41, || arch.dispatch(|| read(black_box(codes.bytes()))));
    let scan = time(41, || codes.candidates(black_box(&small), LIMIT));
    let full = time(15, || plain(black_box(&numbers), &query));
    println!(
        "scan {rows} x {dimension}: read {peer:.1?}, 8-bit scan {scan:.1?} ({:.2} x the read), f32 scan {full:.1?} ({:.1} x the \
         8-bit scan); {} rows left for f32",
        ratio(scan, peer),
        ratio(full, scan),
        candidates.len()
    );
}

fn ratio(left: Duration, right: Duration) -> f64 {
    left.as_secs_f64() / right.as_secs_f64()
}

/// Files of many sections.
struct Notes {
    units: usize,
    edited: bool,
}

impl MemorySource for Notes {
    fn scan(&self, _: &dyn KnownItems, _: &dyn Clock, _: &dyn Fn(usize) -> bool) -> Result<Scan, SourceError> {
        let filler = "memory retrieval fills a section with words. ".repeat(25);
        let mut scan = Scan::default();
        for file in 0..self.units.div_ceil(SECTIONS) {
            let edit = if self.edited && file == 0 { "an edit" } else { "" };
            let sections = (0..SECTIONS).map(|n| {
                format!(
                    "# Section {n}\n\n{file} {n} {}\n\n{filler}\n\n",
                    if n == 0 { edit } else { "" }
                )
            });
            let path = format!("{file:06}.md");
            scan.items.push(ScanItem {
                location: path.clone(),
                rank: 0,
                stamp: Some(Stamp::new([0; 4])),
                found: Found::Resource(Box::new(resource(&path, &sections.collect::<String>()).build())),
            });
        }
        Ok(scan)
    }
}

struct Random {
    revision: EncoderRevision,
    dimension: usize,
}

impl TextEncoder for Random {
    fn revision(&self) -> &EncoderRevision {
        &self.revision
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn max_input_tokens(&self) -> usize {
        512
    }

    fn encode_query(&self, _: &str) -> Result<Vec<f32>, EncodeError> {
        Ok(vector(u64::MAX, self.dimension))
    }

    fn encode_passages(&self, passages: &[Passage<'_>], _: &dyn Cancel) -> Result<Vec<PassageVector>, EncodeError> {
        let seed = |text: &str| {
            text.bytes()
                .fold(7_u64, |seed, byte| seed.wrapping_mul(31) + u64::from(byte))
        };
        let vectors = passages.iter().map(|passage| PassageVector {
            vector: vector(seed(passage.text), self.dimension),
            input_windows: 1,
        });
        Ok(vectors.collect())
    }
}

fn options() -> IndexOptions {
    let mut options = IndexOptions::default();
    options.fts5 = false;
    options.tantivy = false;
    options
}

fn build(dir: &Path, notes: &Notes, encoder: &Random) -> BuildReport {
    static CLOCK: FixedClock = FixedClock::new(Timestamp::from_unix_millis(0));
    let index = Index::open_with(dir, options()).unwrap();
    index.build(&BuildRequest::new(notes, Some(encoder), &CLOCK)).unwrap()
}

/// Opens the index and asks once.
fn first_answer(dir: &Path, query: &[f32]) -> (Duration, Duration, Vec<f32>) {
    let start = Instant::now();
    let index = Index::open_with(dir, options()).unwrap();
    let snapshot = index.snapshot().unwrap().unwrap();
    let lane = snapshot.dense().unwrap();
    let scores = |lane: &dyn VectorLane| {
        lane.search(query, LIMIT)
            .unwrap()
            .hits
            .iter()
            .map(|hit| hit.score)
            .collect()
    };
    let found = scores(lane);
    let first = start.elapsed();
    let start = Instant::now();
    let again: Vec<f32> = scores(lane);
    assert_eq!(found, again);
    (first, start.elapsed(), found)
}

fn starts(units: usize, dimension: usize) {
    const ROUNDS: usize = 5;
    let folder = tempfile::tempdir().unwrap();
    let encoder = Random {
        revision: "bench.1".into(),
        dimension,
    };
    let mut notes = Notes { units, edited: false };
    let report = build(folder.path(), &notes, &encoder);
    let query = encoder.encode_query("").unwrap();
    let measure = || {
        let mut all: Vec<_> = (0..ROUNDS).map(|_| first_answer(folder.path(), &query)).collect();
        all.sort_by_key(|(first, ..)| *first);
        all.swap_remove(ROUNDS / 2)
    };
    let with = measure();
    let db = rusqlite::Connection::open(folder.path().join("index.db")).unwrap();
    // A head that does not say its dimension has its vectors read out of the database.
    let set = |value: &str| db.execute_batch(&format!("UPDATE search_revisions SET dimension = {value}"));
    set("NULL").unwrap();
    let without = measure();
    set(&dimension.to_string()).unwrap();
    assert_eq!(with.2, without.2, "the answers are the same");
    println!(
        "start {} units x {}: first answer {:.1?} with segments, {:.1?} without ({:.1} x); next answer {:.1?}, {:.1?}",
        report.units,
        encoder.dimension,
        with.0,
        without.0,
        ratio(without.0, with.0),
        with.1,
        without.1
    );
    notes.edited = true;
    let start = Instant::now();
    let edit = build(folder.path(), &notes, &encoder);
    println!(
        "  segments: {} rows, {} bytes by the build; {} rows, {} bytes by one edit ({:.1?} in all)",
        report.segment_rows,
        report.segment_bytes,
        edit.segment_rows,
        edit.segment_bytes,
        start.elapsed()
    );
}
