//! Rerank: the best of what passed the guards, by how well each text answers and how much of the query it holds.

use std::panic::{AssertUnwindSafe, catch_unwind};

use casebook_corpus::{Clock, Degradation};
use casebook_index::{Cancel, Passage, UnitRecord};

use crate::error::with_causes;
use crate::hit::Hit;
use crate::phrase::Terms;
use crate::{PairScorer, RankedScore, RankerConfig, WordMatch};

/// The pair scorer did not work or had no time left; the fused order stands and relevance was not tested.
pub const RERANK_SKIPPED: &str = "rerank_skipped";

/// The time that an activation has.
#[derive(Clone, Copy)]
pub(crate) struct Deadline<'a> {
    clock: &'a dyn Clock,
    end_micros: u64,
}

impl<'a> Deadline<'a> {
    pub(crate) fn start(clock: &'a dyn Clock, millis: u64) -> Self {
        let end_micros = clock.monotonic_micros().saturating_add(millis.saturating_mul(1000));
        Self { clock, end_micros }
    }

    pub(crate) fn passed(&self) -> bool {
        self.clock.monotonic_micros() > self.end_micros
    }
}

impl Cancel for Deadline<'_> {
    fn cancelled(&self) -> bool {
        self.passed()
    }
}

/// Returns the candidates that assembly looks at, best first, as positions in `hits`.
pub(crate) fn rerank(
    query: &str,
    hits: &mut [Hit],
    config: &RankerConfig,
    scorer: Option<&dyn PairScorer>,
    deadline: &Deadline<'_>,
    degradations: &mut Vec<Degradation>,
) -> Vec<usize> {
    let open = (0..hits.len()).filter(|position| hits[*position].is_open());
    let mut order: Vec<usize> = open.take(config.rerank_depth).collect();
    if order.is_empty() {
        return order;
    }
    let records: Vec<_> = order.iter().map(|position| &hits[*position].record).collect();
    let pairs = match score_pairs(scorer, query, &records, deadline) {
        Ok(pairs) => pairs,
        Err(reason) => {
            degradations.push(Degradation::new(RERANK_SKIPPED, reason));
            return order;
        }
    };
    let terms = Terms::of(query);
    let best = hits
        .iter()
        .filter_map(|hit| hit.scores.fused)
        .map(|fused| fused.score)
        .fold(0.0, f32::max);
    let blended = |position: usize, pair: f32| {
        let hit = &hits[position];
        let fused = hit.scores.fused.map_or(0.0, |fused| fused.score / best);
        let phrase = terms.phrase_share(&Terms::of(&hit.record.unit.text));
        let score = fused + config.rerank_weight * pair + config.phrase_bonus * phrase;
        score.clamp(f32::MIN, f32::MAX)
    };
    let mut scored: Vec<_> = order
        .iter()
        .zip(pairs)
        .map(|(position, pair)| (*position, hits[*position].led_pair.map_or(pair, |led| pair.max(led))))
        .map(|(position, pair)| (position, pair, blended(position, pair)))
        .collect();
    // Stable: equal scores stay in fused order.
    scored.sort_by(|one, other| other.2.total_cmp(&one.2));
    for (rank, (position, pair, score)) in scored.iter().enumerate() {
        hits[*position].pair_score = Some(*pair);
        hits[*position].scores.reranker = Some(RankedScore::at(rank, *score));
    }
    if let Some(scorer) = scorer {
        note_matches(scorer, query, hits, &order);
    }
    order.clear();
    order.extend(scored.into_iter().map(|(position, ..)| position));
    order
}

/// Notes which words met. A scorer that fails at it leaves the answer as it is: matches are shown and rank nothing.
fn note_matches(scorer: &dyn PairScorer, query: &str, hits: &mut [Hit], order: &[usize]) {
    let texts: Vec<&str> = order
        .iter()
        .map(|position| hits[*position].record.unit.text.as_str())
        .collect();
    let found = catch_unwind(AssertUnwindSafe(|| scorer.matches(query, &texts))).unwrap_or_default();
    let fits =
        |text: &str, at: &WordMatch| query.get(at.query.clone()).is_some() && text.get(at.text.clone()).is_some();
    let sound: Vec<Vec<WordMatch>> = texts
        .iter()
        .zip(found)
        .map(|(text, matches)| matches.into_iter().filter(|at| fits(text, at)).collect())
        .collect();
    for (position, matches) in order.iter().zip(sound) {
        hits[*position].matches = matches;
    }
}

/// Returns one finite score per record, or why there is none.
pub(crate) fn score_pairs(
    scorer: Option<&dyn PairScorer>,
    query: &str,
    records: &[&UnitRecord],
    deadline: &Deadline<'_>,
) -> Result<Vec<f32>, String> {
    let scorer = scorer.ok_or("there is no pair scorer")?;
    if deadline.passed() {
        return Err("the deadline has passed".into());
    }
    let passages: Vec<_> = records
        .iter()
        .map(|record| Passage {
            path: &record.resource.path,
            heading_path: &record.unit.heading_path,
            text: &record.unit.text,
        })
        .collect();
    let outcome = catch_unwind(AssertUnwindSafe(|| scorer.score(query, &passages, deadline)));
    let scores = outcome
        .map_err(|_| "the pair scorer panicked")?
        .map_err(|error| with_causes(&error))?;
    let scores: Vec<_> = scores
        .iter()
        .map(|pair| pair.score)
        .filter(|score| score.is_finite())
        .collect();
    if scores.len() == passages.len() {
        Ok(scores)
    } else {
        Err(format!(
            "the pair scorer gave {} scores for {} texts",
            scores.len(),
            passages.len()
        ))
    }
}
