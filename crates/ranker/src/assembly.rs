//! Assembly: the candidates, best first, against relevance, overlap and the budgets.

use crate::hit::Hit;
use crate::{BudgetUse, Disposition, RankerConfig, Role};

/// A hit in the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Picked {
    /// Position among the hits.
    pub(crate) hit: usize,
    pub(crate) role: Role,
}

/// The answer in the making.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    pub(crate) picked: Vec<Picked>,
    tokens: usize,
}

impl Selection {
    /// Decides on every candidate of `order`.
    pub(crate) fn assemble(hits: &mut [Hit], order: &[usize], config: &RankerConfig) -> Self {
        let mut selection = Self::default();
        let floor = config.relevance_floor(order.iter().filter_map(|hit| hits[*hit].pair_score));
        for &hit in order {
            let refusal = below_relevance(&hits[hit], floor).or_else(|| selection.refusal(hits, hit, config));
            hits[hit].disposition = Some(refusal.unwrap_or(Disposition::Selected));
            if refusal.is_none() {
                let role = Role::Evidence;
                selection.insert(hits, selection.picked.len(), Picked { hit, role });
            }
        }
        selection
    }

    /// Puts a hit at a position of the answer.
    pub(crate) fn insert(&mut self, hits: &[Hit], position: usize, picked: Picked) {
        self.tokens += hits[picked.hit].record.unit.token_count;
        self.picked.insert(position, picked);
    }

    /// Takes the hit at a position out again.
    pub(crate) fn remove(&mut self, hits: &[Hit], position: usize) -> Picked {
        let picked = self.picked.remove(position);
        self.tokens -= hits[picked.hit].record.unit.token_count;
        picked
    }

    /// Returns the first reason, in order of the chain, that keeps a hit out of what is there so far.
    pub(crate) fn refusal(&self, hits: &[Hit], hit: usize, config: &RankerConfig) -> Option<Disposition> {
        let unit = &hits[hit].record.unit;
        let selected = || self.picked.iter().map(|picked| &hits[picked.hit]);
        let of_resource = selected().filter(|other| other.record.unit.resource_id == unit.resource_id);
        if selected().any(|other| overlaps(&hits[hit], other, config.max_overlap)) {
            Some(Disposition::Overlap)
        } else if of_resource.count() >= config.per_resource {
            Some(Disposition::ResourceCap)
        } else if self.tokens.saturating_add(unit.token_count) > config.token_budget {
            Some(Disposition::TokenCap)
        } else if self.picked.len() >= config.fragment_limit {
            Some(Disposition::FragmentCap)
        } else {
            None
        }
    }

    pub(crate) fn budget(&self, config: &RankerConfig) -> BudgetUse {
        BudgetUse {
            token_budget: config.token_budget,
            tokens_used: self.tokens,
            fragment_limit: config.fragment_limit,
            fragments_used: self.picked.len(),
        }
    }
}

/// What was asked for by name is relevant; without a pair score there is nothing to test.
fn below_relevance(hit: &Hit, floor: f32) -> Option<Disposition> {
    let tested = hit.pair_score.filter(|_| !hit.named);
    tested
        .filter(|score| *score < floor)
        .map(|_| Disposition::BelowRelevance)
}

/// Returns whether two hits say the same: equal text, or spans of one file that share too much of the shorter.
fn overlaps(one: &Hit, other: &Hit, max_share: f32) -> bool {
    let (one, other) = (&one.record.unit, &other.record.unit);
    if one.content_hash == other.content_hash {
        return true;
    }
    let (a, b) = (&one.locator.bytes, &other.locator.bytes);
    let shared = a.end.min(b.end).saturating_sub(a.start.max(b.start));
    one.resource_id == other.resource_id && shared as f32 > max_share * a.len().min(b.len()) as f32
}
