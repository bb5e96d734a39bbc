//! A trace as it was recorded replays; one that was touched anywhere does not.

use casebook_corpus::{RecordSource, Resource};
use casebook_evaluation::{Replay, replay};
use casebook_index::{BuildRequest, Index, IndexOptions, LockWait};
use casebook_ranker::{
    Activation, ActivationRequest, Disposition, HistoryMode, Lanes, Language, RankedScore, RankerConfig, Role,
    SourceState, Tools, activate,
};
use casebook_testkit::{FixedClock, resource};
use proptest::prelude::*;

use crate::support::{CharacterCounts, SharedCharacters};

/// Records an activation over real lanes.
struct Memory {
    index: Index,
    _dir: tempfile::TempDir,
}

impl Memory {
    fn new(resources: Vec<Resource>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let index = Index::open_with(dir.path(), IndexOptions::with_every_lane()).unwrap();
        let request = BuildRequest {
            source: &RecordSource::new(resources),
            encoder: Some(&CharacterCounts::new()),
            clock: &FixedClock::default(),
            observer: &(),
            full: false,
            wait: LockWait::UntilFree,
        };
        index.build(&request).unwrap();
        Self { index, _dir: dir }
    }

    fn record(&self, query: &str, config: &RankerConfig, with_scorer: bool) -> Activation {
        let snapshot = self.index.snapshot().unwrap().unwrap();
        let lanes = Lanes {
            revision: snapshot.revision(),
            identity: Some(snapshot.identity()),
            lexical: snapshot.lexical(),
            dense: snapshot.dense(),
            encoder: Some(&CharacterCounts::new()),
            preferred: None,
            units: &snapshot,
            degradations: Vec::new(),
        };
        let tools = Tools {
            scorer: with_scorer.then_some(&SharedCharacters as _),
            clock: &FixedClock::default(),
            freshness: &|_| SourceState::Present,
        };
        let request = ActivationRequest {
            query: query.into(),
            ..ActivationRequest::default()
        };
        activate(&request, &lanes, config, &tools).unwrap()
    }
}

fn notes() -> Vec<Resource> {
    let mut notes = vec![
        resource("old.md", "The index was rebuilt by hand every week.").build(),
        resource("new.md", "The index is rebuilt by the builder after each edit.")
            .supersedes(&["old.md"])
            .build(),
        resource("重建.md", "重建索引期间，查询看到旧的版本。").build(),
        resource(
            "long.md",
            &"# Part\n\nThe builder writes the index, then the head moves to the new revision.\n\n".repeat(9),
        )
        .build(),
    ];
    notes.extend((0..8).map(|number| {
        let body = format!("Note {number}: an index of things, 记录 {number}.");
        resource(&format!("note-{number}.md"), &body).build()
    }));
    notes
}

fn config() -> RankerConfig {
    RankerConfig {
        fragment_limit: 5,
        token_budget: 90,
        fused_keep: 9,
        rerank_depth: 7,
        lexical_limit: 14,
        dense_limit: 10,
        history: HistoryMode::Attach,
        rerank_weight: 2.0,
        min_relevance: 0.1,
        relevance_share: 0.4,
        ..RankerConfig::default()
    }
}

/// Checks that a touched trace differs as expected.
fn check(touch: impl FnOnce(&mut Activation), expected: &str) {
    let memory = Memory::new(notes());
    let mut activation = memory.record("rebuilt index 重建索引 new.md", &config(), true);
    assert_eq!(replay(&activation, &config()), Replay::Same);
    touch(&mut activation);
    match replay(&activation, &config()) {
        Replay::Same => panic!("the change was not seen; expected {expected}"),
        Replay::Different(difference) => {
            let text = difference.to_string();
            assert!(text.contains(expected), "{text}");
        }
    }
}

fn swap_ranks(one: &mut Option<RankedScore>, other: &mut Option<RankedScore>) {
    let (Some(one), Some(other)) = (one, other) else {
        panic!("both are ranked")
    };
    std::mem::swap(&mut one.rank, &mut other.rank);
}

/// Returns where the candidate at this rank of a stage is.
fn at(
    activation: &Activation,
    rank: u32,
    slot: impl Fn(&casebook_ranker::StageScores) -> Option<RankedScore>,
) -> usize {
    let place = activation
        .candidates
        .iter()
        .position(|candidate| slot(&candidate.scores).is_some_and(|r| r.rank == rank));
    place.unwrap()
}

macro_rules! swap {
    ($activation:expr, $one:expr, $other:expr, $slot:ident) => {{
        let one = at($activation, $one, |scores| scores.$slot);
        let other = at($activation, $other, |scores| scores.$slot);
        let (low, high) = (one.min(other), one.max(other));
        let (left, right) = $activation.candidates.split_at_mut(high);
        swap_ranks(&mut left[low].scores.$slot, &mut right[0].scores.$slot);
    }};
}

#[test]
fn a_trace_holds_all_that_this_test_touches() {
    let activation = Memory::new(notes()).record("rebuilt index 重建索引 new.md", &config(), true);
    let has = |disposition| {
        activation
            .candidates
            .iter()
            .any(|candidate| candidate.disposition == disposition)
    };
    assert!(has(Disposition::Selected) && has(Disposition::NotReranked) && has(Disposition::FragmentCap));
}

#[test]
fn a_trace_with_history_replays() {
    let config = RankerConfig {
        fragment_limit: 12,
        token_budget: 2400,
        ..config()
    };
    let activation = Memory::new(notes()).record("index rebuilt by hand every week", &config, true);
    assert!(
        activation
            .fragments
            .iter()
            .any(|fragment| fragment.role == Role::History)
    );
    assert!(
        activation
            .candidates
            .iter()
            .any(|candidate| candidate.redirected_from.is_some())
    );
    assert_eq!(replay(&activation, &config), Replay::Same);
}

#[test]
fn what_recall_and_fusion_recorded_is_checked() {
    check(|trace| swap!(trace, 2, 9, impact), "stage lexical");
    check(|trace| swap!(trace, 2, 9, fts5), "stage lexical");
    check(|trace| swap!(trace, 2, 9, tantivy), "stage lexical");
    check(|trace| swap!(trace, 1, 9, lexical), "stage lexical");
    check(|trace| swap!(trace, 1, 9, dense), "stage fusion");
    check(|trace| swap!(trace, 1, 9, rrf), "stage fusion");
    check(|trace| swap!(trace, 1, 9, weighted), "stage fusion");
    check(
        |trace| {
            let place = at(trace, 2, |scores| scores.weighted);
            trace.candidates[place].language = match trace.candidates[place].language {
                Language::En => Language::Zh,
                _ => Language::En,
            };
        },
        "weighted",
    );
    check(
        |trace| {
            let place = at(trace, 3, |scores| scores.lexical);
            trace.candidates[place].scores.lexical.as_mut().unwrap().score = 0.99;
        },
        "lexical score at its rank",
    );
    check(
        |trace| {
            let place = at(trace, 1, |scores| scores.rrf);
            trace.candidates[place].scores.rrf = Some(RankedScore { rank: 1, score: 9.0 });
        },
        "rrf score is 9",
    );
    check(
        |trace| {
            let place = at(trace, 10, |scores| scores.weighted);
            trace.candidates[place].scores.fused = trace.candidates[place].scores.weighted;
        },
        "fused rank",
    );
    check(
        |trace| {
            let place = at(trace, 3, |scores| scores.lexical);
            trace.candidates.remove(place);
        },
        "recomputed",
    );
}

#[test]
fn what_the_rerank_recorded_is_checked() {
    check(|trace| swap!(trace, 1, 5, reranker), "stage rerank");
    check(
        |trace| {
            let place = at(trace, 2, |scores| scores.reranker);
            trace.candidates[place].contrast = Some(-3.0);
        },
        "reranker score",
    );
    check(
        |trace| {
            trace
                .candidates
                .iter_mut()
                .for_each(|candidate| candidate.scores.reranker = None)
        },
        "number of reranked candidates is 0",
    );
}

#[test]
fn what_assembly_recorded_is_checked() {
    let capped = |candidate: &&mut casebook_ranker::Candidate| candidate.disposition == Disposition::FragmentCap;
    check(
        |trace| trace.candidates.iter_mut().find(capped).unwrap().disposition = Disposition::TokenCap,
        "disposition is token_cap, recomputed fragment_cap",
    );
    check(|trace| swap!(trace, 1, 3, final_), "unit at its final rank");
    check(|trace| trace.fragments.truncate(2), "number of fragments");
    check(|trace| trace.budget.tokens_used += 1, "number of tokens used");
    check(|trace| trace.budget.fragments_used += 1, "number of fragments used");
    check(|trace| trace.budget.token_budget += 1, "token budget");
    check(
        |trace| trace.state.held.clear(),
        "whether the state is the answer is false",
    );
}

#[test]
fn a_trace_without_a_rerank_replays() {
    let activation = Memory::new(notes()).record("索引 index", &config(), false);
    assert_eq!(replay(&activation, &config()), Replay::Same);
}

#[test]
fn another_profile_does_not_give_the_same() {
    let activation = Memory::new(notes()).record("索引 index", &config(), true);
    for change in [
        |config: &mut RankerConfig| config.rrf_k = 10.0,
        |config: &mut RankerConfig| config.fusion_weights.dense = 0.9,
        |config: &mut RankerConfig| config.fusion = casebook_ranker::Fusion::Rrf,
        |config: &mut RankerConfig| config.fused_keep = 8,
        |config: &mut RankerConfig| config.rerank_depth = 6,
        |config: &mut RankerConfig| config.rerank_weight = 1.0,
        |config: &mut RankerConfig| config.fragment_limit = 2,
    ] {
        let mut config = config();
        change(&mut config);
        assert_ne!(replay(&activation, &config), Replay::Same, "{config:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]
    #[test]
    fn whatever_was_recorded_replays(
        queries in prop::collection::vec("(index |索引|重建|builder |head |note-[0-7] |[a-z]{1,4} ){1,4}", 1..6),
        fragment_limit in 1..6_usize, token_budget in 1..200_usize, per_resource in 1..3_usize, keep in 1..20_usize,
        depth in 1..20_usize, limit in 1..20_usize, with_scorer: bool, attach: bool,
    ) {
        let config = RankerConfig {
            fragment_limit, token_budget, per_resource,
            lexical_limit: limit, dense_limit: 20, fused_keep: keep, rerank_depth: depth.min(keep),
            history: if attach { HistoryMode::Attach } else { HistoryMode::Off },
            ..RankerConfig::default()
        };
        let memory = Memory::new(notes());
        for query in queries {
            let activation = memory.record(&query, &config, with_scorer);
            prop_assert_eq!(replay(&activation, &config), Replay::Same);
        }
    }
}
