//! A hit on a replaced resource becomes a hit on its live successor, at the place where the replaced one was.

use std::collections::VecDeque;
use std::slice;

use casebook_corpus::{Degradation, ResourceId, Standing};
use casebook_index::{UnitKind, UnitRecord, UnitSource, UnitSourceError};

use crate::hit::Hit;
use crate::{Disposition, Redirect};

/// A replaced resource was hit, and its successor has no unit that may be retrieved.
pub const REDIRECT_BROKEN: &str = "redirect_broken";

/// Units of a successor that are weighed against each other, so that one huge successor cannot eat the deadline.
const SUCCESSOR_UNITS: usize = 64;

/// Scores units against the query; `None` where that is not possible.
pub(crate) type Weigh<'a> = dyn Fn(&[UnitRecord]) -> Option<Vec<f32>> + 'a;

/// Leads every kept hit on a replaced resource to its successor. A successor's unit that is a candidate takes the better
/// of the two places; else the successor's best unit becomes a candidate.
pub(crate) fn redirect(
    hits: Vec<Hit>,
    units: &dyn UnitSource,
    weigh: &Weigh<'_>,
    degradations: &mut Vec<Degradation>,
) -> Result<Vec<Hit>, UnitSourceError> {
    let mut waiting = VecDeque::from(hits);
    let mut done: Vec<Hit> = Vec::with_capacity(waiting.len());
    while let Some(mut hit) = waiting.pop_front() {
        let Some((live, reason)) = replaced(&hit) else {
            done.push(hit);
            continue;
        };
        hit.disposition = Some(Disposition::Superseded);
        let pair = weigh(slice::from_ref(&hit.record)).and_then(|scores| scores.first().copied());
        if let Some(better) = done.iter_mut().find(|earlier| earlier.is_live_unit_of(&live)) {
            better.succeed(&hit, pair);
            done.push(hit);
            continue;
        }
        let candidate = waiting.iter().position(|later| later.is_live_unit_of(&live));
        let target = match candidate.and_then(|position| waiting.remove(position)) {
            Some(target) => Some(target),
            None => best_unit(units.units_of(&live)?, &live, weigh),
        };
        match target {
            Some(mut target) => {
                target.scores.fused = hit.scores.fused;
                target.succeed(&hit, pair);
                target.redirected_from = Some((hit.record.resource.id.clone(), reason));
                done.extend([hit, target]);
            }
            None => {
                let detail = format!("{} was replaced by {live}", hit.record.resource.id);
                degradations.push(Degradation::new(REDIRECT_BROKEN, detail));
                done.push(hit);
            }
        }
    }
    Ok(done)
}

/// Returns where a kept hit leads, where its resource was replaced.
fn replaced(hit: &Hit) -> Option<(ResourceId, Redirect)> {
    let Standing::Superseded { live, retracted, .. } = &hit.record.standing else {
        return None;
    };
    let reason = if *retracted {
        Redirect::RetractedBy
    } else {
        Redirect::SupersededBy
    };
    hit.scores.fused.map(|_| (live.clone(), reason))
}

/// The unit that answers best, else the first of the body, else the description.
fn best_unit(records: Vec<UnitRecord>, live: &ResourceId, weigh: &Weigh<'_>) -> Option<Hit> {
    let hits = records.into_iter().map(Hit::new);
    let mut records: Vec<_> = hits
        .filter(|hit| hit.is_live_unit_of(live))
        .map(|hit| hit.record)
        .collect();
    records.truncate(SUCCESSOR_UNITS);
    let body = || {
        records
            .iter()
            .position(|record| record.unit.kind != UnitKind::Description)
    };
    let best = weigh(&records)
        .and_then(|scores| first_highest(&scores))
        .or_else(body)
        .unwrap_or(0);
    (best < records.len()).then(|| Hit::new(records.swap_remove(best)))
}

fn first_highest(scores: &[f32]) -> Option<usize> {
    let ranked = scores.iter().enumerate().rev();
    ranked
        .max_by(|one, other| one.1.total_cmp(other.1))
        .map(|(position, _)| position)
}
