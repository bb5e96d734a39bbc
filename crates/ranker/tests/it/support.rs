//! One world to run the chain in: a memory, lanes, a scorer; every test changes what it is about.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;

use casebook_corpus::{Degradation, ResourceMeta, Standing, Timestamp};
use casebook_index::{Cancel, Coverage, LexicalLane, Passage, TextEncoder, VectorLane};
use casebook_ranker::{
    ActivateError, Activation, ActivationRequest, Candidate, Disposition, Lanes, PairScore, PairScorer, Preferred,
    RankedScore, RankerConfig, ScoreError, SourceState, Tools, activate,
};
use casebook_testkit::{FakeEncoder, FakeLane, FakeMemory, FakePack, FixedClock, ResourceBuilder, resource};

pub(crate) struct World {
    pub(crate) memory: FakeMemory,
    pub(crate) identity: Option<FakeLane>,
    pub(crate) lexical: Vec<FakeLane>,
    pub(crate) dense: Option<FakeLane>,
    pub(crate) encoder: Option<FakeEncoder>,
    pub(crate) preferred: Option<Pack>,
    pub(crate) scorer: Option<Box<dyn PairScorer>>,
    pub(crate) clock: FixedClock,
    pub(crate) files: BTreeMap<String, SourceState>,
    /// Files that the chain asked about, in order.
    pub(crate) looked_at: RefCell<Vec<String>>,
    pub(crate) degradations: Vec<Degradation>,
    pub(crate) config: RankerConfig,
    pub(crate) request: ActivationRequest,
}

/// A further encoder with its lanes.
pub(crate) struct Pack {
    pub(crate) encoder: FakePack,
    pub(crate) dense: FakeLane,
    pub(crate) sparse: Option<FakeLane>,
    pub(crate) coverage: Coverage,
}

/// The weights that the cases are worked out for; the defaults are tuned to an encoder.
fn weights() -> RankerConfig {
    RankerConfig {
        rerank_weight: 1.0,
        min_relevance: 0.1,
        relevance_share: 0.4,
        ..RankerConfig::v2()
    }
}

/// A world without memory, in which every text scores 0.5.
pub(crate) fn world(query: &str) -> World {
    World {
        memory: FakeMemory::default(),
        identity: None,
        lexical: Vec::new(),
        dense: None,
        encoder: Some(FakeEncoder::default()),
        preferred: None,
        scorer: Some(Box::new(Scripted::default())),
        clock: FixedClock::default(),
        files: BTreeMap::new(),
        looked_at: RefCell::default(),
        degradations: Vec::new(),
        config: weights(),
        request: ActivationRequest {
            query: query.to_owned(),
            as_of: Some(Timestamp::from_unix_millis(1000)),
            ..ActivationRequest::default()
        },
    }
}

impl World {
    /// Adds a note with these texts as its units.
    pub(crate) fn note(mut self, id: &str, texts: &[&str]) -> Self {
        self.memory.add(note(id).build(), texts);
        self
    }

    /// Adds a resource of the test's own making.
    pub(crate) fn add(mut self, resource: ResourceBuilder, texts: &[&str]) -> Self {
        self.memory.add(resource.build(), texts);
        self
    }

    pub(crate) fn superseded(self, old: &str, by: &str, live: &str) -> Self {
        self.replaced(old, by, live, false)
    }

    pub(crate) fn replaced(mut self, old: &str, by: &str, live: &str, retracted: bool) -> Self {
        let (by, live) = (by.into(), live.into());
        self.memory.stand(old, &Standing::Superseded { by, live, retracted });
        self
    }

    pub(crate) fn identity(mut self, unit_keys: &[&str]) -> Self {
        self.identity = Some(FakeLane::new("identity", unit_keys));
        self
    }

    pub(crate) fn words(mut self, name: &'static str, unit_keys: &[&str]) -> Self {
        self.lexical.push(FakeLane::new(name, unit_keys));
        self
    }

    pub(crate) fn dense(mut self, unit_keys: &[&str]) -> Self {
        self.dense = Some(FakeLane::new("dense", unit_keys));
        self
    }

    pub(crate) fn scores(mut self, scores: &[(&str, f32)]) -> Self {
        let scores = scores
            .iter()
            .map(|(text, score)| ((*text).to_owned(), *score))
            .collect();
        self.scorer = Some(Box::new(Scripted { scores }));
        self
    }

    pub(crate) fn config(mut self, change: impl FnOnce(&mut RankerConfig)) -> Self {
        change(&mut self.config);
        self
    }

    pub(crate) fn file(mut self, path: &str, state: SourceState) -> Self {
        self.files.insert(path.to_owned(), state);
        self
    }

    pub(crate) fn try_run(&self) -> Result<Activation, ActivateError> {
        let state = |meta: &ResourceMeta| {
            self.looked_at.borrow_mut().push(meta.path.clone());
            *self.files.get(&meta.path).unwrap_or(&SourceState::Present)
        };
        let lanes = Lanes {
            revision: self.memory.revision(),
            identity: self.identity.as_ref().map(|lane| lane as &dyn LexicalLane),
            lexical: self.lexical.iter().map(|lane| lane as &dyn LexicalLane).collect(),
            dense: self.dense.as_ref().map(|lane| lane as &dyn VectorLane),
            encoder: self.encoder.as_ref().map(|encoder| encoder as &dyn TextEncoder),
            preferred: self.preferred.as_ref().map(|pack| Preferred {
                encoder: &pack.encoder,
                dense: &pack.dense,
                sparse: pack.sparse.as_ref().map(|lane| lane as &dyn LexicalLane),
                coverage: pack.coverage,
            }),
            units: &self.memory,
            degradations: self.degradations.clone(),
        };
        let tools = Tools {
            scorer: self.scorer.as_deref(),
            clock: &self.clock,
            freshness: &state,
        };
        activate(&self.request, &lanes, &self.config, &tools)
    }

    pub(crate) fn run(&self) -> Activation {
        self.try_run().unwrap()
    }
}

pub(crate) fn note(id: &str) -> ResourceBuilder {
    resource(&format!("{id}.md"), "").id(id)
}

/// Scores a text as told, others 0.5.
#[derive(Default)]
pub(crate) struct Scripted {
    scores: BTreeMap<String, f32>,
}

impl PairScorer for Scripted {
    fn revision(&self) -> &str {
        "scripted"
    }

    fn score(&self, _: &str, passages: &[Passage<'_>], cancel: &dyn Cancel) -> Result<Vec<PairScore>, ScoreError> {
        if cancel.cancelled() {
            return Err(ScoreError::Cancelled);
        }
        let score = |passage: &Passage<'_>| *self.scores.get(passage.text).unwrap_or(&0.5);
        Ok(passages.iter().map(|passage| PairScore::new(score(passage))).collect())
    }
}

/// The candidate of a unit.
pub(crate) fn candidate<'a>(activation: &'a Activation, unit_key: &str) -> &'a Candidate {
    let mut candidates = activation.candidates.iter();
    candidates
        .find(|candidate| candidate.unit_key.as_str() == unit_key)
        .unwrap()
}

pub(crate) fn disposition(activation: &Activation, unit_key: &str) -> Disposition {
    candidate(activation, unit_key).disposition
}

/// Keys of the fragments, in order; history in brackets.
pub(crate) fn packet(activation: &Activation) -> String {
    let name = |fragment: &casebook_ranker::Fragment| match fragment.role {
        casebook_ranker::Role::Evidence => fragment.unit_key.to_string(),
        casebook_ranker::Role::History => format!("({})", fragment.unit_key),
    };
    activation.fragments.iter().map(name).collect::<Vec<_>>().join(" ")
}

/// Codes of the degradations, in order.
pub(crate) fn codes(activation: &Activation) -> Vec<&str> {
    activation
        .degradations
        .iter()
        .map(|degradation| degradation.code.as_ref())
        .collect()
}

/// The whole trace as text.
pub(crate) fn render(activation: &Activation) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "query {} / profile {}", activation.query, activation.profile);
    for candidate in &activation.candidates {
        let _ = writeln!(text, "{}", render_candidate(candidate));
    }
    for fragment in &activation.fragments {
        let labels: Vec<_> = fragment.time_labels.iter().map(|label| label.as_str()).collect();
        let (key, action, role) = (&fragment.unit_key, fragment.action, fragment.role);
        let _ = writeln!(
            text,
            "{action} {key} {role} {} {labels:?} {}",
            fragment.evidence_shape, fragment.text
        );
    }
    for removed in &activation.removed {
        let _ = writeln!(text, "remove {}", removed.unit_key);
    }
    for degradation in &activation.degradations {
        let _ = writeln!(text, "degraded {degradation}");
    }
    for latency in &activation.latencies {
        let _ = write!(text, "{} {} us; ", latency.stage, latency.micros);
    }
    let _ = write!(text, "\n{:?}", activation.budget);
    text
}

fn render_candidate(candidate: &Candidate) -> String {
    let scores = &candidate.scores;
    let mut line = format!("{} {}", candidate.unit_key, candidate.disposition);
    let stages = [
        ("exact", scores.exact),
        ("lexical", scores.lexical),
        ("fts5", scores.fts5),
        ("tantivy", scores.tantivy),
        ("dense", scores.dense),
        ("sparse", scores.sparse),
        ("rrf", scores.rrf),
        ("weighted", scores.weighted),
        ("fused", scores.fused),
        ("reranker", scores.reranker),
        ("final", scores.final_),
    ];
    let others = scores.other.iter().map(|(name, ranked)| (name.as_str(), *ranked));
    let present = stages.into_iter().filter_map(|(name, ranked)| Some((name, ranked?)));
    for (name, RankedScore { rank, score }) in present.chain(others) {
        let _ = write!(line, " {name} {rank}/{score:.4}");
    }
    if let Some(pair) = candidate.pair_score {
        let _ = write!(line, " pair {pair:.2}");
    }
    if let Some((from, reason)) = &candidate.redirected_from {
        let _ = write!(line, " from {from} {reason}");
    }
    line
}
