//! `casebook-fuzz <target|all> <seconds> [number]`: mutates seeds until the time is up or an input breaks a law.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{env, fs, io, panic};

use casebook_fuzz::{Mutator, TARGETS, Target, read_seeds, targets_named};

#[expect(clippy::print_stderr, reason = "this is a command line tool")]
fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let Some((targets, time, number)) = parse(&arguments) else {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.0).collect();
        eprintln!("usage: casebook-fuzz <all|{}> <seconds> [number]", names.join("|"));
        return ExitCode::from(2);
    };
    let share = time / u32::try_from(targets.len()).unwrap_or(1);
    let mut clean = true;
    for target in targets {
        match fuzz(target, share, number) {
            Ok(None) => {}
            Ok(Some(path)) => {
                eprintln!("{}: the input is in {}", target.0, path.display());
                clean = false;
            }
            Err(error) => {
                eprintln!("{}: {error}", target.0);
                clean = false;
            }
        }
    }
    if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn parse(arguments: &[String]) -> Option<(Vec<Target>, Duration, u64)> {
    let (name, seconds, number) = match arguments {
        [name, seconds] => (name, seconds, None),
        [name, seconds, number] => (name, seconds, Some(number)),
        _ => return None,
    };
    let targets = targets_named(name);
    let number = number.map_or(Some(1), |number| number.parse().ok())?;
    (!targets.is_empty()).then_some((targets, Duration::from_secs(seconds.parse().ok()?), number))
}

/// Runs one target; returns where the first input that breaks a law was written.
#[expect(clippy::disallowed_methods, reason = "a fuzz run is bounded by real time")]
#[expect(clippy::print_stdout, reason = "this is a command line tool")]
fn fuzz(target: Target, time: Duration, number: u64) -> io::Result<Option<PathBuf>> {
    let (name, run) = target;
    let seeds = read_seeds(name)?;
    let mut mutator = Mutator::new(number);
    let started = Instant::now();
    let mut executions = 0_u64;
    while started.elapsed() < time {
        let input = mutator.next_input(&seeds);
        if panic::catch_unwind(|| run(&input)).is_err() {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("crashes");
            fs::create_dir_all(&folder)?;
            let path = folder.join(format!("{name}-{number}-{executions}"));
            fs::write(&path, &input)?;
            return Ok(Some(path));
        }
        executions += 1;
    }
    println!("{name}: {executions} executions, no law broken");
    Ok(None)
}
