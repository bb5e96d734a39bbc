//! Two lists become one: by reciprocal ranks, or by weighted scores.
//!
//! The one thing a newcomer gets wrong: scores of different lanes are not on one scale. Reciprocal ranks ignore them;
//! weighted fusion first stretches each list over 0 to 1.

use std::collections::{BTreeMap, BTreeSet};

use crate::FusionWeights;

/// The most that a foreign key's dense score is raised by: encoders find even a translation less near than a text in the
/// query's own language. Higher than 2 and one faint foreign text beside many good ones would count as the best.
const FOREIGN_LIFT: f32 = 2.0;

/// Fuses two ranked lists: a key scores the sum of `1 / (k + rank)` over the lists that have it.
///
/// Returns the best `keep` keys with their scores, best first; equal scores in order of the key. A key that stands twice
/// in a list counts where it stands first.
///
/// ```
/// let fused = casebook_ranker::fuse(&["a", "b"], &["b"], 60.0, 10);
/// assert_eq!(fused, [("b", 1.0 / 62.0 + 1.0 / 61.0), ("a", 1.0 / 61.0)]);
/// ```
pub fn fuse<K: Clone + Ord>(lexical: &[K], dense: &[K], k: f32, keep: usize) -> Vec<(K, f32)> {
    let mut scores = BTreeMap::<&K, f32>::new();
    for keys in [lexical, dense] {
        let mut seen = BTreeSet::new();
        for (index, key) in keys.iter().enumerate() {
            if seen.insert(key) {
                *scores.entry(key).or_default() += 1.0 / (k + (index + 1) as f32);
            }
        }
    }
    let mut fused = best_first(scores.into_iter().map(|(key, score)| (key.clone(), score)).collect());
    fused.truncate(keep);
    fused
}

/// Fuses two scored lists of shares, 0 to 1; see [`shares`] and [`dense_shares`]. A key that a list lacks has 0 there. In
/// the query's language the dense list has `dense_share` and the lexical one the rest; foreign keys, as `is_foreign` says,
/// have their weights.
///
/// Returns every key with its score, best first; equal scores in order of the key. A key that stands twice in a list
/// counts where it stands first.
///
/// ```
/// use casebook_ranker::{FusionWeights, fuse_weighted};
///
/// let (lexical, dense) = ([("same", 1.0), ("words", 0.5)], [("foreign", 1.0), ("same", 0.5)]);
/// let is_foreign = |key: &&str| *key == "foreign";
/// let fused = fuse_weighted(&lexical, &dense, is_foreign, 0.5, &FusionWeights::default());
/// assert_eq!(fused, [("foreign", 1.0), ("same", 0.75), ("words", 0.25)]);
/// ```
pub fn fuse_weighted<K: Clone + Ord>(
    lexical: &[(K, f32)],
    dense: &[(K, f32)],
    is_foreign: impl Fn(&K) -> bool,
    dense_share: f32,
    weights: &FusionWeights,
) -> Vec<(K, f32)> {
    let (lexical, dense) = (first_of_each(lexical), first_of_each(dense));
    let keys: BTreeSet<&K> = lexical.keys().chain(dense.keys()).copied().collect();
    let score = |key: &K| {
        let (lexical, dense) = (lexical.get(key).unwrap_or(&0.0), dense.get(key).unwrap_or(&0.0));
        if is_foreign(key) {
            weights.foreign_dense * dense + weights.foreign_lexical * lexical
        } else {
            dense_share * dense + (1.0 - dense_share) * lexical
        }
    };
    best_first(keys.into_iter().map(|key| (key.clone(), score(key))).collect())
}

/// Returns the scores of the dense list as shares of the best one, 0 to 1, after those of foreign keys were raised, by 2
/// at most, so that the best of them reaches the best of the others.
///
/// A share of 0 stands for a score of 0 or less, or, where the encoder is contextual, for the lowest of the list: its
/// scores lie close together, however far apart the texts are.
pub fn dense_shares<K: Clone>(
    list: &[(K, f32)],
    is_foreign: impl Fn(&K) -> bool,
    is_contextual: bool,
) -> Vec<(K, f32)> {
    let best_of = |foreign| {
        let scores = list.iter().filter(|(key, _)| is_foreign(key) == foreign);
        scores.map(|(_, score)| *score).fold(0.0, f32::max)
    };
    let (native, foreign) = (best_of(false), best_of(true));
    let best = native.max(foreign);
    let lift = if foreign > 0.0 {
        (best / foreign).min(FOREIGN_LIFT)
    } else {
        1.0
    };
    let lifted = |(key, score): &(K, f32)| if is_foreign(key) { score * lift } else { *score };
    let lowest = list.iter().map(lifted).fold(best, f32::min).max(0.0);
    let floor = if is_contextual { lowest } else { 0.0 };
    let share = |score: f32| {
        if best > floor {
            ((score - floor) / (best - floor)).max(0.0)
        } else {
            f32::from(u8::from(score > 0.0))
        }
    };
    list.iter().map(|one| (one.0.clone(), share(lifted(one)))).collect()
}

fn first_of_each<K: Ord>(list: &[(K, f32)]) -> BTreeMap<&K, f32> {
    let mut scores = BTreeMap::new();
    for (key, score) in list {
        scores.entry(key).or_insert(*score);
    }
    scores
}

/// Stable: equal scores stay in order of the key.
fn best_first<K>(mut scored: Vec<(K, f32)>) -> Vec<(K, f32)> {
    scored.sort_by(|one, other| other.1.total_cmp(&one.1));
    scored
}

/// Returns the scores of a lane's list as shares of its best one, 0 to 1.
///
/// A share of 0 stands for what the lane did not list. Where the list is as long as its `limit`, something may have been
/// left out with a score just below the last one's, so that one is 0; else everything else scores 0.
pub fn shares<K: Clone>(list: &[(K, f32)], limit: usize) -> Vec<(K, f32)> {
    let scores = || list.iter().map(|(_, score)| *score);
    let (worst, best) = (
        scores().fold(f32::INFINITY, f32::min),
        scores().fold(f32::NEG_INFINITY, f32::max),
    );
    let floor = if list.len() >= limit { worst } else { worst.min(0.0) };
    let share = |score: f32| {
        if best > floor {
            (score - floor) / (best - floor)
        } else {
            1.0
        }
    };
    list.iter().map(|(key, score)| (key.clone(), share(*score))).collect()
}

/// Merges the word lanes' lists, each as [`shares`], by their weights: 1 is the best hit of every lane that found
/// something. Best first, equal
/// scores in order of the key.
pub fn merge_words<K: Clone + Ord>(lists: &[(f32, Vec<(K, f32)>)]) -> Vec<(K, f32)> {
    let weights: f32 = lists
        .iter()
        .filter(|(_, list)| !list.is_empty())
        .map(|(weight, _)| weight)
        .sum();
    let mut merged = BTreeMap::<&K, f32>::new();
    for (weight, list) in lists {
        for (key, share) in list {
            *merged.entry(key).or_default() += weight * share / weights;
        }
    }
    best_first(merged.into_iter().map(|(key, score)| (key.clone(), score)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(lexical: &[&'static str], dense: &[&'static str], keep: usize) -> Vec<&'static str> {
        fuse(lexical, dense, 60.0, keep)
            .into_iter()
            .map(|(key, _)| key)
            .collect()
    }

    #[test]
    fn a_key_of_both_lists_leads() {
        assert_eq!(order(&["a", "b", "c"], &["c", "d"], 9), ["c", "a", "b", "d"]);
    }

    #[test]
    fn equal_scores_are_in_order_of_the_key() {
        assert_eq!(order(&["z", "b"], &["a", "y"], 9), ["a", "z", "b", "y"]);
    }

    #[test]
    fn a_repeated_key_counts_once() {
        assert_eq!(order(&["a", "a", "a", "b"], &["b"], 9), ["b", "a"]);
    }

    #[test]
    fn the_best_are_kept() {
        assert_eq!(order(&["a", "b", "c"], &[], 2), ["a", "b"]);
        assert!(order(&[], &[], 2).is_empty());
    }

    fn weighted(lexical: &[(&'static str, f32)], dense: &[(&'static str, f32)]) -> Vec<(&'static str, f32)> {
        let weights = FusionWeights {
            foreign_dense: 1.0,
            foreign_lexical: 0.25,
            ..FusionWeights::default()
        };
        let dense = dense_shares(dense, is_foreign, false);
        fuse_weighted(lexical, &dense, is_foreign, 0.5, &weights)
    }

    fn is_foreign(key: &&str) -> bool {
        key.starts_with('~')
    }

    #[test]
    fn scores_of_a_contextual_encoder_begin_at_the_lowest() {
        let list = [("a", 0.75), ("~b", 0.5), ("c", 0.625), ("d", 0.5)];
        assert_eq!(
            dense_shares(&list, is_foreign, true),
            [("a", 1.0), ("~b", 1.0), ("c", 0.5), ("d", 0.0)]
        );
        assert_eq!(
            dense_shares(&[("a", 0.5), ("b", 0.5)], is_foreign, true),
            [("a", 1.0), ("b", 1.0)]
        );
        assert_eq!(
            dense_shares(&[("a", 0.5), ("b", -0.5)], is_foreign, true),
            [("a", 1.0), ("b", 0.0)]
        );
        assert_eq!(
            dense_shares(&[("a", 0.0), ("b", -0.5)], is_foreign, true),
            [("a", 0.0), ("b", 0.0)]
        );
    }

    #[test]
    fn a_foreign_key_needs_no_words() {
        let fused = weighted(&[("a", 1.0)], &[("~b", 0.8), ("a", 0.4)]);
        assert_eq!(fused, [("~b", 1.0), ("a", 0.75)]);
        assert_eq!(weighted(&[("~b", 1.0)], &[]), [("~b", 0.25)]);
    }

    #[test]
    fn a_foreign_key_is_raised_to_the_best_and_no_more_than_allowed() {
        assert_eq!(
            weighted(&[], &[("a", 0.75), ("~b", 0.5), ("~c", 0.25)]),
            [("~b", 1.0), ("a", 0.5), ("~c", 0.5)]
        );
        assert_eq!(weighted(&[], &[("a", 1.0), ("~b", 0.125)]), [("a", 0.5), ("~b", 0.25)]);
        assert_eq!(weighted(&[], &[("~b", 0.5), ("a", 0.25)]), [("~b", 1.0), ("a", 0.25)]);
        assert_eq!(weighted(&[], &[("a", 0.5), ("~b", -0.5)]), [("a", 0.5), ("~b", 0.0)]);
    }

    #[test]
    fn dense_scores_that_are_not_above_0_count_nothing() {
        assert_eq!(
            weighted(&[("a", 0.5)], &[("b", 0.0), ("c", -1.0)]),
            [("a", 0.25), ("b", 0.0), ("c", 0.0)]
        );
        assert_eq!(weighted(&[], &[("b", 0.5), ("c", -1.0)]), [("b", 0.5), ("c", 0.0)]);
        assert_eq!(weighted(&[("a", 1.0), ("a", 0.1)], &[]), [("a", 0.5)]);
    }

    #[test]
    fn a_list_that_was_cut_ends_at_0_and_a_whole_one_does_not() {
        assert_eq!(
            shares(&[("a", 8.0), ("b", 4.0), ("c", 2.0)], 9),
            [("a", 1.0), ("b", 0.5), ("c", 0.25)]
        );
        assert_eq!(
            shares(&[("a", 8.0), ("b", 5.0), ("c", 2.0)], 3),
            [("a", 1.0), ("b", 0.5), ("c", 0.0)]
        );
        assert_eq!(shares(&[("a", -2.0), ("b", -4.0)], 9), [("a", 1.0), ("b", 0.0)]);
        assert_eq!(shares(&[("a", 3.0)], 1), [("a", 1.0)]);
        assert_eq!(shares::<&str>(&[], 1), []);
    }

    #[test]
    fn a_heavier_lane_leads() {
        let merged = merge_words(&[(1.0, vec![("a", 1.0), ("b", 0.5)]), (3.0, vec![("b", 1.0)])]);
        assert_eq!(merged, [("b", 0.875), ("a", 0.25)]);
        assert_eq!(merge_words(&[(1.0, vec![("a", 1.0)]), (3.0, vec![])]), [("a", 1.0)]);
    }
}
