//! The inner loop, written so that the compiler turns it into vector instructions.

/// Numbers that are multiplied side by side.
const LANES: usize = 8;

/// Returns the dot product. The order of additions is fixed by the length alone, so the result is the same everywhere.
pub(crate) fn dot(left: &[f32], right: &[f32]) -> f32 {
    let mut sums = [0.0_f32; LANES];
    let (left_chunks, right_chunks) = (left.chunks_exact(LANES), right.chunks_exact(LANES));
    let rest = left_chunks.remainder().iter().zip(right_chunks.remainder());
    let rest: f32 = rest.map(|(l, r)| l * r).sum();
    for (l, r) in left_chunks.zip(right_chunks) {
        for lane in 0..LANES {
            sums[lane] += l[lane] * r[lane];
        }
    }
    sums.iter().sum::<f32>() + rest
}

/// Returns what scales the vector to norm 1: 1 for an all-zero one, `None` where a number is not finite.
pub(crate) fn inverse_norm(vector: &[f32]) -> Option<f32> {
    let square: f64 = vector
        .iter()
        .map(|number| f64::from(*number) * f64::from(*number))
        .sum();
    match square {
        0.0 => Some(1.0),
        square if square.is_finite() => Some((1.0 / square.sqrt()) as f32).filter(|scale| scale.is_finite()),
        _ => None,
    }
}
