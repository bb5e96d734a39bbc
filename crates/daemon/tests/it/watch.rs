//! `casebook index --watch` as a process. Every wait is for a line, with a bound that only a fault reaches.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

#[cfg(unix)]
use rustix::process::Signal;
use serde_json::Value;

use crate::sandbox::{Sandbox, texts};

const BOUND: Duration = Duration::from_secs(60);

const A: (&str, &str) = ("a.md", "# Numbat\n\nThe numbat eats termites.\n");
const B: (&str, &str) = ("笔记/b.md", "# 袋食蚁兽\n\n袋食蚁兽只吃白蚁。\n");

/// A watching process.
struct Watching {
    child: Child,
    lines: Receiver<String>,
}

impl Watching {
    fn start(sandbox: &Sandbox, args: &[&str]) -> Self {
        let mut command = sandbox.command(&["index", "--watch"]);
        let mut child = command.args(args).stdout(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { child, lines }
    }

    fn json(sandbox: &Sandbox) -> Self {
        Self::start(sandbox, &["--json"])
    }

    #[track_caller]
    fn line(&self) -> String {
        self.lines.recv_timeout(BOUND).expect("a line")
    }

    /// Waits for an event that this holds of.
    #[track_caller]
    fn until(&self, holds: impl Fn(&Value) -> bool) -> Value {
        loop {
            let event: Value = serde_json::from_str(&self.line()).unwrap();
            if holds(&event) {
                return event;
            }
        }
    }

    #[track_caller]
    fn until_event(&self, kind: &str) -> Value {
        self.until(|event| event["event"] == kind)
    }

    /// Asks it to end, and returns what it told until then.
    #[cfg(unix)]
    #[track_caller]
    fn end(mut self, signal: Signal) -> Vec<String> {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        self.lines.iter().collect()
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(unix)]
#[test]
fn a_save_is_a_new_head_and_a_signal_ends_it_cleanly() {
    let sandbox = Sandbox::with(&[A]);
    let watching = Watching::json(&sandbox);
    assert_eq!(
        watching.until_event("watching")["root"],
        sandbox.root().canonicalize().unwrap().to_str().unwrap()
    );
    let first = watching.until_event("head");
    assert_eq!((&first["resources"], &first["added"]), (&1.into(), &1.into()));
    sandbox.project.write(B.0, B.1);
    let second = watching.until_event("head");
    assert_eq!((&second["resources"], &second["added"]), (&2.into(), &1.into()));
    assert_ne!(first["revision"], second["revision"]);
    let answer = sandbox.json(&["activate", "袋食蚁兽吃什么？", "--no-refresh"]);
    assert_eq!(texts(&answer["fragments"], "/path")[0], B.0, "{answer:#}");
    assert_eq!(answer["revision"], second["revision"]);
    assert!(watching.end(Signal::TERM).is_empty());
}

#[cfg(unix)]
#[test]
fn a_person_reads_a_line_for_each_head() {
    let sandbox = Sandbox::with(&[A]);
    let watching = Watching::start(&sandbox, &[]);
    assert!(watching.line().starts_with("watching "));
    let line = watching.line();
    assert!(
        line.starts_with("revision 1-") && line.contains(": 1 added, 0 changed, 0 removed; 1 resources"),
        "{line}"
    );
    sandbox.project.write_bytes("bad.md", b"caf\xe9");
    assert!(watching.line().contains("0 added"));
    assert!(watching.line().starts_with("! file_not_utf8 bad.md: "));
    assert!(watching.end(Signal::INT).is_empty());
}

#[cfg(unix)]
#[test]
fn a_memory_that_cannot_be_published_is_told_once() {
    let sandbox = Sandbox::with(&[A]);
    let watching = Watching::json(&sandbox);
    let first = watching.until_event("head");
    sandbox
        .project
        .write("bad.md", "---\nid: bad\nsupersedes: [bad]\n---\nStops every build.\n");
    let failed = watching.until_event("failed");
    assert_eq!(failed["error"]["code"], "supersession_invalid");
    assert!(failed["error"]["details"].to_string().contains("bad.md"), "{failed:#}");
    sandbox.project.write(B.0, B.1);
    sandbox.project.remove("bad.md");
    let healed = watching.until(|event| event["event"] != "failed");
    assert_eq!((&healed["event"], &healed["resources"]), (&"head".into(), &2.into()));
    assert_ne!(healed["revision"], first["revision"]);
    watching.end(Signal::TERM);
}

#[cfg(unix)]
#[test]
fn others_index_and_ask_beside_it() {
    let sandbox = Sandbox::with(&[A]);
    let watching = Watching::json(&sandbox);
    watching.until_event("head");
    for n in 0..8 {
        sandbox
            .project
            .write(&format!("{n}.md"), &format!("Quokka number {n} 短尾矮袋鼠.\n"));
        sandbox.json(&["index"]);
        let answer = sandbox.json(&["activate", &format!("quokka number {n}")]);
        assert!(!answer["fragments"].as_array().unwrap().is_empty(), "{answer:#}");
    }
    sandbox.project.write("last.md", "The bilby digs.\n");
    watching.until(|event| event["resources"] == 10);
    let told = watching.end(Signal::TERM);
    assert!(told.iter().all(|line| line.contains(r#""event":"head""#)), "{told:?}");
    let after = sandbox.json(&["index"]);
    assert_eq!((&after["resources"], &after["added"]), (&10.into(), &0.into()));
}

#[cfg(unix)]
#[test]
fn a_signal_during_the_first_build_leaves_no_half_of_it() {
    let sandbox = Sandbox::new();
    for n in 0..400 {
        sandbox.project.write(
            &format!("{n}.md"),
            &format!("# Note {n}\n\n{}", "The harbour 港口 opens. ".repeat(40)),
        );
    }
    let watching = Watching::json(&sandbox);
    watching.until_event("watching");
    let told = watching.end(Signal::TERM);
    assert!(told.iter().all(|line| line.contains(r#""event":"head""#)), "{told:?}");
    let resources = sandbox.json(&["index"])["resources"].clone();
    assert_eq!(resources, 400);
}

#[test]
fn who_is_not_read_any_more_ends() {
    let sandbox = Sandbox::with(&[A]);
    let mut watching = sandbox
        .command(&["index", "--watch", "--json", "--every", "1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    drop(watching.stdout.take());
    for n in 0..600 {
        if let Some(status) = watching.try_wait().unwrap() {
            assert_eq!(status.code(), Some(0));
            return;
        }
        sandbox.project.write(B.0, &format!("change {n}"));
        std::thread::sleep(Duration::from_millis(100));
    }
    watching.kill().unwrap();
    panic!("it goes on though nobody reads it");
}
