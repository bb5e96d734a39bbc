//! Lanes, an encoder and units that say what they are told to, also what their contracts forbid.

use std::sync::Arc;

use casebook_corpus::{ContentHash, Degradation, EffectiveHash, Resource, ResourceId, Standing, Timestamp};
use casebook_index::degradation::VECTOR_PARTIAL;
use casebook_index::{
    Cancel, EncodeError, EncoderRevision, LaneAnswer, LaneError, LaneHit, LexicalLane, Locator, Passage, PassageVector,
    Revision, RevisionId, TextEncoder, Unit, UnitKey, UnitKind, UnitRecord, UnitSource, UnitSourceError, VectorLane,
};

/// The revision that fakes serve unless told otherwise.
const REVISION: &str = "1-fake";
/// The encoder that fakes are of unless told otherwise.
const ENCODER: &str = "fake-encoder";
/// Numbers in a fake vector.
const DIMENSION: usize = 8;

/// A memory held in a list. It filters nothing: superseded, overlaid and hidden units are returned as well.
#[derive(Clone, Debug)]
pub struct FakeMemory {
    revision: Revision,
    records: Vec<UnitRecord>,
    readable: bool,
}

impl Default for FakeMemory {
    fn default() -> Self {
        Self {
            revision: Revision {
                id: RevisionId::new(REVISION),
                parent: None,
                effective_hash: EffectiveHash::of(REVISION),
                chunker_revision: "fake-chunker".to_owned(),
                encoder_revision: Some(EncoderRevision::new(ENCODER)),
                lexical_revision: "fake-words".to_owned(),
                resources: 0,
                units: 0,
                ready_at: Timestamp::from_unix_millis(0),
            },
            records: Vec::new(),
            readable: true,
        }
    }
}

impl FakeMemory {
    /// Adds a live resource with one section unit per text. The key of the first is `<id>#0`; locators follow each
    /// other; one character counts as one token.
    pub fn add(&mut self, resource: Resource, texts: &[&str]) {
        let meta = Arc::new(resource.meta);
        let mut start = 0;
        for (order, text) in (0_u32..).zip(texts) {
            let bytes = start..start + text.len();
            start = bytes.end;
            let unit = Unit {
                unit_key: UnitKey::new(format!("{}#{order}", meta.id)),
                resource_id: meta.id.clone(),
                kind: UnitKind::Section,
                heading_path: vec![meta.title.clone()],
                locator: Locator {
                    bytes,
                    first_line: order as usize + 1,
                    last_line: order as usize + 1,
                },
                text: (*text).to_owned(),
                token_count: text.chars().count(),
                content_hash: ContentHash::of(text),
            };
            let resource = Arc::clone(&meta);
            let standing = Standing::Live;
            self.records.push(UnitRecord {
                unit,
                order,
                resource,
                standing,
            });
            self.revision.units += 1;
        }
        self.revision.resources += 1;
    }

    /// Changes how a resource stands.
    pub fn stand(&mut self, resource: &str, standing: &Standing) {
        let id = ResourceId::new(resource);
        for record in self.records.iter_mut().filter(|record| record.resource.id == id) {
            record.standing = standing.clone();
        }
    }

    /// Changes a unit.
    pub fn change(&mut self, unit_key: &str, change: impl FnOnce(&mut Unit)) {
        let record = self
            .records
            .iter_mut()
            .find(|record| record.unit.unit_key.as_str() == unit_key);
        change(&mut record.expect("the test names a unit that it added").unit);
    }

    /// Makes every look-up fail.
    pub fn make_unreadable(&mut self) {
        self.readable = false;
    }

    /// Returns the revision that it is.
    pub const fn revision(&self) -> &Revision {
        &self.revision
    }

    /// Returns the units, in the order added.
    pub fn records(&self) -> &[UnitRecord] {
        &self.records
    }

    fn read(&self) -> Result<&[UnitRecord], UnitSourceError> {
        if self.readable {
            Ok(&self.records)
        } else {
            Err(UnitSourceError("the fake memory is unreadable".into()))
        }
    }
}

impl UnitSource for FakeMemory {
    fn units(&self, keys: &[UnitKey]) -> Result<Vec<UnitRecord>, UnitSourceError> {
        let records = self.read()?;
        let find = |key: &UnitKey| records.iter().find(|record| record.unit.unit_key == *key).cloned();
        Ok(keys.iter().filter_map(find).collect())
    }

    fn units_of(&self, resource: &ResourceId) -> Result<Vec<UnitRecord>, UnitSourceError> {
        let records = self.read()?;
        Ok(records
            .iter()
            .filter(|record| record.resource.id == *resource)
            .cloned()
            .collect())
    }
}

/// What a fake lane does when asked.
#[derive(Clone, Debug)]
enum Behaviour {
    Answer(Vec<LaneHit>),
    Fail,
    Panic,
}

/// A word lane or a vector lane that always gives one answer, whatever the query and the limit.
#[derive(Clone, Debug)]
pub struct FakeLane {
    name: &'static str,
    revision: RevisionId,
    encoder: EncoderRevision,
    behaviour: Behaviour,
    delay_spins: u32,
    lacks: Vec<UnitKey>,
}

impl FakeLane {
    /// Makes a lane that finds these units, with falling scores.
    pub fn new(name: &'static str, unit_keys: &[&str]) -> Self {
        let scores = (1..=unit_keys.len()).rev().map(|score| score as f32);
        Self::scored(name, &unit_keys.iter().copied().zip(scores).collect::<Vec<_>>())
    }

    /// Makes a lane that gives exactly these hits.
    pub fn scored(name: &'static str, hits: &[(&str, f32)]) -> Self {
        let hit = |&(unit_key, score): &(&str, f32)| LaneHit {
            unit_key: UnitKey::new(unit_key),
            score,
        };
        Self {
            name,
            revision: RevisionId::new(REVISION),
            encoder: EncoderRevision::new(ENCODER),
            behaviour: Behaviour::Answer(hits.iter().map(hit).collect()),
            delay_spins: 0,
            lacks: Vec::new(),
        }
    }

    /// Makes it have no vector of these units, and say so.
    #[must_use]
    pub fn lacking(mut self, unit_keys: &[&str]) -> Self {
        self.lacks = unit_keys.iter().map(|key| UnitKey::new(*key)).collect();
        self
    }

    /// Makes it return an error.
    #[must_use]
    pub fn failing(mut self) -> Self {
        self.behaviour = Behaviour::Fail;
        self
    }

    /// Makes it panic.
    #[must_use]
    pub fn panicking(mut self) -> Self {
        self.behaviour = Behaviour::Panic;
        self
    }

    /// Makes it serve another revision.
    #[must_use]
    pub fn serving(mut self, revision: &str) -> Self {
        self.revision = RevisionId::new(revision);
        self
    }

    /// Makes its vectors another encoder's.
    #[must_use]
    pub fn encoded_by(mut self, encoder: &str) -> Self {
        self.encoder = EncoderRevision::new(encoder);
        self
    }

    /// Makes it give way to other threads so many times before it answers.
    #[must_use]
    pub const fn delayed(mut self, spins: u32) -> Self {
        self.delay_spins = spins;
        self
    }

    fn answer(&self) -> Result<LaneAnswer, LaneError> {
        (0..self.delay_spins).for_each(|_| std::thread::yield_now());
        match &self.behaviour {
            Behaviour::Answer(hits) => Ok(LaneAnswer {
                hits: hits.clone(),
                degradations: Vec::new(),
            }),
            Behaviour::Fail => Err(LaneError::Other {
                lane: self.name,
                source: "told to".into(),
            }),
            Behaviour::Panic => panic!("fake lane {} panics as told", self.name),
        }
    }
}

impl LexicalLane for FakeLane {
    fn name(&self) -> &'static str {
        self.name
    }

    fn revision(&self) -> &RevisionId {
        &self.revision
    }

    fn search(&self, _query: &str, _limit: usize) -> Result<LaneAnswer, LaneError> {
        self.answer()
    }
}

impl VectorLane for FakeLane {
    fn name(&self) -> &'static str {
        self.name
    }

    fn revision(&self) -> &RevisionId {
        &self.revision
    }

    fn encoder_revision(&self) -> &EncoderRevision {
        &self.encoder
    }

    fn lacks(&self, unit: &UnitKey) -> bool {
        self.lacks.contains(unit)
    }

    fn search(&self, _query: &[f32], _limit: usize) -> Result<LaneAnswer, LaneError> {
        let mut answer = self.answer()?;
        if !self.lacks.is_empty() {
            let detail = format!("{} units have no vector", self.lacks.len());
            answer.degradations.push(Degradation::new(VECTOR_PARTIAL, detail));
        }
        Ok(answer)
    }
}

/// An encoder that counts characters: equal texts have equal vectors, and that is all there is to them.
#[derive(Clone, Debug)]
pub struct FakeEncoder {
    revision: EncoderRevision,
    behaviour: EncoderBehaviour,
}

#[derive(Clone, Copy, Debug)]
enum EncoderBehaviour {
    Count,
    Fail,
    Panic,
    NotANumber,
}

impl Default for FakeEncoder {
    fn default() -> Self {
        Self {
            revision: EncoderRevision::new(ENCODER),
            behaviour: EncoderBehaviour::Count,
        }
    }
}

impl FakeEncoder {
    /// Makes an encoder that returns an error.
    pub fn failing() -> Self {
        Self::behaving(EncoderBehaviour::Fail)
    }

    /// Makes an encoder that panics.
    pub fn panicking() -> Self {
        Self::behaving(EncoderBehaviour::Panic)
    }

    /// Makes an encoder whose vectors are not finite.
    pub fn not_a_number() -> Self {
        Self::behaving(EncoderBehaviour::NotANumber)
    }

    fn behaving(behaviour: EncoderBehaviour) -> Self {
        Self {
            behaviour,
            ..Self::default()
        }
    }

    fn vector(&self, text: &str) -> Result<Vec<f32>, EncodeError> {
        match self.behaviour {
            EncoderBehaviour::Count => Ok(count_characters(text)),
            EncoderBehaviour::Fail => Err(EncodeError::Other("told to".into())),
            EncoderBehaviour::Panic => panic!("fake encoder panics as told"),
            EncoderBehaviour::NotANumber => Ok(vec![f32::NAN; DIMENSION]),
        }
    }
}

fn count_characters(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0_f32; DIMENSION];
    for character in text.chars() {
        vector[character as usize % DIMENSION] += 1.0;
    }
    let norm = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    if norm > 0.0 {
        vector.iter_mut().for_each(|number| *number /= norm);
    }
    vector
}

impl TextEncoder for FakeEncoder {
    fn revision(&self) -> &EncoderRevision {
        &self.revision
    }

    fn dimension(&self) -> usize {
        DIMENSION
    }

    fn max_input_tokens(&self) -> usize {
        512
    }

    fn encode_query(&self, query: &str) -> Result<Vec<f32>, EncodeError> {
        self.vector(query)
    }

    fn encode_passages(
        &self,
        passages: &[Passage<'_>],
        cancel: &dyn Cancel,
    ) -> Result<Vec<PassageVector>, EncodeError> {
        if cancel.cancelled() {
            return Err(EncodeError::Cancelled);
        }
        let encode = |passage: &Passage<'_>| {
            let vector = self.vector(passage.text)?;
            Ok(PassageVector {
                vector,
                input_windows: 1,
            })
        };
        passages.iter().map(encode).collect()
    }
}
