//! From the fused list to the answer.

use std::collections::BTreeMap;

use casebook_ranker::{Candidate, Disposition, RERANK_SKIPPED, Role, Stage};

use super::{Check, Trace, difference, near, same, same_total};

impl<'a> Trace<'a> {
    /// The first open candidates are reranked, and stand by their scores; a score is the fused one, the contrast and what
    /// the phrase gave. Where no contrast was recorded, the pair score was taken as it was.
    pub(super) fn check_rerank(&self) -> Check {
        let reranked = self.ranked(Stage::Rerank, "reranker rank", |scores| scores.reranker)?;
        let open: Vec<_> = self.open().collect();
        let skipped = self
            .activation
            .degradations
            .iter()
            .any(|told| told.code == RERANK_SKIPPED);
        let expected = if skipped { 0 } else { open.len() };
        same_total(Stage::Rerank, "number of reranked candidates", reranked.len(), expected)?;
        for candidate in open.iter().take(expected) {
            same(
                Stage::Rerank,
                candidate,
                "whether it was reranked",
                candidate.scores.reranker.is_some(),
                true,
            )?;
        }
        for pair in reranked.windows(2) {
            let [(_, before), (candidate, after)] = pair else {
                continue;
            };
            if after.score > before.score {
                let expected = format!("at most {}", before.score);
                return Err(difference(
                    Stage::Rerank,
                    Some(candidate),
                    "reranker score",
                    &after.score,
                    &expected,
                ));
            }
        }
        reranked
            .iter()
            .try_for_each(|(candidate, ranked)| self.check_blend(candidate, ranked.score))
    }

    fn check_blend(&self, candidate: &Candidate, score: f32) -> Check {
        let fused = |candidate: &Candidate| candidate.scores.fused.map_or(0.0, |fused| fused.score);
        let best = self.activation.candidates.iter().map(fused).fold(0.0, f32::max);
        let share = if best > 0.0 { fused(candidate) / best } else { 0.0 };
        let pair = candidate.contrast.or(candidate.pair_score).unwrap_or(0.0);
        let least = share + self.config.rerank_weight * pair;
        let most = least + self.config.phrase_bonus;
        if near(score, score.clamp(least, most)) {
            return Ok(());
        }
        let expected = format!("{least} to {most}");
        Err(difference(
            Stage::Rerank,
            Some(candidate),
            "reranker score",
            &score,
            &expected,
        ))
    }

    /// Returns the candidates that no guard refused and that are near enough to the top to be looked at.
    fn open(&self) -> impl Iterator<Item = &'a Candidate> {
        let candidates = self.activation.candidates.iter();
        let open = candidates.filter(|candidate| candidate.scores.fused.is_some() && !self.is_refused(candidate));
        open.take(self.config.rerank_depth)
    }

    fn is_refused(&self, candidate: &Candidate) -> bool {
        self.role(candidate) == Some(Role::History)
            || matches!(
                candidate.disposition,
                Disposition::Superseded
                    | Disposition::SourceDeleted
                    | Disposition::NotVisible
                    | Disposition::OutOfScope
            )
    }

    fn role(&self, candidate: &Candidate) -> Option<Role> {
        let mut fragments = self.activation.fragments.iter();
        fragments
            .find(|fragment| fragment.unit_key == candidate.unit_key)
            .map(|fragment| fragment.role)
    }

    /// Every disposition follows from the order and the budgets; the answer is what was selected.
    pub(super) fn check_assembly(&self) -> Check {
        let mut order: Vec<_> = self.open().collect();
        // Stable: without a rerank the fused order stands.
        order.sort_by_key(|candidate| candidate.scores.reranker.map_or(0, |ranked| ranked.rank));
        let pair_scores = self
            .activation
            .candidates
            .iter()
            .filter_map(|candidate| candidate.pair_score);
        let mut spent = Spent {
            relevance_floor: self.config.relevance_floor(pair_scores),
            ..Spent::default()
        };
        let mut evidence = Vec::new();
        for candidate in order {
            self.check_disposition(candidate, &spent)?;
            if candidate.disposition == Disposition::Selected {
                spent.add(candidate);
                evidence.push(candidate);
            }
        }
        self.check_answer(&evidence)
    }

    fn check_disposition(&self, candidate: &Candidate, spent: &Spent<'_>) -> Check {
        let disposition = candidate.disposition;
        let below = candidate.pair_score.is_some_and(|score| score < spent.relevance_floor);
        // Whether a successor's predecessor was asked for by name is not always recorded.
        let named = candidate.scores.exact.is_some() || candidate.redirected_from.is_some();
        let expected = match disposition {
            Disposition::BelowRelevance if below => return Ok(()),
            Disposition::Overlap if spent.fragments > 0 && (!below || named) => return Ok(()),
            _ if below && !named => Disposition::BelowRelevance,
            _ => self.refusal(candidate, spent).unwrap_or(Disposition::Selected),
        };
        same(Stage::Assembly, candidate, "disposition", disposition, expected)
    }

    fn refusal(&self, candidate: &Candidate, spent: &Spent<'_>) -> Option<Disposition> {
        let of_resource = spent
            .by_resource
            .get(candidate.resource_id.as_str())
            .copied()
            .unwrap_or(0);
        if of_resource >= self.config.per_resource {
            Some(Disposition::ResourceCap)
        } else if spent.tokens.saturating_add(candidate.token_count) > self.config.token_budget {
            Some(Disposition::TokenCap)
        } else if spent.fragments >= self.config.fragment_limit {
            Some(Disposition::FragmentCap)
        } else {
            None
        }
    }

    fn check_answer(&self, evidence: &[&Candidate]) -> Check {
        let stage = Stage::Assembly;
        let chosen = self.ranked(stage, "final rank", |scores| scores.final_)?;
        let fragments = &self.activation.fragments;
        same_total(stage, "number of fragments", fragments.len(), chosen.len())?;
        for ((candidate, _), fragment) in chosen.iter().zip(fragments) {
            same(
                stage,
                candidate,
                "unit at its final rank",
                &candidate.unit_key,
                &fragment.unit_key,
            )?;
            same(
                stage,
                candidate,
                "disposition",
                candidate.disposition,
                Disposition::Selected,
            )?;
        }
        let in_answer: Vec<_> = chosen
            .iter()
            .filter(|(candidate, _)| self.role(candidate) == Some(Role::Evidence))
            .collect();
        same_total(stage, "number of evidence fragments", in_answer.len(), evidence.len())?;
        for ((candidate, _), expected) in in_answer.into_iter().zip(evidence) {
            same(
                stage,
                candidate,
                "unit at its place in the answer",
                &candidate.unit_key,
                &expected.unit_key,
            )?;
        }
        let budget = &self.activation.budget;
        let tokens = chosen.iter().map(|(candidate, _)| candidate.token_count).sum();
        same_total(stage, "token budget", budget.token_budget, self.config.token_budget)?;
        same_total(stage, "number of tokens used", budget.tokens_used, tokens)?;
        same_total(stage, "number of fragments used", budget.fragments_used, chosen.len())?;
        let held = self.activation.state.held.iter().map(|held| &held.unit_key);
        let same_state = held.eq(fragments.iter().map(|fragment| &fragment.unit_key));
        same_total(stage, "whether the state is the answer", same_state, true)
    }
}

/// What the answer took so far.
#[derive(Default)]
struct Spent<'a> {
    fragments: usize,
    tokens: usize,
    by_resource: BTreeMap<&'a str, usize>,
    /// The pair score that a candidate needed.
    relevance_floor: f32,
}

impl<'a> Spent<'a> {
    fn add(&mut self, candidate: &'a Candidate) {
        self.fragments += 1;
        self.tokens += candidate.token_count;
        *self.by_resource.entry(candidate.resource_id.as_str()).or_default() += 1;
    }
}
