//! The stored form of events: array-encoded MessagePack, apart from the runtime types and converted by hand.
//!
//! The one thing a newcomer gets wrong: these structs are a file format. A field is never moved or retyped. A new
//! version of a kind may add fields at the end of a struct, with a default for what was written before; [`Event::decode`]
//! reads all versions.

mod corpus;
mod started;
mod succeeded;

use std::borrow::Cow;

use casebook_corpus::{ContentHash, EffectiveHash};
use casebook_ranker::{ActivationState, HeldFragment, RevisionId, UnitKey};
use serde::{Deserialize, Serialize};

pub(crate) use corpus::CorpusFrozen;
pub(crate) use started::{RunStarted, StoredConfig, StoredRequest};
pub(crate) use succeeded::{RunSucceeded, StoredCandidate, StoredRanked};

use crate::{PayloadError, RunFailure};

/// Everything that can be recorded.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    RunStarted(RunStarted),
    RunSucceeded(RunSucceeded),
    RunFailed(RunFailed),
    CorpusFrozen(CorpusFrozen),
}

impl Event {
    /// Returns the kind and the version that is written today.
    pub(crate) fn kind(&self) -> (&'static str, u32) {
        match self {
            Self::RunStarted(_) => ("run_started", 4),
            Self::RunSucceeded(_) => ("run_succeeded", 4),
            Self::RunFailed(_) => ("run_failed", 1),
            Self::CorpusFrozen(_) => ("corpus_frozen", 1),
        }
    }

    pub(crate) fn encode(&self) -> Result<Vec<u8>, rmp_serde::encode::Error> {
        match self {
            Self::RunStarted(event) => rmp_serde::to_vec(event),
            Self::RunSucceeded(event) => rmp_serde::to_vec(event),
            Self::RunFailed(event) => rmp_serde::to_vec(event),
            Self::CorpusFrozen(event) => rmp_serde::to_vec(event),
        }
    }

    /// Reads any version ever written; an older one is lifted to today's shape here.
    pub(crate) fn decode(kind: &str, version: u32, payload: &[u8]) -> Result<Self, PayloadError> {
        Ok(match (kind, version) {
            ("run_started", 1..=4) => Self::RunStarted(rmp_serde::from_slice(payload)?),
            ("run_succeeded", 1..=4) => Self::RunSucceeded(rmp_serde::from_slice(payload)?),
            ("run_failed", 1) => Self::RunFailed(rmp_serde::from_slice(payload)?),
            ("corpus_frozen", 1) => Self::CorpusFrozen(rmp_serde::from_slice(payload)?),
            _ => {
                return Err(PayloadError::Unknown {
                    kind: kind.to_owned(),
                    version,
                });
            }
        })
    }
}

/// `run_failed`, version 1.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RunFailed {
    pub(crate) stage: Option<String>,
    pub(crate) code: String,
    pub(crate) summary: String,
    pub(crate) revision: Option<RevisionId>,
    pub(crate) effective_hash: Option<Digest>,
}

impl RunFailed {
    /// Cuts each text to its bound, so that no failure can make the log large.
    pub(crate) fn from_runtime(failure: &RunFailure) -> Self {
        let cut = |text: &str, limit| text.chars().take(limit).collect::<String>();
        Self {
            stage: failure.stage.as_deref().map(|stage| cut(stage, 64)),
            code: cut(&failure.code, 64),
            summary: cut(&failure.summary, 500),
            revision: failure.revision.clone(),
            effective_hash: failure.effective_hash.map(Digest::from),
        }
    }

    pub(crate) fn into_runtime(self) -> RunFailure {
        RunFailure {
            stage: self.stage,
            code: self.code,
            summary: self.summary,
            revision: self.revision,
            effective_hash: self.effective_hash.map(EffectiveHash::from),
        }
    }
}

/// A fragment still held by the caller.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct StoredHeld {
    unit_key: UnitKey,
    content_hash: Digest,
}

fn store_state(state: &ActivationState) -> Vec<StoredHeld> {
    state
        .held
        .iter()
        .map(|held| StoredHeld {
            unit_key: held.unit_key.clone(),
            content_hash: held.content_hash.into(),
        })
        .collect()
}

fn restore_state(stored: Vec<StoredHeld>) -> ActivationState {
    let held = stored
        .into_iter()
        .map(|held| HeldFragment {
            unit_key: held.unit_key,
            content_hash: held.content_hash.into(),
        })
        .collect();
    ActivationState { held }
}

/// A value of a closed set by its stable text: shown without allocation, read as it comes.
type Word = Cow<'static, str>;

/// Reads a value of a closed set.
fn word<T>(field: &'static str, text: &str, read: impl Fn(&str) -> Option<T>) -> Result<T, PayloadError> {
    read(text).ok_or_else(|| PayloadError::Value {
        field,
        found: text.chars().take(80).collect(),
    })
}

/// Reads a count; one that this machine cannot hold is an error.
fn count(field: &'static str, value: u64) -> Result<usize, PayloadError> {
    usize::try_from(value).map_err(|_| PayloadError::Value {
        field,
        found: value.to_string(),
    })
}

/// A SHA-256 as 32 raw bytes; the runtime types would spell it in 64 hex digits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Digest(pub(crate) [u8; 32]);

impl From<ContentHash> for Digest {
    fn from(hash: ContentHash) -> Self {
        Self(*hash.as_bytes())
    }
}

impl From<Digest> for ContentHash {
    fn from(digest: Digest) -> Self {
        Self::from_bytes(digest.0)
    }
}

impl From<EffectiveHash> for Digest {
    fn from(hash: EffectiveHash) -> Self {
        Self(*hash.as_bytes())
    }
}

impl From<Digest> for EffectiveHash {
    fn from(digest: Digest) -> Self {
        Self::from_bytes(digest.0)
    }
}

impl Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;

        impl serde::de::Visitor<'_> for Bytes {
            type Value = Digest;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("32 bytes")
            }

            fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Digest, E> {
                bytes
                    .try_into()
                    .map(Digest)
                    .map_err(|_| E::invalid_length(bytes.len(), &self))
            }
        }

        deserializer.deserialize_bytes(Bytes)
    }
}

#[cfg(test)]
mod tests {
    use casebook_ranker::{Fusion, Language};

    use super::*;

    fn version_1(kind: &str) -> Event {
        written(kind, 1, include_str!("../testdata/events_v1.txt"))
    }

    /// Returns the event of a kind from a file with the bytes that a version wrote.
    fn written(kind: &str, version: u32, file: &str) -> Event {
        let lines = file.lines();
        let mut kinds = lines.filter_map(|line| line.split_once(' '));
        let (_, digits) = kinds.find(|(written, _)| *written == kind).unwrap();
        let payload: Vec<u8> = (0..digits.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap())
            .collect();
        Event::decode(kind, version, &payload).unwrap()
    }

    #[test]
    fn a_run_of_version_1_was_fused_by_reciprocal_ranks() {
        let Event::RunStarted(started) = version_1("run_started") else {
            panic!("another kind");
        };
        assert_eq!(started.config.into_runtime().unwrap().fusion, Fusion::Rrf);
    }

    #[test]
    fn an_answer_of_version_1_says_nothing_of_languages_and_matches() {
        let Event::RunSucceeded(succeeded) = version_1("run_succeeded") else {
            panic!("another kind");
        };
        let activation = succeeded.into_runtime(|_, _| String::new()).unwrap();
        assert_eq!(activation.query_language, Language::Zh, "{}", activation.query);
        let candidate = &activation.candidates[0];
        assert_eq!(candidate.language, Language::Other);
        assert_eq!((candidate.scores.weighted, candidate.matches.len()), (None, 0));
        assert!(candidate.scores.rrf.is_some());
    }

    #[test]
    fn a_run_of_version_2_has_one_share_for_all_encoders() {
        let event = written("run_started", 2, include_str!("../testdata/events_v2.txt"));
        let Event::RunStarted(started) = event else {
            panic!("another kind");
        };
        let weights = started.config.into_runtime().unwrap().fusion_weights;
        assert_eq!((weights.dense, weights.contextual_dense), (0.5, 0.5));
    }

    #[test]
    fn an_answer_of_version_2_says_nothing_of_contrasts_and_encoders() {
        let event = written("run_succeeded", 2, include_str!("../testdata/events_v2.txt"));
        let Event::RunSucceeded(succeeded) = event else {
            panic!("another kind");
        };
        let activation = succeeded.into_runtime(|_, _| String::new()).unwrap();
        assert_eq!(activation.dense_source, None);
        let candidate = &activation.candidates[0];
        assert_eq!((candidate.pair_score, candidate.contrast), (Some(0.875), None));
        assert_eq!(candidate.language, Language::Zh);
        assert_eq!(candidate.matches.len(), 1);
    }

    #[test]
    fn a_run_of_version_3_knows_no_impact_lane() {
        let file = include_str!("../testdata/events_v3.txt");
        let Event::RunStarted(started) = written("run_started", 3, file) else {
            panic!("another kind");
        };
        let weights = started.config.into_runtime().unwrap().lexical_weights;
        assert_eq!((weights.tantivy, weights.impact), (2.0, weights.other));
        let Event::RunSucceeded(succeeded) = written("run_succeeded", 3, file) else {
            panic!("another kind");
        };
        let activation = succeeded.into_runtime(|_, _| String::new()).unwrap();
        let scores = &activation.candidates[0].scores;
        assert!(scores.tantivy.is_some() && scores.weighted.is_some());
        assert_eq!(scores.impact, None);
    }
}
