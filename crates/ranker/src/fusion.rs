//! Reciprocal rank fusion. Only ranks are fused: scores of different lanes are not on one scale.

use std::collections::{BTreeMap, BTreeSet};

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
    let mut fused = merge(&[(1.0, lexical), (1.0, dense)], k);
    fused.truncate(keep);
    fused
}

/// Fuses weighted lists; order as in [`fuse`].
pub(crate) fn merge<K: Clone + Ord>(lists: &[(f32, &[K])], k: f32) -> Vec<(K, f32)> {
    let mut scores = BTreeMap::<&K, f32>::new();
    for (weight, keys) in lists {
        let mut seen = BTreeSet::new();
        for (index, key) in keys.iter().enumerate() {
            if seen.insert(key) {
                *scores.entry(key).or_default() += weight / (k + (index + 1) as f32);
            }
        }
    }
    let mut fused: Vec<_> = scores.into_iter().map(|(key, score)| (key.clone(), score)).collect();
    // Stable: equal scores stay in order of the key.
    fused.sort_by(|one, other| other.1.total_cmp(&one.1));
    fused
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

    #[test]
    fn a_heavier_list_leads() {
        let merged = merge(&[(1.0, &["a", "b"]), (2.0, &["b", "a"])], 60.0);
        assert_eq!(merged[0].0, "b");
    }
}
