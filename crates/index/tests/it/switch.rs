//! From one pack to another: the old vectors stay until the new ones are complete.

use std::sync::atomic::{AtomicU64, Ordering};

use casebook_index::{BuildRequest, Cancel, FillEnd, FillObserver, FillProgress, FillRequest, TextEncoder};
use casebook_testkit::FakePack;

use crate::support::{Fixture, Memory, every_lane, fill, fill_by, lane_of, request, search};

fn notes() -> Memory {
    Memory::with(&[("a.md", "apple 苹果"), ("b.md", "banana 香蕉"), ("c.md", "cherry 樱桃")])
}

fn vectors(fixture: &Fixture, pack: &FakePack) -> (u64, bool) {
    let coverage = fixture.snapshot().lanes_of(pack.revision()).unwrap().coverage();
    (coverage.vectors(), coverage.was_complete)
}

#[test]
fn old_vectors_stay_until_the_new_ones_are_complete() {
    let fixture = Fixture::new();
    fixture.build(&notes());
    let (old, new) = (FakePack::new("pack.old"), FakePack::new("pack.new"));
    fill(&fixture.index, &old);
    let partly = FillRequest {
        most: Some(2),
        ..fill_by(&new, 1)
    };
    let report = fixture.index.fill(&partly).unwrap();
    assert_eq!((report.end, report.rows_dropped), (FillEnd::Enough, 0));
    assert_eq!(
        (vectors(&fixture, &old), vectors(&fixture, &new)),
        ((3, true), (2, false))
    );
    assert_eq!(lane_of(&fixture.snapshot(), &old, "apple").0.len(), 3);

    let report = fill(&fixture.index, &new);
    assert_eq!((report.end, report.rows_dropped), (FillEnd::Complete, 3));
    assert_eq!(
        (vectors(&fixture, &old), vectors(&fixture, &new)),
        ((0, false), (3, true))
    );
    let base = search(&fixture.snapshot(), "dense", "apple");
    assert_eq!(base.len(), 3, "the vectors of the builds always stay");
    let status = fixture.index.fill_status().unwrap();
    let kept: Vec<_> = status
        .encoders
        .iter()
        .map(|found| (found.revision.as_str(), found.chosen))
        .collect();
    assert_eq!(kept, [("letters.1", false), ("pack.new", true)]);
    assert_eq!(fill(&fixture.index, &old).encoded, 3, "and can be filled in again");
}

/// Wants the encoder for so many batches, however often it is asked meanwhile.
struct Wants {
    batches: u64,
    told: AtomicU64,
}

impl Cancel for Wants {
    fn cancelled(&self) -> bool {
        false
    }
}

impl FillObserver for Wants {
    fn progress(&self, _: FillProgress) {
        self.told.fetch_add(1, Ordering::Relaxed);
    }

    fn is_wanted(&self) -> bool {
        self.told.load(Ordering::Relaxed) <= self.batches
    }
}

#[test]
fn whoever_goes_back_meanwhile_loses_nothing() {
    let fixture = Fixture::new();
    fixture.build(&notes());
    let (old, new) = (FakePack::new("pack.old"), FakePack::new("pack.new"));
    fill(&fixture.index, &old);
    // Back after one batch, then with the last one: all is made, and nothing may go.
    for (batches, end, vectors_of_new) in [(1, FillEnd::NotWanted, (1, false)), (1, FillEnd::Complete, (3, true))] {
        let observer = Wants {
            batches,
            told: AtomicU64::new(0),
        };
        let request = FillRequest {
            observer: &observer,
            ..fill_by(&new, if end == FillEnd::Complete { 2 } else { 1 })
        };
        let report = fixture.index.fill(&request).unwrap();
        assert_eq!((report.end, report.rows_dropped), (end, 0));
        assert_eq!(
            (vectors(&fixture, &old), vectors(&fixture, &new)),
            ((3, true), vectors_of_new)
        );
    }
    assert_eq!(fill(&fixture.index, &new).rows_dropped, 3, "the next fill tidies up");
}

#[test]
fn one_that_was_never_complete_stays_until_the_chosen_one_is() {
    let fixture = Fixture::new();
    fixture.build(&notes());
    let [first, second, third] = ["pack.1", "pack.2", "pack.3"].map(FakePack::new);
    let one = |pack| FillRequest {
        most: Some(1),
        ..fill_by(pack, 1)
    };
    fill(&fixture.index, &first);
    fixture.index.fill(&one(&second)).unwrap();
    fixture.index.fill(&one(&third)).unwrap();
    assert_eq!(
        [&first, &second, &third].map(|pack| vectors(&fixture, pack)),
        [(3, true), (1, false), (1, false)]
    );
    fill(&fixture.index, &third);
    assert_eq!(
        [&first, &second, &third].map(|pack| vectors(&fixture, pack)),
        [(0, false), (0, false), (3, true)]
    );
}

#[test]
fn topping_up_changes_no_choice_and_deletes_nothing() {
    let fixture = Fixture::new();
    let memory = notes();
    fixture.build(&memory);
    let (old, new) = (FakePack::new("pack.old"), FakePack::new("pack.new"));
    fill(&fixture.index, &old);
    fixture
        .index
        .fill(&FillRequest {
            most: Some(1),
            ..fill_by(&new, 1)
        })
        .unwrap();
    memory.write("d.md", "date 枣");
    fixture.build(&memory);
    let report = fixture.index.top_up(&fill_by(&old, 4)).unwrap();
    assert_eq!(
        (report.end, report.encoded, report.rows_dropped),
        (FillEnd::Complete, 1, 0)
    );
    assert_eq!(
        (vectors(&fixture, &old), vectors(&fixture, &new)),
        ((4, true), (1, false))
    );
    let third = FakePack::new("pack.3");
    assert_eq!(fixture.index.top_up(&fill_by(&third, 4)).unwrap().encoded, 4);
    let status = fixture.index.fill_status().unwrap();
    assert_eq!(status.encoders.len(), 4);
    let chosen = status.encoders.iter().find(|found| found.chosen).unwrap();
    assert_eq!(chosen.revision.as_str(), "pack.new");
}

#[test]
fn without_vectors_of_builds_nothing_is_deleted() {
    let fixture = Fixture::new();
    fixture.index.build(&request(&notes(), None)).unwrap();
    let (old, new) = (FakePack::new("pack.old"), FakePack::new("pack.new"));
    fill(&fixture.index, &old);
    assert_eq!(fill(&fixture.index, &new).rows_dropped, 0);
    assert_eq!(vectors(&fixture, &old), (3, true));
}

#[test]
fn inputs_that_no_unit_has_are_forgotten_for_every_encoder() {
    let fixture = Fixture::new();
    let memory = notes();
    fixture.build(&memory);
    let pack = FakePack::new("pack.1").sparse();
    fill(&fixture.index, &pack);
    memory.remove("a.md");
    let full = BuildRequest {
        full: true,
        ..request(&memory, Some(&fixture.encoder))
    };
    fixture.index.build(&full).unwrap();
    let db = rusqlite::Connection::open(fixture.dir().join("index.db")).unwrap();
    for (table, rows) in [("search_vector_cache", 4), ("search_sparse_cache", 2)] {
        let sql = format!("SELECT count(*) FROM {table}");
        assert_eq!(
            db.query_row(&sql, [], |row| row.get::<_, i64>(0)).unwrap(),
            rows,
            "{table}"
        );
    }
    assert_eq!(fill(&fixture.index, &pack).encoded, 0);
}

#[test]
fn a_snapshot_keeps_the_vectors_that_it_was_taken_with() {
    let fixture = Fixture::new();
    fixture.build(&notes());
    let pack = FakePack::new("pack.1");
    let partly = FillRequest {
        most: Some(1),
        ..fill_by(&pack, 1)
    };
    fixture.index.fill(&partly).unwrap();
    let before = fixture.snapshot();
    assert_eq!(lane_of(&before, &pack, "apple").0.len(), 1);
    fill(&fixture.index, &pack);
    let after = fixture.snapshot();
    assert_eq!(after.revision(), before.revision());
    for _ in 0..2 {
        assert_eq!(lane_of(&before, &pack, "apple").0.len(), 1);
        assert_eq!(lane_of(&after, &pack, "apple").0.len(), 3);
    }
}

#[test]
fn an_edit_leaves_one_unit_without_and_a_delete_none() {
    let memory = notes();
    let fixture = Fixture::new();
    fixture.build(&memory);
    let pack = FakePack::new("pack.1");
    fill(&fixture.index, &pack);
    memory.write("b.md", "edited 编辑");
    fixture.build(&memory);
    let coverage = fixture.snapshot().lanes_of(pack.revision()).unwrap().coverage();
    assert_eq!((coverage.missing, coverage.was_complete), (1, true));
    let calls = pack.calls();
    assert_eq!(fill(&fixture.index, &pack).encoded, 1);
    assert_eq!(pack.calls(), calls + 1);
    memory.remove("a.md");
    fixture.build(&memory);
    let coverage = fixture.snapshot().lanes_of(pack.revision()).unwrap().coverage();
    assert_eq!((coverage.missing, coverage.total), (0, 2));
}

/// `testdata/index/version-2.db` was written by the last version that knew one encoder alone.
#[test]
fn an_index_of_version_2_serves_and_is_filled() {
    let folder = tempfile::tempdir().unwrap();
    let stored = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/index/version-2.db");
    std::fs::copy(stored, folder.path().join("index.db")).unwrap();
    let index = every_lane(folder.path()).unwrap();
    let snapshot = index.snapshot().unwrap().unwrap();
    assert_eq!(snapshot.revision().units, 13);
    assert_eq!(search(&snapshot, "dense", "generation").len(), 13);
    let pack = FakePack::new("pack.1");
    assert_eq!(snapshot.lanes_of(pack.revision()).unwrap().coverage().missing, 13);
    let report = fill(&index, &pack);
    assert_eq!((report.end, report.encoded), (FillEnd::Complete, 13));
    let db = rusqlite::Connection::open(folder.path().join("index.db")).unwrap();
    let version: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(version, 5);
}
