//! Reading survives bad lines; writing keeps what it does not know.

use casebook_archive::{Catalog, CatalogError};
use proptest::prelude::*;

use crate::entry;

fn line(id: &str) -> String {
    serde_json::to_string(&entry(id, "记录\n")).unwrap()
}

fn check(text: &str, ids: &[&str], problems: &[&str]) {
    let catalog = Catalog::parse(text.as_bytes());
    let found: Vec<_> = catalog.entries.iter().map(|entry| entry.source_id.as_str()).collect();
    assert_eq!(found, ids, "{text}");
    let found: Vec<_> = catalog.problems.iter().map(ToString::to_string).collect();
    assert_eq!(found, problems, "{text}");
}

#[test]
fn bad_lines_are_reported_and_the_others_read() {
    let (one, two) = (line("甲"), line("two"));
    check("", &[], &[]);
    check(&format!("{one}\n\n{two}\n"), &["甲", "two"], &[]);
    check(&format!("{one}\n{two}"), &["甲", "two"], &[]);
    check(
        &format!("{one}\n{}", &two[..two.len() / 2]),
        &["甲"],
        &["line 2: last line is truncated"],
    );
    check(
        &format!("{one}\n[1]\n{two}\n"),
        &["甲", "two"],
        &["line 2: line is no catalog entry: invalid type: sequence, expected struct CatalogEntry"],
    );
    check(
        &format!("{one}\n{one}\n"),
        &["甲", "甲"],
        &["line 2: source id 甲 is listed before"],
    );
}

#[test]
fn a_line_reads_as_people_expect() {
    assert_eq!(
        line("s1"),
        "{\"source_id\":\"s1\",\"type\":\"generic\",\"from\":\"1970-01-01T00:00:01Z\",\"curated\":\"notes/会议.md\",\
         \"path\":\"s1\",\"size\":7,\"sha256\":\"dc73d53323fafb46cb5183687ec2c488165e1c4e40e55be995ec3335644f0dc8\",\
         \"record_count\":1,\"imported_at\":\"1970-01-01T00:00:02.5Z\"}"
    );
}

#[test]
fn unknown_fields_are_kept() {
    let text = line("s1").replace("\"size\"", "\"device\":{\"name\":\"甲\"},\"size\"");
    let catalog = Catalog::parse(text.as_bytes());
    let written = serde_json::to_value(&catalog.entries[0]).unwrap();
    assert_eq!(written, serde_json::from_str::<serde_json::Value>(&text).unwrap());
}

#[test]
fn a_catalog_that_is_not_there_is_empty_and_one_that_cannot_be_read_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(
        Catalog::read(&dir.path().join("catalog.jsonl")).unwrap(),
        Catalog::default()
    );
    assert!(matches!(Catalog::read(dir.path()), Err(CatalogError::Read { .. })));
    assert!(matches!(
        Catalog::append(dir.path(), &entry("s", "")),
        Err(CatalogError::Write { .. })
    ));
}

#[test]
fn an_append_survives_a_torn_line_before_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("catalog.jsonl");
    Catalog::append(&path, &entry("一", "")).unwrap();
    let torn = std::fs::read_to_string(&path).unwrap() + "{\"source_id\":\"tor";
    std::fs::write(&path, torn).unwrap();
    Catalog::append(&path, &entry("two", "")).unwrap();
    let catalog = Catalog::read(&path).unwrap();
    assert_eq!(catalog.entries, [entry("一", ""), entry("two", "")]);
    assert_eq!(catalog.problems.len(), 1);
}

#[cfg(unix)]
#[test]
fn a_new_catalog_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("catalog.jsonl");
    Catalog::append(&path, &entry("s", "")).unwrap();
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

proptest! {
    #[test]
    fn no_bytes_break_it(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        Catalog::parse(&bytes);
    }

    #[test]
    fn an_entry_survives_its_line(id in ".{1,20}", content in any::<String>()) {
        let entry = entry(&id, &content);
        let text = serde_json::to_string(&entry).unwrap();
        prop_assert_eq!(Catalog::parse(text.as_bytes()).entries, [entry]);
    }
}
