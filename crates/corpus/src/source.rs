//! Where resources come from, behind one trait.
//!
//! A scan is incremental: the caller says what it already holds, and a source reads only what differs. Identity,
//! overlay and supersession are not a source's business; see [`EffectiveMemory`](crate::EffectiveMemory).

use crate::{Clock, ContentHash, Degradation, Resource, ResourceId, Timestamp};

/// An opaque fingerprint of an item's outside (for a file: size, times, inode). Equal means "not touched since".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stamp([u64; 4]);

impl Stamp {
    /// Wraps four words.
    pub const fn new(words: [u64; 4]) -> Self {
        Self(words)
    }

    /// Returns the four words.
    pub const fn words(self) -> [u64; 4] {
        self.0
    }

    /// Returns when a file was last written. Of another item it is some moment: good for an order, and for no more.
    pub const fn written_at(self) -> Timestamp {
        const NANOS_PER_MILLI: i64 = 1_000_000;
        Timestamp::from_unix_millis(self.0[1].cast_signed() / NANOS_PER_MILLI)
    }
}

/// What the caller holds of an item from an earlier scan.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownItem {
    /// The stamp then; `None` where it cannot be trusted (written while it was read on a file system with coarse times).
    pub stamp: Option<Stamp>,
    /// What the item was.
    pub state: KnownState,
}

/// What an item was at the earlier scan.
#[derive(Clone, Debug, PartialEq)]
pub enum KnownState {
    /// A resource with this content.
    Resource {
        /// Its id as read (before overlay).
        id: ResourceId,
        /// Its canonical content.
        content_hash: ContentHash,
    },
    /// Skipped, for this reason; it is told again on every scan.
    Skipped(Degradation),
}

/// Looks up what the caller holds, by the item's location.
pub trait KnownItems {
    /// Returns the item at this location, if there was one.
    fn get(&self, location: &str) -> Option<KnownItem>;

    /// Returns the locations that begin with a prefix and are known, rising; none where the caller cannot tell.
    fn beginning_with(&self, prefix: &str) -> Vec<String> {
        let _ = prefix;
        Vec::new()
    }
}

/// Nothing is known: every item is read.
impl KnownItems for () {
    fn get(&self, _location: &str) -> Option<KnownItem> {
        None
    }
}

/// What a scan found at one location.
#[derive(Clone, Debug, PartialEq)]
pub struct ScanItem {
    /// Where it is: for a file its name on disk, relative to the root, with `/`. Unique within a scan.
    pub location: String,
    /// Position of its source in the stack; a higher one lies above and wins an equal id.
    pub rank: u32,
    /// Its stamp now; `None` where it cannot be trusted.
    pub stamp: Option<Stamp>,
    /// What was found.
    pub found: Found,
}

/// What a scan found at a location.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// The stamp is that of the known item, or the content read is: nothing to do but to keep it.
    Unchanged,
    /// New or changed.
    Resource(Box<Resource>),
    /// Could not be used; the degradation names it.
    Skipped(Degradation),
}

/// The outcome of a scan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scan {
    /// What is there now, ordered by location. What the caller knew and is not here is gone.
    pub items: Vec<ScanItem>,
    /// Problems that keep no item from being used: a directory that cannot be listed, a link that leads out, an odd key
    /// in a file that was read.
    pub degradations: Vec<Degradation>,
    /// Bytes of content read (not stat calls).
    pub bytes_read: u64,
}

/// A place that resources come from.
///
/// Contract: a scan never fails for one bad item, never returns an item from outside its bounds, and returns the same
/// items in the same order for the same content.
pub trait MemorySource: Send + Sync {
    /// Returns what is there now, reading only what differs from `known`. Calls `found` with a running count of items, 0
    /// while it gathers their names, and stops where that answers `false`.
    ///
    /// # Errors
    /// When it is stopped, or nothing at all can be read: the root is missing or is not a directory.
    fn scan(
        &self,
        known: &dyn KnownItems,
        clock: &dyn Clock,
        found: &dyn Fn(usize) -> bool,
    ) -> Result<Scan, SourceError>;

    /// Returns how many positions its items take in a stack: their ranks are below it.
    fn ranks(&self) -> u32 {
        1
    }
}

/// Nothing at all can be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The caller asked to stop.
    #[error("looking for memory was stopped")]
    Stopped,
    /// The root or a declared source is not a directory that can be read.
    #[error("memory folder {path:?} cannot be read")]
    Root {
        /// The folder.
        path: std::path::PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A declared source lies outside the root.
    #[error("source {path:?} leads out of the project root")]
    Outside {
        /// The declared path.
        path: String,
    },
    /// A declared source lies in a folder that never holds memory.
    #[error("source {path:?} lies in a folder that never holds memory")]
    Reserved {
        /// The declared path.
        path: String,
    },
    /// A pattern of the control-plane list is no glob.
    #[error("pattern {pattern:?} is not a valid glob")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// Why.
        #[source]
        source: globset::Error,
    },
    /// A backend's own trouble.
    #[error("memory source failed")]
    Other(#[source] Box<dyn std::error::Error + Send + Sync>),
}
