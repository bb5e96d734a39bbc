//! The lab measures the real chain, writes what it found, and finds the same again.

use std::path::Path;
use std::sync::Mutex;

use casebook_evaluation::{Arm, DataSet, LabError, LabProgress, LabReport, LabRequest, ScopeUse, run_lab};
use casebook_index::IndexOptions;
use casebook_ranker::RankerConfig;
use casebook_testkit::FixedClock;

use crate::support::{CORPUS, CharacterCounts, JUDGEMENTS, QUERIES, SharedCharacters, write_project};

fn run(set: &Path, out: &Path, scopes: ScopeUse) -> Result<LabReport, LabError> {
    let sets = DataSet::load_all(&[set.to_owned()]).unwrap();
    run_lab(&LabRequest {
        sets: &sets,
        arms: &Arm::ALL,
        scopes,
        out,
        index: &IndexOptions::default(),
        encoder: &CharacterCounts::new(),
        scorer: &SharedCharacters,
        config: &RankerConfig::default(),
        clock: &FixedClock::default(),
        progress: &|_| (),
    })
}

fn files(out: &Path) -> Vec<(String, String)> {
    let names = Arm::ALL.map(|arm| format!("set.{arm}.trec"));
    let names = names.into_iter().chain(["results.json".to_owned()]);
    names
        .map(|name| (name.clone(), std::fs::read_to_string(out.join(name)).unwrap()))
        .collect()
}

#[test]
fn every_arm_is_measured_and_written() {
    let dir = tempfile::tempdir().unwrap();
    let set = write_project(dir.path(), "set", CORPUS, QUERIES, JUDGEMENTS);
    let report = run(&set, &dir.path().join("out"), ScopeUse::Honour).unwrap();
    let set = &report.sets[0];
    assert_eq!((set.documents, set.queries, set.units), (3, 3, 3));
    assert_eq!(set.arms.iter().map(|arm| arm.arm).collect::<Vec<_>>(), Arm::ALL);
    let whole = set.arms.last().unwrap();
    let groups: Vec<_> = whole
        .groups
        .iter()
        .map(|group| (group.group.as_str(), group.metrics.queries))
        .collect();
    assert_eq!(
        groups,
        [
            ("all", 3),
            ("kind:fact", 2),
            ("kind:time", 1),
            ("lang:en", 2),
            ("lang:zh", 1)
        ]
    );
    assert_eq!(whole.groups[0].metrics.mrr_10, 1.0);
    let written = files(&dir.path().join("out"));
    let named = |end: &str| &written.iter().find(|(name, _)| name.ends_with(end)).unwrap().1;
    for arm in ["full", "v2", "v3"] {
        let whole = named(&format!(".{arm}.trec"));
        assert!(whole.starts_with(&format!("q1 Q0 a 1 1 {arm}\nq2 Q0 b 1 ")), "{whole}");
    }
    let results = named("results.json");
    assert!(results.contains("\"MRR@10\": 1.0"), "{results}");
    assert!(!results.contains("query_p50_us"));
}

#[test]
fn a_scope_is_searched_alone_unless_scopes_are_ignored() {
    let dir = tempfile::tempdir().unwrap();
    let set = write_project(dir.path(), "set", CORPUS, QUERIES, JUDGEMENTS);
    for (scopes, found) in [(ScopeUse::Honour, false), (ScopeUse::Ignore, true)] {
        let out = dir.path().join(format!("out-{found}"));
        run(&set, &out, scopes).unwrap();
        for (name, text) in files(&out).iter().take(Arm::ALL.len()) {
            let leaks = text
                .lines()
                .any(|line| line.starts_with("q1 Q0 c ") || line.starts_with("q1 Q0 b "));
            assert!(found || !leaks, "{name}: {text}");
        }
        let lexical = &files(&out)[2].1;
        assert_eq!(lexical.contains("q1 Q0 c "), found, "{lexical}");
    }
}

#[test]
fn a_second_run_finds_the_same_bytes_with_and_without_the_kept_index() {
    let dir = tempfile::tempdir().unwrap();
    let set = write_project(dir.path(), "set", CORPUS, QUERIES, JUDGEMENTS);
    let out = dir.path().join("out");
    run(&set, &out, ScopeUse::Honour).unwrap();
    let first = files(&out);
    run(&set, &out, ScopeUse::Honour).unwrap();
    assert_eq!(files(&out), first);
    run(&set, &dir.path().join("other"), ScopeUse::Honour).unwrap();
    assert_eq!(files(&dir.path().join("other")), first);
}

#[test]
fn projects_are_searched_apart_and_averaged_together() {
    let dir = tempfile::tempdir().unwrap();
    write_project(dir.path(), "set/one", CORPUS, QUERIES, "q1\t0\ta\t1\n");
    write_project(
        dir.path(),
        "set/two",
        &CORPUS.replace("backup", "kitchen"),
        QUERIES,
        "q2\t0\tb\t1\n",
    );
    let out = dir.path().join("out");
    let report = run(&dir.path().join("set"), &out, ScopeUse::Honour).unwrap();
    assert_eq!(
        (
            report.sets[0].projects,
            report.sets[0].documents,
            report.sets[0].queries
        ),
        (2, 6, 2)
    );
    assert!(files(&out)[5].1.contains("q1 Q0 a 1"));
}

#[test]
fn progress_is_told_to_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let set = write_project(dir.path(), "set", CORPUS, QUERIES, JUDGEMENTS);
    let sets = DataSet::load_all(&[set]).unwrap();
    let asked = Mutex::new(Vec::new());
    let built = Mutex::new(0);
    run_lab(&LabRequest {
        sets: &sets,
        arms: &[Arm::V2],
        scopes: ScopeUse::Honour,
        out: &dir.path().join("out"),
        index: &IndexOptions::default(),
        encoder: &CharacterCounts::new(),
        scorer: &SharedCharacters,
        config: &RankerConfig::default(),
        clock: &FixedClock::default(),
        progress: &|progress| match progress {
            LabProgress::Building { .. } => *built.lock().unwrap() += 1,
            LabProgress::Asking { done, total, .. } => asked.lock().unwrap().push((done, total)),
        },
    })
    .unwrap();
    assert_eq!(asked.into_inner().unwrap(), [(1, 3), (2, 3), (3, 3)]);
    assert!(built.into_inner().unwrap() > 0);
}

#[test]
fn a_query_of_nothing_and_a_folder_that_is_a_file_are_errors() {
    let dir = tempfile::tempdir().unwrap();
    let set = write_project(
        dir.path(),
        "set",
        CORPUS,
        &QUERIES.replace("重建索引", "  "),
        JUDGEMENTS,
    );
    let error = run(&set, &dir.path().join("out"), ScopeUse::Honour).unwrap_err();
    assert_eq!(error.to_string(), "query \"q2\" of set cannot be answered");
    let error = run(&set, &set.join("qrels.tsv"), ScopeUse::Honour).unwrap_err();
    assert!(matches!(error, LabError::Write { .. }), "{error}");
}

#[test]
fn arms_are_read_by_name() {
    for arm in Arm::ALL {
        assert_eq!(arm.to_string().parse(), Ok(arm));
    }
    let error = "bm25".parse::<Arm>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown arm \"bm25\"; expected one of impact, fts5, tantivy, lexical, dense, rrf, weighted, v2, v3, full"
    );
}
