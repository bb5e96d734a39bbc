use super::*;
use crate::Timestamp;

fn upsert(record: PushedRecord) -> RecordChange {
    RecordChange::Upsert(Box::new(record))
}

fn record(change: impl FnOnce(&mut PushedRecord)) -> RecordChange {
    let mut record = PushedRecord::new("a", "text 正文");
    change(&mut record);
    upsert(record)
}

#[track_caller]
fn check(changes: Vec<RecordChange>, expected: &[&str]) {
    let found = match RecordPage::new(changes) {
        Ok(_) => Vec::new(),
        Err(error) => error.problems.iter().map(ToString::to_string).collect(),
    };
    assert_eq!(found, expected);
}

#[test]
fn a_page_names_every_problem_at_once() {
    check(Vec::new(), &[]);
    check(vec![record(|_| {}), RecordChange::Tombstone("云".into())], &[]);
    check(
        vec![
            upsert(PushedRecord::new(" ", "")),
            RecordChange::Tombstone("".into()),
            upsert(PushedRecord::new("a\nb", "")),
            RecordChange::Tombstone("长".repeat(171).as_str().into()),
        ],
        &[
            "change 1, \" \": id must not be empty",
            "change 2, \"\": id must not be empty",
            "change 3, \"a\\nb\": id must not hold control characters",
            &format!("change 4, {:?}: id is longer than 512 bytes", "长".repeat(80)),
        ],
    );
    check(
        vec![
            RecordChange::Tombstone("a".into()),
            RecordChange::Tombstone("b".into()),
            record(|_| {}),
        ],
        &["change 3, \"a\": id is that of change 1, too"],
    );
    let all = record(|record| {
        record.path = Some("../etc".to_owned());
        let stated = &mut record.stated;
        stated.scope = Some("".into());
        stated.kind = Some("\t".to_owned());
        stated.sensitivity = Some(String::new());
        stated.topics = vec!["记忆".to_owned(), " ".to_owned()];
        stated.entities = vec!["\0".to_owned()];
        stated.audience = vec![String::new()];
        stated.supersedes = vec!["a".into()];
        stated.retracts = vec!["".into(), "a".into()];
        stated.importance = Some(f32::NAN);
    });
    let error = RecordPage::new(vec![all]).unwrap_err();
    let fields: Vec<_> = error.problems.iter().map(|problem| problem.field).collect();
    assert_eq!(
        fields,
        [
            "path",
            "scope",
            "kind",
            "sensitivity",
            "topics",
            "entities",
            "audience",
            "supersedes",
            "retracts",
            "retracts",
            "importance"
        ]
    );
}

#[test]
fn a_path_leads_nowhere_else() {
    for path in ["a.md", "notes/部署.md", "a b/c", "...", "x:y"] {
        let problem = problems::path_problem(path).is_some();
        assert_eq!(problem, path == "x:y", "{path}");
    }
    for path in [
        "", " ", "/a", "a//b", "a/", "./a", "a/../b", "..", "a\\b", "C:/a", "a\0",
    ] {
        assert!(problems::path_problem(path).is_some(), "{path:?}");
    }
    assert!(problems::path_problem(&"a".repeat(1025)).is_some());
}

#[test]
fn a_record_that_says_nothing_has_a_path_all_the_same() {
    let shown = |id: &str| PushedRecord::new(id, "").shown_path();
    assert_eq!(shown("notes/部署.md"), "notes/部署.md");
    assert_eq!(shown("e\u{301}"), "é");
    assert_eq!(shown("https://host/1"), "record-742ce63b011cf461");
    let mut given = PushedRecord::new("1", "");
    given.path = Some("cafe\u{301}.md".to_owned());
    assert_eq!(given.shown_path(), "café.md");
}

#[test]
fn what_a_record_says_is_what_its_resource_is() {
    let mut record = PushedRecord::new("d-1", "先备份。\n");
    record.stated.kind = Some("decision".to_owned());
    record.stated.audience = vec!["ops".to_owned()];
    record.stated.observed_at = Some(Timestamp::from_unix_millis(7));
    let resource = record.into_resource();
    let meta = &resource.meta;
    assert_eq!(
        (
            meta.kind.as_str(),
            meta.title.as_str(),
            meta.scope.as_str(),
            meta.importance
        ),
        ("decision", "d-1", "project", 0.5)
    );
    assert_eq!(
        (meta.audience.as_slice(), meta.observed_at),
        (&["ops".to_owned()][..], Some(Timestamp::from_unix_millis(7)))
    );
    assert_eq!((meta.body_span, meta.disk_path.as_deref()), (BodySpan::default(), None));
    assert_eq!(meta.content_hash, resource.canonical_hash());
}

#[test]
fn a_location_leads_back_to_its_id() {
    for id in ["a", "notes/a.md", "record://a", "云"] {
        let location = PushedRecord::location_of(&id.into());
        assert_eq!(PushedRecord::id_at(&location), Some(id.into()));
    }
    assert_eq!(PushedRecord::id_at("record:/a.md"), None);
}

#[test]
fn a_digest_tells_what_a_page_says() {
    let digest = |changes: Vec<RecordChange>| RecordPage::new(changes).unwrap().digest();
    let gone = |id: &str| RecordChange::Tombstone(id.into());
    let plain = digest(vec![record(|_| {}), gone("b")]);
    assert_eq!(
        plain.to_string(),
        "548b9a7dc53668eeaf615d76e90e8fe6af2d5c636f317966b6de9e6899226222",
        "frozen: staged pages of an interrupted sync are compared by it"
    );
    let said = record(|record| record.stated.kind = Some("note".to_owned()));
    assert_eq!(
        digest(vec![said, gone("b")]),
        plain,
        "a default that is said is the same"
    );
    for other in [
        vec![gone("b"), record(|_| {})],
        vec![record(|_| {}), gone("c")],
        vec![record(|record| record.body.push('.')), gone("b")],
        vec![record(|_| {})],
        Vec::new(),
    ] {
        assert_ne!(digest(other), plain);
    }
}
