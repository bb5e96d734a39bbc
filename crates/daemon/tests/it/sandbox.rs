//! A project folder and a data folder of its own, and the binary run over them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use casebook_testkit::TempProject;
use serde_json::Value;

/// A project with its own data folder; nothing of the machine's user reaches it.
pub(crate) struct Sandbox {
    pub(crate) project: TempProject,
    home: tempfile::TempDir,
}

/// What a finished process left.
pub(crate) struct Finished {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Finished {
    /// Parses standard output; panics with both streams where it is no JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}\nstdout: {}\nstderr: {}", self.stdout, self.stderr))
    }

    /// Panics with both streams unless the process ended with `code`.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        Self {
            project: TempProject::new(),
            home: tempfile::tempdir().unwrap(),
        }
    }

    /// A sandbox with these files.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let sandbox = Self::new();
        for (path, text) in files {
            sandbox.project.write(path, text);
        }
        sandbox
    }

    pub(crate) fn root(&self) -> &Path {
        self.project.root()
    }

    /// A path outside the project.
    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    pub(crate) fn data_dir(&self) -> PathBuf {
        self.outside("data")
    }

    /// The command with `--root`, not yet started.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_casebook"));
        command
            .arg("--root")
            .arg(self.root())
            .args(args)
            .env_clear()
            .env("HOME", self.home.path())
            .env("CASEBOOK_DATA_DIR", self.data_dir())
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Finished {
        finish(&mut self.command(args))
    }

    /// Runs with `--json` and returns the document of a success.
    #[track_caller]
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let mut all = args.to_vec();
        all.push("--json");
        self.run(&all).expect(0).json()
    }
}

pub(crate) fn finish(command: &mut Command) -> Finished {
    let output = command.output().unwrap();
    Finished {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Returns the strings at `pointer` of every element of an array.
pub(crate) fn texts(array: &Value, pointer: &str) -> Vec<String> {
    let items = array.as_array().unwrap_or_else(|| panic!("{array} is not an array"));
    items
        .iter()
        .map(|item| {
            item.pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        })
        .collect()
}
