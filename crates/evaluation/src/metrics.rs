//! Recall, reciprocal rank and binary nDCG of a ranking, as trec_eval defines them.
//!
//! Conventions: recall divides by all relevant documents, not by the smaller of that and k; the ideal of nDCG is cut at
//! k too; a query without relevant documents, or without an answer, scores 0. A document listed twice counts once, at its
//! best place.

use std::collections::BTreeSet;

use serde::Serialize;

/// A ranking with what is relevant in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// By place, best first: whether the document is relevant.
    hits: Vec<bool>,
    /// Relevant documents there are.
    relevant: usize,
}

impl Judged {
    /// Judges a ranking, best first.
    pub fn new<D: Ord>(ranked: &[D], relevant: &BTreeSet<D>) -> Self {
        let mut seen = BTreeSet::new();
        let distinct = ranked.iter().filter(|document| seen.insert(*document));
        Self {
            hits: distinct.map(|document| relevant.contains(document)).collect(),
            relevant: relevant.len(),
        }
    }

    /// Returns the share of the relevant documents that are among the first `k`.
    pub fn recall(&self, k: usize) -> f64 {
        let found = self.first(k).filter(|hit| **hit).count();
        if self.relevant == 0 {
            0.0
        } else {
            found as f64 / self.relevant as f64
        }
    }

    /// Returns 1 over the rank of the first relevant document, 0 where none is among the first `k`.
    pub fn reciprocal_rank(&self, k: usize) -> f64 {
        let first = self.first(k).position(|hit| *hit);
        first.map_or(0.0, |index| 1.0 / (index + 1) as f64)
    }

    /// Returns the discounted gain of the first `k` over that of the best possible first `k`.
    pub fn ndcg(&self, k: usize) -> f64 {
        let gain: f64 = self
            .first(k)
            .zip(1..)
            .filter(|(hit, _)| **hit)
            .map(|(_, rank)| discount(rank))
            .sum();
        let ideal: f64 = (1..=self.relevant.min(k)).map(discount).sum();
        if ideal == 0.0 { 0.0 } else { gain / ideal }
    }

    fn first(&self, k: usize) -> impl Iterator<Item = &bool> {
        self.hits.iter().take(k)
    }
}

fn discount(rank: usize) -> f64 {
    1.0 / ((rank + 1) as f64).log2()
}

/// Means over queries, rounded to six digits so that the last bits of a platform's logarithm do not show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Metrics {
    /// Queries that were averaged.
    pub queries: usize,
    /// Recall@1.
    #[serde(rename = "R@1")]
    pub recall_1: f64,
    /// Recall@5.
    #[serde(rename = "R@5")]
    pub recall_5: f64,
    /// Recall@10.
    #[serde(rename = "R@10")]
    pub recall_10: f64,
    /// Recall@20.
    #[serde(rename = "R@20")]
    pub recall_20: f64,
    /// Mean reciprocal rank, 0 past rank 10.
    #[serde(rename = "MRR@10")]
    pub mrr_10: f64,
    /// Binary nDCG@10.
    #[serde(rename = "nDCG@10")]
    pub ndcg_10: f64,
}

impl Metrics {
    /// Averages over queries; all 0 where there are none.
    pub fn mean<'a>(queries: impl IntoIterator<Item = &'a Judged>) -> Self {
        let queries: Vec<_> = queries.into_iter().collect();
        let mean = |measure: &dyn Fn(&Judged) -> f64| {
            let sum: f64 = queries.iter().map(|query| measure(query)).sum();
            (sum / queries.len().max(1) as f64 * 1e6).round() / 1e6
        };
        Self {
            queries: queries.len(),
            recall_1: mean(&|query| query.recall(1)),
            recall_5: mean(&|query| query.recall(5)),
            recall_10: mean(&|query| query.recall(10)),
            recall_20: mean(&|query| query.recall(20)),
            mrr_10: mean(&|query| query.reciprocal_rank(10)),
            ndcg_10: mean(&|query| query.ndcg(10)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Checks R@1, R@5, R@10, RR@10, nDCG@2 and nDCG@10.
    fn check(ranked: &str, relevant: &str, expected: [f64; 6]) {
        let ranked: Vec<_> = ranked.split_whitespace().collect();
        let judged = Judged::new(&ranked, &relevant.split_whitespace().collect());
        let found = [
            judged.recall(1),
            judged.recall(5),
            judged.recall(10),
            judged.reciprocal_rank(10),
            judged.ndcg(2),
            judged.ndcg(10),
        ];
        for (found, expected) in found.iter().zip(expected) {
            assert!(
                (found - expected).abs() < 1e-6,
                "{ranked:?} {relevant}: {found} is not {expected}"
            );
        }
    }

    /// The numbers are what ir-measures 0.4 with pytrec-eval says.
    #[test]
    fn values_are_those_of_trec_eval() {
        check("a b c d", "b", [0.0, 1.0, 1.0, 0.5, 0.63093, 0.63093]);
        check(
            "a b c",
            "a c z",
            [0.333333, 0.666667, 0.666667, 1.0, 0.613147, 0.703918],
        );
        check("x b", "b c d", [0.0, 0.333333, 0.333333, 0.5, 0.386853, 0.296082]);
        check("a", "z", [0.0; 6]);
        check("", "z", [0.0; 6]);
        check("1 2 3 4 5 6 7 8 9 10 11 12", "11", [0.0; 6]);
        check(
            "1 2 3 4 5 6 7 8 9 10 11 12",
            "10 3 12",
            [0.0, 0.333333, 0.666667, 0.333333, 0.0, 0.370291],
        );
    }

    #[test]
    fn nothing_relevant_scores_nothing_and_a_repeated_document_counts_once() {
        check("a b", "", [0.0; 6]);
        check("a b b c", "b c", [0.0, 1.0, 1.0, 0.5, 0.386853, 0.693426]);
    }

    #[test]
    fn no_queries_average_to_nothing() {
        assert_eq!(Metrics::mean([]), Metrics::default());
    }

    /// The definitions written out, rank by rank.
    fn naive(ranked: &[u8], relevant: &BTreeSet<u8>, k: usize) -> [f64; 3] {
        let (mut found, mut reciprocal, mut gain, mut ideal) = (0.0, 0.0, 0.0, 0.0);
        for rank in 1..=k {
            let discount = std::f64::consts::LN_2 / ((rank + 1) as f64).ln();
            if ranked.get(rank - 1).is_some_and(|document| relevant.contains(document)) {
                found += 1.0;
                gain += discount;
                if reciprocal == 0.0 {
                    reciprocal = 1.0 / rank as f64;
                }
            }
            if rank <= relevant.len() {
                ideal += discount;
            }
        }
        if relevant.is_empty() {
            [0.0; 3]
        } else {
            [found / relevant.len() as f64, reciprocal, gain / ideal]
        }
    }

    proptest! {
        #[test]
        fn it_agrees_with_the_definitions(
            ranked in Just((0..30_u8).collect::<Vec<_>>()).prop_shuffle(), length in 0..30_usize,
            relevant in prop::collection::btree_set(0..30_u8, 0..12), k in 1..25_usize,
        ) {
            let ranked = &ranked[..length];
            let judged = Judged::new(ranked, &relevant);
            let found = [judged.recall(k), judged.reciprocal_rank(k), judged.ndcg(k)];
            for (found, expected) in found.iter().zip(naive(ranked, &relevant, k)) {
                prop_assert!((found - expected).abs() < 1e-12 && (0.0..=1.0 + 1e-12).contains(found));
            }
        }
    }
}
