//! The cache of vectors: what comes back is not encoded again, and what is more than the bound is never of the head.

use casebook_chunker::{Chunker, Strategy};
use casebook_index::{BuildRequest, FillRequest, Index, IndexOptions, TextEncoder};
use casebook_testkit::FakePack;

use crate::support::{Fixture, Letters, Memory, fill, fill_by, lane_of, request, search, sections};

/// Bytes of one vector of the fixture's encoder, as the bound counts them.
const ROW: u64 = 16 * 4 + 256;

fn notes(count: usize, generation: usize) -> Memory {
    let memory = Memory::default();
    for n in 0..count {
        memory.write(
            &format!("{n:03}.md"),
            &format!("note {n} 笔记 of generation {generation}"),
        );
    }
    memory
}

fn bounded(fixture: &mut Fixture, bytes: u64) {
    let mut options = IndexOptions::with_every_lane();
    options.cache_bytes = Some(bytes);
    fixture.index = Index::open_with(&fixture.dir(), options).unwrap();
}

fn rows(fixture: &Fixture, of: &str) -> u64 {
    let db = rusqlite::Connection::open(fixture.dir().join("index.db")).unwrap();
    let sql = "SELECT count(*) FROM search_vector_cache WHERE encoder_revision = ?1";
    db.query_row(sql, [of], |row| row.get(0)).unwrap()
}

#[test]
fn a_chunker_that_comes_back_encodes_nothing() {
    let mut fixture = Fixture::new();
    let memory = Memory::with(&[("long.md", &sections(40, |n| format!("text {n} 正文")))]);
    let first = fixture.build(&memory);
    let mut other = IndexOptions::with_every_lane();
    other.chunker = Chunker::new(Strategy::Fixed256);
    fixture.index = Index::open_with(&fixture.dir(), other).unwrap();
    let switched = fixture.build(&memory);
    assert!(switched.encoded > 0 && switched.units != first.units, "{switched:?}");
    fixture.reopen();
    let back = fixture.build(&memory);
    assert_eq!(
        (back.head_moved, back.encoder_calls, back.evicted, back.units),
        (true, 0, 0, first.units)
    );
    assert_eq!(search(&fixture.snapshot(), "dense", "text").len(), 40);
}

#[test]
fn above_the_bound_the_oldest_that_the_head_does_without_go() {
    let mut fixture = Fixture::new();
    bounded(&mut fixture, 25 * ROW);
    for (generation, (encoded, evicted, kept)) in [(10, 0, 10), (10, 0, 20), (10, 0, 30), (10, 5, 35), (10, 10, 35)]
        .into_iter()
        .enumerate()
    {
        let report = fixture.build(&notes(10, generation));
        assert_eq!(
            (report.encoded, report.evicted),
            (encoded, evicted),
            "generation {generation}"
        );
        assert_eq!(rows(&fixture, "letters.1"), kept, "generation {generation}");
        assert!(report.degradations.is_empty());
        assert_eq!(search(&fixture.snapshot(), "dense", "note").len(), 10);
    }
    // The two generations before are there as a whole, the one before them in half.
    for (generation, encoded) in [(3, 0), (2, 0), (0, 10)] {
        assert_eq!(
            fixture.build(&notes(10, generation)).encoded,
            encoded,
            "generation {generation}"
        );
    }
    let settled = fixture.build(&notes(10, 0));
    assert_eq!((settled.rows_written, settled.evicted), (0, 0));
}

#[test]
fn the_head_may_be_larger_than_the_bound() {
    let mut fixture = Fixture::new();
    bounded(&mut fixture, 1);
    assert_eq!(fixture.build(&notes(300, 0)).evicted, 0);
    let report = fixture.build(&notes(300, 1));
    assert_eq!((report.encoded, report.evicted), (300, 300));
    assert_eq!(rows(&fixture, "letters.1"), 300);
    assert_eq!(search(&fixture.snapshot(), "dense", "note").len(), 60);
    assert_eq!(fixture.build(&notes(300, 1)).encoded, 0);
}

#[test]
fn vectors_of_a_pack_stay_also_while_they_are_made() {
    let mut fixture = Fixture::new();
    bounded(&mut fixture, 1);
    let memory = notes(20, 0);
    fixture.build(&memory);
    let [old, new] = ["pack.old", "pack.new"].map(|name| FakePack::new(name).sparse());
    fill(&fixture.index, &old);
    let half = FillRequest {
        most: Some(10),
        ..fill_by(&new, 5)
    };
    fixture.index.fill(&half).unwrap();
    memory.write("000.md", "edited 改过");
    let report = fixture.build(&memory);
    assert_eq!(
        (report.encoded, report.evicted),
        (1, 3),
        "what the edit left of each encoder"
    );
    let kept = ["letters.1", "pack.old", "pack.new"].map(|encoder| rows(&fixture, encoder));
    assert_eq!(kept, [20, 19, 9]);
    assert_eq!(lane_of(&fixture.snapshot(), &old, "note").0.len(), 19);
    let made = new.encoded().len();
    fill(&fixture.index, &new);
    assert_eq!(new.encoded().len(), made + 11);
    // Of term weights there are as many as of vectors.
    let db = rusqlite::Connection::open(fixture.dir().join("index.db")).unwrap();
    let weights: u64 = db
        .query_row("SELECT count(*) FROM search_sparse_cache", [], |row| row.get(0))
        .unwrap();
    assert_eq!(weights, 20);
    assert_eq!(new.revision().as_str(), "pack.new");
}

#[test]
fn an_encoder_that_is_in_use_no_more_goes_where_the_bound_is_met() {
    let mut fixture = Fixture::new();
    bounded(&mut fixture, 5 * ROW);
    let memory = notes(10, 0);
    fixture.build(&memory);
    let other = Letters::new("letters.2");
    let report = fixture.index.build(&request(&memory, Some(&other))).unwrap();
    assert_eq!((report.encoded, report.evicted), (10, 5));
    assert_eq!((rows(&fixture, "letters.1"), rows(&fixture, "letters.2")), (5, 10));
    let without = fixture.index.build(&request(&memory, None)).unwrap();
    assert_eq!(without.evicted, 0, "nobody says which encoder comes back");
    let full = BuildRequest {
        full: true,
        ..request(&memory, Some(&other))
    };
    assert_eq!(fixture.index.build(&full).unwrap().encoded, 0);
}
