//! Fills vectors of a further encoder in beside those of the builds: newest first, batch by batch, in the background.
//!
//! The one thing a newcomer gets wrong: a fill is not a build. It takes another lock, moves no head and holds no
//! transaction while the encoder works; the head may move meanwhile, and the fill follows it. Whether its vectors answer
//! is the ranker's choice, which goes by [`Coverage`].

mod order;
mod run;
mod status;

use casebook_corpus::Clock;

pub(crate) use self::run::{fill, top_up};
pub(crate) use self::status::encoders;
pub use self::status::{EncoderStatus, FillStatus};
use crate::{Cancel, Coverage, EncodeError, TextEncoder};

/// How far a fill is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FillProgress {
    /// Units that have a vector, or that the encoder refused.
    pub done: u64,
    /// All units.
    pub total: u64,
    /// Inputs that the encoder took in this fill; several units may share one.
    pub encoded: u64,
}

/// Watches a fill and may hold it up or stop it. The encoder asks [`Cancel`] within a batch.
pub trait FillObserver: Cancel {
    /// Tells how far the fill is, before the first batch and after every one.
    fn progress(&self, progress: FillProgress) {
        let _ = progress;
    }

    /// Asked before every batch, when nothing is locked but other fills. It may wait, for mains power say; `false` ends
    /// the fill as it stands.
    fn go_on(&self) -> bool {
        true
    }

    /// Asked before every batch, and before anything of another encoder is deleted: whether the encoder is still the one
    /// that was chosen. A fill may take hours, and whoever began it may have chosen another since.
    fn is_wanted(&self) -> bool {
        true
    }
}

/// Watches nothing, never stops.
impl FillObserver for () {}

/// What to fill.
#[derive(Clone, Copy)]
pub struct FillRequest<'a> {
    /// Whose vectors. It becomes the chosen encoder of the index.
    pub encoder: &'a dyn TextEncoder,
    /// Tells times.
    pub clock: &'a dyn Clock,
    /// Watches.
    pub observer: &'a dyn FillObserver,
    /// Inputs given to the encoder at once, at least 1; also how many are lost where a fill is killed.
    pub batch: usize,
    /// Inputs to encode at most; `None` for all that lack something.
    pub most: Option<u64>,
}

impl<'a> FillRequest<'a> {
    /// Inputs of a batch where nothing else is said: a few seconds' work of a slow encoder.
    pub const BATCH: usize = 16;

    /// Fills in all that is lacking, unwatched.
    pub fn new(encoder: &'a dyn TextEncoder, clock: &'a dyn Clock) -> Self {
        Self {
            encoder,
            clock,
            observer: &(),
            batch: Self::BATCH,
            most: None,
        }
    }
}

/// Why a fill ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FillEnd {
    /// Nothing is missing at the head.
    Complete,
    /// As many inputs were encoded as were asked for.
    Enough,
    /// Filling is paused; see [`Index::pause_fill`](crate::Index::pause_fill).
    Paused,
    /// The observer did not want it to go on.
    Held,
    /// Another encoder was chosen meanwhile; see [`FillObserver::is_wanted`].
    NotWanted,
}

/// What a fill did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FillReport {
    /// Why it ended.
    pub end: FillEnd,
    /// How the encoder stands at the head now.
    pub coverage: Coverage,
    /// Inputs that the encoder took.
    pub encoded: u64,
    /// Inputs that it refused in this fill.
    pub refused: u64,
    /// Inputs that got a vector in this fill and that the sparse head refused.
    pub unweighed: u64,
    /// Calls of the encoder.
    pub encoder_calls: u64,
    /// Rows written; 0 where nothing was to do.
    pub rows_written: u64,
    /// Vectors written to segments, earlier ones that were merged with them included.
    pub segment_rows: u64,
    /// Rows of other encoders deleted, once this one was complete.
    pub rows_dropped: u64,
    /// Milliseconds of the injected clock.
    pub elapsed_ms: u64,
}

/// A fill failed. What it made before stays.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FillError {
    /// The observer asked to stop.
    #[error("filling was cancelled")]
    Cancelled,
    /// Another process fills this index.
    #[error("another process is filling this index")]
    Busy,
    /// There is no head yet.
    #[error("there is no index yet")]
    NoHead,
    /// The encoder failed, not because of one input.
    #[error("units cannot be encoded")]
    Encode(#[source] EncodeError),
    /// The index cannot be read or written.
    #[error("index cannot be written")]
    Write(#[source] Box<dyn std::error::Error + Send + Sync>),
}
