//! Laws that hold for any memory, any lanes and any profile.

use casebook_corpus::Standing;
use casebook_ranker::{Activation, Disposition, RankerConfig, Role, SourceState, fuse};
use casebook_testkit::FakeLane;
use proptest::prelude::*;

use crate::support::{World, note, world};

#[derive(Clone, Debug)]
struct Draw {
    units: Vec<usize>,
    standings: Vec<u8>,
    lanes: [Vec<(u8, u8)>; 4],
    config: RankerConfig,
}

fn any_lane() -> impl Strategy<Value = Vec<(u8, u8)>> {
    proptest::collection::vec((0_u8..8, 0_u8..5), 0..20)
}

fn any_draw() -> impl Strategy<Value = Draw> {
    let config = (
        1_usize..6,
        1_usize..20,
        1_usize..4,
        1_usize..60,
        1_usize..8,
        any::<bool>(),
    );
    let lanes = [any_lane(), any_lane(), any_lane(), any_lane()];
    let memory = (
        proptest::collection::vec(1_usize..5, 7),
        proptest::collection::vec(0_u8..8, 7),
    );
    (memory, lanes, config).prop_map(
        |((units, standings), lanes, (depth, keep, share, tokens, fragments, attach))| Draw {
            units,
            standings,
            lanes,
            config: RankerConfig {
                fused_keep: keep.max(depth),
                rerank_depth: depth,
                per_resource: share,
                token_budget: tokens,
                fragment_limit: fragments,
                history: if attach {
                    casebook_ranker::HistoryMode::Attach
                } else {
                    casebook_ranker::HistoryMode::Off
                },
                ..RankerConfig::default()
            },
        },
    )
}

fn build(draw: &Draw) -> World {
    let mut world = world("记忆 memory retrieval").config(|config| *config = draw.config.clone());
    let texts = ["memory", "记忆检索", "retrieval of memory", "x"];
    for (number, (units, standing)) in draw.units.iter().zip(&draw.standings).enumerate() {
        let id = format!("r{number}");
        let hidden = if *standing == 1 { &["board"][..] } else { &[] };
        let scope = if *standing == 2 { "team" } else { "project" };
        let own: Vec<_> = texts[..*units].iter().map(|text| format!("{text} {number}")).collect();
        let own: Vec<_> = own.iter().map(String::as_str).collect();
        world = world.add(note(&id).audience(hidden).scope(scope), &own);
        let next = format!("r{}", number + 1);
        match standing {
            3 => world = world.file(&format!("{id}.md"), SourceState::Gone),
            4 | 5 if number < 6 => world = world.superseded(&id, &next, "r6"),
            6 => {
                let by_location = "upper".to_owned();
                world.memory.stand(&id, &Standing::Overlaid { by_location });
            }
            _ => {}
        }
    }
    world.request.scopes = vec!["project".into()];
    let lane = |name, hits: &[(u8, u8)]| {
        let keys: Vec<_> = hits
            .iter()
            .map(|(resource, unit)| format!("r{resource}#{unit}"))
            .collect();
        FakeLane::new(name, &keys.iter().map(String::as_str).collect::<Vec<_>>())
    };
    world.identity = Some(lane("identity", &draw.lanes[0]));
    world.lexical = vec![lane("fts5", &draw.lanes[1]), lane("tantivy", &draw.lanes[2])];
    world.dense = Some(lane("dense", &draw.lanes[3]));
    world
}

/// Selected candidates and fragments are the same units, each with one final rank.
fn check_selection(activation: &Activation) {
    let mut selected: Vec<_> = activation
        .candidates
        .iter()
        .filter(|one| one.disposition == Disposition::Selected)
        .collect();
    selected.sort_by_key(|one| one.scores.final_.unwrap().rank);
    let ranks: Vec<_> = selected
        .iter()
        .map(|one| one.scores.final_.unwrap().rank as usize)
        .collect();
    assert_eq!(ranks, (1..=activation.fragments.len()).collect::<Vec<_>>());
    for (candidate, fragment) in selected.iter().zip(&activation.fragments) {
        assert_eq!(candidate.unit_key, fragment.unit_key);
        assert_eq!(candidate.action, Some(fragment.action));
    }
    let others = activation
        .candidates
        .iter()
        .filter(|one| one.disposition != Disposition::Selected);
    assert!(
        others
            .into_iter()
            .all(|one| one.scores.final_.is_none() && one.action.is_none())
    );
}

fn check_budgets(activation: &Activation, config: &RankerConfig) {
    let tokens: usize = activation.fragments.iter().map(|fragment| fragment.token_count).sum();
    assert_eq!(activation.budget.tokens_used, tokens);
    assert!(tokens <= config.token_budget);
    assert!(activation.fragments.len() <= config.fragment_limit);
    for fragment in &activation.fragments {
        let of_resource = activation
            .fragments
            .iter()
            .filter(|other| other.resource_id == fragment.resource_id);
        assert!(of_resource.count() <= config.per_resource);
    }
}

/// Nothing that a guard is there for is ever in the answer.
fn check_guards(activation: &Activation, draw: &Draw) {
    for fragment in &activation.fragments {
        let number: usize = fragment.resource_id.as_str()[1..].parse().unwrap();
        let standing = draw.standings[number];
        let replaced = matches!(standing, 4 | 5) && number < 6;
        assert!(!matches!(standing, 1 | 2 | 3 | 6), "{fragment:?}");
        assert!(!replaced || fragment.role == Role::History, "{fragment:?}");
    }
}

/// What fusion recorded can be worked out again from the recorded ranks.
fn check_fusion(activation: &Activation, config: &RankerConfig) {
    let list = |rank: fn(&casebook_ranker::StageScores) -> Option<casebook_ranker::RankedScore>| {
        let ranked = activation
            .candidates
            .iter()
            .filter_map(|one| Some((rank(&one.scores)?.rank, one.unit_key.clone())));
        let mut ranked: Vec<_> = ranked.collect();
        ranked.sort();
        ranked.into_iter().map(|(_, unit_key)| unit_key).collect::<Vec<_>>()
    };
    let fused = fuse(
        &list(|scores| scores.lexical),
        &list(|scores| scores.dense),
        config.rrf_k,
        usize::MAX,
    );
    for (unit_key, score) in &fused {
        let recorded = activation
            .candidates
            .iter()
            .find(|one| one.unit_key == *unit_key)
            .unwrap();
        assert_eq!(recorded.scores.rrf.unwrap().score, *score);
    }
    let recorded = activation
        .candidates
        .iter()
        .filter(|one| one.scores.rrf.is_some())
        .count();
    assert_eq!(recorded, fused.len());
}

proptest! {
    #[test]
    fn every_answer_keeps_the_laws(draw in any_draw()) {
        let world = build(&draw);
        let activation = world.run();
        let mut keys: Vec<_> = activation.candidates.iter().map(|one| &one.unit_key).collect();
        keys.sort();
        keys.dedup();
        prop_assert_eq!(keys.len(), activation.candidates.len(), "each candidate once");
        check_selection(&activation);
        check_budgets(&activation, &draw.config);
        check_guards(&activation, &draw);
        check_fusion(&activation, &draw.config);
        prop_assert_eq!(world.run(), activation, "the same again");
    }

    #[test]
    fn it_does_not_matter_which_lane_is_done_first(draw in any_draw(), spins in 0_u32..200) {
        let mut world = build(&draw);
        world.lexical[0] = world.lexical[0].clone().delayed(spins);
        let words_late = world.run();
        world.lexical[0] = world.lexical[0].clone().delayed(0);
        world.dense = world.dense.map(|lane| lane.delayed(spins));
        prop_assert_eq!(world.run(), words_late);
    }
}
