//! The chain, stage by stage. The answer and the trace come out of it as one value.

use casebook_corpus::{Clock, Degradation};
use casebook_index::{Language, UnitRecord};

use crate::assembly::Selection;
use crate::delta::{Held, removed};
use crate::evidence::{Structure, time_labels};
use crate::gather::gather;
use crate::guard::Guard;
use crate::history::attach;
use crate::hit::Hit;
use crate::recall::recall;
use crate::redirect::redirect;
use crate::rerank::{Deadline, rerank, score_pairs};
use crate::{
    ActivateError, Activation, ActivationRequest, ActivationState, Fragment, HeldFragment, HistoryMode, Lanes,
    RankedScore, RankerConfig, Stage, StageLatency, Tools,
};

/// The query has no letter and no digit, and nothing was found that answers it.
pub const QUERY_WITHOUT_TERMS: &str = "query_without_terms";

/// Where what may not be shown fills a lane's answer, the lane is asked for so many times more.
const REACH_STEP: usize = 4;
/// How many times its limit a lane is asked for at most.
const FARTHEST_REACH: usize = 64;

/// Times stages that follow each other.
struct Stopwatch<'a> {
    clock: &'a dyn Clock,
    last_micros: u64,
    latencies: Vec<StageLatency>,
}

impl<'a> Stopwatch<'a> {
    fn start(clock: &'a dyn Clock) -> Self {
        Self {
            clock,
            last_micros: clock.monotonic_micros(),
            latencies: Vec::with_capacity(Stage::ALL.len()),
        }
    }

    fn note(&mut self, stage: Stage, micros: u64) {
        self.latencies.push(StageLatency { stage, micros });
    }

    fn lap(&mut self, stage: Stage) {
        let now = self.clock.monotonic_micros();
        self.note(stage, now.saturating_sub(self.last_micros));
        self.last_micros = now;
    }
}

/// Answers a request from the lanes of one revision.
///
/// The same request, lanes, profile and tools give an equal answer, whichever lane is done first.
///
/// # Errors
/// An empty query, a profile out of its ranges, units that cannot be read, or recall that outlasts the deadline. What a
/// lane, an encoder or a scorer does wrong is a degradation of the answer.
pub fn activate(
    request: &ActivationRequest,
    lanes: &Lanes<'_>,
    config: &RankerConfig,
    tools: &Tools<'_>,
) -> Result<Activation, ActivateError> {
    config.validate()?;
    if request.query.trim().is_empty() {
        return Err(ActivateError::QueryEmpty);
    }
    let deadline = Deadline::start(tools.clock, config.deadline_ms);
    let mut degradations = lanes.degradations.clone();

    let unreadable = |stage| move |source| ActivateError::Units { stage, source };
    let admit = |record: &UnitRecord| Guard::admit(request, record);
    let query_language = Language::of(&request.query);
    let mut reach = 1;
    let (hits, dense_source, mut watch) = loop {
        let recall = recall(&request.query, lanes, config, reach, tools.clock);
        if deadline.passed() {
            let dense_is_slower = recall.dense_micros > recall.lexical_micros;
            let stage = if dense_is_slower { Stage::Dense } else { Stage::Lexical };
            let deadline_ms = config.deadline_ms;
            return Err(ActivateError::Deadline { stage, deadline_ms });
        }
        let mut watch = Stopwatch::start(tools.clock);
        watch.note(Stage::Lexical, recall.lexical_micros);
        watch.note(Stage::Dense, recall.dense_micros);
        let mut told = recall.degradations.clone();
        let gathered = gather(&recall, query_language, lanes.units, &admit, config, &mut told)
            .map_err(unreadable(Stage::Fusion))?;
        if !gathered.starved || reach >= FARTHEST_REACH {
            degradations.extend(told);
            break (gathered.hits, recall.dense_source, watch);
        }
        reach *= REACH_STEP;
    };
    watch.lap(Stage::Fusion);

    let weigh = |records: &[UnitRecord]| {
        let records: Vec<_> = records.iter().collect();
        let pairs = score_pairs(tools.scorer, &request.query, &records, &deadline).ok()?;
        Some(pairs.iter().map(|pair| pair.score).collect())
    };
    let mut hits = redirect(hits, lanes.units, &weigh, &mut degradations).map_err(unreadable(Stage::Guard))?;
    let mut guard = Guard::new(request, tools.freshness);
    hits.iter_mut().for_each(|hit| guard.check(hit));
    watch.lap(Stage::Guard);

    let order = rerank(
        &request.query,
        &mut hits,
        config,
        tools.scorer,
        &deadline,
        &mut degradations,
    );
    watch.lap(Stage::Rerank);

    let mut selection = Selection::assemble(&mut hits, &order, config);
    if config.history == HistoryMode::Attach {
        attach(&mut selection, &mut hits, &mut guard, config);
    }
    degradations.append(&mut guard.degradations);
    if selection.picked.is_empty() && !request.query.chars().any(char::is_alphanumeric) {
        degradations.push(Degradation::new(
            QUERY_WITHOUT_TERMS,
            "the query has no letter and no digit",
        ));
    }
    let mut activation = answer(request, lanes, config, tools, hits, &selection);
    activation.dense_source = dense_source;
    activation.degradations = distinct(degradations);
    watch.lap(Stage::Assembly);
    activation.latencies = watch.latencies;
    Ok(activation)
}

/// Makes the answer and its trace; whose vectors answered, what did not work and what it took come later.
fn answer(
    request: &ActivationRequest,
    lanes: &Lanes<'_>,
    config: &RankerConfig,
    tools: &Tools<'_>,
    mut hits: Vec<Hit>,
    selection: &Selection,
) -> Activation {
    let as_of = request.as_of.unwrap_or_else(|| tools.clock.now());
    let structure = Structure::of(request);
    let held = Held::read(&request.state);
    let mut actions = vec![None; hits.len()];
    let mut fragments = Vec::with_capacity(selection.picked.len());
    for (rank, picked) in selection.picked.iter().enumerate() {
        let hit = &mut hits[picked.hit];
        let decisive = hit.scores.reranker.or(hit.scores.fused);
        hit.scores.final_ = Some(RankedScore::at(rank, decisive.map_or(0.0, |ranked| ranked.score)));
        let action = held.action(&hit.record.unit.unit_key, hit.record.unit.content_hash);
        actions[picked.hit] = Some(action);
        let UnitRecord {
            unit, resource: meta, ..
        } = &hit.record;
        fragments.push(Fragment {
            unit_key: unit.unit_key.clone(),
            content_hash: unit.content_hash,
            resource_id: meta.id.clone(),
            scope: meta.scope.clone(),
            kind: meta.kind.clone(),
            path: meta.path.clone(),
            heading_path: unit.heading_path.clone(),
            locator: unit.locator.clone(),
            title: meta.title.clone(),
            fidelity: meta.fidelity,
            quotable: meta.fidelity.quotable(),
            time_labels: time_labels(meta, as_of, hit.stale),
            evidence_shape: structure.shape(hit),
            role: picked.role,
            token_count: unit.token_count,
            text: unit.text.clone(),
            action,
        });
    }
    let state = ActivationState {
        held: fragments.iter().map(HeldFragment::of).collect(),
    };
    Activation {
        query: request.query.clone(),
        query_language: Language::of(&request.query),
        profile: config.profile.clone(),
        revision: lanes.revision.id.clone(),
        effective_hash: lanes.revision.effective_hash,
        dense_source: None,
        as_of,
        removed: removed(&request.state, &state),
        fragments,
        state,
        candidates: hits
            .into_iter()
            .zip(actions)
            .map(|(hit, action)| hit.into_candidate(action))
            .collect(),
        degradations: Vec::new(),
        latencies: Vec::new(),
        budget: selection.budget(config),
    }
}

/// Returns each degradation once, where it was first told.
fn distinct(degradations: Vec<Degradation>) -> Vec<Degradation> {
    let mut told = Vec::with_capacity(degradations.len());
    for degradation in degradations {
        if !told.contains(&degradation) {
            told.push(degradation);
        }
    }
    told
}

impl HeldFragment {
    fn of(fragment: &Fragment) -> Self {
        Self {
            unit_key: fragment.unit_key.clone(),
            content_hash: fragment.content_hash,
        }
    }
}
