//! Runs as their readers see them: lists, lookups, texts, manifests, bounds.

use std::cell::Cell;
use std::path::PathBuf;

use casebook_corpus::ContentHash;
use casebook_recorder::{
    FRAGMENT_TEXT_UNAVAILABLE, RecordError, RunFailure, RunFilter, RunMatch, RunStatus, RunSummary,
};

use crate::support::{History, activation, manifest, request, start, unknown_memory};

fn blob(history: &History, text: &str) -> PathBuf {
    let hash = ContentHash::of(text).to_string();
    history
        .dir
        .path()
        .join("evaluation-corpora/blobs")
        .join(&hash[..2])
        .join(hash)
}

#[test]
fn the_list_is_newest_first_and_filtered() {
    let history = History::new();
    for run in ["c", "a", "b"] {
        history.start(run);
        history.clock.advance_millis(10);
    }
    history.finish("a", &activation(1));
    let failure = RunFailure {
        code: "index_preparing".to_owned(),
        ..RunFailure::default()
    };
    history.recorder.fail_run(&"c".into(), &failure).unwrap();
    let ids = |project: Option<&str>, status, limit| {
        let project = project.map(Into::into);
        let runs = history
            .recorder
            .runs(project.as_ref(), &RunFilter { status, limit })
            .unwrap();
        runs.iter().map(|run| run.id.to_string()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(ids(None, None, 50), "b a c");
    assert_eq!(ids(Some("project"), None, 2), "b a");
    assert_eq!(ids(Some("other"), None, 50), "");
    assert_eq!(ids(None, Some(RunStatus::Failed), 50), "c");
    assert_eq!(ids(Some("project"), Some(RunStatus::Running), 50), "b");
    assert_eq!(ids(None, None, 0), "");
}

#[test]
fn a_line_of_history_has_its_counts_and_times() {
    let history = History::new();
    history.start("a");
    history.clock.advance_millis(30);
    history.finish("a", &activation(1));
    let record = history.recorder.run(&"a".into()).unwrap().unwrap();
    let RunSummary {
        status,
        started_at,
        finished_at,
        candidates,
        fragments,
        revision,
        effective_hash,
        ..
    } = record.summary.clone();
    assert_eq!(status, RunStatus::Succeeded);
    assert_eq!(
        (started_at.unix_millis(), finished_at.map(|at| at.unix_millis())),
        (1000, Some(1030))
    );
    assert_eq!((candidates, fragments), (2, 2));
    assert_eq!(
        (revision, effective_hash),
        (Some("3-abc".into()), Some(activation(1).effective_hash))
    );
    assert_eq!((record.summary.query, record.instance), (request().query, "one".into()));
    assert_eq!(history.recorder.run(&"b".into()).unwrap(), None);
}

#[test]
fn a_run_is_found_by_the_beginning_or_the_end_of_its_id() {
    let history = History::new();
    for run in ["ab", "abc", "abd", "x_1", "x%2", "运行"] {
        history.start(run);
    }
    let find = |prefix: &str| history.recorder.find_run(prefix).unwrap();
    assert_eq!(find("abc"), RunMatch::Unique("abc".into()));
    assert_eq!(find("ab"), RunMatch::Unique("ab".into()), "the whole id wins");
    assert_eq!(
        find("a"),
        RunMatch::Ambiguous(vec!["ab".into(), "abc".into(), "abd".into()])
    );
    assert_eq!(find("x_"), RunMatch::Unique("x_1".into()), "no wildcard");
    assert_eq!(find("运"), RunMatch::Unique("运行".into()));
    assert_eq!(find("行"), RunMatch::Unique("运行".into()));
    assert_eq!(find("bd"), RunMatch::Unique("abd".into()));
    assert_eq!(find("y"), RunMatch::None);
}

#[test]
fn a_failure_is_cut_to_its_bounds() {
    let history = History::new();
    history.start("a");
    let long = "超时 ".repeat(1000);
    let failure = RunFailure {
        stage: Some(long.clone()),
        code: long.clone(),
        summary: long,
        ..RunFailure::default()
    };
    history.recorder.fail_run(&"a".into(), &failure).unwrap();
    let found = history.recorder.run(&"a".into()).unwrap().unwrap().failure.unwrap();
    let lengths = [found.stage.unwrap(), found.code, found.summary].map(|text| text.chars().count());
    assert_eq!(lengths, [64, 64, 500]);
}

#[test]
fn texts_lie_apart_and_are_stored_once() {
    let history = History::new();
    for run in ["a", "b"] {
        history.start(run);
        history.finish(run, &activation(1));
    }
    let text = &activation(1).fragments[0].text;
    assert_eq!(std::fs::read_to_string(blob(&history, text)).unwrap(), *text);
    let payloads: i64 = history
        .sql()
        .query_row(
            "SELECT count(*) FROM event_payloads WHERE instr(payload, CAST(?1 AS BLOB)) > 0",
            [text],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(payloads, 0, "no payload holds a fragment's text");
    let blobs: i64 = history
        .sql()
        .query_row("SELECT count(*) FROM retrieval_corpus_blobs", [], |row| row.get(0))
        .unwrap();
    assert_eq!(blobs, 2);
}

#[test]
#[cfg(unix)]
fn everything_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;

    let history = History::new();
    history.start("a");
    history.finish("a", &activation(1));
    let mut folders = vec![history.dir.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let mode = entry.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0, "{:?}", entry.path());
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            }
        }
    }
}

/// Records an answer, spoils the text of its first fragment, and reads it back.
fn check_spoiled(spoil: impl Fn(PathBuf)) {
    let history = History::new();
    history.start("a");
    history.finish("a", &activation(1));
    spoil(blob(&history, &activation(1).fragments[0].text));
    let record = history.recorder.run(&"a".into()).unwrap().unwrap();
    let codes: Vec<_> = record
        .degradations
        .iter()
        .map(|degradation| degradation.code.clone())
        .collect();
    assert_eq!(codes, [FRAGMENT_TEXT_UNAVAILABLE]);
    let mut expected = activation(1);
    expected.fragments[0].text.clear();
    assert_eq!(record.activation, Some(expected));
}

#[test]
fn a_text_that_is_lost_or_changed_is_named() {
    check_spoiled(|path| std::fs::remove_file(path).unwrap());
    check_spoiled(|path| std::fs::write(path, "something else").unwrap());
    check_spoiled(|path| std::fs::write(path, [0xff, 0xfe]).unwrap());
}

#[test]
fn a_text_that_is_not_its_hash_is_named() {
    let history = History::new();
    history.start("a");
    let mut answer = activation(1);
    answer.fragments[0].content_hash = ContentHash::of("another text");
    history.finish("a", &answer);
    let record = history.recorder.run(&"a".into()).unwrap().unwrap();
    assert_eq!(record.degradations.len(), 1);
    assert!(!blob(&history, "another text").exists());
    answer.fragments[0].text.clear();
    assert_eq!(record.activation, Some(answer));
}

#[test]
fn a_text_that_was_left_in_part_is_written_again() {
    for left in ["", "旧", &"too long ".repeat(50)] {
        let history = History::new();
        let path = blob(&history, &activation(1).fragments[0].text);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, left).unwrap();
        history.start("a");
        history.finish("a", &activation(1));
        assert_eq!(history.recorder.run(&"a".into()).unwrap().unwrap().degradations, []);
    }
}

#[test]
fn a_run_is_recorded_even_where_its_texts_cannot_be() {
    let history = History::new();
    std::fs::write(history.dir.path().join("evaluation-corpora"), "in the way").unwrap();
    history.start("a");
    let outcome = history.recorder.finish_run(&"a".into(), &activation(1), &|| None);
    assert!(matches!(outcome, Err(RecordError::Blob { .. })), "{outcome:?}");
    let record = history.recorder.run(&"a".into()).unwrap().unwrap();
    assert_eq!(
        (record.summary.status, record.degradations.len()),
        (RunStatus::Succeeded, 2)
    );
}

#[test]
fn a_manifest_is_asked_for_once_per_memory() {
    let history = History::new();
    let asked = Cell::new(0);
    for (run, n) in [("a", 1), ("b", 1), ("c", 2)] {
        history.start(run);
        let give = || {
            asked.set(asked.get() + 1);
            Some(manifest(n))
        };
        history.recorder.finish_run(&run.into(), &activation(n), &give).unwrap();
    }
    assert_eq!(asked.get(), 2);
    for n in [1, 2] {
        let memory = manifest(n).effective_hash();
        assert_eq!(history.recorder.manifest(memory).unwrap(), Some(manifest(n)));
    }
    assert_eq!(history.recorder.manifest(unknown_memory()).unwrap(), None);
}

#[test]
fn a_manifest_that_is_not_there_is_asked_for_again() {
    let history = History::new();
    history.start("a");
    history.finish("a", &activation(1));
    assert_eq!(history.recorder.manifest(manifest(1).effective_hash()).unwrap(), None);
    history.start("b");
    history
        .recorder
        .finish_run(&"b".into(), &activation(1), &|| Some(manifest(1)))
        .unwrap();
    assert_eq!(
        history.recorder.manifest(manifest(1).effective_hash()).unwrap(),
        Some(manifest(1))
    );
}

#[test]
fn a_manifest_of_another_memory_is_refused_and_the_run_recorded() {
    let history = History::new();
    history.start("a");
    let outcome = history
        .recorder
        .finish_run(&"a".into(), &activation(1), &|| Some(manifest(2)));
    assert!(matches!(outcome, Err(RecordError::Manifest { .. })), "{outcome:?}");
    let record = history.recorder.run(&"a".into()).unwrap().unwrap();
    assert_eq!(record.summary.status, RunStatus::Succeeded);
    for n in [1, 2] {
        assert_eq!(history.recorder.manifest(manifest(n).effective_hash()).unwrap(), None);
    }
}

#[test]
fn threads_share_a_recorder() {
    let history = History::new();
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let history = &history;
            scope.spawn(move || {
                for n in 0..20 {
                    let run = format!("{thread}-{n}");
                    start(&history.recorder, &run);
                    history
                        .recorder
                        .finish_run(&run.as_str().into(), &activation(n), &|| Some(manifest(n)))
                        .unwrap();
                }
            });
        }
    });
    let events = 2 * 20 * 2 + 20;
    let expected = casebook_recorder::Verification::Intact { events };
    assert_eq!(history.recorder.verify().unwrap(), expected);
}

/// The test ends soon or the limit is gone: an answer must not wait for its record.
#[test]
fn a_log_that_another_holds_is_an_error() {
    let history = History::new();
    history.start("a");
    let holder = rusqlite::Connection::open(history.dir.path().join("local.db")).unwrap();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let failure = RunFailure::default();
    assert!(matches!(
        history.recorder.fail_run(&"a".into(), &failure),
        Err(RecordError::Database(_))
    ));
    holder.execute_batch("ROLLBACK").unwrap();
    history.recorder.fail_run(&"a".into(), &failure).unwrap();
}
