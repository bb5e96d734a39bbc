//! Rerank: the best of what passed the guards, by how well each text answers and how much of the query it holds.

use std::panic::{AssertUnwindSafe, catch_unwind};

use casebook_corpus::{Clock, Degradation};
use casebook_index::{Cancel, Passage, UnitRecord};

use crate::error::with_causes;
use crate::hit::Hit;
use crate::phrase::Terms;
use crate::{PairScore, PairScorer, RankedScore, RankerConfig, WordMatch};

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
    let pairs: Vec<_> = order
        .iter()
        .zip(pairs)
        .map(|(position, pair)| hits[*position].led_pair.map_or(pair, |led| raised(pair, led)))
        .collect();
    let contrasts = shares_of_best(pairs.iter().map(|pair| pair.contrast));
    let blended = |position: usize, contrast: f32| {
        let hit = &hits[position];
        let fused = hit.scores.fused.filter(|_| best > 0.0);
        let fused = fused.map_or(0.0, |fused| fused.score / best);
        let phrase = terms.phrase_share(&Terms::of(&hit.record.unit.text));
        fused + config.rerank_weight * contrast + config.phrase_bonus * phrase
    };
    let mut scored: Vec<_> = order
        .iter()
        .zip(pairs.iter().zip(contrasts))
        .map(|(position, (pair, contrast))| (*position, pair.score, contrast, blended(*position, contrast)))
        .collect();
    // Stable: equal scores stay in fused order.
    scored.sort_by(|one, other| other.3.total_cmp(&one.3));
    for (rank, (position, pair, contrast, score)) in scored.iter().enumerate() {
        let hit = &mut hits[*position];
        hit.pair_score = Some(*pair);
        hit.contrast = Some(*contrast);
        hit.scores.reranker = Some(RankedScore::at(rank, *score));
    }
    if let Some(scorer) = scorer {
        note_matches(scorer, query, hits, &order);
    }
    order.clear();
    order.extend(scored.into_iter().map(|(position, ..)| position));
    order
}

/// Lifts a pair to the score of the replaced unit whose hit was led here; its contrast by as much.
fn raised(pair: PairScore, led: f32) -> PairScore {
    let contrast = pair.contrast + (led - pair.score).max(0.0);
    PairScore::new(pair.score.max(led)).with_contrast(contrast.min(f32::MAX))
}

/// Returns numbers as shares of the best one, 0 to 1; where some are below 0, the worst one is where shares begin.
fn shares_of_best(numbers: impl Iterator<Item = f32> + Clone) -> Vec<f32> {
    // Halves: the distance of two finite numbers may not be finite.
    let halves = numbers.map(|number| number / 2.0);
    let floor = halves.clone().fold(0.0, f32::min);
    let best = halves.clone().fold(floor, f32::max) - floor;
    let share = |half: f32| if best > 0.0 { (half - floor) / best } else { 0.0 };
    halves.map(share).collect()
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

/// Returns one pair of finite scores per record, or why there is none.
pub(crate) fn score_pairs(
    scorer: Option<&dyn PairScorer>,
    query: &str,
    records: &[&UnitRecord],
    deadline: &Deadline<'_>,
) -> Result<Vec<PairScore>, String> {
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
    let finite = |pair: &PairScore| pair.score.is_finite() && pair.contrast.is_finite();
    let scores: Vec<_> = scores.into_iter().filter(finite).collect();
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
