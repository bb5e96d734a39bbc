//! A fill that goes on when its command has returned.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use casebook_api::wire::FillStartedResponse;
use casebook_api::{ApiError, ErrorKind};
use casebook_index::FillError;
use casebook_storage::create_private_file;

use crate::cli::{Common, FillArgs};
use crate::failure::Failure;
use crate::output;
use crate::render::safe;
use crate::wire::Setup;

/// The file that a fill in the background tells its progress in, beside the index.
const LOG: &str = "fill.log";

/// Starts this program again, apart from the terminal, and says how to follow it.
pub(super) fn start(common: &Common, args: &FillArgs, setup: &Setup) -> Result<(), Failure> {
    let service = setup.service_for_fill(args.threads)?;
    service.check_can_fill()?;
    let log = service.index_dir().join(LOG);
    let mut child = spawn(args, &setup.root, &log)?;
    wait_for_a_start(&mut child, &log)?;
    let pid = child.id();
    let log = log.to_string_lossy().into_owned();
    if common.json {
        return output::json(&FillStartedResponse { pid, log });
    }
    output::line(format!(
        "filling in the background as process {pid}\n`casebook models status` shows how far it is, `casebook models pause` \
         stops it; its log is {}",
        safe(&log)
    ))
}

fn spawn(args: &FillArgs, root: &Path, log: &Path) -> Result<Child, Failure> {
    let refused = |error: &(dyn std::error::Error + 'static)| {
        Failure(ApiError::new("fill_not_started", ErrorKind::Internal, "the fill cannot be started").because(error))
    };
    let file = create_private_file(log).map_err(|error| refused(&error))?;
    let streams = file
        .set_len(0)
        .and_then(|()| file.try_clone())
        .map_err(|error| refused(&error))?;
    let program = std::env::current_exe().map_err(|error| refused(&error))?;
    let mut command = Command::new(program);
    command.arg("--root").arg(root).args(["models", "fill", "--detached"]);
    if let Some(threads) = args.threads {
        command.arg("--threads").arg(threads.to_string());
    }
    if args.on_battery {
        command.arg("--on-battery");
    }
    detach(&mut command, file, streams);
    command.spawn().map_err(|error| refused(&error))
}

/// Waits until the process has told something, has ended, or takes its time.
///
/// # Errors
/// When it has ended without success: another was quicker, say.
fn wait_for_a_start(child: &mut Child, log: &Path) -> Result<(), Failure> {
    const LOOK: Duration = Duration::from_millis(20);
    const LOOKS: u32 = 250;
    for _ in 0..LOOKS {
        let ended_with = child.try_wait();
        let told = std::fs::read_to_string(log).unwrap_or_default();
        if let Ok(Some(status)) = ended_with {
            return if status.success() { Ok(()) } else { Err(ended(&told)) };
        }
        // Whoever tells an error is about to end.
        if !told.is_empty() && !told.contains("error[") {
            return Ok(());
        }
        std::thread::sleep(LOOK);
    }
    Ok(())
}

/// Says what a process that has ended told: that another fills is no trouble of the machine.
fn ended(told: &str) -> Failure {
    if told.contains("error[fill_running]") {
        return Failure(FillError::Busy.into());
    }
    let mut failure = Failure(ApiError::new(
        "fill_not_started",
        ErrorKind::Internal,
        "the fill ended as soon as it began",
    ));
    failure.0.details = told.lines().map(ToOwned::to_owned).collect();
    failure
}

fn detach(command: &mut Command, stdout: File, stderr: File) {
    command.stdin(Stdio::null()).stdout(stdout).stderr(stderr);
    #[cfg(windows)]
    {
        use std::os::windows::process::CommandExt;
        /// Without a console of its own, and behind what a person is doing.
        const DETACHED_BELOW_NORMAL: u32 = 0x0000_0008 | 0x0000_4000;
        command.creation_flags(DETACHED_BELOW_NORMAL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_process_that_ends_at_once_was_not_started() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join(LOG);
        let outcome = |script: &str| {
            let file = create_private_file(&log).unwrap();
            file.set_len(0).unwrap();
            let mut child = Command::new("sh").args(["-c", script]).stdout(file).spawn().unwrap();
            let outcome = wait_for_a_start(&mut child, &log).map_err(|failure| failure.0);
            let _ = child.kill();
            let _ = child.wait();
            outcome
        };
        outcome("true").unwrap();
        outcome("echo told; exec sleep 60").unwrap();
        let busy = outcome("echo 'error[fill_running]: another'; sleep 0.2; exit 5");
        assert_eq!(busy.unwrap_err().code, "fill_running");
        assert_eq!(outcome("exit 3").unwrap_err().code, "fill_not_started");
        assert_eq!(ended("error[fill_running]: another process").0.code, "fill_running");
        let other = ended("error[disk_full]: no room\n  because: full");
        assert_eq!((other.0.code, other.0.details.len()), ("fill_not_started", 2));
    }
}
