//! What the log refuses and what it notices.

use std::sync::Arc;

use casebook_recorder::{
    ChainFault, OpenError, PayloadError, ReadError, RecordError, Recorder, RunFailure, Verification,
};
use casebook_testkit::FixedClock;

use crate::support::{History, activation, manifest};

/// A log of five events: two Runs that answered, and their memory between.
fn five_events() -> History {
    let history = History::new();
    history.start("a");
    history
        .recorder
        .finish_run(&"a".into(), &activation(1), &|| Some(manifest(1)))
        .unwrap();
    history.start("b");
    history.finish("b", &activation(1));
    assert_eq!(history.recorder.verify().unwrap(), Verification::Intact { events: 5 });
    history
}

fn first_fault(history: &History) -> (i64, ChainFault) {
    match history.recorder.verify().unwrap() {
        Verification::Broken { seq, fault } => (seq.get(), fault),
        Verification::Intact { events } => panic!("{events} events hold"),
    }
}

/// Changes the log behind its back, and tells what the walk finds.
fn check_tampering(sql: &str, expected: (i64, ChainFault)) {
    let history = five_events();
    let db = history.sql();
    db.pragma_update(None, "foreign_keys", false).unwrap();
    db.execute_batch(
        "DROP TRIGGER events_are_never_updated; DROP TRIGGER events_are_never_deleted;
         DROP TRIGGER payloads_are_never_updated; DROP TRIGGER payloads_are_never_deleted;",
    )
    .unwrap();
    db.execute_batch(sql).unwrap();
    assert_eq!(first_fault(&history), expected, "{sql}");
}

#[test]
fn tampering_is_named() {
    for (sql, expected) in [
        (
            "UPDATE event_payloads SET payload = x'00' WHERE seq = 3",
            (3, ChainFault::PayloadHash),
        ),
        (
            "DELETE FROM event_payloads WHERE seq = 2",
            (2, ChainFault::PayloadMissing),
        ),
        (
            "UPDATE events SET recorded_at = 5 WHERE seq = 4",
            (4, ChainFault::Envelope),
        ),
        (
            "UPDATE events SET stream = 'run/c' WHERE seq = 5",
            (5, ChainFault::Envelope),
        ),
        (
            "UPDATE events SET kind = 'run_failed' WHERE seq = 5",
            (5, ChainFault::Envelope),
        ),
        (
            "UPDATE events SET kind_version = 9 WHERE seq = 5",
            (5, ChainFault::Envelope),
        ),
        (
            "UPDATE events SET stream_version = 9 WHERE seq = 5",
            (5, ChainFault::Envelope),
        ),
        (
            "UPDATE events SET payload_hash = zeroblob(32) WHERE seq = 1",
            (1, ChainFault::Envelope),
        ),
        (
            "UPDATE events SET hash = zeroblob(32) WHERE seq = 1",
            (1, ChainFault::Envelope),
        ),
        (
            "UPDATE events SET previous_hash = zeroblob(32) WHERE seq = 2",
            (2, ChainFault::Link),
        ),
        ("DELETE FROM events WHERE seq = 3", (3, ChainFault::Missing)),
        ("DELETE FROM events WHERE seq = 1", (1, ChainFault::Missing)),
        ("DELETE FROM events WHERE seq > 3", (4, ChainFault::Missing)),
        ("DELETE FROM events", (1, ChainFault::Missing)),
        ("UPDATE log_head SET seq = 4", (5, ChainFault::Head)),
        ("UPDATE log_head SET hash = zeroblob(32)", (5, ChainFault::Head)),
    ] {
        check_tampering(sql, expected);
    }
}

#[test]
fn an_end_that_was_cut_off_stays_visible_when_the_log_goes_on() {
    let history = five_events();
    history
        .sql()
        .execute_batch(
            "PRAGMA foreign_keys = OFF; DROP TRIGGER events_are_never_deleted; DELETE FROM events WHERE seq = 5;
             DROP TRIGGER payloads_are_never_deleted; DELETE FROM event_payloads WHERE seq = 5;",
        )
        .unwrap();
    history.start("c");
    assert_eq!(first_fault(&history), (5, ChainFault::Missing));
}

#[test]
fn events_and_payloads_cannot_be_changed() {
    let history = five_events();
    let db = history.sql();
    for sql in [
        "UPDATE events SET recorded_at = 0",
        "DELETE FROM events",
        "INSERT OR REPLACE INTO events SELECT * FROM events WHERE seq = 1",
        "INSERT OR REPLACE INTO events SELECT 99, stream, stream_version, kind, kind_version, recorded_at, payload_hash,
             previous_hash, hash FROM events WHERE seq = 1",
        "UPDATE event_payloads SET payload = x'00'",
        "DELETE FROM event_payloads",
        "INSERT OR REPLACE INTO event_payloads VALUES (1, x'00')",
    ] {
        let error = db.execute_batch(sql).unwrap_err().to_string();
        assert!(error.contains("is never"), "{sql}: {error}");
    }
    assert_eq!(history.recorder.verify().unwrap(), Verification::Intact { events: 5 });
}

#[test]
fn a_run_begins_once_and_ends_once() {
    let history = five_events();
    let recorder = &history.recorder;
    let conflict = |outcome: Result<(), RecordError>| match outcome {
        Err(RecordError::Conflict {
            stream,
            expected,
            found,
        }) => (stream, expected, found),
        other => panic!("{other:?}"),
    };
    let finish = |run: &str| recorder.finish_run(&run.into(), &activation(1), &|| None);
    let begin = recorder.start_run(&"a".into(), &"p".into(), &Default::default(), &Default::default());
    assert_eq!(conflict(begin), ("run/a".to_owned(), 0, 2));
    assert_eq!(conflict(finish("a")), ("run/a".to_owned(), 1, 2));
    assert_eq!(conflict(finish("new")), ("run/new".to_owned(), 1, 0));
    let failed = recorder.fail_run(&"new".into(), &RunFailure::default());
    assert_eq!(conflict(failed), ("run/new".to_owned(), 1, 0));
    assert_eq!(recorder.verify().unwrap(), Verification::Intact { events: 5 });
}

#[test]
fn an_event_of_a_later_version_is_refused_by_name() {
    let history = five_events();
    history
        .sql()
        .execute_batch("DROP TRIGGER events_are_never_updated; UPDATE events SET kind_version = 7 WHERE seq = 1;")
        .unwrap();
    let before = crate::support::projections(&history.sql());
    for outcome in [history.recorder.run(&"a".into()).map(drop), history.recorder.rebuild()] {
        let Err(ReadError::Payload {
            seq,
            source: PayloadError::Unknown { kind, version },
        }) = outcome
        else {
            panic!("{outcome:?}");
        };
        assert_eq!((seq.get(), kind.as_str(), version), (1, "run_started", 7));
    }
    assert_eq!(
        crate::support::projections(&history.sql()),
        before,
        "a failed rebuild changes nothing"
    );
}

#[test]
fn an_event_that_does_not_decode_is_refused_by_name() {
    let history = five_events();
    history
        .sql()
        .execute_batch(
            "DROP TRIGGER payloads_are_never_updated; UPDATE event_payloads SET payload = x'c1' WHERE seq = 3;",
        )
        .unwrap();
    let error = history.recorder.run(&"a".into()).unwrap_err();
    assert!(
        matches!(&error, ReadError::Payload { seq, source: PayloadError::Decode(_) } if seq.get() == 3),
        "{error:?}"
    );
}

fn reopen(history: History) -> OpenError {
    let History { recorder, dir, .. } = history;
    drop(recorder);
    Recorder::open(dir.path(), "two".into(), Arc::new(FixedClock::default()))
        .err()
        .unwrap()
}

#[test]
fn a_newer_schema_is_refused_and_kept() {
    let history = five_events();
    history.sql().pragma_update(None, "user_version", 99).unwrap();
    let error = reopen(history);
    assert!(
        matches!(
            &error,
            OpenError::Database {
                source: casebook_storage::DatabaseError::Newer { found: 99, .. },
                ..
            }
        ),
        "{error:?}"
    );
}

#[test]
fn a_damaged_database_is_refused_and_kept() {
    let History { recorder, dir, .. } = five_events();
    drop(recorder);
    let path = dir.path().join("local.db");
    std::fs::write(
        &path,
        "this is no database, and it is long enough to be looked at".repeat(20),
    )
    .unwrap();
    let damaged = std::fs::read(&path).unwrap();
    let error = Recorder::open(dir.path(), "two".into(), Arc::new(FixedClock::default()))
        .err()
        .unwrap();
    assert!(
        matches!(&error, OpenError::Database { path: found, .. } if *found == path),
        "{error:?}"
    );
    assert_eq!(std::fs::read(&path).unwrap(), damaged);
}

#[test]
fn an_instance_id_is_a_file_name_and_unique() {
    let history = History::new();
    let open = |id: &str| Recorder::open(history.dir.path(), id.into(), Arc::new(FixedClock::default())).err();
    for id in ["", "../x", "a/b", "a b", "记", ".", &"x".repeat(65)] {
        assert!(matches!(open(id), Some(OpenError::InstanceId { .. })), "{id:?}");
    }
    assert!(matches!(open("one"), Some(OpenError::InstanceInUse { .. })));
    assert!(open("two").is_none());
}
