//! The exact vector lane.

use casebook_index::UnitSource;
use proptest::prelude::*;

use crate::support::{DIMENSION, Fixture, Letters, Memory, codes};

#[test]
fn nothing_is_found_for_a_zero_query_and_another_dimension_is_an_error() {
    let fixture = Fixture::new();
    fixture.build(&Memory::with(&[("a.md", "apple"), ("b.md", "—…")]));
    let snapshot = fixture.snapshot();
    let dense = snapshot.dense().unwrap();
    assert!(dense.search(&[0.0; DIMENSION], 9).unwrap().hits.is_empty());
    assert!(dense.search(&[f32::NAN; DIMENSION], 9).unwrap().hits.is_empty());
    assert!(dense.search(&[1.0; 3], 9).is_err());
    let answer = dense.search(&Letters::vector("apple"), 9).unwrap();
    assert_eq!(answer.hits.len(), 1, "a text without anything known is never found");
    assert!(codes(&answer.degradations).is_empty());
    assert!((answer.hits[0].score - 1.0).abs() < 1e-6);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]
    #[test]
    fn the_lane_equals_a_naive_scan(
        texts in prop::collection::vec("[a-f云用户]{1,12}", 1..40),
        query in "[a-f云用户]{1,8}",
        limit in 1..50_usize,
    ) {
        let fixture = Fixture::new();
        let memory = Memory::default();
        for (n, text) in texts.iter().enumerate() {
            memory.write(&format!("{n:03}.md"), text);
        }
        fixture.build(&memory);
        let snapshot = fixture.snapshot();
        let query = Letters::vector(&query);
        let cosine = |text: &str| -> f64 {
            Letters::vector(text).iter().zip(&query).map(|(l, r)| f64::from(*l) * f64::from(*r)).sum()
        };
        let mut naive: Vec<f64> = texts.iter().map(|text| cosine(text)).collect();
        naive.sort_by(|left, right| right.total_cmp(left));
        let hits = snapshot.dense().unwrap().search(&query, limit).unwrap().hits;
        prop_assert_eq!(hits.len(), limit.min(texts.len()));
        let keys: Vec<_> = hits.iter().map(|hit| hit.unit_key.clone()).collect();
        let records = snapshot.units(&keys).unwrap();
        for ((hit, record), best) in hits.iter().zip(&records).zip(naive) {
            prop_assert!((f64::from(hit.score) - best).abs() < 1e-5);
            prop_assert!((f64::from(hit.score) - cosine(&record.unit.text)).abs() < 1e-5);
        }
        for (pair, records) in hits.windows(2).zip(records.windows(2)) {
            let tie = pair[0].score == pair[1].score;
            prop_assert!(pair[0].score > pair[1].score || tie && records[0].resource.id < records[1].resource.id);
        }
    }
}
