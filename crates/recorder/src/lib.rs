//! The append-only event log and its projections; Runs and content-addressed blobs.
//!
//! The one thing a newcomer gets wrong: history is best effort. Whatever fails here is told to the caller as a value, and
//! an answer never waits for it or fails with it. The log is the truth; every table beside it can be rebuilt from it.

mod blobs;
mod error;
mod id;
mod instance;
mod log;
mod projection;
mod read;
mod recorder;
mod recovery;
mod run;
mod schema;
mod stored;

pub use error::{OpenError, PayloadError, ReadError, RecordError};
pub use id::{EventSeq, InstanceId, RunId};
pub use log::{ChainFault, Verification};
pub use recorder::Recorder;
pub use run::{
    FRAGMENT_TEXT_UNAVAILABLE, RETRIEVAL_INTERRUPTED, RunFailure, RunFilter, RunMatch, RunRecord, RunStatus, RunSummary,
};
