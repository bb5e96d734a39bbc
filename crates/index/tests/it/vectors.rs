//! Vectors that are gone or broken.

use casebook_index::BuildRequest;
use casebook_testkit::resource;

use crate::support::{Fixture, Letters, Memory, codes, request, search};

pub(crate) fn change(fixture: &Fixture, sql: &str) {
    let db = rusqlite::Connection::open(fixture.dir().join("index.db")).unwrap();
    db.execute_batch(sql).unwrap();
}

/// Checks that a build, full or not, finds the damage and makes as many vectors as it took.
fn check_heals(damage: &str, encoded: u64) {
    for full in [false, true] {
        let fixture = Fixture::new();
        let memory = Memory::with(&[("a.md", "one 一"), ("b.md", "two 二"), ("c.md", "REFUSE 拒绝")]);
        let first = fixture.build(&memory);
        let whole = search(&fixture.snapshot(), "dense", "one");
        change(&fixture, damage);
        let repair = BuildRequest {
            full,
            ..request(&memory, Some(&fixture.encoder))
        };
        let report = fixture.index.build(&repair).unwrap();
        assert_eq!(
            (report.encoded, &report.degradations, report.head_moved),
            (encoded, &first.degradations, true),
            "{damage}, full: {full}"
        );
        assert_eq!(
            search(&fixture.snapshot(), "dense", "one"),
            whole,
            "{damage}, full: {full}"
        );
        let again = fixture.build(&memory);
        assert_eq!(
            (again.encoder_calls, again.rows_written),
            (0, 0),
            "{damage}, full: {full}"
        );
    }
}

#[test]
fn vectors_that_are_gone_or_broken_are_made_again() {
    check_heals("DELETE FROM search_vector_cache", 2);
    check_heals("DELETE FROM search_vector_cache WHERE vector IS NOT NULL", 2);
    check_heals(
        "DELETE FROM search_vector_cache WHERE rowid IN (SELECT rowid FROM search_vector_cache WHERE vector IS NOT NULL LIMIT 1)",
        1,
    );
    check_heals(
        "UPDATE search_vector_cache SET vector = x'00' WHERE vector IS NOT NULL",
        2,
    );
    check_heals(
        "UPDATE search_vector_cache SET vector = x'' WHERE vector IS NOT NULL",
        2,
    );
    check_heals(
        "UPDATE search_vector_cache SET vector = x'0000803f' WHERE vector IS NOT NULL",
        2,
    );
}

#[test]
fn broken_vectors_hide_no_others() {
    let fixture = Fixture::new();
    let memory = Memory::with(&[("a.md", "one"), ("b.md", "two"), ("c.md", "three")]);
    fixture.build(&memory);
    let first = "UPDATE search_vector_cache SET vector = x'0000803f'
                 WHERE input_hash = (SELECT input_hash FROM search_units WHERE location = 'a.md')";
    change(&fixture, first);
    let snapshot = fixture.snapshot();
    let query = Letters::vector("three");
    let answer = snapshot.dense().unwrap().search(&query, 9).unwrap();
    assert_eq!(
        (answer.hits.len(), codes(&answer.degradations)),
        (2, vec!["vector_partial"])
    );
}

#[test]
fn an_input_found_refused_later_is_told() {
    let fixture = Fixture::new();
    let memory = Memory::with(&[("a.md", "one"), ("b.md", "two")]);
    fixture.build(&memory);
    change(&fixture, "UPDATE search_vector_cache SET vector = NULL WHERE rowid = 1");
    for head_moved in [true, false] {
        let report = fixture.build(&memory);
        assert_eq!(
            (report.encoded, report.head_moved, codes(&report.degradations)),
            (0, head_moved, vec!["vector_partial"])
        );
    }
}

#[test]
fn an_index_of_an_earlier_version_serves_and_is_completed() {
    let mut fixture = Fixture::new();
    let memory = Memory::with(&[("a.md", "one 一")]);
    let twin = resource("b.md", "two 二").id("a.md").build();
    memory.put("b.md", 0, twin);
    let first = fixture.build(&memory);
    change(
        &fixture,
        "DROP INDEX search_vector_cache_length; DROP INDEX search_units_input;
         CREATE INDEX search_vector_cache_refused ON search_vector_cache (encoder_revision) WHERE vector IS NULL;
         DROP TRIGGER search_vector_deleted; DROP TRIGGER search_vector_changed; DROP TABLE search_vector_counts;
         DROP TABLE search_encoders; DROP TABLE search_sparse_cache; ALTER TABLE search_revisions DROP COLUMN vectors_lost;
         DROP TABLE search_word_segments; DROP TABLE search_word_blocks; DROP TABLE search_word_terms;
         DROP TABLE search_word_units; DROP TABLE search_word_lengths;
         ALTER TABLE search_revisions DROP COLUMN dimension; ALTER TABLE search_revisions DROP COLUMN degradations;
         PRAGMA user_version = 1",
    );
    fixture.reopen();
    assert_eq!(search(&fixture.snapshot(), "dense", "one"), ["one 一"]);
    let report = fixture.build(&memory);
    assert_eq!((report.encoded, report.units_written, report.head_moved), (0, 0, true));
    assert_eq!(report.degradations, first.degradations);
    assert_eq!(fixture.build(&memory).degradations, first.degradations);
}
