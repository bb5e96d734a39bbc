//! Vectors that are filled in: in which order, at what cost, and what a fill lets happen beside it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use casebook_index::{Cancel, FillEnd, FillError, FillObserver, FillProgress, FillRequest, TextEncoder, UnitKey};
use casebook_testkit::{FakePack, resource};

use crate::support::{Fixture, Letters, Memory, every_lane, fill, fill_by, lane_of, request, sections};

fn notes(count: usize) -> Memory {
    let memory = Memory::default();
    for n in 0..count {
        memory.write(&format!("{n:03}.md"), &format!("note {n} 笔记"));
    }
    memory
}

fn built(memory: &Memory) -> Fixture {
    let fixture = Fixture::new();
    fixture.build(memory);
    fixture
}

#[test]
fn what_is_lacking_is_encoded_once_and_found() {
    let memory = notes(5);
    memory.write("twin.md", "note 1 笔记");
    let fixture = built(&memory);
    let pack = FakePack::new("pack.1");
    let before = fixture.snapshot().lanes_of(pack.revision()).unwrap().coverage();
    assert_eq!(
        (before.total, before.missing, before.refused, before.was_complete),
        (6, 6, 0, false)
    );

    let report = fixture.index.fill(&fill_by(&pack, 4)).unwrap();
    assert_eq!(
        (report.end, report.encoded, report.refused, report.encoder_calls),
        (FillEnd::Complete, 6, 0, 2)
    );
    assert_eq!(report.coverage.vectors(), 6);
    assert!(report.coverage.is_complete() && report.coverage.was_complete);
    let snapshot = fixture.snapshot();
    assert_eq!(lane_of(&snapshot, &pack, "note 1").0.len(), 6);
    assert_eq!(lane_of(&snapshot, &pack, "note 1").1, [""; 0]);
    assert!(snapshot.degradations().is_empty(), "the fill moves no head");

    let again = fill(&fixture.index, &pack);
    assert_eq!(
        (again.encoder_calls, again.rows_written, again.rows_dropped),
        (0, 0, 0),
        "{again:?}"
    );
}

#[test]
fn equal_inputs_are_encoded_once() {
    let memory = Memory::default();
    for location in ["low/a.md", "b.md"] {
        let twin = resource("same.md", "the same input 相同").id(location).build();
        memory.put(location, 0, twin);
    }
    let fixture = built(&memory);
    let pack = FakePack::new("pack.1");
    let report = fill(&fixture.index, &pack);
    assert_eq!((report.encoded, report.coverage.vectors()), (1, 2));
}

#[test]
fn the_newest_are_encoded_first() {
    let memory = Memory::default();
    let told = |path: &str| resource(path, path);
    memory.put("a.md", 0, told("a.md").observed_at(1_000).build());
    memory.put("b.md", 0, told("b.md").observed_at(3_000).build());
    memory.put(
        "c.md",
        0,
        told("c.md").observed_at(500).last_confirmed_at(2_000).build(),
    );
    memory.put("d.md", 0, told("d.md").valid_from(2_500).build());
    // Their stamps tell the start of 1970, where nothing else does.
    memory.put("z.md", 0, told("z.md").build());
    memory.put(
        "e.md",
        0,
        resource("e.md", &sections(3, |n| format!("part {n}"))).build(),
    );
    let fixture = built(&memory);
    let pack = FakePack::new("pack.1");
    fixture.index.fill(&fill_by(&pack, 1)).unwrap();
    let encoded: Vec<String> = pack
        .encoded()
        .iter()
        .map(|text| text.lines().next().unwrap_or_default().to_owned())
        .collect();
    let expected = [
        "b.md",
        "d.md",
        "c.md",
        "a.md",
        "# Section 0",
        "# Section 1",
        "# Section 2",
        "z.md",
    ];
    assert_eq!(encoded, expected);
}

#[test]
fn a_limit_ends_a_fill_and_the_next_goes_on() {
    let fixture = built(&notes(7));
    let pack = FakePack::new("pack.1");
    for (most, end, vectors) in [
        (0, FillEnd::Enough, 0),
        (3, FillEnd::Enough, 3),
        (3, FillEnd::Enough, 6),
        (3, FillEnd::Complete, 7),
    ] {
        let report = fixture.index.fill(&FillRequest {
            most: Some(most),
            ..fill_by(&pack, 2)
        });
        let report = report.unwrap();
        assert_eq!((report.end, report.coverage.vectors()), (end, vectors));
        assert_eq!(report.coverage.was_complete, vectors == 7);
    }
    assert_eq!(pack.encoded().len(), 7);
}

/// Everything that a caller can see of a pack.
fn view(fixture: &Fixture, pack: &FakePack) -> impl PartialEq + std::fmt::Debug {
    let snapshot = fixture.snapshot();
    let lanes = snapshot.lanes_of(pack.revision()).unwrap();
    (
        lanes.coverage(),
        lane_of(&snapshot, pack, "note 笔记"),
        lane_of(&snapshot, pack, "3"),
    )
}

#[test]
fn in_one_go_in_pieces_and_after_a_rebuild_are_the_same() {
    let memory = notes(9);
    memory.write("no.md", "REFUSE 拒绝");
    let pack = FakePack::new("pack.1");
    let whole = built(&memory);
    fill(&whole.index, &pack);

    let pieces = built(&memory);
    for _ in 0..4 {
        let failing = FakePack::new("pack.1").failing_after(2);
        let failed = pieces.index.fill(&fill_by(&failing, 2)).unwrap_err();
        assert!(matches!(failed, FillError::Encode(_)), "{failed}");
    }
    assert_eq!(fill(&pieces.index, &pack).end, FillEnd::Complete);
    assert_eq!(view(&pieces, &pack), view(&whole, &pack));

    let full = casebook_index::BuildRequest {
        full: true,
        ..request(&memory, Some(&whole.encoder))
    };
    let before = view(&whole, &pack);
    whole.index.build(&full).unwrap();
    let calls = pack.calls();
    fill(&whole.index, &pack);
    assert_eq!((view(&whole, &pack), pack.calls()), (before, calls));
}

#[test]
fn a_refused_input_is_marked_and_not_tried_again() {
    let memory = notes(3);
    memory.write("no.md", "REFUSE 拒绝");
    let fixture = built(&memory);
    let pack = FakePack::new("pack.1");
    let report = fill(&fixture.index, &pack);
    assert_eq!(
        (report.end, report.encoded, report.refused, report.coverage.refused),
        (FillEnd::Complete, 3, 1, 1)
    );
    let calls = pack.calls();
    let again = fill(&fixture.index, &pack);
    assert_eq!((again.coverage.refused, pack.calls()), (1, calls));
    let (hits, told) = lane_of(&fixture.snapshot(), &pack, "note");
    assert_eq!((hits.len(), told.len()), (3, 1));
    assert_eq!(told[0], "1 of 4 units have no vector of pack.1");
    let lanes = fixture.snapshot().lanes_of(pack.revision()).unwrap();
    lanes.dense().search(&FakePack::vector("note"), 9).unwrap();
    assert!(lanes.dense().lacks(&UnitKey::new("no.md#:root")));
    assert!(!lanes.dense().lacks(&UnitKey::new("000.md#:root")));
}

#[test]
fn an_input_that_makes_the_encoder_panic_is_refused() {
    let memory = notes(5);
    memory.write("bomb.md", "PANIC 恐慌");
    let fixture = built(&memory);
    let pack = FakePack::new("pack.1");
    let report = fill(&fixture.index, &pack);
    assert_eq!(
        (report.end, report.encoded, report.coverage.refused),
        (FillEnd::Complete, 5, 1)
    );
}

#[test]
fn an_encoder_that_always_panics_is_broken_and_marks_nothing() {
    let memory = Memory::with(&[("a.md", "PANIC one"), ("b.md", "PANIC two")]);
    let fixture = built(&memory);
    let pack = FakePack::new("pack.1").deaf();
    let failed = fixture.index.fill(&fill_by(&pack, 8)).unwrap_err();
    assert!(matches!(failed, FillError::Encode(_)), "{failed}");
    let coverage = fixture.snapshot().lanes_of(pack.revision()).unwrap().coverage();
    assert_eq!((coverage.missing, coverage.refused), (2, 0));
}

#[test]
fn a_failed_encoder_keeps_what_it_made() {
    let fixture = built(&notes(6));
    let pack = FakePack::new("pack.1").failing_after(4);
    assert!(fixture.index.fill(&fill_by(&pack, 2)).is_err());
    let coverage = fixture.snapshot().lanes_of(pack.revision()).unwrap().coverage();
    assert_eq!((coverage.vectors(), coverage.was_complete), (4, false));
    pack.fail_after(u64::MAX);
    let report = fill(&fixture.index, &pack);
    assert_eq!((report.encoded, report.end), (2, FillEnd::Complete));
}

/// An observer that records and may stop.
#[derive(Default)]
struct Watcher {
    told: Mutex<Vec<(u64, u64, u64)>>,
    cancelled: AtomicBool,
    batches: AtomicU64,
    hold_at: Option<u64>,
}

impl Cancel for Watcher {
    fn cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

impl FillObserver for Watcher {
    fn progress(&self, progress: FillProgress) {
        let told = (progress.done, progress.total, progress.encoded);
        self.told.lock().unwrap().push(told);
    }

    fn go_on(&self) -> bool {
        Some(self.batches.fetch_add(1, Ordering::Relaxed)) != self.hold_at
    }
}

#[test]
fn progress_starts_from_what_is_there_and_ends_at_the_total() {
    let memory = notes(5);
    memory.write("no.md", "REFUSE");
    let fixture = built(&memory);
    let pack = FakePack::new("pack.1");
    let first = FillRequest {
        most: Some(2),
        ..fill_by(&pack, 2)
    };
    fixture.index.fill(&first).unwrap();
    let watcher = Watcher::default();
    let request = FillRequest {
        observer: &watcher,
        ..fill_by(&pack, 2)
    };
    fixture.index.fill(&request).unwrap();
    let told = watcher.told.into_inner().unwrap();
    assert_eq!(told, [(2, 6, 0), (4, 6, 2), (6, 6, 3)]);
}

#[test]
fn an_observer_holds_or_cancels_between_batches() {
    let fixture = built(&notes(6));
    let pack = FakePack::new("pack.1");
    let watcher = Watcher {
        hold_at: Some(2),
        ..Watcher::default()
    };
    let request = FillRequest {
        observer: &watcher,
        ..fill_by(&pack, 2)
    };
    let report = fixture.index.fill(&request).unwrap();
    assert_eq!((report.end, report.encoded), (FillEnd::Held, 4));
    watcher.cancelled.store(true, Ordering::Relaxed);
    let cancelled = fixture.index.fill(&request).unwrap_err();
    assert!(matches!(cancelled, FillError::Cancelled));
    assert_eq!(pack.encoded().len(), 4);
}

#[test]
fn a_pause_outlives_the_process_and_stops_a_fill_at_work() {
    let mut fixture = built(&notes(6));
    let index = fixture.index.clone();
    let pause = move |_| index.pause_fill().unwrap();
    let pack = FakePack::new("pack.1").before_batch(pause);
    let report = fixture.index.fill(&fill_by(&pack, 2)).unwrap();
    assert_eq!((report.end, report.encoded), (FillEnd::Paused, 2));
    fixture.reopen();
    assert!(fixture.index.fill_status().unwrap().paused);
    let report = fixture.index.fill(&fill_by(&pack, 2)).unwrap();
    assert_eq!(
        (report.end, report.encoded, report.rows_written),
        (FillEnd::Paused, 0, 0)
    );

    fixture.index.resume_fill().unwrap();
    fixture.index.resume_fill().unwrap();
    assert!(!fixture.index.fill_status().unwrap().paused);
    let pack = FakePack::new("pack.1");
    assert_eq!(fill(&fixture.index, &pack).encoded, 4);
}

#[test]
fn one_fills_at_a_time_and_a_second_says_so() {
    let fixture = built(&notes(4));
    let other = every_lane(&fixture.dir()).unwrap();
    let seen = Arc::new(AtomicBool::new(false));
    let witness = Arc::clone(&seen);
    let pack = FakePack::new("pack.1").before_batch(move |_| {
        let second = FakePack::new("pack.2");
        assert!(matches!(other.fill(&fill_by(&second, 2)), Err(FillError::Busy)));
        assert!(other.fill_status().unwrap().filling);
        witness.store(true, Ordering::Relaxed);
    });
    assert_eq!(fill(&fixture.index, &pack).end, FillEnd::Complete);
    assert!(seen.load(Ordering::Relaxed));
    assert!(!fixture.index.fill_status().unwrap().filling);
}

#[test]
fn a_head_that_moves_is_followed_and_nobody_waits() {
    let memory = Arc::new(notes(8));
    let fixture = built(&memory);
    let (index, edited) = (every_lane(&fixture.dir()).unwrap(), Arc::clone(&memory));
    let batches = AtomicU64::new(0);
    let pack = FakePack::new("pack.1").before_batch(move |_| {
        if batches.fetch_add(1, Ordering::Relaxed) == 1 {
            edited.write("007.md", "edited 编辑");
            edited.write("new.md", "brand new 新的");
            edited.remove("006.md");
            let encoder = Letters::new("letters.1");
            let report = index.build(&request(&*edited, Some(&encoder))).unwrap();
            assert!(report.head_moved);
            assert!(index.snapshot().unwrap().is_some());
        }
    });
    let report = fixture.index.fill(&fill_by(&pack, 2)).unwrap();
    assert_eq!((report.end, report.coverage.vectors()), (FillEnd::Complete, 8));
    let encoded = pack.encoded();
    assert!(encoded.contains(&"edited 编辑".to_owned()) && encoded.contains(&"brand new 新的".to_owned()));
    assert!(!encoded.contains(&"note 6 笔记".to_owned()), "{encoded:?}");
    let fresh = built(&memory);
    let twin = FakePack::new("pack.1");
    fill(&fresh.index, &twin);
    assert_eq!(view(&fixture, &pack), view(&fresh, &twin));
}

#[test]
fn without_a_head_there_is_nothing_to_fill() {
    let fixture = Fixture::new();
    let pack = FakePack::new("pack.1");
    assert!(matches!(fixture.index.fill(&fill_by(&pack, 2)), Err(FillError::NoHead)));
    assert!(fixture.index.fill_status().unwrap().encoders.is_empty());
}

#[test]
fn the_encoder_of_the_builds_needs_no_filling() {
    let fixture = built(&notes(2));
    let before = fixture.encoder.inputs.load(Ordering::Relaxed);
    let clock = casebook_corpus::Timestamp::from_unix_millis(0);
    let request = FillRequest::new(&fixture.encoder, &clock);
    let report = fixture.index.fill(&request).unwrap();
    assert_eq!((report.end, report.rows_written), (FillEnd::Complete, 0));
    assert_eq!(report.coverage.vectors(), 2);
    assert_eq!(fixture.encoder.inputs.load(Ordering::Relaxed), before);
    assert_eq!(fixture.index.fill_status().unwrap().encoders.len(), 1);
}
