//! How the encoders of an index stand, and what a fill did, on the wire.

use casebook_index::{EncoderStatus, FillEnd, FillReport, FillStatus};
use casebook_ranker::{CHOSEN_ENCODER_FAILED, Preferred};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Degradation;

/// What a fill did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FillResponse {
    /// Revision of the encoder.
    pub encoder: String,
    /// Why it ended: `complete`, `paused`, `held` (the machine runs on battery, say), `enough` (a limit was reached) or
    /// `not_wanted` (another encoder was chosen meanwhile, or the pack was removed).
    pub end: String,
    /// Inputs that the encoder took in this fill; units may share one.
    pub encoded: u64,
    /// Inputs that it refused in this fill.
    pub refused_now: u64,
    /// Inputs that got a vector in this fill and no term weights, because the sparse head refused them.
    pub unweighed_now: u64,
    /// Calls of the encoder.
    pub encoder_calls: u64,
    /// Units in the index.
    pub units: u64,
    /// Units that have a vector.
    pub vectors: u64,
    /// Units that may still get one.
    pub missing: u64,
    /// Units that the encoder refused, in this fill or an earlier one.
    pub refused: u64,
    /// Rows of encoders that are not in use any more, deleted once this one was complete.
    pub rows_dropped: u64,
    /// Milliseconds.
    pub elapsed_ms: u64,
}

impl FillResponse {
    /// Converts a report of this encoder.
    pub fn new(encoder: &str, report: &FillReport) -> Self {
        Self {
            encoder: encoder.to_owned(),
            end: match report.end {
                FillEnd::Complete => "complete",
                FillEnd::Paused => "paused",
                FillEnd::Held => "held",
                FillEnd::Enough => "enough",
                FillEnd::NotWanted => "not_wanted",
            }
            .to_owned(),
            encoded: report.encoded,
            refused_now: report.refused,
            unweighed_now: report.unweighed,
            encoder_calls: report.encoder_calls,
            units: report.coverage.total,
            vectors: report.coverage.vectors(),
            missing: report.coverage.missing,
            refused: report.coverage.refused,
            rows_dropped: report.rows_dropped,
            elapsed_ms: report.elapsed_ms,
        }
    }
}

/// A fill that goes on in the background.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FillStartedResponse {
    /// Its process.
    pub pid: u32,
    /// The file that it tells its progress in.
    pub log: String,
}

/// How the encoders of an index stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FillStatusResponse {
    /// The embedded one first, then the others by revision.
    pub encoders: Vec<EncoderState>,
    /// Whether some process is filling now.
    pub filling: bool,
    /// Whether filling is paused.
    pub paused: bool,
    /// What was chosen and cannot be used.
    pub problems: Vec<Degradation>,
}

/// What an encoder is to an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EncoderRole {
    /// Builds use it; it answers until the chosen one can.
    Embedded,
    /// It is filled in and preferred.
    Chosen,
    /// It was chosen before; its vectors are kept until those of the chosen one are complete.
    Kept,
}

/// How one encoder stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EncoderState {
    /// Its revision.
    pub revision: String,
    /// What it is to the index.
    pub role: EncoderRole,
    /// Whether its vectors answer questions now.
    pub answers: bool,
    /// Numbers in a vector.
    pub dimension: Option<usize>,
    /// Whether it offers term weights beside vectors.
    pub sparse: bool,
    /// Units in the index.
    pub units: u64,
    /// Units that have a vector.
    pub vectors: u64,
    /// Units that may still get one.
    pub missing: u64,
    /// Units that it refused.
    pub refused: u64,
    /// Whether none is missing.
    pub complete: bool,
    /// Whether none was missing at some time.
    pub was_complete: bool,
}

impl From<&FillStatus> for FillStatusResponse {
    fn from(status: &FillStatus) -> Self {
        let can_answer = |encoder: &&EncoderStatus| encoder.chosen && Preferred::is_enough(&encoder.coverage);
        let chosen_answers = status.encoders.iter().any(|encoder| can_answer(&encoder));
        let states = status.encoders.iter().map(|encoder| EncoderState {
            revision: encoder.revision.to_string(),
            role: match (encoder.base, encoder.chosen) {
                (true, _) => EncoderRole::Embedded,
                (false, true) => EncoderRole::Chosen,
                (false, false) => EncoderRole::Kept,
            },
            answers: if encoder.base {
                !chosen_answers
            } else {
                can_answer(&encoder)
            },
            dimension: encoder.dimension,
            sparse: encoder.sparse,
            units: encoder.coverage.total,
            vectors: encoder.coverage.vectors(),
            missing: encoder.coverage.missing,
            refused: encoder.coverage.refused,
            complete: encoder.coverage.is_complete(),
            was_complete: encoder.coverage.was_complete,
        });
        Self {
            encoders: states.collect(),
            filling: status.filling,
            paused: status.paused,
            problems: Vec::new(),
        }
    }
}

impl FillStatusResponse {
    /// Adds what was chosen and cannot be used. A chosen pack among it does not answer, whatever vectors there are of it.
    #[must_use]
    pub fn with_problems(mut self, problems: &[casebook_corpus::Degradation]) -> Self {
        if problems.iter().any(|problem| problem.code == CHOSEN_ENCODER_FAILED) {
            for encoder in &mut self.encoders {
                encoder.answers = encoder.role == EncoderRole::Embedded;
            }
        }
        self.problems.extend(problems.iter().map(Degradation::from));
        self
    }
}
