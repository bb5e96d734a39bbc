//! Every target over its seeds and over some thousand mutations of them.

use casebook_fuzz::{Mutator, TARGETS, read_seeds, targets_named};

const MUTATIONS: usize = 1500;

#[test]
fn targets_hold_on_seeds_and_mutations() {
    for &(name, run) in TARGETS {
        let seeds = read_seeds(name).expect("every target has a folder of seeds");
        assert!(!seeds.is_empty(), "{name} has no seed");
        seeds.iter().for_each(|seed| run(seed));
        run(&[]);
        let mut mutator = Mutator::new(7);
        for _ in 0..MUTATIONS {
            run(&mutator.next_input(&seeds));
        }
    }
}

#[test]
fn mutations_are_repeatable_and_differ() {
    let seeds = vec!["# 记忆\n\ntext".as_bytes().to_vec()];
    let inputs = |number| {
        let mut mutator = Mutator::new(number);
        (0..50).map(|_| mutator.next_input(&seeds)).collect::<Vec<_>>()
    };
    assert_eq!(inputs(1), inputs(1));
    assert_ne!(inputs(1), inputs(2));
    assert!(inputs(1).windows(2).any(|pair| pair[0] != pair[1]));
}

#[test]
fn targets_are_found_by_name() {
    assert_eq!(targets_named("all").len(), TARGETS.len());
    assert_eq!(targets_named("chunker").len(), 1);
    assert!(targets_named("none").is_empty());
}
