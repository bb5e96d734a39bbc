//! A row of f32 as 8-bit numbers, a query as 16-bit ones, and how far their product can be from the true one.
//!
//! The one thing a newcomer gets wrong: the bounds hold for the product as `dot` rounds it, not only for the true one. A
//! row is `r = s*q + e` with 8-bit numbers `q`, a query `x = t*y + f` with 16-bit ones `y`, so that
//! `<r,x> = s*t*<q,y> + <e,x> + s*<q,f>`. `<q,y>` is an integer and exact; by Cauchy and Schwarz the rest is at most
//! `|e|*|x| + |s*q|*|f|`, and `|s*q|` is at most `|r| + |e|`. What `dot` and the bounds themselves round away is added on
//! top, several times over.

/// Every row begins at a multiple of so many bytes, and as many are multiplied at once.
pub(crate) const PADDING: usize = 64;

/// Rows are kept at norm 1. One that is longer than this is no such row, and nothing is claimed about it.
const LONGEST_ROW: f64 = 1.001;

/// A query is scaled to norm 1 likewise; of a longer one nothing is claimed.
const LONGEST_QUERY: f64 = 2.0;

/// Numbers of a row above which the rounding of `dot` is no small matter any more.
const MOST_NUMBERS: usize = 1 << 20;

/// Half the distance from 1 to the next f32: what one rounding can cost, relative to its result.
const ROUNDING: f64 = 1.0 / (1_u32 << 24) as f64;

/// What the bounds are widened by, relative to themselves: far more than their own roundings can cost.
const MARGIN: f64 = 128.0 * ROUNDING;

/// Returns the bytes of a row of 8-bit numbers.
pub(crate) const fn stride(dimension: usize) -> usize {
    dimension.next_multiple_of(PADDING)
}

/// What a row of 8-bit numbers is multiplied with, and how far it is from the row that it was made from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Step {
    pub(crate) scale: f32,
    /// At least the norm of the difference; infinite where nothing is claimed.
    pub(crate) error: f32,
}

/// Adds a row of 8-bit numbers, padded with zeros.
#[inline(always)]
pub(crate) fn quantise(row: &[f32], numbers: &mut Vec<u8>) -> Step {
    let start = numbers.len();
    let end = start + stride(row.len());
    let scale = largest(row) / 127.0;
    let length = norm(row);
    let is_bounded = length <= LONGEST_ROW;
    if !is_bounded || scale == 0.0 {
        numbers.resize(end, 0);
        let error = if is_bounded { at_least(length) } else { f32::INFINITY };
        return Step { scale: 0.0, error };
    }
    numbers.resize(end, 0);
    let numbers = &mut numbers[start..start + row.len()];
    for (small, number) in numbers.iter_mut().zip(row) {
        // A scale so small that it lost precision could lead beyond the ends.
        *small = whole((number / scale).clamp(-127.0, 127.0)) as u8;
    }
    let error = distance(row, scale, numbers, |small| f64::from(small.cast_signed()));
    Step {
        scale,
        error: at_least(error),
    }
}

/// A query as 16-bit numbers, and the bounds of its products.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    /// Padded with zeros like the rows.
    pub(crate) numbers: Vec<i16>,
    /// What the numbers are multiplied with.
    pub(crate) scale: f32,
    /// What a row's error counts.
    pub(crate) slope: f32,
    /// What is uncertain of every row.
    pub(crate) offset: f32,
}

impl Query {
    /// Returns `None` where nothing can be claimed about its products.
    pub(crate) fn new(query: &[f32]) -> Option<Self> {
        let length = norm(query) * (1.0 + MARGIN);
        let is_bounded = length <= LONGEST_QUERY && query.len() <= MOST_NUMBERS;
        if !is_bounded {
            return None;
        }
        // So that the sum of all products with 8-bit numbers fits 32 bits.
        let most = (i32::MAX as usize / (127 * query.len().max(1))).min(i16::MAX as usize) as f32;
        let scale = largest(query) / most;
        let mut numbers = vec![0; query.len()];
        if scale > 0.0 {
            for (small, number) in numbers.iter_mut().zip(query) {
                *small = whole((number / scale).clamp(-most, most)) as i16;
            }
        }
        let error = distance(query, scale, &numbers, |small| f64::from(*small)) * (1.0 + MARGIN);
        numbers.resize(stride(query.len()), 0);
        let slope = length + error;
        let additions = (query.len() + 16) as f64 * ROUNDING;
        let uncertain = LONGEST_ROW * error
            // What `dot` rounds away, relative to the lengths; then the bounds' own middle; then what is too small for f32.
            + additions / (1.0 - additions) * LONGEST_ROW * length
            + 16.0 * ROUNDING * LONGEST_ROW * slope
            + (query.len() as f64 + 1024.0) * f64::from(f32::from_bits(1));
        Some(Self {
            numbers,
            scale,
            slope: at_least(slope * (1.0 + MARGIN)).max(f32::MIN_POSITIVE),
            offset: at_least(uncertain * (1.0 + MARGIN)),
        })
    }

    /// Returns the middle of a row's bounds, and how far they are from it.
    #[inline(always)]
    pub(crate) fn bounds(&self, product: i32, step: Step) -> (f32, f32) {
        let middle = product as f32 * step.scale * self.scale;
        (middle, step.error * self.slope + self.offset)
    }
}

/// Numbers that are computed side by side.
const LANES: usize = 16;

#[inline(always)]
fn largest(numbers: &[f32]) -> f32 {
    let mut most = [0.0_f32; LANES];
    for part in numbers.chunks(LANES) {
        for (most, number) in most.iter_mut().zip(part) {
            *most = if number.abs() > *most { number.abs() } else { *most };
        }
    }
    most.into_iter().fold(0.0, f32::max)
}

/// Returns the nearest whole number of one that is no larger than 2^22: in an f32 of this size there is no room for a
/// fraction, and the low bits are the number. A call of `round` would cost more than all the rest.
#[inline(always)]
fn whole(number: f32) -> i32 {
    const LARGE: f32 = (3_u32 << 22) as f32;
    (number + LARGE).to_bits().cast_signed() - LARGE.to_bits().cast_signed()
}

#[inline(always)]
fn norm(numbers: &[f32]) -> f64 {
    root_of_squares(numbers, numbers, |number, _| f64::from(*number))
}

/// Returns how far numbers are from the row that they stand for. Of every difference one rounding is uncertain: a scale has
/// 24 bits, a number at most 15.
#[inline(always)]
fn distance<T>(row: &[f32], scale: f32, numbers: &[T], wide: impl Fn(&T) -> f64) -> f64 {
    let scale = f64::from(scale);
    root_of_squares(row, numbers, |number, small| f64::from(*number) - scale * wide(small))
}

/// Returns the root of the sum of squares of what becomes of each pair. No square is too small or too large for an f64.
#[inline(always)]
fn root_of_squares<T>(left: &[f32], right: &[T], number: impl Fn(&f32, &T) -> f64) -> f64 {
    let mut sums = [0.0; LANES];
    let (parts, others) = (left.as_chunks::<LANES>(), right.as_chunks::<LANES>());
    for (left, right) in parts.0.iter().zip(others.0) {
        for lane in 0..LANES {
            let number = number(&left[lane], &right[lane]);
            sums[lane] += number * number;
        }
    }
    for (sum, (left, right)) in sums.iter_mut().zip(parts.1.iter().zip(others.1)) {
        let number = number(left, right);
        *sum += number * number;
    }
    sums.iter().sum::<f64>().sqrt()
}

/// Returns an f32 that is no smaller, and 0 for 0 alone.
fn at_least(number: f64) -> f32 {
    if number == 0.0 {
        return 0.0;
    }
    ((number * (1.0 + MARGIN)) as f32).next_up()
}
