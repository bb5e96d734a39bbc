//! A recalled unit on its way through the chain.

use casebook_corpus::{ResourceId, Standing};
use casebook_index::{Language, UnitRecord};

use crate::{Candidate, DeltaAction, Disposition, RankedScore, Redirect, StageScores, WordMatch};

/// A candidate that is not yet decided on, with all that the stages need of it.
#[derive(Clone, Debug)]
pub(crate) struct Hit {
    pub(crate) record: UnitRecord,
    pub(crate) language: Language,
    pub(crate) scores: StageScores,
    pub(crate) pair_score: Option<f32>,
    pub(crate) contrast: Option<f32>,
    pub(crate) matches: Vec<WordMatch>,
    pub(crate) redirected_from: Option<(ResourceId, Redirect)>,
    /// Asked for by id, path or title, itself or by way of the resource that it replaced.
    pub(crate) named: bool,
    /// The best pair score of the replaced units whose hits were led here: their words found it, not its own.
    pub(crate) led_pair: Option<f32>,
    /// Its file has changed since the revision was built.
    pub(crate) stale: bool,
    /// `None` as long as it may still be selected.
    pub(crate) disposition: Option<Disposition>,
}

impl Hit {
    pub(crate) fn new(record: UnitRecord) -> Self {
        Self {
            language: Language::of(&record.unit.text),
            record,
            scores: StageScores::default(),
            pair_score: None,
            contrast: None,
            matches: Vec::new(),
            redirected_from: None,
            named: false,
            led_pair: None,
            stale: false,
            disposition: None,
        }
    }

    /// A hit that `admit` may have refused already.
    pub(crate) fn admitted(record: UnitRecord, admit: &dyn Fn(&UnitRecord) -> Option<Disposition>) -> Self {
        let disposition = admit(&record);
        Self {
            disposition,
            ..Self::new(record)
        }
    }

    /// Takes on what a replaced unit was found by.
    pub(crate) fn succeed(&mut self, replaced: &Self, pair: Option<f32>) {
        self.named |= replaced.named;
        self.led_pair = self.led_pair.into_iter().chain(pair).reduce(f32::max);
    }

    /// Returns whether fusion kept it and nothing has decided on it.
    pub(crate) fn is_open(&self) -> bool {
        self.scores.fused.is_some() && self.disposition.is_none()
    }

    /// Returns whether it is a unit of this resource, and that one may be retrieved.
    pub(crate) fn is_live_unit_of(&self, resource: &ResourceId) -> bool {
        self.record.resource.id == *resource && self.record.standing == Standing::Live
    }

    /// Ends the way. What no stage decided on, none looked at.
    pub(crate) fn into_candidate(self, action: Option<DeltaAction>) -> Candidate {
        Candidate {
            resource_id: self.record.resource.id.clone(),
            resource_hash: self.record.resource.content_hash,
            unit_key: self.record.unit.unit_key,
            content_hash: self.record.unit.content_hash,
            token_count: self.record.unit.token_count,
            language: self.language,
            scores: self.scores,
            pair_score: self.pair_score,
            contrast: self.contrast,
            disposition: self.disposition.unwrap_or(Disposition::NotReranked),
            redirected_from: self.redirected_from,
            action,
            matches: self.matches,
        }
    }
}

impl RankedScore {
    /// Makes the rank of a position, which counts from 0.
    pub(crate) fn at(position: usize, score: f32) -> Self {
        Self {
            rank: u32::try_from(position + 1).unwrap_or(u32::MAX),
            score,
        }
    }
}
