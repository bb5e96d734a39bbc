//! What goes wrong leaves the head, or is told as a degradation. Parts of an index that are broken one by one are in
//! `crates/api/tests/it/matrix.rs`, where a user meets them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use casebook_index::{BuildError, BuildObserver, BuildRequest, BuildStage, Cancel, Index, IndexOptions};
use casebook_testkit::resource;

use crate::support::{Fixture, Memory, StopAfter, codes, every_lane, request, search};

#[test]
fn a_failed_build_leaves_the_head_and_its_reason() {
    let fixture = Fixture::new();
    let memory = Memory::with(&[("a.md", "one")]);
    let first = fixture.build(&memory);
    memory.put("b.md", 0, resource("b.md", "two").supersedes(&["nobody"]).build());
    for _ in 0..2 {
        assert!(matches!(fixture.try_build(&memory), Err(BuildError::Supersession(_))));
    }
    let status = fixture.index.status().unwrap();
    assert_eq!(status.head.unwrap().id, first.revision);
    let failure = status.last_failure.unwrap();
    assert!(failure.reason.contains("nobody"), "{}", failure.reason);
    assert_eq!(failure.revision.as_str(), "2-none", "the same failure is noted once");
    assert_eq!(search(&fixture.snapshot(), "tantivy", "one"), ["one"]);
    memory.write("b.md", "two");
    fixture.build(&memory);
    assert_eq!(fixture.index.status().unwrap().last_failure, None);
}

#[test]
fn a_cancelled_build_leaves_the_head_wherever_it_stops() {
    let fixture = Fixture::new();
    let memory = Memory::with(&[("a.md", "one")]);
    let first = fixture.build(&memory);
    memory.write("a.md", "uno 一");
    memory.write("b.md", "two");
    let mut stops = 0;
    loop {
        let observer = StopAfter(AtomicU64::new(stops));
        let watched = BuildRequest {
            observer: &observer,
            ..request(&memory, Some(&fixture.encoder))
        };
        match fixture.index.build(&watched) {
            Err(BuildError::Cancelled) => {
                let snapshot = fixture.snapshot();
                assert_eq!(snapshot.revision().id, first.revision);
                assert_eq!(snapshot.manifest().unwrap().effective_hash(), first.effective_hash);
                assert_eq!(search(&snapshot, "fts5", "one"), ["one"]);
            }
            other => {
                assert!(other.unwrap().head_moved);
                break;
            }
        }
        stops += 1;
    }
    assert!(stops > 4, "{stops}");
    assert_eq!(search(&fixture.snapshot(), "dense", "two").len(), 2);
}

/// An observer that stops a build when it hears of a stage.
struct StopAt {
    stage: BuildStage,
    /// Only when its last step is done.
    last: bool,
    asked: AtomicU64,
    heard: AtomicBool,
    /// What it heard after it had said so.
    later: AtomicU64,
}

impl Cancel for StopAt {
    fn cancelled(&self) -> bool {
        let asked = u64::from(self.last);
        self.heard.load(Ordering::Relaxed) && self.asked.fetch_add(1, Ordering::Relaxed) >= asked
    }
}

impl BuildObserver for StopAt {
    fn progress(&self, stage: BuildStage, done: usize, total: Option<usize>) {
        assert!(
            total.is_none_or(|total| done <= total),
            "{stage:?}: {done} of {total:?}"
        );
        if self.heard.load(Ordering::Relaxed) {
            self.later.fetch_add(1, Ordering::Relaxed);
        }
        if stage == self.stage && (!self.last || total == Some(done + 1)) {
            self.heard.store(true, Ordering::Relaxed);
        }
    }
}

fn many(generation: usize) -> Memory {
    let memory = Memory::default();
    for n in 0..150 {
        memory.write(
            &format!("{n:03}.md"),
            &format!("note {n} 笔记 of generation {generation}"),
        );
    }
    memory
}

#[test]
fn every_long_step_tells_how_far_it_is_and_stops_when_told() {
    use BuildStage::{Chunking, Comparing, Encoding, Scanning, Vectors, Words, Writing};

    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let stages = [Scanning, Chunking, Comparing, Encoding, Vectors, Writing, Words];
    for (stage, last) in stages.map(|stage| (stage, false)).into_iter().chain([(Words, true)]) {
        let fixture = Fixture::new();
        let first = fixture.build(&many(0));
        let memory = many(1);
        let observer = StopAt {
            stage,
            last,
            asked: AtomicU64::new(0),
            heard: AtomicBool::new(false),
            later: AtomicU64::new(0),
        };
        let watched = BuildRequest {
            observer: &observer,
            ..request(&memory, Some(&fixture.encoder))
        };
        let stopped = fixture.index.build(&watched);
        assert!(matches!(stopped, Err(BuildError::Cancelled)), "{stage:?}: {stopped:?}");
        let later = observer.later.load(Ordering::Relaxed);
        assert!(later <= 1 + threads, "{stage:?}: {later} steps after it was told");
        let snapshot = fixture.snapshot();
        assert_eq!(snapshot.revision().id, first.revision, "{stage:?}");
        assert!(
            snapshot.degradations().is_empty(),
            "{stage:?}: {:?}",
            snapshot.degradations()
        );
        for lane in ["impact", "fts5", "tantivy"] {
            assert_eq!(search(&snapshot, lane, "generation 0").len(), 60, "{stage:?} {lane}");
        }
        drop(snapshot);
        let next = fixture.build(&memory);
        assert!(next.head_moved && next.degradations.is_empty(), "{stage:?}: {next:?}");
        assert_eq!(
            fixture.encoder.inputs.load(Ordering::Relaxed),
            300,
            "{stage:?}: nothing was made twice"
        );
        assert_eq!(fixture.build(&memory).rows_written, 0, "{stage:?}");
    }
}

#[test]
fn a_stopped_build_and_the_next_encode_what_one_would() {
    for stops in (0..).step_by(211) {
        let fixture = Fixture::new();
        let memory = many(0);
        let observer = StopAfter(AtomicU64::new(stops));
        let watched = BuildRequest {
            observer: &observer,
            ..request(&memory, Some(&fixture.encoder))
        };
        let stopped = fixture.index.build(&watched);
        let report = fixture.build(&memory);
        assert_eq!(
            fixture.encoder.inputs.load(Ordering::Relaxed),
            150,
            "after {stops} questions"
        );
        assert_eq!(
            (report.units, search(&fixture.snapshot(), "dense", "note").len()),
            (150, 60)
        );
        if stopped.is_ok() {
            assert!(stops > 1000, "{stops}");
            break;
        }
    }
}

#[test]
fn an_encoder_that_fails_leaves_words_and_goes_on_later() {
    let fixture = Fixture::new();
    let memory = Memory::default();
    for n in 0..100 {
        memory.write(&format!("{n:03}.md"), &format!("text number {n}"));
    }
    fixture.encoder.broken.store(true, Ordering::Relaxed);
    let report = fixture.build(&memory);
    assert_eq!(codes(&report.degradations), ["vector_lane_unavailable"]);
    assert!(
        report.degradations[0].detail.contains("the model is gone"),
        "{}",
        report.degradations[0]
    );
    let snapshot = fixture.snapshot();
    assert!(snapshot.dense().is_none());
    assert_eq!(codes(snapshot.degradations()), ["vector_lane_unavailable"]);
    assert_eq!(search(&snapshot, "tantivy", "number 42")[0], "text number 42");
    drop(snapshot);

    fixture.encoder.broken.store(false, Ordering::Relaxed);
    fixture.encoder.breaks_after.store(64, Ordering::Relaxed);
    let report = fixture.build(&memory);
    assert_eq!((report.encoded, report.units_written), (64, 0));
    assert_eq!(codes(&report.degradations), ["vector_partial"]);
    let snapshot = fixture.snapshot();
    let answer = snapshot
        .dense()
        .unwrap()
        .search(&crate::support::Letters::vector("text"), 99)
        .unwrap();
    assert_eq!(
        (answer.hits.len(), codes(&answer.degradations)),
        (64, vec!["vector_partial"])
    );
    assert_eq!(answer.degradations, snapshot.degradations());
    drop(snapshot);

    fixture.encoder.breaks_after.store(u64::MAX, Ordering::Relaxed);
    let report = fixture.build(&memory);
    assert_eq!((report.encoded, codes(&report.degradations)), (36, vec![]));
    assert_eq!(fixture.build(&memory).rows_written, 0);
}

#[test]
fn an_input_that_is_refused_costs_itself_alone_and_is_not_tried_again() {
    let fixture = Fixture::new();
    let memory = Memory::with(&[
        ("a.md", "one"),
        ("b.md", "REFUSE me"),
        ("c.md", "three"),
        ("d.md", "REFUSE too"),
    ]);
    let report = fixture.build(&memory);
    assert_eq!((report.encoded, report.encoder_calls), (2, 3));
    assert_eq!(codes(&report.degradations), ["vector_partial"]);
    let again = fixture.build(&memory);
    assert_eq!((again.encoder_calls, again.rows_written), (0, 0));
    assert_eq!(codes(&again.degradations), ["vector_partial"]);
    assert_eq!(search(&fixture.snapshot(), "dense", "one").len(), 2);
}

#[test]
fn a_broken_database_is_moved_aside_and_built_anew() {
    let mut fixture = Fixture::new();
    let memory = Memory::with(&[("a.md", "one 一二三")]);
    fixture.build(&memory);
    let database = fixture.dir().join("index.db");
    fixture.index = every_lane(&fixture.folder.path().join("elsewhere")).unwrap();
    std::fs::write(&database, "not a database 不是数据库 ".repeat(999)).unwrap();
    fixture.reopen();
    assert!(fixture.index.snapshot().unwrap().is_none());
    let report = fixture.build(&memory);
    assert_eq!(codes(&report.degradations), ["index_rebuilt"]);
    assert!(fixture.dir().join("index.db.corrupt-1").exists());
    for lane in ["impact", "fts5", "tantivy"] {
        assert_eq!(search(&fixture.snapshot(), lane, "一二三"), ["one 一二三"], "{lane}");
    }
    assert!(codes(&fixture.build(&memory).degradations).is_empty());
}

#[test]
fn what_was_skipped_is_told_by_every_build() {
    let fixture = Fixture::new();
    let memory = Memory::with(&[("a.md", "one")]);
    memory.skip("b.md");
    for _ in 0..2 {
        assert_eq!(codes(&fixture.build(&memory).degradations), ["file_unreadable"]);
    }
    memory.skip("a.md");
    let report = fixture.build(&memory);
    assert_eq!((report.removed, report.units, report.degradations.len()), (1, 0, 2));
    memory.write("a.md", "one");
    memory.remove("b.md");
    let report = fixture.build(&memory);
    assert_eq!((report.added, report.units, report.degradations.len()), (1, 1, 0));
}

#[test]
fn what_the_memory_was_bent_to_is_told_by_every_build() {
    let mut fixture = Fixture::new();
    let memory = Memory::with(&[("old.md", "old 旧"), ("r\u{e9}.md", "two")]);
    let twin = resource("r\u{e9}.md", "one").with(|meta| meta.disk_path = Some("re\u{301}.md".into()));
    memory.put("re\u{301}.md", 0, twin.build());
    for path in ["a.md", "b.md"] {
        memory.put(path, 0, resource(path, path).supersedes(&["old.md"]).build());
    }
    memory.put("twin.md", 0, resource("twin.md", "twin").id("a.md").build());
    memory.skip("z.md");
    let first = fixture.build(&memory);
    assert_eq!(
        codes(&first.degradations),
        ["file_unreadable", "two_successors", "path_twin", "duplicate_id"]
    );
    let again = fixture.build(&memory);
    assert_eq!((again.rows_written, &again.degradations), (0, &first.degradations));
    memory.touched.store(7, Ordering::Relaxed);
    let touched = fixture.build(&memory);
    assert_eq!(
        (touched.stamps_renewed > 0, touched.degradations),
        (true, first.degradations.clone())
    );
    fixture.reopen();
    let reopened = fixture.build(&memory);
    assert_eq!((reopened.bytes_read, reopened.degradations), (0, first.degradations));
    for path in ["twin.md", "z.md", "b.md", "re\u{301}.md"] {
        memory.remove(path);
    }
    for _ in 0..2 {
        assert!(fixture.build(&memory).degradations.is_empty());
    }
}

#[cfg(unix)]
#[test]
fn every_file_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;

    fn check(folder: &std::path::Path) -> usize {
        let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
        let files = entries.map(|entry| {
            let found = entry.metadata().unwrap();
            let mode = found.permissions().mode() & 0o777;
            assert_eq!(mode & 0o077, 0, "{} has mode {mode:o}", entry.path().display());
            if found.is_dir() { check(&entry.path()) } else { 1 }
        });
        files.sum()
    }
    let fixture = Fixture::new();
    let memory = Memory::with(&[("a.md", "one 一")]);
    for n in 0..3 {
        memory.write("b.md", &format!("two {n}"));
        fixture.build(&memory);
        fixture.snapshot();
        assert!(check(&fixture.dir()) > 5);
    }
}

#[test]
fn tables_that_were_left_out_are_written_by_the_next_build() {
    let mut fixture = Fixture::new();
    let memory = Memory::with(&[("a.md", "one 一二三")]);
    let mut words_alone = IndexOptions::with_every_lane();
    (words_alone.fts5, words_alone.impact) = (false, false);
    fixture.index = Index::open_with(&fixture.dir(), words_alone).unwrap();
    let first = fixture.build(&memory);
    assert_eq!(fixture.snapshot().lexical().len(), 1);
    fixture.reopen();
    assert_eq!(
        codes(fixture.snapshot().degradations()),
        ["impact_lane_behind", "fts5_lane_behind"]
    );
    let report = fixture.build(&memory);
    assert_eq!(
        (report.encoded, report.units_written, report.effective_hash),
        (0, 0, first.effective_hash)
    );
    let snapshot = fixture.snapshot();
    for lane in ["impact", "fts5", "tantivy"] {
        assert_eq!(search(&snapshot, lane, "一二三"), ["one 一二三"], "{lane}");
    }
}

#[test]
fn what_leaves_is_not_encoded_by_an_encoder_that_comes_back() {
    let fixture = Fixture::new();
    let memory = Memory::with(&[("a.md", "one"), ("b.md", "two"), ("c.md", "three")]);
    fixture.encoder.broken.store(true, Ordering::Relaxed);
    fixture.build(&memory);
    fixture.encoder.broken.store(false, Ordering::Relaxed);
    memory.remove("a.md");
    memory.write("b.md", "zwei 二");
    let report = fixture.build(&memory);
    assert_eq!((report.encoded, codes(&report.degradations)), (2, vec![]));
}

#[test]
fn a_full_build_forgets_vectors_that_no_unit_has() {
    let fixture = Fixture::new();
    let memory = Memory::with(&[("a.md", "one"), ("b.md", "two")]);
    fixture.build(&memory);
    memory.remove("b.md");
    let full = BuildRequest {
        full: true,
        ..request(&memory, Some(&fixture.encoder))
    };
    fixture.index.build(&full).unwrap();
    memory.write("b.md", "two");
    assert_eq!(fixture.build(&memory).encoded, 1);
}

#[test]
fn old_revisions_are_forgotten() {
    let mut fixture = Fixture::new();
    let mut names_alone = IndexOptions::with_every_lane();
    (names_alone.impact, names_alone.fts5, names_alone.tantivy) = (false, false, false);
    fixture.index = Index::open_with(&fixture.dir(), names_alone).unwrap();
    for n in 0..110 {
        fixture.build(&Memory::with(&[("a.md", &format!("text {n}"))]));
    }
    let db = rusqlite::Connection::open(fixture.dir().join("index.db")).unwrap();
    let kept: i64 = db
        .query_row("SELECT count(*) FROM search_revisions", [], |row| row.get(0))
        .unwrap();
    assert_eq!(kept, 100);
    assert!(fixture.snapshot().revision().id.as_str().starts_with("110-"));
}

#[test]
fn a_folder_that_somebody_deleted_is_made_again_by_who_has_it_open() {
    let fixture = Fixture::new();
    let memory = Memory::with(&[("a.md", "one"), ("b.md", "two 二")]);
    fixture.build(&memory);
    assert_eq!(search(&fixture.snapshot(), "tantivy", "one"), ["one"]);
    std::fs::remove_dir_all(fixture.dir()).unwrap();
    let again = fixture.build(&memory);
    assert!(again.head_moved && again.degradations.is_empty(), "{again:?}");
    assert!(fixture.dir().join(".gitignore").exists());
    // Another process is quicker: its word index is not the one that is open here.
    std::fs::remove_dir_all(fixture.dir()).unwrap();
    let other = every_lane(&fixture.dir()).unwrap();
    other.build(&request(&memory, Some(&fixture.encoder))).unwrap();
    memory.write("a.md", "uno");
    let ours = fixture.build(&memory);
    assert!(ours.degradations.is_empty(), "{ours:?}");
    assert_eq!(search(&fixture.snapshot(), "tantivy", "uno"), ["uno"]);
    assert_eq!(search(&other.snapshot().unwrap().unwrap(), "tantivy", "uno"), ["uno"]);
}

#[test]
fn a_project_that_is_gone_is_not_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project");
    let index = every_lane(&project.join(".casebook")).unwrap();
    let memory = Memory::with(&[("a.md", "one")]);
    index.build(&request(&memory, None)).unwrap();
    std::fs::rename(&project, folder.path().join("aside")).unwrap();
    assert!(matches!(
        index.build(&request(&memory, None)),
        Err(BuildError::Write(_))
    ));
    assert!(index.snapshot().is_err());
    assert!(!project.exists());
    std::fs::rename(folder.path().join("aside"), &project).unwrap();
    assert!(!index.build(&request(&memory, None)).unwrap().head_moved);
}
