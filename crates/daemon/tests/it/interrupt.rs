//! Ctrl-C ends a command in good order.

#![cfg(target_os = "linux")]

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use casebook_storage::FileLock;

use crate::sandbox::Sandbox;

/// Waits until the process listens for Ctrl-C, as the system tells it.
fn wait_until_it_listens(child: &Child) {
    const SIGINT: u64 = 1 << 1;
    loop {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
        if u64::from_str_radix(caught.trim(), 16).unwrap() & SIGINT != 0 {
            return;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn ctrl_c_stops_a_build_and_says_what_is_kept() {
    let sandbox = Sandbox::with(&[("a.md", "one 一"), ("b.md", "two 二")]);
    sandbox.json(&["config", "show"]);
    let index = sandbox.root().join(".casebook");
    std::fs::create_dir(&index).unwrap();
    // Another builder is at work, so that this one is in the midst of its build for as long as it takes.
    let held = FileLock::try_acquire(&index.join("build.lock")).unwrap().unwrap();
    for args in [&["index"] as &[&str], &["activate", "one"], &["index", "--json"]] {
        for signal in ["-INT", "-TERM"] {
            let mut command = sandbox.command(args);
            let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            wait_until_it_listens(&child);
            let pid = child.id().to_string();
            assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
            let output = child.wait_with_output().unwrap();
            let told = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(130), "{args:?} {signal}: {told}");
            assert!(
                told.contains("cancelled") && told.contains("are kept"),
                "{args:?} {signal}: {told}"
            );
        }
    }
    drop(held);
    assert_eq!(sandbox.json(&["index"])["encoded"], 2);
}
