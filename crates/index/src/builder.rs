//! What a build is asked, what it reports, and how it goes: scan, plan, cut, encode, apply.
//!
//! The one thing a newcomer gets wrong: only `apply` touches what queries see, in one transaction. Everything before it
//! may be lost at any moment; vectors are kept as they come, so the next build goes on where this one ended.

mod apply;
mod cut;
mod encode;
mod failure;
mod known;
mod plan;
mod run;
mod word_index;

pub(crate) use run::build;
pub(crate) use word_index::Document;

use casebook_corpus::{Clock, Degradation, EffectiveHash, MemorySource};

use crate::{BuildError, Cancel, RevisionId, TextEncoder};

/// A long step of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BuildStage {
    /// Another builder is at work; waiting for its lock.
    Waiting,
    /// Looking for what changed; the total is not known.
    Scanning,
    /// Cutting changed resources into units.
    Chunking,
    /// Comparing them with the units and vectors that are there, a resource at a time.
    Comparing,
    /// Encoding inputs that the cache lacks.
    Encoding,
    /// Writing vectors to files, so that a search need not read them out of the database.
    Vectors,
    /// Writing the difference.
    Writing,
    /// Writing the word index, a unit at a time; when it is done the head moves.
    Words,
}

/// Watches a build and may stop it. Both calls come from the builder's threads.
pub trait BuildObserver: Cancel {
    /// Tells how far a stage is; `total` is `None` where it is not known. Called often: keep it cheap.
    fn progress(&self, stage: BuildStage, done: usize, total: Option<usize>);
}

/// Tells how far a stage is, and stops the build where the observer wants it.
pub(crate) fn step(
    observer: &dyn BuildObserver,
    stage: BuildStage,
    done: usize,
    total: Option<usize>,
) -> Result<(), BuildError> {
    observer.progress(stage, done, total);
    if observer.cancelled() {
        return Err(BuildError::Cancelled);
    }
    Ok(())
}

/// Watches nothing, never stops.
impl BuildObserver for () {
    fn progress(&self, _stage: BuildStage, _done: usize, _total: Option<usize>) {}
}

/// What to do while another builder holds the project's lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockWait {
    /// Wait until it is done or the observer cancels.
    UntilFree,
    /// Give up after so many milliseconds with [`BuildError::Busy`](crate::BuildError::Busy).
    Millis(u64),
}

/// What to build from.
#[derive(Clone, Copy)]
pub struct BuildRequest<'a> {
    /// The memory.
    pub source: &'a dyn MemorySource,
    /// Makes vectors; `None` builds the lexical lanes alone.
    pub encoder: Option<&'a dyn TextEncoder>,
    /// Tells times.
    pub clock: &'a dyn Clock,
    /// Watches.
    pub observer: &'a dyn BuildObserver,
    /// Reads, cuts and writes everything anew (vectors still come from the cache).
    pub full: bool,
    /// What to do while another builder is at work.
    pub wait: LockWait,
}

impl<'a> BuildRequest<'a> {
    /// Builds what changed, unwatched, as soon as no other builder is at work.
    pub fn new(source: &'a dyn MemorySource, encoder: Option<&'a dyn TextEncoder>, clock: &'a dyn Clock) -> Self {
        Self {
            source,
            encoder,
            clock,
            observer: &(),
            full: false,
            wait: LockWait::UntilFree,
        }
    }
}

/// What a build did. The counts are what the cost law is tested with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildReport {
    /// The head after the build.
    pub revision: RevisionId,
    /// The memory it holds.
    pub effective_hash: EffectiveHash,
    /// Whether the head moved.
    pub head_moved: bool,
    /// Live resources now.
    pub resources: u64,
    /// Units of live resources now.
    pub units: u64,
    /// Resources that came.
    pub added: u64,
    /// Resources whose content changed.
    pub changed: u64,
    /// Resources that left.
    pub removed: u64,
    /// Units written.
    pub units_written: u64,
    /// Inputs given to the encoder.
    pub encoded: u64,
    /// Calls of the encoder.
    pub encoder_calls: u64,
    /// Rows of the `search_*` tables inserted, updated or deleted, rows of the full-text table aside. 0 where nothing
    /// changed.
    pub rows_written: u64,
    /// Vectors deleted because more were kept than the bound allows; none of them is of the head.
    pub evicted: u64,
    /// Vectors written to segments, earlier ones that were merged with them included.
    pub segment_rows: u64,
    /// Bytes of those segments.
    pub segment_bytes: u64,
    /// Items whose content is as before but whose stamp is not; their stamps were noted, beside `rows_written`, so that
    /// the next scan need not read them.
    pub stamps_renewed: u64,
    /// Bytes of content read from the source.
    pub bytes_read: u64,
    /// Bytes of the bodies of all live resources.
    pub body_bytes: u64,
    /// Files skipped, lanes missing.
    pub degradations: Vec<Degradation>,
    /// Milliseconds of the injected clock.
    pub elapsed_ms: u64,
}
