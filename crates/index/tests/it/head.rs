//! The head moves in one step; readers keep what they hold.

use std::sync::atomic::{AtomicBool, Ordering};

use casebook_index::{BuildError, BuildRequest, Index, LockWait, UnitSource};

use crate::support::{Fixture, Letters, Memory, every_lane, request, search};

#[test]
fn indexes_and_snapshots_go_between_threads() {
    fn check<T: Send + Sync>() {}
    check::<Index>();
    check::<casebook_index::Snapshot>();
}

#[test]
fn there_is_no_half_index() {
    let fixture = Fixture::new();
    assert!(fixture.index.snapshot().unwrap().is_none());
    assert_eq!(fixture.index.status().unwrap().head, None);
    fixture.build(&Memory::default());
    let snapshot = fixture.snapshot();
    assert_eq!(snapshot.revision().resources, 0);
    assert!(snapshot.manifest().unwrap().entries().is_empty());
    assert!(snapshot.degradations().is_empty(), "{:?}", snapshot.degradations());
}

#[test]
fn a_snapshot_stays_whole_while_the_head_moves() {
    let fixture = Fixture::new();
    let memory = Memory::with(&[("a.md", "apple 苹果汁"), ("b.md", "banana")]);
    let first = fixture.build(&memory);
    let old = fixture.snapshot();
    memory.write("a.md", "avocado");
    memory.remove("b.md");
    let second = fixture.build(&memory);
    assert_ne!(first.revision, second.revision);
    for lane in ["impact", "fts5", "tantivy"] {
        assert_eq!(search(&old, lane, "苹果汁"), ["apple 苹果汁"], "{lane}");
        assert_eq!(search(&old, lane, "banana"), ["banana"], "{lane}");
        assert!(search(&old, lane, "avocado").is_empty(), "{lane}");
    }
    assert_eq!(search(&old, "dense", "apple").len(), 2);
    assert_eq!(old.manifest().unwrap().effective_hash(), first.effective_hash);
    let new = fixture.snapshot();
    assert_eq!(new.revision().parent, Some(first.revision));
    assert_eq!(new.manifest().unwrap().effective_hash(), second.effective_hash);
    assert_eq!(search(&new, "dense", "apple"), ["avocado"]);
    assert_eq!(
        search(&old, "dense", "banana").len(),
        2,
        "also when asked after the new one"
    );
    assert_eq!(new.body(&"a.md".into()).unwrap().as_deref(), Some("avocado"));
    assert_eq!(new.units_of(&"b.md".into()).unwrap(), []);
    assert_eq!(new.place(&"a.md".into()).unwrap().unwrap().location, "a.md");
}

#[test]
fn one_builder_at_a_time() {
    let fixture = Fixture::new();
    let memory = Memory::with(&[("a.md", "one")]);
    let lock = casebook_storage::FileLock::try_acquire(&fixture.dir().join("build.lock"))
        .unwrap()
        .unwrap();
    assert!(fixture.index.status().unwrap().building);
    let impatient = BuildRequest {
        wait: LockWait::Millis(10),
        ..request(&memory, None)
    };
    assert!(matches!(fixture.index.build(&impatient), Err(BuildError::Busy)));
    drop(lock);
    fixture.index.build(&impatient).unwrap();
    assert!(!fixture.index.status().unwrap().building);
}

#[test]
fn two_builders_and_twenty_readers_get_along() {
    let fixture = Fixture::new();
    let dir = fixture.dir();
    let text = |n: usize| format!("version {n} of the memory 记忆的版本");
    let memory = Memory::with(&[("a.md", &text(0)), ("b.md", &text(0))]);
    fixture.build(&memory);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let builders: Vec<_> = (0..2)
            .map(|builder| {
                let (dir, memory) = (&dir, &memory);
                scope.spawn(move || {
                    let index = every_lane(dir).unwrap();
                    let encoder = Letters::new("letters.1");
                    for n in 1..=4 {
                        memory.write(if builder == 0 { "a.md" } else { "b.md" }, &text(n));
                        index.build(&request(memory, Some(&encoder))).unwrap();
                    }
                })
            })
            .collect();
        for _ in 0..20 {
            scope.spawn(|| {
                let index = every_lane(&dir).unwrap();
                while !done.load(Ordering::Acquire) {
                    let snapshot = index.snapshot().unwrap().unwrap();
                    let manifest = snapshot.manifest().unwrap();
                    assert_eq!(manifest.effective_hash(), snapshot.revision().effective_hash);
                    assert_eq!(search(&snapshot, "fts5", "version").len(), 2);
                    for lane in snapshot.lexical() {
                        let hits = lane.search("版本", 9).unwrap().hits;
                        assert!(hits.len() == 2 || lane.name() == "fts5");
                    }
                    assert_eq!(search(&snapshot, "dense", "memory").len(), 2);
                }
            });
        }
        for builder in builders {
            builder.join().unwrap();
        }
        done.store(true, Ordering::Release);
    });
    assert_eq!(search(&fixture.snapshot(), "fts5", "version 4").len(), 2);
}
