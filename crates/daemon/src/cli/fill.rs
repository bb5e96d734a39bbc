//! `casebook models fill` and what goes with it.

use std::num::NonZeroUsize;

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum FillCommand {
    /// Make the chosen pack's vectors for what has none, newest first; the embedded encoder answers meanwhile
    Fill(FillArgs),
    /// Stop filling, now and after a restart, until `casebook models resume`
    Pause,
    /// Allow filling again
    Resume,
    /// Show how many units each encoder has vectors of, which one answers, and whether someone is filling
    Status,
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct FillArgs {
    /// Threads that the encoder uses at most; never more than there are cores [default: encoder.threads]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,
    /// Go on while the machine runs on battery; otherwise filling waits for mains power
    #[arg(long)]
    pub(crate) on_battery: bool,
    /// Fill in the background: print the process and its log file, and return
    #[arg(long)]
    pub(crate) background: bool,
    /// This is the process in the background
    #[arg(long, hide = true, conflicts_with = "background")]
    pub(crate) detached: bool,
}
