//! Replays a recorded trace: recomputes each stage's order from the ranks and scores recorded before it.
//!
//! What a trace does not hold cannot be recomputed and is taken as recorded: what lanes and the pair scorer said, whether
//! two texts overlap, how much of the query a text holds as a phrase, and what the guards refused.

mod assembly;
mod recall;

use casebook_index::UnitKey;
use casebook_ranker::{Activation, Candidate, RankedScore, RankerConfig, Stage, StageScores};

/// Whether a recorded ranking follows from its recorded stages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replay {
    /// It does.
    Same,
    /// It does not.
    Different(Box<Difference>),
}

/// The first thing, in order of the chain, that does not follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The stage.
    pub stage: Stage,
    /// The unit that it is about, where it is about one.
    pub unit_key: Option<UnitKey>,
    /// What differs.
    pub what: &'static str,
    /// As recorded.
    pub recorded: String,
    /// As it follows from what was recorded before it.
    pub recomputed: String,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "stage {}", self.stage)?;
        if let Some(unit_key) = &self.unit_key {
            write!(f, ", unit {unit_key}")?;
        }
        write!(
            f,
            ": {} is {}, recomputed {}",
            self.what, self.recorded, self.recomputed
        )
    }
}

/// Replays a trace under the profile that it was recorded with.
pub fn replay(activation: &Activation, config: &RankerConfig) -> Replay {
    let trace = Trace { activation, config };
    let outcome = trace
        .check_recall()
        .and_then(|()| trace.check_rerank())
        .and_then(|()| trace.check_assembly());
    outcome.map_or_else(Replay::Different, |()| Replay::Same)
}

type Check<T = ()> = Result<T, Box<Difference>>;

/// A recorded activation and its profile.
struct Trace<'a> {
    activation: &'a Activation,
    config: &'a RankerConfig,
}

impl<'a> Trace<'a> {
    /// Returns the candidates that a stage ranked, best first; their ranks must be 1, 2, 3 and so on.
    fn ranked(
        &self,
        stage: Stage,
        what: &'static str,
        slot: impl Fn(&StageScores) -> Option<RankedScore>,
    ) -> Check<Vec<(&'a Candidate, RankedScore)>> {
        let candidates = self.activation.candidates.iter();
        let mut ranked: Vec<_> = candidates
            .filter_map(|candidate| Some((candidate, slot(&candidate.scores)?)))
            .collect();
        ranked.sort_by_key(|(_, ranked)| ranked.rank);
        for ((candidate, ranked), expected) in ranked.iter().zip(1..) {
            same(stage, candidate, what, ranked.rank, expected)?;
        }
        Ok(ranked)
    }
}

/// Compares one value of a candidate.
fn same<T: PartialEq + std::fmt::Display>(
    stage: Stage,
    candidate: &Candidate,
    what: &'static str,
    recorded: T,
    recomputed: T,
) -> Check {
    if recorded == recomputed {
        return Ok(());
    }
    Err(difference(stage, Some(candidate), what, &recorded, &recomputed))
}

/// Compares one value of the whole answer.
fn same_total<T: PartialEq + std::fmt::Display>(stage: Stage, what: &'static str, recorded: T, recomputed: T) -> Check {
    if recorded == recomputed {
        return Ok(());
    }
    Err(difference(stage, None, what, &recorded, &recomputed))
}

fn difference(
    stage: Stage,
    candidate: Option<&Candidate>,
    what: &'static str,
    recorded: &dyn std::fmt::Display,
    recomputed: &dyn std::fmt::Display,
) -> Box<Difference> {
    Box::new(Difference {
        stage,
        unit_key: candidate.map(|candidate| candidate.unit_key.clone()),
        what,
        recorded: recorded.to_string(),
        recomputed: recomputed.to_string(),
    })
}

/// Returns whether two scores are equal but for the order of a sum.
fn near(one: f32, other: f32) -> bool {
    (one - other).abs() <= 1e-5 * one.abs().max(other.abs()).max(1.0)
}
