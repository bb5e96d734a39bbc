//! Works the fusion of a trace out again from its recorded ranks, and compares it with what was recorded.

use std::collections::BTreeMap;

use casebook_index::LexicalLane;
use casebook_ranker::{
    ActivateError, Activation, ActivationRequest, Candidate, Lanes, RankedScore, RankerConfig, SourceState, Tools,
    UnitKey, activate, fuse,
};
use casebook_testkit::{FakeLane, FakeMemory, FixedClock, resource}; // stand in for an index

/// Returns the first unit whose fused score differs.
#[rustfmt::skip]
fn first_difference(trace: &Activation, rrf_k: f32) -> Option<UnitKey> {
    let list = |stage: fn(&Candidate) -> Option<RankedScore>| {
        let ranked = trace.candidates.iter().filter_map(|one| Some((stage(one)?.rank, one.unit_key.clone())));
        ranked.collect::<BTreeMap<_, _>>().into_values().collect::<Vec<_>>()
    };
    let fused = fuse(&list(|one| one.scores.lexical), &list(|one| one.scores.dense), rrf_k, usize::MAX);
    let recorded = trace.candidates.iter().filter_map(|one| Some((&one.unit_key, one.scores.rrf?.score)));
    let recorded: BTreeMap<_, _> = recorded.collect();
    fused.into_iter().find(|(key, score)| recorded.get(key) != Some(score)).map(|(key, _)| key)
}

#[rustfmt::skip]
#[expect(clippy::print_stdout, reason = "an example shows its result")]
fn main() -> Result<(), ActivateError> {
    let (mut memory, clock, config) = (FakeMemory::default(), FixedClock::default(), RankerConfig::default());
    memory.add(resource("lock.md", "").build(), &["one builder holds the lock", "a crash releases it"]);
    let words = FakeLane::new("words", &["lock.md#1", "lock.md#0"]);
    let lexical: Vec<&dyn LexicalLane> = vec![&words];
    let (identity, dense, encoder, degradations) = (None, None, None, Vec::new());
    let lanes = Lanes { revision: memory.revision(), identity, lexical, dense, encoder, units: &memory, degradations };
    let tools = Tools { scorer: None, clock: &clock, freshness: &|_| SourceState::Present };
    let trace = activate(&ActivationRequest::new("who holds the lock?"), &lanes, &config, &tools)?;
    println!("first difference: {:?}", first_difference(&trace, config.rrf_k));
    Ok(())
}
