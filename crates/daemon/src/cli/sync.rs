//! `casebook sync`. Doc comments are the help texts.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum SyncCommand {
    /// Begin a sync on top of a version, or go on with the one that is open on it
    ///
    /// A sync that another one replaces, or that is based on another version than the records are at, is a conflict (exit
    /// code 5). Nothing that is sent is seen before the commit.
    Begin {
        /// The version that the records are at [default: none; the first sync]
        #[arg(long, value_name = "VERSION")]
        base: Option<String>,
        /// Drop a sync that is open, with its pages
        #[arg(long)]
        replace: bool,
    },
    /// Stage a page of changes: {"changes": [{"upsert": {"id": …, "body": …}}, {"tombstone": ID}, …]}
    ///
    /// Pages come in order, at most 256 KiB each. A page that is staged may be sent again; another content under its number
    /// is a conflict.
    Page {
        /// The session that `begin` printed
        session: String,
        /// Its number, from 1
        number: u32,
        /// The page (`-` for standard input)
        #[arg(default_value = "-")]
        file: PathBuf,
    },
    /// Make the staged pages the records, all in one step
    Commit {
        /// The session that `begin` printed
        session: String,
        /// How many pages were sent
        #[arg(long, value_name = "N")]
        pages: u32,
        /// What the host calls the new state of its memory; the base of the next sync
        #[arg(long, value_name = "VERSION")]
        version: String,
    },
    /// Show the version that the records are at, and the sync that is open
    Status,
    /// Drop a sync that is open, with its pages
    Abort {
        /// The session that `begin` printed
        session: String,
    },
    /// Begin, send a file of changes in pages, and commit; after an interruption the same command goes on
    Push(PushArgs),
}

#[derive(Debug, Args)]
pub(crate) struct PushArgs {
    /// One change per line, {"upsert": {"id": …, "body": …}} or {"tombstone": ID}; `-` for standard input
    pub(crate) file: PathBuf,
    /// The version that the records are at [default: none; the first sync]
    #[arg(long, value_name = "VERSION")]
    pub(crate) base: Option<String>,
    /// What the host calls the new state of its memory; the base of the next sync
    #[arg(long, value_name = "VERSION")]
    pub(crate) version: String,
    /// Drop a sync that is open, with its pages
    #[arg(long)]
    pub(crate) replace: bool,
}
