//! The command line. Doc comments are the help texts.

mod fill;
mod models;
mod sync;

pub(crate) use models::{AddModelArgs, ModelsCommand, PoolingArg, PruneArg, UseModelArgs};

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub(crate) use fill::{FillArgs, FillCommand};
pub(crate) use sync::{PushArgs, SyncCommand};

/// Memory retrieval for AI agents, on the record.
///
/// Casebook indexes a project's Markdown memory on this machine, gives an agent the smallest sufficient set of
/// fragments and what changed since last time, and keeps every retrieval as an auditable Run. Nothing leaves the machine.
#[derive(Debug, Parser)]
#[command(name = "casebook", version, arg_required_else_help = true, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command takes.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// The project's folder [default: the nearest folder above with a casebook.toml, else the current one]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Print JSON for scripts
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make a folder a project: write its casebook.toml
    Init(InitArgs),
    /// Bring the index up to date; the cost follows what changed
    Index(IndexArgs),
    /// Answer a question with the fragments to have in context, and what changed since last time
    Activate(ActivateArgs),
    /// Look at recorded retrievals
    #[command(subcommand)]
    Runs(RunsCommand),
    /// Look at the configuration
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Measure retrieval on data sets
    #[command(subcommand)]
    Lab(LabCommand),
    /// Check or rebuild the history
    #[command(subcommand)]
    Recorder(RecorderCommand),
    /// Look at raw sources in the cold lane
    #[command(subcommand)]
    Archive(ArchiveCommand),
    /// Add transformer models and choose which one is used
    #[command(subcommand)]
    Models(ModelsCommand),
    /// Sync memories that another program holds: pushed records
    #[command(subcommand)]
    Sync(SyncCommand),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Name of the project, part of its id [default: the folder's name; a folder used before keeps its id and history]
    #[arg(long)]
    pub(crate) name: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct IndexArgs {
    /// Read, cut and write everything anew; known vectors are still used
    #[arg(long)]
    pub(crate) full: bool,
    /// Go on: keep the index up to date while files change, until ctrl-c; tells every new head in a line
    #[arg(long)]
    pub(crate) watch: bool,
    /// Look at the whole folder every so many seconds, also when no change is noticed [default: 300, or 10 where the system
    /// does not tell of changes]
    #[arg(long, value_name = "SECONDS", requires = "watch", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) every: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct ActivateArgs {
    /// The task or question, in your own words
    #[arg(required_unless_present = "batch")]
    pub(crate) query: Option<String>,
    /// Keep what is in context in this file: read before, written after (a missing file is an empty context)
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    /// The moment that time labels are for, e.g. 2026-03-01 [default: now]
    #[arg(long, value_name = "TIME")]
    pub(crate) as_of: Option<String>,
    /// Only memories of this scope; may be given several times
    #[arg(long, value_name = "SCOPE")]
    pub(crate) scope: Vec<String>,
    /// A topic that is meant; never excludes others
    #[arg(long, value_name = "TOPIC")]
    pub(crate) topic: Vec<String>,
    /// An entity that is meant; never excludes others
    #[arg(long, value_name = "ENTITY")]
    pub(crate) entity: Vec<String>,
    /// An audience that you speak for, beside those of the configuration
    #[arg(long, value_name = "AUDIENCE")]
    pub(crate) audience: Vec<String>,
    /// Tokens of all fragments at most
    #[arg(long, value_name = "N")]
    pub(crate) max_tokens: Option<u32>,
    /// Fragments at most
    #[arg(long, value_name = "N")]
    pub(crate) max_fragments: Option<u32>,
    /// Show every candidate with its ranks and scores, and why it is in or out
    #[arg(long)]
    pub(crate) explain: bool,
    /// Answer from the index as it is, without looking for changed files first
    #[arg(long)]
    pub(crate) no_refresh: bool,
    /// Read one question per line from a file (`-` for standard input) and print one JSON document per line; blank lines are skipped
    #[arg(long, value_name = "FILE", conflicts_with = "query")]
    pub(crate) batch: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// List recent Runs, newest first
    List {
        /// At most so many
        #[arg(long, default_value_t = 20)]
        limit: usize,
        /// Of every project, not only this one
        #[arg(long)]
        all: bool,
    },
    /// Show what an answer was made from: the same document as `activate --explain` gave
    Show {
        /// The Run's id, or the start or end of it [default: the latest of this project]
        run: Option<String>,
    },
    /// Recompute a Run's ranking from its recorded stage ranks and compare
    Replay {
        /// The Run's id, or the start or end of it [default: the latest of this project]
        run: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show every setting and where its value comes from
    Show,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LabCommand {
    /// Search data sets under several arms and score them
    Run {
        /// Folder with corpus.jsonl, queries.jsonl, qrels.tsv, or with such folders below it; may be given several times
        #[arg(long, required = true, value_name = "DIR")]
        data: Vec<PathBuf>,
        /// Arms: impact, fts5, tantivy, lexical, dense, rrf, weighted, v2, v3, full
        #[arg(
            long,
            value_delimiter = ',',
            default_value = "impact,fts5,tantivy,lexical,dense,v2,v3,full"
        )]
        arms: Vec<String>,
        /// Folder for runs and results
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum RecorderCommand {
    /// Walk the event log's chain and name the first event that does not hold
    Verify,
    /// Rebuild the tables beside the log from the log
    Rebuild,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ArchiveCommand {
    /// List the raw sources of the catalog
    List,
    /// Compare raw sources with the catalog: place, permissions, size, hash, records
    Verify {
        /// Only this source
        source: Option<String>,
    },
}
