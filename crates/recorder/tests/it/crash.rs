//! Processes that are killed, and processes in company.
//!
//! A child is this test binary again, running [`child`] with its orders in the environment; what it has been promised
//! by the recorder it says on its output.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use casebook_recorder::{RETRIEVAL_INTERRUPTED, Recorder, RunFilter, RunStatus, Verification};

use crate::support::{activation, manifest, open, projections, sql, start};

const DIR: &str = "RECORDER_TEST_DIR";
const INSTANCE: &str = "RECORDER_TEST_INSTANCE";
const RUNS: &str = "RECORDER_TEST_RUNS";

/// The child's side; nothing without orders.
#[test]
fn child() {
    let (Ok(dir), Ok(instance), Ok(runs)) = (std::env::var(DIR), std::env::var(INSTANCE), std::env::var(RUNS)) else {
        return;
    };
    let recorder = open(Path::new(&dir), &instance);
    for n in 0..runs.parse::<u32>().unwrap() {
        let run = format!("{instance}-{n}");
        start(&recorder, &run);
        println!("\nack started {run}");
        recorder
            .finish_run(&run.as_str().into(), &activation(n), &|| Some(manifest(n)))
            .unwrap();
        println!("\nack finished {run}");
    }
}

fn spawn(dir: &Path, instance: &str, runs: u32) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::child", "--nocapture"])
        .env(DIR, dir)
        .env(INSTANCE, instance)
        .env(RUNS, runs.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Kills the child `delay` after its first promise; returns every promise that it made.
fn kill_after(mut child: Child, delay: Duration) -> Vec<(String, String)> {
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut promises = Vec::new();
    let mut read = |line: std::io::Result<String>| {
        let line = line.unwrap_or_default();
        if let Some((what, run)) = line.strip_prefix("ack ").and_then(|ack| ack.split_once(' ')) {
            promises.push((what.to_owned(), run.to_owned()));
        }
        line.starts_with("ack ")
    };
    while !read(lines.next().unwrap()) {}
    std::thread::sleep(delay);
    child.kill().unwrap();
    child.wait().unwrap();
    lines.for_each(|line| {
        read(line);
    });
    promises
}

fn check_promises(recorder: &Recorder, promises: &[(String, String)]) {
    for (what, run) in promises {
        let record = recorder.run(&run.as_str().into()).unwrap().unwrap();
        if what == "finished" {
            let n = run.rsplit('-').next().unwrap().parse().unwrap();
            assert_eq!(record.activation, Some(activation(n)), "{run}");
            assert_eq!(record.degradations, [], "{run}");
        }
    }
}

fn check_whole(recorder: &Recorder, dir: &Path) {
    assert!(matches!(recorder.verify().unwrap(), Verification::Intact { .. }));
    let lived = projections(&sql(dir));
    recorder.rebuild().unwrap();
    assert_eq!(projections(&sql(dir)), lived);
}

#[test]
fn what_was_promised_survives_a_kill() {
    let dir = tempfile::tempdir().unwrap();
    // A fixed seed: the delays are the same every time, where they fall is not.
    let mut random = 0x5eed_u64;
    let mut interrupted = 0;
    for round in 0..20 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let delay = Duration::from_micros((random >> 33) % 12_000);
        let promises = kill_after(spawn(dir.path(), &format!("round{round}"), u32::MAX), delay);
        let recorder = open(dir.path(), "judge");
        check_promises(&recorder, &promises);
        check_whole(&recorder, dir.path());
        for run in recorder
            .runs(
                None,
                &RunFilter {
                    limit: usize::MAX,
                    status: None,
                },
            )
            .unwrap()
        {
            match run.status {
                RunStatus::Succeeded => {}
                RunStatus::Failed if run.failure_code.as_deref() == Some(RETRIEVAL_INTERRUPTED) => interrupted += 1,
                _ => panic!("{run:?}"),
            }
        }
    }
    assert!(interrupted > 0, "no kill fell into a Run");
}

#[test]
fn twenty_processes_record_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let children: Vec<Child> = (0..20).map(|n| spawn(dir.path(), &format!("p{n}"), 5)).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    let recorder = open(dir.path(), "judge");
    let all = RunFilter {
        limit: usize::MAX,
        status: None,
    };
    let runs = recorder.runs(None, &all).unwrap();
    assert_eq!(runs.len(), 100);
    assert!(runs.iter().all(|run| run.status == RunStatus::Succeeded));
    let frozen = 5;
    assert_eq!(
        recorder.verify().unwrap(),
        Verification::Intact { events: 200 + frozen }
    );
    let locks = std::fs::read_dir(dir.path().join("instances")).unwrap().count();
    assert_eq!(locks, 1, "only ours is left");
}

#[test]
fn a_run_of_a_living_process_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let living = open(dir.path(), "living");
    start(&living, "a");
    let other = open(dir.path(), "other");
    assert_eq!(
        other.run(&"a".into()).unwrap().unwrap().summary.status,
        RunStatus::Running
    );
    living.finish_run(&"a".into(), &activation(1), &|| None).unwrap();
}

#[test]
fn a_left_over_run_is_closed_once_however_many_find_it() {
    let dir = tempfile::tempdir().unwrap();
    let gone = open(dir.path(), "gone");
    for run in ["a", "b", "c"] {
        start(&gone, run);
    }
    drop(gone);
    std::thread::scope(|scope| {
        for n in 0..20 {
            let dir = dir.path();
            scope.spawn(move || open(dir, &format!("finder{n}")));
        }
    });
    let recorder = open(dir.path(), "judge");
    assert_eq!(recorder.verify().unwrap(), Verification::Intact { events: 6 });
    for run in ["a", "b", "c"] {
        let record = recorder.run(&run.into()).unwrap().unwrap();
        assert_eq!(record.summary.failure_code.as_deref(), Some(RETRIEVAL_INTERRUPTED));
        assert_eq!(record.failure.unwrap().stage, None);
    }
}

#[test]
fn a_process_that_takes_an_id_again_closes_what_ran_under_it() {
    let dir = tempfile::tempdir().unwrap();
    let first = open(dir.path(), "daemon");
    start(&first, "a");
    drop(first);
    let second = open(dir.path(), "daemon");
    assert_eq!(
        second.run(&"a".into()).unwrap().unwrap().summary.status,
        RunStatus::Failed
    );
}

#[test]
fn a_missing_lock_file_means_that_its_process_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let first = open(dir.path(), "first");
    start(&first, "a");
    drop(first);
    std::fs::remove_file(dir.path().join("instances/first.lock")).unwrap();
    let second = open(dir.path(), "second");
    assert_eq!(
        second.run(&"a".into()).unwrap().unwrap().summary.status,
        RunStatus::Failed
    );
}
