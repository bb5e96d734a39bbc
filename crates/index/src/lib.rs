//! One rebuildable index per project: revisions, the ready head, lexical lanes, the vector lane; and beside it the store of
//! pushed records, which is not derived.
//!
//! The one thing a newcomer gets wrong: a query never sees the build. It holds a snapshot of one revision, whole, for
//! as long as it likes; the head moves beside it in one transaction. Row ids never leave this crate: the outside speaks
//! of units by [`UnitKey`].

mod batch;
mod builder;
pub mod degradation;
mod encoder;
mod error;
mod fill;
mod index;
mod lane;
mod language;
mod lexical;
mod records;
mod revision;
mod schema;
mod snapshot;
mod store;
mod unit_source;
mod vector;
mod words;

pub use builder::{BuildObserver, BuildReport, BuildRequest, BuildStage, LockWait};
pub use casebook_chunker::{Locator, Unit, UnitKey, UnitKind};
pub use encoder::{
    Cancel, EncodeError, EncoderRevision, Passage, PassageVector, TextEncoder, TextSide, TokenVector, TokenWeight,
    WeighedVector,
};
pub use error::{BuildError, OpenError, ReadError};
pub use fill::{EncoderStatus, FillEnd, FillError, FillObserver, FillProgress, FillReport, FillRequest, FillStatus};
pub use index::{FailedBuild, Index, IndexOptions, IndexStatus};
pub use lane::{LaneAnswer, LaneError, LaneHit, LexicalLane, VectorLane};
pub use language::Language;
pub use records::{Begun, Committed, OpenSync, RecordStore, Staged, StagedPage, StoredRecords, SyncError, SyncStatus};
pub use revision::{Revision, RevisionId};
pub use snapshot::{Coverage, EncoderLanes, Place, Snapshot};
pub use unit_source::{UnitRecord, UnitSource, UnitSourceError};
