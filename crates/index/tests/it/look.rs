//! A build looks before it takes the lock.

use std::sync::atomic::{AtomicU64, Ordering};

use casebook_corpus::{Clock, KnownItems, MemorySource, Scan, SourceError};
use casebook_index::{BuildError, BuildRequest, LockWait};
use casebook_storage::FileLock;

use crate::support::{Fixture, Memory, request};

/// Counts scans, and lets something happen after the first.
struct Watched<'a> {
    memory: &'a Memory,
    scans: AtomicU64,
    after_first: &'a (dyn Fn() + Sync),
}

impl<'a> Watched<'a> {
    fn new(memory: &'a Memory, after_first: &'a (dyn Fn() + Sync)) -> Self {
        Self {
            memory,
            scans: AtomicU64::new(0),
            after_first,
        }
    }
}

impl MemorySource for Watched<'_> {
    fn scan(
        &self,
        known: &dyn KnownItems,
        clock: &dyn Clock,
        found: &dyn Fn(usize) -> bool,
    ) -> Result<Scan, SourceError> {
        let scan = self.memory.scan(known, clock, found);
        if self.scans.fetch_add(1, Ordering::Relaxed) == 0 {
            (self.after_first)();
        }
        scan
    }
}

#[test]
fn who_finds_nothing_to_do_waits_for_nobody() {
    let fixture = Fixture::new();
    let memory = Memory::with(&[("a.md", "索引 index"), ("b.md", "two")]);
    let built = fixture.build(&memory);
    let _held = FileLock::try_acquire(&fixture.dir().join("build.lock"))
        .unwrap()
        .unwrap();
    let at_once = BuildRequest {
        wait: LockWait::Millis(0),
        ..request(&memory, Some(&fixture.encoder))
    };
    let report = fixture.index.build(&at_once).unwrap();
    assert_eq!((report.revision, report.head_moved), (built.revision, false));

    memory.write("a.md", "changed");
    assert!(matches!(fixture.index.build(&at_once), Err(BuildError::Busy)));
    memory.write("a.md", "索引 index");
    memory.touched.store(7, Ordering::Relaxed);
    assert!(
        matches!(fixture.index.build(&at_once), Err(BuildError::Busy)),
        "stamps are written under the lock"
    );
}

#[test]
fn a_look_that_found_work_is_not_repeated() {
    let fixture = Fixture::new();
    let memory = Memory::with(&[("a.md", "one")]);
    let watched = Watched::new(&memory, &|| ());
    fixture.index.build(&request(&watched, Some(&fixture.encoder))).unwrap();
    memory.write("a.md", "other");
    let report = fixture.index.build(&request(&watched, Some(&fixture.encoder))).unwrap();
    assert_eq!(
        (report.changed, watched.scans.load(Ordering::Relaxed)),
        (1, 2),
        "one scan for each build"
    );
}

#[test]
fn a_look_at_another_head_is_repeated() {
    let fixture = Fixture::new();
    let memory = Memory::with(&[("a.md", "one"), ("b.md", "two")]);
    fixture.build(&memory);
    memory.write("a.md", "other");
    let meanwhile = || {
        memory.remove("b.md");
        fixture.build(&memory);
        memory.write("c.md", "three");
    };
    let watched = Watched::new(&memory, &meanwhile);
    let report = fixture.index.build(&request(&watched, Some(&fixture.encoder))).unwrap();
    assert_eq!(watched.scans.load(Ordering::Relaxed), 2);
    assert_eq!(
        (report.added, report.changed, report.removed, report.resources),
        (1, 0, 0, 2)
    );
}
