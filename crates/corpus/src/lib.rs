//! Where memory comes from: resources, sources, supersession, visibility, the Effective Memory.
//!
//! The one thing a newcomer gets wrong: a [`Resource`] that was superseded is not gone. It leaves the live set of the
//! [`EffectiveMemory`] and stays in its audit view, so that a later hit on it can be led to the successor. Nothing in
//! this crate reads the wall clock; `as_of` and "now" come from the caller.

// `string_id!` names this crate by its outside name, also when used here.
extern crate self as casebook_corpus;

mod canonical;
pub mod codes;
mod degradation;
mod effective;
mod files;
mod front_matter;
mod hash;
mod id;
mod label;
mod manifest;
mod markdown;
mod pushed;
mod records;
mod resource;
mod source;
mod stack;
mod stated;
mod time;
mod visibility;
mod watch;

pub use degradation::Degradation;
pub use effective::{EffectiveMemory, Member, Standing, SupersessionError, SupersessionProblem};
pub use files::{DEFAULT_MAX_FILE_BYTES, FileSources, FileState, FileWatcher, FilesConfig, SourceDecl, Waker};
pub use front_matter::FrontMatterError;
pub use hash::{ContentHash, EffectiveHash, ParseHashError};
pub use id::{ProjectId, ResourceId, Scope};
pub use label::{LabelError, check_label};
pub use manifest::{Manifest, ManifestEntry};
pub use pushed::{
    MAX_PAGE_BYTES, PushedRecord, RecordChange, RecordPage, RecordPageError, RecordProblem, RecordVersion, SyncId,
};
pub use records::RecordSource;
pub use resource::{BodySpan, Fidelity, Layer, ParseLabelError, Resource, ResourceMeta};
pub use source::{Found, KnownItem, KnownItems, KnownState, MemorySource, Scan, ScanItem, SourceError, Stamp};
pub use stack::Stack;
pub use stated::StatedMeta;
pub use time::{Clock, ParseTimestampError, Timestamp};
pub use visibility::visible;
pub use watch::{Notice, Watch};

/// What the macros of this crate need where they are used; not for anyone else.
#[doc(hidden)]
pub mod reexport {
    pub use serde;
}
