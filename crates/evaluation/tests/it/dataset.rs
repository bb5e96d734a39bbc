//! Data sets are read whole or refused with the file and line that is wrong.

use std::error::Error as _;

use casebook_evaluation::{DataSet, DataSetError};

use crate::support::{CORPUS, JUDGEMENTS, QUERIES, write_project};

fn refusal(error: &DataSetError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

/// Checks what is said of a project; `expected` is a piece of it.
fn check_refused(corpus: &str, queries: &str, judgements: &str, expected: &str) {
    let dir = tempfile::tempdir().unwrap();
    let folder = write_project(dir.path(), "set", corpus, queries, judgements);
    let error = DataSet::load_all(&[folder]).unwrap_err();
    let text = refusal(&error);
    assert!(text.contains(expected), "{text}");
}

#[test]
fn a_folder_is_read_whole() {
    let dir = tempfile::tempdir().unwrap();
    let folder = write_project(dir.path(), "set", CORPUS, QUERIES, JUDGEMENTS);
    let sets = DataSet::load_all(&[folder]).unwrap();
    let project = &sets[0].projects[0];
    assert_eq!(
        (sets[0].name.as_str(), sets[0].projects.len(), project.documents.len()),
        ("set", 1, 3)
    );
    assert_eq!(
        project.documents[0].observed_at,
        Some("2023-01-02T03:04:05Z".parse().unwrap())
    );
    // The query that nothing answers is left out.
    let ids: Vec<_> = project.queries.iter().map(|query| query.id.as_str()).collect();
    assert_eq!(ids, ["q1", "q2", "q3"]);
    assert!(project.queries[1].relevant.contains("b"));
    assert_eq!(project.queries[0].scope.as_deref(), Some("ops"));
}

#[test]
fn a_folder_of_folders_is_several_projects() {
    let dir = tempfile::tempdir().unwrap();
    write_project(dir.path(), "by_project/乙", CORPUS, QUERIES, "q2\t0\tb\t1\n");
    write_project(dir.path(), "by_project/one", CORPUS, QUERIES, "q1\t0\ta\t1\n");
    std::fs::create_dir(dir.path().join("by_project/notes")).unwrap();
    let sets = DataSet::load_all(&[dir.path().join("by_project")]).unwrap();
    let names: Vec<_> = sets[0].projects.iter().map(|project| project.name.as_str()).collect();
    assert_eq!(names, ["one", "乙"]);
}

#[test]
fn projects_of_one_set_share_no_query() {
    let dir = tempfile::tempdir().unwrap();
    write_project(dir.path(), "set/one", CORPUS, QUERIES, JUDGEMENTS);
    write_project(dir.path(), "set/two", CORPUS, QUERIES, JUDGEMENTS);
    let error = DataSet::load_all(&[dir.path().join("set")]).unwrap_err();
    assert!(matches!(error, DataSetError::SharedQuery { .. }), "{error}");
}

#[test]
fn names_tell_sets_apart() {
    let dir = tempfile::tempdir().unwrap();
    let folders =
        ["x/zh", "y/zh", "y/en", "x-zh"].map(|name| write_project(dir.path(), name, CORPUS, QUERIES, JUDGEMENTS));
    let names: Vec<_> = DataSet::load_all(&folders)
        .unwrap()
        .into_iter()
        .map(|set| set.name)
        .collect();
    assert_eq!(names, ["1-zh", "y-zh", "en", "4-x-zh"]);
    let twice = [folders[0].clone(), folders[0].join("../zh")];
    assert!(matches!(
        DataSet::load_all(&twice),
        Err(DataSetError::GivenTwice { .. })
    ));
}

#[test]
fn a_folder_is_named_whatever_its_spelling() {
    let dir = tempfile::tempdir().unwrap();
    let folder = write_project(dir.path(), "数据", CORPUS, QUERIES, JUDGEMENTS);
    std::fs::create_dir(folder.join("inner")).unwrap();
    let sets = DataSet::load_all(&[folder.join("inner/..")]).unwrap();
    assert_eq!(sets[0].name, "数据");
    assert_eq!(sets[0].projects[0].name, "数据");
}

#[test]
fn what_is_not_there_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let load = |name: &str| DataSet::load_all(&[dir.path().join(name)]).unwrap_err();
    assert!(matches!(load("none"), DataSetError::Read { .. }));
    std::fs::create_dir(dir.path().join("empty")).unwrap();
    assert!(matches!(load("empty"), DataSetError::Empty { .. }));
    let folder = write_project(dir.path(), "half", CORPUS, QUERIES, JUDGEMENTS);
    std::fs::remove_file(folder.join("qrels.tsv")).unwrap();
    assert!(refusal(&load("half")).contains("qrels.tsv"));
}

#[test]
fn a_bad_line_is_named() {
    let corpus = format!("{CORPUS}{{\"id\": \"d\"}}\n");
    check_refused(
        &corpus,
        QUERIES,
        JUDGEMENTS,
        "corpus.jsonl\" line 5 cannot be used: not the object expected: missing field `path`",
    );
    check_refused(
        &CORPUS.replace("2023-01-02", "soon"),
        QUERIES,
        JUDGEMENTS,
        "line 1 cannot be used: field observed_at is no time",
    );
    check_refused(
        &CORPUS.replace("\"b\"", "\"a\""),
        QUERIES,
        JUDGEMENTS,
        "line 2 cannot be used: id \"a\" is there before",
    );
    check_refused(
        &CORPUS.replace("\"b\"", "\"b c\""),
        QUERIES,
        JUDGEMENTS,
        "line 2 cannot be used: id \"b c\" is empty or has blanks",
    );
    check_refused(
        CORPUS,
        &QUERIES.replace("\"q1\"", "\"\""),
        JUDGEMENTS,
        "queries.jsonl\" line 1 cannot be used: id \"\"",
    );
    check_refused(
        CORPUS,
        "nothing\n",
        JUDGEMENTS,
        "queries.jsonl\" line 1 cannot be used: not the object expected",
    );
    check_refused(
        CORPUS,
        QUERIES,
        "q1\ta\t1\n",
        "qrels.tsv\" line 1 cannot be used: expected query, 0, document and relevance",
    );
    check_refused(
        CORPUS,
        QUERIES,
        "q1\t0\ta\tyes\n",
        "qrels.tsv\" line 1 cannot be used: expected query",
    );
    check_refused(
        CORPUS,
        QUERIES,
        "q1\t0\ta\t1\n\nq9\t0\ta\t1\n",
        "qrels.tsv\" line 3 cannot be used: query \"q9\" is not in the set",
    );
    check_refused(CORPUS, QUERIES, "q1\t0\tz\t1\n", "document \"z\" is not in the set");
}
