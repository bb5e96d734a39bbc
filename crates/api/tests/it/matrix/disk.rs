//! Disks that take nothing: steps are taken in a process of their own that the system lets write no more.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use super::{Case, Encoder, Step, take};

/// Tells the child's side whose index is meant, and what to do with it.
const ROOT: &str = "CASEBOOK_MATRIX_ROOT";
const STEP: &str = "CASEBOOK_MATRIX_STEP";
/// What the child's side begins its answer with.
const OUTCOME: &str = "outcome: ";
/// Whom the system lets do nothing.
const NOBODY: u32 = 65534;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Disk {
    Free,
    /// Nothing can be created or written: nothing has a permission to.
    ReadOnly,
    /// No file can grow by a byte.
    Full,
    /// No file can grow above 128 KiB.
    NearlyFull,
}

impl Disk {
    /// Takes a step and says what came of it.
    pub(super) fn take(self, case: &Case, encoder: Encoder, step: Step) -> String {
        let root = case.project.root();
        let shell = |kibibytes: u32| {
            let mut command = Command::new("sh");
            // Without the signal a write fails as on a full disk. The unit is 512 bytes.
            let script = format!("trap '' XFSZ; ulimit -f {}; exec \"$0\" \"$@\"", 2 * kibibytes);
            command.arg("-c").arg(script).arg(std::env::current_exe().unwrap());
            command
        };
        match self {
            Self::Free => take(root, encoder, step),
            Self::Full => run(shell(0), root, step),
            Self::NearlyFull => run(shell(128), root, step),
            Self::ReadOnly => {
                // The notes stay as they are: a new mode would be a touch.
                let index = case.path("");
                set_modes(&index, 0o555, 0o444);
                set_mode(root, 0o555);
                let outcome = run(as_nobody(root), root, step);
                set_mode(root, 0o755);
                set_modes(&index, 0o755, 0o644);
                outcome
            }
        }
    }
}

/// Returns the command of the child's side. Permissions do not count for the superuser, who steps back.
fn as_nobody(root: &Path) -> Command {
    let program = std::env::current_exe().unwrap();
    if root.metadata().unwrap().uid() != 0 {
        return Command::new(program);
    }
    // Somewhere that everyone may enter.
    let copy = std::env::temp_dir().join(format!("casebook-matrix-{}", std::process::id()));
    if !copy.exists() && fs::hard_link(&program, &copy).is_err() {
        fs::copy(&program, &copy).unwrap();
    }
    let mut command = Command::new(copy);
    command.uid(NOBODY);
    command
}

fn run(mut command: Command, root: &Path, step: Step) -> String {
    let output = command
        .args(["--exact", "matrix::disk::child", "--nocapture"])
        .env(ROOT, root)
        .env(STEP, format!("{step:?}"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let outcome = text.lines().find_map(|line| line.split_once(OUTCOME));
    let (_, outcome) = outcome.unwrap_or_else(|| panic!("{text}\n{}", String::from_utf8_lossy(&output.stderr)));
    outcome.to_owned()
}

/// Not a test of its own: the child's side. Alone it returns at once.
#[test]
fn child() {
    let (Some(root), Ok(step)) = (std::env::var_os(ROOT), std::env::var(STEP)) else {
        return;
    };
    let steps = [Step::Ask, Step::AskFresh, Step::Build];
    let step = steps.into_iter().find(|known| format!("{known:?}") == step).unwrap();
    println!("{OUTCOME}{}", take(Path::new(&root), Encoder::Works, step));
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Sets the modes of a folder, where there is one, and of all that it holds.
fn set_modes(folder: &Path, folders: u32, files: u32) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            set_modes(&path, folders, files);
        } else {
            set_mode(&path, files);
        }
    }
    if folder.exists() {
        set_mode(folder, folders);
    }
}

/// Has every byte that SQLite would add to its log refused for want of room.
pub(super) fn fill_log(database: &Path) {
    let mut log = database.as_os_str().to_owned();
    log.push("-wal");
    std::os::unix::fs::symlink("/dev/full", log).unwrap();
}
