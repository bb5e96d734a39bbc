//! The cost law: work is proportional to the edit.

use std::sync::atomic::Ordering;

use casebook_index::{BuildRequest, UnitSource};
use casebook_testkit::resource;

use crate::support::{Fixture, Letters, Memory, request, search, sections};

#[test]
fn an_unchanged_rebuild_encodes_nothing_and_writes_nothing() {
    let fixture = Fixture::new();
    let memory = Memory::with(&[("a.md", "# 一\n\n索引"), ("b.md", "# Two\n\nindex")]);
    memory.skip("broken.md");
    let first = fixture.build(&memory);
    assert!(first.head_moved && first.rows_written > 0);
    assert_eq!((first.added, first.resources, first.units, first.encoded), (2, 2, 2, 2));
    let second = fixture.build(&memory);
    assert_eq!(
        (
            second.rows_written,
            second.encoded,
            second.encoder_calls,
            second.units_written
        ),
        (0, 0, 0, 0)
    );
    assert_eq!(
        (second.bytes_read, second.stamps_renewed, second.head_moved),
        (0, 0, false)
    );
    assert_eq!(
        (&second.revision, second.resources, second.units),
        (&first.revision, 2, 2)
    );
    assert_eq!(
        (second.body_bytes, &second.degradations),
        (first.body_bytes, &first.degradations)
    );
}

#[test]
fn a_touched_file_has_its_stamp_renewed_once() {
    let fixture = Fixture::new();
    let memory = Memory::with(&[("a.md", "one"), ("b.md", "two")]);
    let first = fixture.build(&memory);
    memory.touched.store(7, Ordering::Relaxed);
    let second = fixture.build(&memory);
    assert_eq!(
        (second.stamps_renewed, second.rows_written, &second.revision),
        (2, 0, &first.revision)
    );
    assert_eq!(fixture.build(&memory).stamps_renewed, 0);
}

#[test]
fn editing_one_section_encodes_one_unit() {
    let fixture = Fixture::new();
    let text = |edited: bool| {
        sections(12, |n| {
            if edited && n == 7 {
                "改过的".into()
            } else {
                format!("text {n}")
            }
        })
    };
    let memory = Memory::with(&[("long.md", &text(false)), ("other.md", "other")]);
    let first = fixture.build(&memory);
    assert!(first.units >= 12, "{}", first.units);
    memory.write("long.md", &text(true));
    let report = fixture.build(&memory);
    assert_eq!(
        (report.changed, report.added, report.removed, report.encoded),
        (1, 0, 0, 1)
    );
    assert_eq!(search(&fixture.snapshot(), "fts5", "改过的").len(), 1);
}

#[test]
fn a_line_at_the_top_encodes_one_unit_and_moves_the_others() {
    let fixture = Fixture::new();
    let body = sections(200, |n| format!("text {n}"));
    let memory = Memory::with(&[("long.md", &body)]);
    fixture.build(&memory);
    let before = fixture.snapshot().units_of(&"long.md".into()).unwrap();
    let body = body.replacen("text 0\n", "text 0\n\nA new line 新的一行.\n", 1);
    memory.write("long.md", &body);
    let report = fixture.build(&memory);
    assert_eq!((report.encoded, report.encoder_calls), (1, 1));
    assert!(report.units >= 200, "{}", report.units);
    let after = fixture.snapshot().units_of(&"long.md".into()).unwrap();
    assert_eq!(before.len(), after.len());
    for (old, new) in before.iter().zip(&after) {
        assert_eq!(&body[new.unit.locator.bytes.clone()], new.unit.text);
        assert_eq!(old.unit.unit_key, new.unit.unit_key);
    }
}

#[test]
fn deleting_encodes_nothing() {
    let fixture = Fixture::new();
    let memory = Memory::with(&[("a.md", "apple 苹果"), ("b.md", "banana 香蕉")]);
    fixture.build(&memory);
    memory.remove("a.md");
    let report = fixture.build(&memory);
    assert_eq!(
        (report.removed, report.encoded, report.encoder_calls, report.units),
        (1, 0, 0, 1)
    );
    for lane in ["impact", "fts5", "tantivy", "identity"] {
        assert!(search(&fixture.snapshot(), lane, "apple").is_empty(), "{lane}");
    }
    assert_eq!(search(&fixture.snapshot(), "dense", "apple"), ["banana 香蕉"]);
}

#[test]
fn an_encoder_that_comes_back_encodes_nothing() {
    let fixture = Fixture::new();
    let memory = Memory::with(&[("a.md", "apple"), ("b.md", "banana")]);
    let first = fixture.build(&memory);
    let other = Letters::new("letters.2");
    let switched = fixture.index.build(&request(&memory, Some(&other))).unwrap();
    assert_eq!(
        (switched.encoded, switched.units_written, switched.head_moved),
        (2, 0, true)
    );
    let back = fixture.build(&memory);
    assert_eq!((back.encoded, back.head_moved), (0, true));
    assert_eq!(back.effective_hash, first.effective_hash);
    let without = fixture.index.build(&request(&memory, None)).unwrap();
    assert_eq!((without.encoded, without.head_moved), (0, true));
    assert!(fixture.snapshot().dense().is_none());
    fixture.build(&memory);
    assert_eq!(search(&fixture.snapshot(), "dense", "apple").len(), 2);
}

#[test]
fn content_that_comes_back_is_not_encoded_again() {
    let fixture = Fixture::new();
    let memory = Memory::with(&[("a.md", "one"), ("b.md", "two")]);
    fixture.build(&memory);
    memory.write("a.md", "three");
    assert_eq!(fixture.build(&memory).encoded, 1);
    memory.write("a.md", "one");
    assert_eq!(fixture.build(&memory).encoded, 0);
}

#[test]
fn supersession_cuts_and_encodes_only_the_successor() {
    let fixture = Fixture::new();
    let memory = Memory::with(&[("old.md", "we use tabs 用制表符"), ("other.md", "other")]);
    fixture.build(&memory);
    memory.put(
        "new.md",
        0,
        resource("new.md", "we use spaces").supersedes(&["old.md"]).build(),
    );
    let report = fixture.build(&memory);
    assert_eq!(
        (report.added, report.removed, report.units_written, report.encoded),
        (1, 1, 1, 1)
    );
    assert_eq!((report.resources, report.units), (2, 2));
    let snapshot = fixture.snapshot();
    assert_eq!(
        search(&snapshot, "fts5", "tabs"),
        ["we use tabs 用制表符"],
        "hits on it lead to its successor"
    );
    let (_, standing) = snapshot.meta(&"old.md".into()).unwrap().unwrap();
    assert!(matches!(standing, casebook_corpus::Standing::Superseded { live, .. } if live.as_str() == "new.md"));
    drop(snapshot);
    memory.remove("new.md");
    let report = fixture.build(&memory);
    assert_eq!(
        (report.added, report.removed, report.units_written, report.encoded),
        (1, 1, 0, 0)
    );
}

#[test]
fn an_overlaid_resource_comes_back_from_the_index() {
    let fixture = Fixture::new();
    let memory = Memory::default();
    memory.put("low/x.md", 0, resource("low/x.md", "lower 下层").id("x").build());
    fixture.build(&memory);
    memory.put("up/x.md", 1, resource("up/x.md", "upper 上层").id("x").build());
    let covered = fixture.build(&memory);
    assert_eq!((covered.changed, covered.resources, covered.units), (1, 1, 1));
    let all = |lane| {
        (
            search(&fixture.snapshot(), lane, "lower"),
            search(&fixture.snapshot(), lane, "upper"),
        )
    };
    for lane in ["impact", "fts5", "tantivy"] {
        assert_eq!(all(lane), (vec![], vec!["upper 上层".to_owned()]), "{lane}");
    }
    memory.remove("up/x.md");
    let uncovered = fixture.build(&memory);
    assert_eq!((uncovered.encoded, uncovered.bytes_read), (0, 0));
    for lane in ["impact", "fts5", "tantivy"] {
        assert_eq!(all(lane), (vec!["lower 下层".to_owned()], vec![]), "{lane}");
    }
}

#[test]
fn moving_a_file_encodes_what_depends_on_its_path() {
    let fixture = Fixture::new();
    let memory = Memory::with(&[("a.md", "stays"), ("b.md", "moves")]);
    fixture.build(&memory);
    memory.remove("b.md");
    memory.write("c.md", "moves");
    let report = fixture.build(&memory);
    assert_eq!((report.added, report.removed, report.encoded), (1, 1, 1));
    assert_eq!(search(&fixture.snapshot(), "identity", "c.md"), ["moves"]);
}

#[test]
fn a_new_title_reaches_the_lexical_lanes_without_encoding() {
    let fixture = Fixture::new();
    let memory = Memory::default();
    memory.put("a.md", 0, resource("a.md", "body").title("First").build());
    fixture.build(&memory);
    memory.put("a.md", 0, resource("a.md", "body").title("第二个标题").build());
    let report = fixture.build(&memory);
    assert_eq!((report.encoded, report.units_written), (0, 1));
    let snapshot = fixture.snapshot();
    for lane in ["impact", "fts5", "tantivy", "identity"] {
        assert_eq!(search(&snapshot, lane, "第二个标题").len(), 1, "{lane}");
        assert_eq!(search(&snapshot, lane, "First").len(), 0, "{lane}");
    }
}

#[test]
fn a_full_build_reads_and_writes_everything_but_encodes_nothing() {
    let fixture = Fixture::new();
    let memory = Memory::with(&[("a.md", "one"), ("b.md", "two")]);
    let first = fixture.build(&memory);
    let full = BuildRequest {
        full: true,
        ..request(&memory, Some(&fixture.encoder))
    };
    let report = fixture.index.build(&full).unwrap();
    assert_eq!(
        (report.units_written, report.encoded, report.bytes_read),
        (2, 0, first.bytes_read)
    );
    assert_eq!((report.added, report.changed, report.removed), (0, 0, 0));
    assert_eq!(search(&fixture.snapshot(), "fts5", "two"), ["two"]);
    assert_eq!(search(&fixture.snapshot(), "tantivy", "two"), ["two"]);
}

#[test]
fn twins_are_encoded_once() {
    let fixture = Fixture::new();
    let memory = Memory::with(&[("a.md", "same"), ("b.md", "same")]);
    memory.put(
        "c.md",
        0,
        resource("c.md", "same").with(|meta| meta.path = "a.md".into()).build(),
    );
    assert_eq!(fixture.build(&memory).encoded, 2, "the input of c.md is that of a.md");
}
