//! Recall: every lane is asked, the word lanes beside the vector lane. A lane that fails takes nobody with it.

mod dense;

use std::panic::{AssertUnwindSafe, catch_unwind};

use casebook_corpus::{Clock, Degradation};
use casebook_index::{LaneAnswer, LaneError, LaneHit, LexicalLane, RevisionId};

pub use self::dense::CHOSEN_ENCODER_FAILED;
use crate::error::with_causes;
use crate::{DenseSource, Lanes, RankerConfig};

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
    pub(crate) dense_source: Option<DenseSource>,
    /// Units that the dense list holds at most.
    pub(crate) dense_limit: usize,
    /// How many times its limit each lane was asked for.
    pub(crate) reach: usize,
    pub(crate) degradations: Vec<Degradation>,
    pub(crate) lexical_micros: u64,
    pub(crate) dense_micros: u64,
}

/// Asks every lane for `reach` times its limit: the identity and word lanes on this thread, the vector lane on another.
pub(crate) fn recall(query: &str, lanes: &Lanes<'_>, config: &RankerConfig, reach: usize, clock: &dyn Clock) -> Recall {
    let dense_limit = dense::limit(lanes, config);
    let lexical_limit = config.lexical_limit * reach;
    let ask_words = || timed(clock, || ask_words(query, lanes, lexical_limit));
    let (words, dense) = if dense::can_ask(lanes) {
        let ask_dense = || timed(clock, || dense::ask(query, lanes, dense_limit * reach));
        std::thread::scope(|scope| {
            let spawned = std::thread::Builder::new().spawn_scoped(scope, ask_dense);
            let words = ask_words();
            // No thread to be had, or one that died: the work is done here.
            let dense = spawned
                .ok()
                .and_then(|handle| handle.join().ok())
                .unwrap_or_else(ask_dense);
            (words, dense)
        })
    } else {
        (ask_words(), (dense::ask(query, lanes, dense_limit * reach), 0))
    };
    let (((identity, word_lists), mut degradations), lexical_micros) = words;
    let ((dense, dense_degradations), dense_micros) = dense;
    let (dense, dense_source) = dense.unzip();
    degradations.extend(dense_degradations);
    Recall {
        identity,
        words: word_lists,
        dense,
        dense_source,
        dense_limit,
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
    // Term weights come with the vectors of their encoder: they are whole where those are.
    let preferred = lanes.preferred.filter(|preferred| preferred.answers());
    let sparse = preferred.and_then(|preferred| preferred.sparse);
    let words = lanes.lexical.iter().copied().chain(sparse);
    let words = words.filter_map(ask).collect();
    ((identity, words), degradations)
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
