//! The binary: flags and configuration in, `casebook-api` out. The only place that picks concrete types.

mod cli;
mod clock;
mod commands;
mod failure;
mod hub;
mod interrupt;
mod output;
mod power;
mod priority;
mod progress;
mod render;
mod settings;
mod wire;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    match commands::run(&cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(cli.common.json),
    }
}
