//! The dense list: which encoder's vectors answer, and what happens where the preferred one's are not whole.
//!
//! The one thing a newcomer gets wrong: a preferred encoder whose vectors are being filled in for the first time does not
//! answer at all, however few are missing. Half of a memory found by one encoder and half by another would be ranked by
//! when it was encoded. Once they were complete, an edit that leaves a few units without is another matter: those few
//! come from the embedded encoder's list.

use std::panic::{AssertUnwindSafe, catch_unwind};

use casebook_corpus::Degradation;
use casebook_index::degradation::{VECTOR_LANE_UNAVAILABLE, VECTOR_PARTIAL};
use casebook_index::{LaneHit, TextEncoder, VectorLane};

use super::{Asked, LaneList, ask_lane, behind};
use crate::error::with_causes;
use crate::{DenseSource, Lanes, Preferred, RankerConfig};

/// A list, and whose vectors it is from.
type DenseList = Option<(LaneList, DenseSource)>;

/// The chosen encoder did not work. For a question, the embedded one answered.
pub const CHOSEN_ENCODER_FAILED: &str = "chosen_encoder_failed";

/// How many times longer the list of a contextual encoder is: near copies of one text, such as licence headers, are nearer
/// to any question in their language than its answer in another one, and would fill the list.
const DEEPER: usize = 4;

/// Returns how many units the dense list holds at most, by the encoder that is to answer.
pub(super) fn limit(lanes: &Lanes<'_>, config: &RankerConfig) -> usize {
    let preferred = lanes.preferred.filter(Preferred::answers);
    let encoder = preferred.map(|preferred| preferred.encoder).or(lanes.encoder);
    let is_contextual = encoder.is_some_and(|encoder| encoder.is_contextual());
    config.dense_limit * if is_contextual { DEEPER } else { 1 }
}

/// Returns whether there is anything to ask.
pub(super) fn can_ask(lanes: &Lanes<'_>) -> bool {
    lanes.preferred.is_some() || base_parts(lanes).is_ok()
}

/// Asks for the dense list.
pub(super) fn ask(query: &str, lanes: &Lanes<'_>, limit: usize) -> Asked<DenseList> {
    let Some(preferred) = &lanes.preferred else {
        return ask_base(query, lanes, limit);
    };
    if !preferred.answers() {
        let (list, mut degradations) = ask_base(query, lanes, limit);
        degradations.extend(awaited(preferred));
        return (list, degradations);
    }
    let (list, mut degradations) = match ask_preferred(query, lanes, preferred, limit) {
        Ok(answered) => answered,
        Err(failed) => {
            let (list, mut degradations) = ask_base(query, lanes, limit);
            degradations.insert(0, failed);
            return (list, degradations);
        }
    };
    let source = DenseSource::of(preferred.encoder);
    let lacking = preferred.coverage.missing + preferred.coverage.refused;
    if lacking == 0 {
        return (Some((list, source)), degradations);
    }
    let (base, told) = ask_base(query, lanes, limit);
    // The lane has said it as well, but not what is done about it.
    degradations.retain(|degradation| degradation.code != VECTOR_PARTIAL);
    degradations.extend(told);
    let (total, encoder) = (preferred.coverage.total, preferred.encoder.revision());
    degradations.push(Degradation::new(
        VECTOR_PARTIAL,
        format!("{lacking} of {total} units have no vector of {encoder}; the embedded encoder finds them"),
    ));
    let base = base.map_or_else(Vec::new, |(base, _)| base.hits);
    let list = completed(list, base, preferred.dense, limit);
    (Some((list, source)), degradations)
}

/// Tells that the preferred encoder's vectors are awaited.
fn awaited(preferred: &Preferred<'_>) -> Option<Degradation> {
    let coverage = preferred.coverage;
    let (vectors, missing, total) = (coverage.vectors(), coverage.missing, coverage.total);
    let encoder = preferred.encoder.revision();
    let detail = if coverage.was_complete {
        format!(
            "{missing} of {total} units have no vector of {encoder} yet; the embedded encoder answers until they have"
        )
    } else {
        format!("{vectors} of {total} units have vectors of {encoder}; the embedded encoder answers until all have")
    };
    (total > 0).then(|| Degradation::new(VECTOR_PARTIAL, detail))
}

/// Puts units that the preferred lane has no vector of where they belong in its list.
///
/// Scores of two encoders are not on one scale, so each list is scaled by its own lowest and highest score (min-max), and
/// a unit of the other list gets the score of the preferred scale that lies as far up: `low + share * (high - low)`. The
/// preferred lane's own scores stay what they are; of two equal scores its own is first.
fn completed(list: LaneList, base: Vec<LaneHit>, lane: &dyn VectorLane, limit: usize) -> LaneList {
    let (from, to) = (range(&base), range(&list.hits));
    let scaled = |score: f32| match (from, to) {
        (Some((low, high)), Some((to_low, to_high))) => {
            let share = if high > low { (score - low) / (high - low) } else { 1.0 };
            to_low + share * (to_high - to_low)
        }
        _ => score,
    };
    let lacked = base
        .into_iter()
        .filter(|hit| hit.score.is_finite() && lane.lacks(&hit.unit_key))
        .map(|hit| LaneHit {
            score: scaled(hit.score),
            ..hit
        });
    let asked_for = limit.max(list.hits.len());
    let mut hits = list.hits;
    hits.extend(lacked);
    hits.sort_by(|one, other| other.score.total_cmp(&one.score));
    hits.truncate(asked_for);
    LaneList { hits, ..list }
}

/// Returns the lowest and the highest score.
fn range(hits: &[LaneHit]) -> Option<(f32, f32)> {
    let scores = hits.iter().map(|hit| hit.score).filter(|score| score.is_finite());
    scores.fold(None, |range, score| {
        let (low, high) = range.unwrap_or((score, score));
        Some((low.min(score), high.max(score)))
    })
}

/// Asks the preferred encoder and its lane; what went wrong is one degradation.
fn ask_preferred(
    query: &str,
    lanes: &Lanes<'_>,
    preferred: &Preferred<'_>,
    limit: usize,
) -> Result<(LaneList, Vec<Degradation>), Degradation> {
    let (encoder, lane) = (preferred.encoder, preferred.dense);
    let failed = |detail: String| {
        let detail = format!("{}: {detail}; the embedded encoder answered", encoder.revision());
        Degradation::new(CHOSEN_ENCODER_FAILED, detail)
    };
    if let Some(behind) = behind(lane.name(), lane.revision(), &lanes.revision.id) {
        return Err(behind);
    }
    if lane.encoder_revision() != encoder.revision() {
        return Err(failed(format!("the vectors are of {}", lane.encoder_revision())));
    }
    let vector = encode(query, encoder).map_err(failed)?;
    let search = catch_unwind(AssertUnwindSafe(|| lane.search(&vector, limit)));
    let answer = search.map_err(|_| failed("its lane panicked".into()))?;
    let answer = answer.map_err(|error| failed(with_causes(&error)))?;
    let list = LaneList {
        name: lane.name(),
        hits: answer.hits,
    };
    Ok((list, answer.degradations))
}

/// Returns the query's vector, or why there is none.
fn encode(query: &str, encoder: &dyn TextEncoder) -> Result<Vec<f32>, String> {
    match catch_unwind(AssertUnwindSafe(|| encoder.encode_query(query))) {
        Ok(Ok(vector)) if vector.iter().all(|number| number.is_finite()) => Ok(vector),
        Ok(Ok(_)) => Err("the query's vector is not finite".into()),
        Ok(Err(error)) => Err(with_causes(&error)),
        Err(_) => Err("the encoder panicked".into()),
    }
}

/// Asks the encoder of the builds and its lane.
fn ask_base(query: &str, lanes: &Lanes<'_>, limit: usize) -> Asked<DenseList> {
    let (encoder, lane) = match base_parts(lanes) {
        Ok(parts) => parts,
        Err(degradation) => return (None, degradation.into_iter().collect()),
    };
    let vector = match encode(query, encoder) {
        Ok(vector) => vector,
        Err(detail) => return (None, vec![Degradation::new(VECTOR_LANE_UNAVAILABLE, detail)]),
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
    (list.map(|list| (list, DenseSource::of(encoder))), degradations)
}

/// Returns the encoder of the builds and its lane where both are there and fit; else what to say about it, which is
/// nothing where the snapshot has said it.
fn base_parts<'a>(lanes: &Lanes<'a>) -> Result<(&'a dyn TextEncoder, &'a dyn VectorLane), Option<Degradation>> {
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
