//! The shortcut against its plain twin.

use proptest::prelude::*;

use super::*;
use crate::vector::dot::inverse_norm;

fn matrix(rows: &[Vec<f32>]) -> Matrix {
    let mut matrix = Matrix::default();
    for (number, row) in rows.iter().enumerate() {
        let blob: Vec<u8> = row.iter().flat_map(|number| number.to_le_bytes()).collect();
        matrix.push(&blob, UnitKey::new(number.to_string()));
    }
    matrix
}

fn row_of(matrix: &Matrix, row: usize) -> &[f32] {
    &matrix.numbers[row * matrix.dimension..(row + 1) * matrix.dimension]
}

fn unit(row: &[f32]) -> Vec<f32> {
    let scale = inverse_norm(row).unwrap_or(1.0);
    row.iter().map(|number| number * scale).collect()
}

/// Every row is multiplied and all are sorted.
fn plain(rows: &[Vec<f32>], query: &[f32], limit: usize) -> Vec<(String, u32)> {
    let known = rows.iter().enumerate().filter(|(_, row)| row.iter().any(|n| *n != 0.0));
    let mut scored: Vec<(usize, f32)> = known.map(|(number, row)| (number, dot(row, query))).collect();
    scored.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
    scored.truncate(limit);
    let named = scored
        .into_iter()
        .map(|(number, score)| (number.to_string(), score.to_bits()));
    named.collect()
}

fn check(rows: &[Vec<f32>], query: &[f32], limit: usize) {
    let matrix = matrix(rows);
    let best = matrix
        .best(query, limit, |_| Ok::<_, ()>(None))
        .unwrap()
        .rows
        .into_iter();
    let best: Vec<_> = best.map(|(key, score)| (key.to_string(), score.to_bits())).collect();
    assert_eq!(best, plain(rows, query, limit));
    let (Some(codes), Some(small)) = (&matrix.codes, Query::new(query)) else {
        return;
    };
    let alone = codes.candidates_by(&small, limit, 1);
    for threads in [2, 3, 7] {
        assert_eq!(codes.candidates_by(&small, limit, threads), alone, "{threads} threads");
    }
    for (row, score) in (0..codes.len()).map(|row| (row, dot(row_of(&matrix, row), query))) {
        let (low, high) = codes.bounds(&small, row);
        assert!(
            (low..=high).contains(&score) || !score.is_finite(),
            "row {row}: {low} {score} {high}"
        );
    }
}

fn numbers(dimension: usize) -> impl Strategy<Value = Vec<f32>> {
    prop::collection::vec(-1.0..1.0_f32, dimension)
}

/// Rows that are near each other in all the ways that could lead a shortcut astray.
fn rows(dimension: usize) -> impl Strategy<Value = Vec<Vec<f32>>> {
    let random = prop::collection::vec(numbers(dimension), 1..300);
    let clustered = (
        numbers(dimension),
        prop::collection::vec(numbers(dimension), 1..300),
        0..8_i32,
    );
    let clustered = clustered.prop_map(|(centre, others, nearness)| {
        let near = |other: Vec<f32>| {
            let pairs = centre.iter().zip(other);
            pairs
                .map(|(middle, other)| middle + other * 10.0_f32.powi(-nearness))
                .collect()
        };
        others.into_iter().map(near).collect()
    });
    let doubled = (prop::collection::vec(numbers(dimension), 1..8), 2..60_usize);
    let doubled = doubled.prop_map(|(few, times)| few.iter().cycle().take(few.len() * times).cloned().collect());
    let huge = (
        prop::collection::vec(numbers(dimension), 1..200),
        0..dimension,
        3..30_i32,
    );
    let huge = huge.prop_map(|(mut rows, at, size)| {
        for row in rows.iter_mut().step_by(2) {
            row[at] = 10.0_f32.powi(size);
        }
        rows
    });
    let sparse = (0..dimension, prop::collection::vec(numbers(dimension), 1..200));
    let sparse = sparse.prop_map(|(at, mut rows)| {
        for (number, row) in rows.iter_mut().enumerate() {
            match number % 4 {
                0 => row.fill(0.0),
                1 => {
                    let kept = row[at];
                    row.fill(0.0);
                    row[at] = kept;
                }
                _ => {}
            }
        }
        rows
    });
    prop_oneof![random, clustered, doubled, huge, sparse]
        .prop_map(|rows: Vec<Vec<f32>>| rows.iter().map(|row| unit(row)).collect())
}

fn cases() -> impl Strategy<Value = (Vec<Vec<f32>>, Vec<f32>, usize)> {
    let dimensions = prop_oneof![Just(1_usize), Just(7), Just(16), Just(64), Just(65), Just(256)];
    dimensions
        .prop_flat_map(|dimension| (rows(dimension), numbers(dimension), 0..2_u8, 0..400_usize))
        .prop_map(|(rows, random, kind, limit)| {
            // A query that is a row of its own makes the closest ties.
            let query = if kind == 0 {
                rows[rows.len() / 2].clone()
            } else {
                unit(&random)
            };
            (rows, query, limit)
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]
    #[test]
    fn the_best_rows_are_those_of_looking_at_every_row((rows, query, limit) in cases()) {
        check(&rows, &query, limit);
    }
}

#[test]
fn ties_below_one_step_of_the_8_bit_numbers_are_told_apart() {
    let dimension = 256;
    // All rows have the same 8-bit numbers; the products differ in their last bits.
    let rows: Vec<Vec<f32>> = (0..500_u32)
        .map(|number| {
            let mut row = vec![0.0625_f32; dimension];
            row[7] = f32::from_bits(0.0625_f32.to_bits() + number * 37 % 101);
            row
        })
        .collect();
    let query = unit(&vec![1.0; dimension]);
    for limit in [1, 10, 499] {
        check(&rows, &query, limit);
    }
}

#[test]
fn rows_that_are_no_unit_vectors_are_looked_at_in_full() {
    let tiny = f32::from_bits(3);
    let row = |number: f32| vec![number, number, -number];
    let mut rows = vec![
        row(1e38),
        row(f32::MAX),
        row(tiny),
        row(-tiny),
        row(1e-20),
        row(2.0),
        row(0.0),
    ];
    rows.extend((0..100).map(|number| unit(&[1.0, number as f32, 2.0])));
    for limit in [1, 3, 5, 50] {
        check(&rows, &unit(&[1.0, 1.0, -0.5]), limit);
        check(&rows, &[tiny, 0.0, tiny], limit);
        check(&rows, &[1e30, 1.0, 1.0], limit);
    }
}

#[test]
fn most_rows_are_left_out() {
    let mut state = 1_u64;
    let mut random = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 24) as f32 - 0.5
    };
    let rows: Vec<Vec<f32>> = (0..3000)
        .map(|_| unit(&(0..256).map(|_| random()).collect::<Vec<_>>()))
        .collect();
    let query = unit(&(0..256).map(|_| random()).collect::<Vec<_>>());
    check(&rows, &query, 20);
    let matrix = matrix(&rows);
    let found = matrix.codes.unwrap().candidates(&Query::new(&query).unwrap(), 20).len();
    assert!((20..120).contains(&found), "{found} rows of 3000 are left");
}
