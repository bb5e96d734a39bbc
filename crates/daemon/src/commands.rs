//! One file per verb.

mod activate;
mod archive;
mod config;
mod fill;
mod index;
mod init;
mod lab;
mod models;
mod recorder;
mod runs;
mod sync;

use clap::CommandFactory;

use crate::cli::{Cli, Command};
use crate::failure::Failure;
use crate::output;

/// Runs the command.
pub(crate) fn run(cli: &Cli) -> Result<(), Failure> {
    match &cli.command {
        Command::Init(args) => init::run(&cli.common, args),
        Command::Index(args) => index::run(&cli.common, args),
        Command::Activate(args) => activate::run(&cli.common, args),
        Command::Runs(command) => runs::run(&cli.common, command),
        Command::Config(command) => config::run(&cli.common, command),
        Command::Lab(command) => lab::run(&cli.common, command),
        Command::Recorder(command) => recorder::run(&cli.common, command),
        Command::Archive(command) => archive::run(&cli.common, command),
        Command::Models(command) => models::run(&cli.common, command),
        Command::Sync(command) => sync::run(&cli.common, command),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "casebook", &mut script);
            output::line(String::from_utf8_lossy(&script).trim_end())
        }
    }
}
