//! Arithmetic on vectors. Every sum has one fixed order, so the same numbers give the same bits everywhere.

/// Sums that run side by side in a dot product; the compiler turns them into vector registers.
const LANES: usize = 16;

/// Returns the dot product of two vectors of one length.
pub(crate) fn dot(left: &[f32], right: &[f32]) -> f32 {
    let (left_blocks, left_rest) = left.as_chunks::<LANES>();
    let (right_blocks, right_rest) = right.as_chunks::<LANES>();
    let mut sums = [0.0_f32; LANES];
    for (left, right) in left_blocks.iter().zip(right_blocks) {
        for lane in 0..LANES {
            sums[lane] += left[lane] * right[lane];
        }
    }
    let rest: f32 = left_rest.iter().zip(right_rest).map(|(left, right)| left * right).sum();
    sums.iter().sum::<f32>() + rest
}

/// Adds `amount` times `addend`.
pub(crate) fn add_scaled(target: &mut [f32], amount: f32, addend: &[f32]) {
    for (target, addend) in target.iter_mut().zip(addend) {
        *target += amount * addend;
    }
}

/// Scales to L2 norm 1; leaves a vector of no length as it is.
pub(crate) fn normalise(vector: &mut [f32]) {
    let norm = dot(vector, vector).sqrt();
    if norm > f32::MIN_POSITIVE {
        vector.iter_mut().for_each(|number| *number /= norm);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_and_rest_are_both_summed() {
        for length in [0, 1, 15, 16, 17, 40] {
            let ones = vec![1.0; length];
            assert_eq!(dot(&ones, &ones), length as f32, "{length}");
        }
    }

    #[test]
    fn a_vector_of_no_length_stays() {
        let mut vector = [0.0; 4];
        normalise(&mut vector);
        assert_eq!(vector, [0.0; 4]);
    }
}
