//! Recall: every lane is asked, the word lanes beside the vector lane. A lane that fails takes nobody with it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use casebook_corpus::{Clock, Degradation};
use casebook_index::degradation::VECTOR_LANE_UNAVAILABLE;
use casebook_index::{LaneAnswer, LaneError, LaneHit, LexicalLane, RevisionId, TextEncoder, VectorLane};

use crate::error::with_causes;
use crate::{Lanes, RankerConfig};

/// A word lane is broken; the others answered.
pub const LANE_FAILED: &str = "lane_failed";
/// A lane panicked; the others answered.
pub const LANE_PANICKED: &str = "lane_panicked";
/// A lane serves another revision than the one searched; it was not asked.
pub const LANE_BEHIND: &str = "lane_behind";

/// What one lane found, as it said it.
#[derive(Debug)]
pub(crate) struct LaneList {
    pub(crate) name: &'static str,
    pub(crate) hits: Vec<LaneHit>,
}

/// What all lanes found.
#[derive(Debug)]
pub(crate) struct Recall {
    pub(crate) identity: Option<LaneList>,
    pub(crate) words: Vec<LaneList>,
    pub(crate) dense: Option<LaneList>,
    /// How many times its limit each lane was asked for.
    pub(crate) reach: usize,
    pub(crate) degradations: Vec<Degradation>,
    pub(crate) lexical_micros: u64,
    pub(crate) dense_micros: u64,
}

/// Asks every lane for `reach` times its limit: the identity and word lanes on this thread, the vector lane on another.
pub(crate) fn recall(query: &str, lanes: &Lanes<'_>, config: &RankerConfig, reach: usize, clock: &dyn Clock) -> Recall {
    let (lexical_limit, dense_limit) = (config.lexical_limit * reach, config.dense_limit * reach);
    let (words, dense) = match dense_parts(lanes) {
        Err(degradation) => {
            let words = timed(clock, || ask_words(query, lanes, lexical_limit));
            (words, ((None, degradation.into_iter().collect()), 0))
        }
        Ok((encoder, lane)) => {
            let ask_dense = || timed(clock, || ask_dense(query, encoder, lane, dense_limit));
            std::thread::scope(|scope| {
                let spawned = std::thread::Builder::new().spawn_scoped(scope, ask_dense);
                let words = timed(clock, || ask_words(query, lanes, lexical_limit));
                // No thread to be had, or one that died: the work is done here.
                let dense = spawned
                    .ok()
                    .and_then(|handle| handle.join().ok())
                    .unwrap_or_else(ask_dense);
                (words, dense)
            })
        }
    };
    let (((identity, word_lists), mut degradations), lexical_micros) = words;
    let ((dense, dense_degradations), dense_micros) = dense;
    degradations.extend(dense_degradations);
    Recall {
        identity,
        words: word_lists,
        dense,
        reach,
        degradations,
        lexical_micros,
        dense_micros,
    }
}

fn timed<T>(clock: &dyn Clock, work: impl FnOnce() -> T) -> (T, u64) {
    let start = clock.monotonic_micros();
    let outcome = work();
    (outcome, clock.monotonic_micros().saturating_sub(start))
}

type Asked<T> = (T, Vec<Degradation>);

fn ask_words(query: &str, lanes: &Lanes<'_>, limit: usize) -> Asked<(Option<LaneList>, Vec<LaneList>)> {
    let mut degradations = Vec::new();
    let mut ask = |lane: &dyn LexicalLane| {
        let search = || lane.search(query, limit);
        ask_lane(
            lane.name(),
            lane.revision(),
            &lanes.revision.id,
            LANE_FAILED,
            search,
            &mut degradations,
        )
    };
    let identity = lanes.identity.and_then(&mut ask);
    let words = lanes.lexical.iter().filter_map(|lane| ask(*lane)).collect();
    ((identity, words), degradations)
}

/// Returns the encoder and the lane where both are there and fit; else what to say about it, which is nothing where the
/// snapshot has said it.
fn dense_parts<'a>(lanes: &Lanes<'a>) -> Result<(&'a dyn TextEncoder, &'a dyn VectorLane), Option<Degradation>> {
    let told = lanes
        .degradations
        .iter()
        .any(|told| told.code == VECTOR_LANE_UNAVAILABLE);
    let missing = |detail: &str| (!told).then(|| Degradation::new(VECTOR_LANE_UNAVAILABLE, detail));
    let lane = lanes.dense.ok_or_else(|| missing("the index has no vectors"))?;
    let encoder = lanes
        .encoder
        .ok_or_else(|| missing("there is no encoder for the query"))?;
    if let Some(behind) = behind(lane.name(), lane.revision(), &lanes.revision.id) {
        return Err(Some(behind));
    }
    if lane.encoder_revision() != encoder.revision() {
        let (held, given) = (lane.encoder_revision(), encoder.revision());
        let detail = format!("the vectors are of encoder {held}, the query would be of {given}");
        return Err(Some(Degradation::new(VECTOR_LANE_UNAVAILABLE, detail)));
    }
    Ok((encoder, lane))
}

fn ask_dense(query: &str, encoder: &dyn TextEncoder, lane: &dyn VectorLane, limit: usize) -> Asked<Option<LaneList>> {
    let unavailable = |detail: String| (None, vec![Degradation::new(VECTOR_LANE_UNAVAILABLE, detail)]);
    let vector = match catch_unwind(AssertUnwindSafe(|| encoder.encode_query(query))) {
        Ok(Ok(vector)) if vector.iter().all(|number| number.is_finite()) => vector,
        Ok(Ok(_)) => return unavailable("the query's vector is not finite".into()),
        Ok(Err(error)) => return unavailable(with_causes(&error)),
        Err(_) => return unavailable("the encoder panicked".into()),
    };
    let mut degradations = Vec::new();
    let search = || lane.search(&vector, limit);
    let revision = lane.revision();
    let list = ask_lane(
        lane.name(),
        revision,
        revision,
        VECTOR_LANE_UNAVAILABLE,
        search,
        &mut degradations,
    );
    (list, degradations)
}

fn ask_lane(
    name: &'static str,
    serves: &RevisionId,
    wanted: &RevisionId,
    failed: &'static str,
    search: impl FnOnce() -> Result<LaneAnswer, LaneError>,
    degradations: &mut Vec<Degradation>,
) -> Option<LaneList> {
    if let Some(behind) = behind(name, serves, wanted) {
        degradations.push(behind);
        return None;
    }
    let degradation = match catch_unwind(AssertUnwindSafe(search)) {
        Ok(Ok(answer)) => {
            degradations.extend(answer.degradations);
            let hits = answer.hits;
            return Some(LaneList { name, hits });
        }
        Ok(Err(error)) => Degradation::new(failed, format!("{name}: {}", with_causes(&error))),
        Err(_) => Degradation::new(LANE_PANICKED, name),
    };
    degradations.push(degradation);
    None
}

fn behind(name: &str, serves: &RevisionId, wanted: &RevisionId) -> Option<Degradation> {
    let detail = || format!("{name} serves revision {serves}, {wanted} is searched");
    (serves != wanted).then(|| Degradation::new(LANE_BEHIND, detail()))
}
