//! The word lanes: each alone, and those that are on by default one after the other, beside SQLite's full-text table asked for every term.
//!
//! `CASEBOOK_BENCH_UNITS=10000,100000` measures other sizes. Memory is generated, see `casebook_testkit::Generator`.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark reads the clock, prints, and ends at the first fault"
)]

use std::path::Path;
use std::time::{Duration, Instant};

use casebook_corpus::{RecordSource, Timestamp};
use casebook_index::{BuildRequest, Index, IndexOptions, LexicalLane};
use casebook_testkit::{FixedClock, Generator, resource};
use rusqlite::Connection;

const LIMIT: usize = 60;
const QUESTIONS: usize = 200;
/// What the lane of substrings asks for at most.
const WINDOWS: usize = 32;

fn main() {
    let generator = Generator::new(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata"), 1);
    let units = std::env::var("CASEBOOK_BENCH_UNITS").unwrap_or_else(|_| "10000,100000".to_owned());
    for units in units.split(',') {
        lanes(units.parse().unwrap(), &generator);
    }
}

fn lanes(units: usize, generator: &Generator) {
    static CLOCK: FixedClock = FixedClock::new(Timestamp::from_unix_millis(0));
    let folder = tempfile::tempdir().unwrap();
    let notes = generator.notes(units);
    let source = RecordSource::new(notes.map(|note| resource(&note.path, &note.text).build()).collect());
    let index = Index::open_with(folder.path(), IndexOptions::with_every_lane()).unwrap();
    let report = index.build(&BuildRequest::new(&source, None, &CLOCK)).unwrap();
    drop(source);
    let snapshot = index.snapshot().unwrap().unwrap();
    let lexical = snapshot.lexical();
    let questions = generator.questions(units, QUESTIONS);
    let db = Connection::open(folder.path().join("index.db")).unwrap();

    println!("{} units, {QUESTIONS} questions", report.units);
    let table = times(&questions, |question| every_term(&db, question));
    print("fts5 table, every term", &table, &table);
    for lane in &lexical {
        let times = times(&questions, |question| search(*lane, question));
        print(&format!("{} lane", lane.name()), &times, &table);
    }
    let defaults = IndexOptions::default();
    let by_default: Vec<_> = lexical.iter().filter(|lane| defaults.has_lane(lane.name())).collect();
    let merged = times(&questions, |question| {
        by_default.iter().for_each(|lane| search(**lane, question))
    });
    print("lanes that are on by default", &merged, &table);
    let tantivy = lexical.iter().find(|lane| lane.name() == "tantivy").unwrap();
    let peer = times(&questions, |question| search(*tantivy, question));
    println!(
        "  their p95 = {:.2} x tantivy's",
        ratio(percentile(&merged, 95), percentile(&peer, 95))
    );
}

fn search(lane: &dyn LexicalLane, question: &str) {
    drop(lane.search(question, LIMIT).unwrap());
}

/// Asks for all at once and ranks everything that matches.
fn every_term(db: &Connection, question: &str) {
    let mut terms: Vec<String> = Vec::new();
    for word in question.split(|c: char| !c.is_alphanumeric()) {
        let chars: Vec<char> = word.chars().collect();
        if word.is_ascii() && chars.len() > 2 {
            terms.push(word.to_owned());
        } else {
            terms.extend(chars.windows(3).map(|window| window.iter().collect()));
        }
    }
    terms.truncate(WINDOWS);
    if terms.is_empty() {
        return;
    }
    let quoted: Vec<String> = terms.iter().map(|term| format!("\"{term}\"")).collect();
    let sql = "SELECT rowid, bm25(search_units_fts, 8.0, 6.0, 4.0, 1.0) AS score FROM search_units_fts
               WHERE search_units_fts MATCH ?1 ORDER BY score LIMIT ?2";
    let mut statement = db.prepare_cached(sql).unwrap();
    let rows = statement.query_map((quoted.join(" OR "), LIMIT), |row| row.get::<_, i64>(0));
    assert!(rows.unwrap().all(|row| row.is_ok()));
}

fn times(questions: &[String], mut ask: impl FnMut(&str)) -> Vec<Duration> {
    for question in questions.iter().take(20) {
        ask(question);
    }
    let mut times: Vec<Duration> = questions
        .iter()
        .map(|question| {
            let start = Instant::now();
            ask(question);
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times
}

fn print(name: &str, times: &[Duration], peer: &[Duration]) {
    let (p50, p95) = (percentile(times, 50), percentile(times, 95));
    println!(
        "  {name:28} p50 {p50:.2?}, p95 {p95:.2?} ({:.3} of the table's p95)",
        ratio(p95, percentile(peer, 95))
    );
}

fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    sorted[(sorted.len() * percent / 100).min(sorted.len() - 1)]
}

fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64()
}
