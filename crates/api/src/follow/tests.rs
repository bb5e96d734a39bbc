use std::cell::RefCell;
use std::collections::VecDeque;

use casebook_corpus::EffectiveHash;
use casebook_index::RevisionId;

use super::*;

/// A clock that the script moves.
struct Time(std::sync::atomic::AtomicU64);

impl Time {
    fn millis(&self) -> u64 {
        self.0.load(std::sync::atomic::Ordering::Relaxed)
    }

    fn set(&self, millis: u64) {
        self.0.store(millis, std::sync::atomic::Ordering::Relaxed);
    }
}

impl Clock for Time {
    fn now(&self) -> casebook_corpus::Timestamp {
        casebook_corpus::Timestamp::from_unix_millis(0)
    }

    fn monotonic_micros(&self) -> u64 {
        self.millis() * 1000
    }
}

/// Notices at given milliseconds. Waiting moves the clock and costs no time.
struct Script<'a> {
    time: &'a Time,
    notices: VecDeque<(u64, Option<Notice>)>,
    prepared: &'a RefCell<Vec<Option<Notice>>>,
    degradation: Option<Degradation>,
}

impl Watch for Script<'_> {
    fn wait(&mut self, limit: Duration) -> Option<Notice> {
        let until = self.time.millis() + limit.as_millis() as u64;
        match self.notices.front() {
            Some(&(at, notice)) if at <= until => {
                self.notices.pop_front();
                self.time.set(at.max(self.time.millis()));
                notice
            }
            _ => {
                self.time.set(until);
                None
            }
        }
    }

    fn prepare(&mut self, after: Option<Notice>) {
        self.prepared.borrow_mut().push(after);
    }

    fn degradation(&self) -> Option<&Degradation> {
        self.degradation.as_ref()
    }
}

/// Stops when the script's time is over.
struct Until<'a> {
    time: &'a Time,
    end: u64,
}

impl Cancel for Until<'_> {
    fn cancelled(&self) -> bool {
        self.time.millis() >= self.end
    }
}

fn report(head_moved: bool, degradations: Vec<Degradation>) -> BuildReport {
    BuildReport {
        revision: RevisionId::new("1"),
        effective_hash: EffectiveHash::of(""),
        head_moved,
        resources: 0,
        units: 0,
        added: 0,
        changed: 0,
        removed: 0,
        units_written: 0,
        encoded: 0,
        evicted: 0,
        encoder_calls: 0,
        rows_written: 0,
        segment_rows: 0,
        segment_bytes: 0,
        stamps_renewed: 0,
        bytes_read: 0,
        body_bytes: 0,
        degradations,
        elapsed_ms: 0,
    }
}

fn moved() -> Result<BuildReport, ApiError> {
    Ok(report(true, Vec::new()))
}

fn same() -> Result<BuildReport, ApiError> {
    Ok(report(false, Vec::new()))
}

fn refused(kind: ErrorKind) -> Result<BuildReport, ApiError> {
    Err(ApiError::new("refused", kind, "no"))
}

/// What a run of a script did.
#[derive(Default)]
struct Did {
    /// Milliseconds of the builds.
    builds: Vec<u64>,
    told: Vec<String>,
    prepared: Vec<Option<Notice>>,
}

struct Case {
    end: u64,
    notices: Vec<(u64, Option<Notice>)>,
    degradation: Option<Degradation>,
    build_millis: u64,
}

impl Case {
    fn new(end: u64, notices: impl IntoIterator<Item = (u64, Notice)>) -> Self {
        Self {
            end,
            notices: notices.into_iter().map(|(at, notice)| (at, Some(notice))).collect(),
            degradation: None,
            build_millis: 0,
        }
    }

    /// Follows; `outcome` is told the number of the build.
    fn run(self, mut outcome: impl FnMut(usize) -> Result<BuildReport, ApiError>) -> Did {
        let time = Time(0.into());
        let (prepared, mut did) = (RefCell::default(), Did::default());
        let mut watch = Script {
            time: &time,
            notices: self.notices.into(),
            prepared: &prepared,
            degradation: self.degradation,
        };
        let told = RefCell::new(Vec::new());
        Follower {
            watch: &mut watch,
            build: &mut || {
                did.builds.push(time.millis());
                time.set(time.millis() + self.build_millis);
                outcome(did.builds.len())
            },
            clock: &time,
            pace: Pace::default(),
            stop: &Until {
                time: &time,
                end: self.end,
            },
            tell: &mut |news| {
                told.borrow_mut().push(match news {
                    Told::Head(report) => format!("head {}", report.head_moved),
                    Told::Failed(error) => format!("failed {}", error.code),
                    Told::Degraded(degradation) => format!("degraded {}", degradation.code),
                });
            },
        }
        .run();
        did.told = told.into_inner();
        did.prepared = prepared.into_inner();
        did
    }
}

use Notice::{Changed, Overflow};

#[test]
fn without_notices_there_is_a_look_at_the_start_and_one_now_and_then() {
    let did = Case::new(1_000_000, []).run(|_| same());
    assert_eq!(did.builds, [0, 300_000, 600_000, 900_000]);
    assert_eq!(did.prepared, [None; 4]);
    assert_eq!(did.told, ["head false"]);
}

#[test]
fn a_save_is_looked_at_when_it_is_over() {
    // As editors do it: truncate and write; write beside and rename over; delete and create.
    for gaps in [vec![0, 20], vec![0, 1, 2, 140], vec![0, 100, 100]] {
        let last = 1000 + gaps.iter().sum::<u64>();
        let mut at = 1000;
        let notices = gaps.iter().map(|gap| {
            at += gap;
            (at, Changed)
        });
        let did = Case::new(10_000, notices.collect::<Vec<_>>()).run(|_| moved());
        assert_eq!(did.builds, [0, last + 150], "{gaps:?}");
        assert_eq!(did.prepared, [None, Some(Changed)]);
    }
}

#[test]
fn two_thousand_files_are_few_builds() {
    let checkout = (0..2000).map(|n| (1000 + n * 2, Changed));
    let mut case = Case::new(20_000, checkout);
    case.build_millis = 800;
    let did = case.run(|_| moved());
    assert!(did.builds.len() <= 5, "{:?}", did.builds);
    // What came during the last build is looked at, too.
    assert!(did.builds.last() >= Some(&5000), "{:?}", did.builds);
}

#[test]
fn what_does_not_matter_wakes_and_builds_nothing() {
    let mut case = Case::new(290_000, []);
    case.notices = (1..1000).map(|n| (n * 100, None)).collect();
    assert_eq!(case.run(|_| same()).builds, [0]);
}

#[test]
fn lost_notices_are_a_look_at_everything() {
    let did = Case::new(5_000, [(1000, Changed), (1010, Overflow), (1020, Changed)]).run(|_| moved());
    assert_eq!(did.builds, [0, 1170]);
    assert_eq!(did.prepared, [None, Some(Overflow)]);
}

#[test]
fn lost_notices_that_looking_causes_do_not_go_on_for_ever() {
    let storm = || (0..6000).map(|n| (n * 100, Overflow));
    let idle = Case::new(600_000, storm()).run(|_| same()).builds.len();
    assert!(idle < 80, "{idle} builds in ten minutes");
    // A change among them is not left waiting.
    let mut notices: Vec<_> = storm().collect();
    notices.push((300_050, Changed));
    notices.sort_by_key(|(at, _)| *at);
    let did = Case::new(600_000, notices).run(|_| same());
    assert!(
        did.builds.iter().any(|at| (300_050..=302_000).contains(at)),
        "{:?}",
        did.builds
    );
}

#[test]
fn a_failure_is_told_once_and_its_end_too() {
    let notices = (1..8).map(|n| (n * 1000, Changed));
    let did = Case::new(9_000, notices).run(|build| match build {
        1 => moved(),
        2..=4 => refused(ErrorKind::Input),
        5 => Err(ApiError::new("other", ErrorKind::Input, "no")),
        _ => same(),
    });
    assert_eq!(did.builds.len(), 8);
    assert_eq!(did.told, ["head true", "failed refused", "failed other", "head false"]);
}

#[test]
fn a_failure_of_the_machine_is_tried_again_soon_and_one_of_the_memory_when_it_changes() {
    let soon = Case::new(25_000, []).run(|_| refused(ErrorKind::Internal));
    assert_eq!(soon.builds, [0, 10_000, 20_000]);
    let later = Case::new(25_000, []).run(|_| refused(ErrorKind::Input));
    assert_eq!(later.builds, [0]);
}

#[test]
fn where_not_all_is_noticed_the_memory_is_looked_at_often() {
    let mut case = Case::new(25_000, []);
    case.degradation = Some(Degradation::new("watch_limited", "3 of 4"));
    let did = case.run(|_| same());
    assert_eq!(did.builds, [0, 10_000, 20_000]);
    assert_eq!(did.told, ["degraded watch_limited", "head false"]);
}

#[test]
fn another_problem_is_told_though_the_head_is_the_same() {
    let skipped = |detail: &str, path| Degradation::at("file_not_utf8", detail, path);
    let notices = (1..5).map(|n| (n * 1000, Changed));
    let did = Case::new(6_000, notices).run(|build| {
        let found = match build {
            1 => vec![],
            2 => vec![skipped("byte 3", "a.md")],
            3 => vec![skipped("byte 9", "a.md")],
            4 => vec![skipped("byte 9", "a.md"), skipped("byte 1", "笔记.md")],
            _ => vec![],
        };
        Ok(report(false, found))
    });
    assert_eq!(did.told.len(), 4, "{:?}", did.told);
}

#[test]
fn who_stops_it_during_a_build_hears_of_no_failure() {
    let mut case = Case::new(2_000, [(1000, Changed)]);
    case.build_millis = 1000;
    let did = case.run(|build| {
        if build == 2 {
            refused(ErrorKind::NotReady)
        } else {
            moved()
        }
    });
    assert_eq!((did.builds.len(), did.told), (2, vec!["head true".to_owned()]));
}
