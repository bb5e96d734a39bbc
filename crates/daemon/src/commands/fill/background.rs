//! A fill that goes on when its command has returned.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

use casebook_api::wire::FillStartedResponse;
use casebook_api::{ApiError, ErrorKind};
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
    let pid = spawn(args, &setup.root, &log)?;
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

fn spawn(args: &FillArgs, root: &Path, log: &Path) -> Result<u32, Failure> {
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
    let child = command.spawn().map_err(|error| refused(&error))?;
    Ok(child.id())
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
