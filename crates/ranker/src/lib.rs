//! A query becomes ranked, budgeted fragments and a delta, with a full trace. Pure: clock and lanes are injected.
//!
//! The one thing a newcomer gets wrong: nothing is dropped on the way. A candidate that a stage leaves out stays in the
//! trace with the ranks and scores it had and exactly one [`Disposition`].

mod activation;
mod assembly;
mod chain;
mod config;
mod delta;
mod error;
mod evidence;
mod fusion;
mod gather;
mod guard;
mod history;
mod hit;
mod input;
mod phrase;
mod recall;
mod redirect;
mod rerank;
mod scorer;

pub use activation::{
    Activation, ActivationRequest, ActivationState, BudgetUse, Candidate, DeltaAction, DenseSource, Disposition,
    EvidenceShape, Fragment, HeldFragment, RankedScore, Redirect, Removed, Role, Stage, StageLatency, StageScores,
    TimeLabel,
};
pub use casebook_index::{EncoderRevision, Language, Locator, RevisionId, UnitKey};
pub use chain::{QUERY_WITHOUT_TERMS, activate};
pub use config::{ConfigError, Fusion, FusionWeights, HistoryMode, LexicalWeights, RankerConfig};
pub use delta::apply_delta;
pub use error::ActivateError;
pub use fusion::{dense_shares, fuse, fuse_weighted, merge_words, shares};
pub use gather::LANE_BROKEN_HIT;
pub use guard::INDEX_STALE;
pub use input::{Lanes, Preferred, SourceState, Tools};
pub use recall::{CHOSEN_ENCODER_FAILED, LANE_BEHIND, LANE_FAILED, LANE_PANICKED};
pub use redirect::REDIRECT_BROKEN;
pub use rerank::RERANK_SKIPPED;
pub use scorer::{PairScore, PairScorer, ScoreError, WordMatch};
