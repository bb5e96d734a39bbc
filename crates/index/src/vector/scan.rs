//! Finds the rows that may be among the best, by their 8-bit numbers alone.
//!
//! The one thing a newcomer gets wrong: nothing is ranked here. Every row has an upper and a lower bound; with the k-th best
//! lower bound no row below is among the best k, whatever its true product is. What is left is for `dot` to say.

use super::quantise::{PADDING, Query, Step, quantise, stride};

/// Rows whose bounds are looked at together.
const BLOCK: usize = 64;

/// Bytes of rows that one thread is worth starting for.
const BYTES_PER_THREAD: usize = 32 << 20;

/// Rows of 8-bit numbers, one after another.
#[derive(Debug)]
pub(crate) struct Codes {
    stride: usize,
    numbers: Vec<u8>,
    steps: Vec<Step>,
    arch: pulp::Arch,
}

/// What one thread found.
struct Found {
    /// The best lower bounds, at least as many as are wanted where there are so many rows.
    lowest: Vec<f32>,
    /// Rows whose upper bound reached the best lower bounds so far, with that upper bound.
    rows: Vec<(usize, f32)>,
}

impl Codes {
    pub(crate) fn new(dimension: usize) -> Self {
        Self {
            stride: stride(dimension),
            numbers: Vec::new(),
            steps: Vec::new(),
            arch: pulp::Arch::new(),
        }
    }

    /// Makes room for so many more rows.
    pub(crate) fn reserve(&mut self, rows: usize) {
        self.numbers.reserve(rows * self.stride);
        self.steps.reserve(rows);
    }

    /// Adds a row; returns what its numbers are multiplied with.
    pub(crate) fn push(&mut self, row: &[f32]) -> Step {
        let step = self.arch.dispatch(
            #[inline(always)]
            || quantise(row, &mut self.numbers),
        );
        self.steps.push(step);
        step
    }

    /// Adds a row whose 8-bit numbers were made before.
    pub(crate) fn push_made(&mut self, numbers: &[u8], step: Step) {
        self.numbers.extend_from_slice(numbers);
        self.steps.push(step);
    }

    /// Returns the bytes of all rows.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.numbers
    }

    /// Returns a row's bounds, by the plain twin.
    #[cfg(test)]
    pub(crate) fn bounds(&self, query: &Query, row: usize) -> (f32, f32) {
        let numbers = &self.numbers[row * self.stride..(row + 1) * self.stride];
        let (middle, distance) = query.bounds(product(numbers, &query.numbers), self.steps[row]);
        (middle - distance, middle + distance)
    }

    pub(crate) fn len(&self) -> usize {
        self.steps.len()
    }

    /// Returns every row that may be among the best `limit`, by rising number; which ones does not depend on the number
    /// of threads.
    pub(crate) fn candidates(&self, query: &Query, limit: usize) -> Vec<usize> {
        let threads = match self.bytes().len() / BYTES_PER_THREAD {
            // Asking how many processors there are takes as long as looking at some thousand rows.
            0 | 1 => 1,
            wanted => std::thread::available_parallelism().map_or(1, usize::from).min(wanted),
        };
        self.candidates_by(query, limit, threads)
    }

    /// The same by so many threads.
    pub(crate) fn candidates_by(&self, query: &Query, limit: usize, threads: usize) -> Vec<usize> {
        if limit == 0 || limit >= self.len() {
            return (0..self.len().min(limit)).collect();
        }
        let size = self.len().div_ceil(threads).next_multiple_of(BLOCK);
        let parts = (0..self.len())
            .step_by(size)
            .map(|first| (first, size.min(self.len() - first)));
        let found: Vec<Found> = if threads == 1 {
            parts
                .map(|(first, rows)| self.part(query, first, rows, limit))
                .collect()
        } else {
            std::thread::scope(|scope| {
                let started = parts.map(|(first, rows)| scope.spawn(move || self.part(query, first, rows, limit)));
                let started: Vec<_> = started.collect();
                let joined = started
                    .into_iter()
                    .map(|thread| thread.join().expect("the scan does not panic"));
                joined.collect()
            })
        };
        let mut lowest = Lowest::new(limit);
        found
            .iter()
            .flat_map(|part| &part.lowest)
            .for_each(|low| lowest.push(*low));
        let reached = lowest.settle();
        let rows = found.into_iter().flat_map(|part| part.rows);
        rows.filter(|(_, upper)| *upper >= reached)
            .map(|(row, _)| row)
            .collect()
    }

    fn part(&self, query: &Query, first: usize, rows: usize, limit: usize) -> Found {
        #[cfg(target_arch = "x86_64")]
        match self.arch {
            pulp::Arch::V4(simd) => {
                return self.arch.dispatch(
                    #[inline(always)]
                    || {
                        self.walk(
                            query,
                            first,
                            rows,
                            limit,
                            #[inline(always)]
                            |row, numbers| product_v4(simd, row, numbers),
                        )
                    },
                );
            }
            pulp::Arch::V3(simd) => {
                return self.arch.dispatch(
                    #[inline(always)]
                    || {
                        self.walk(
                            query,
                            first,
                            rows,
                            limit,
                            #[inline(always)]
                            |row, numbers| product_v3(simd, row, numbers),
                        )
                    },
                );
            }
            _ => {}
        }
        self.arch.dispatch(
            #[inline(always)]
            || self.walk(query, first, rows, limit, product),
        )
    }

    /// Walks over some rows, block by block.
    #[inline(always)]
    fn walk(
        &self,
        query: &Query,
        first: usize,
        rows: usize,
        limit: usize,
        product: impl Fn(&[u8], &[i16]) -> i32,
    ) -> Found {
        let mut lowest = Lowest::new(limit);
        let mut candidates = Vec::new();
        // Of one size for the last block as well: what is beyond its rows is computed and not looked at.
        let (mut products, mut steps) = ([0; BLOCK], [Step::default(); BLOCK]);
        let (mut uppers, mut lowers) = ([0.0; BLOCK], [0.0; BLOCK]);
        for start in (first..first + rows).step_by(BLOCK) {
            let block = start..(start + BLOCK).min(first + rows);
            let numbers = &self.numbers[block.start * self.stride..block.end * self.stride];
            for (row, found) in numbers.chunks_exact(self.stride).zip(&mut products) {
                *found = product(row, &query.numbers);
            }
            steps[..block.len()].copy_from_slice(&self.steps[block.clone()]);
            for row in 0..BLOCK {
                let (middle, distance) = query.bounds(products[row], steps[row]);
                uppers[row] = middle + distance;
                lowers[row] = middle - distance;
            }
            let reached = lowest.reached;
            let count: u32 = uppers.iter().map(|upper| u32::from(*upper >= reached)).sum();
            if count == 0 {
                continue;
            }
            for row in 0..block.len() {
                if uppers[row] >= lowest.reached {
                    candidates.push((start + row, uppers[row]));
                    lowest.push(lowers[row]);
                }
            }
        }
        Found {
            lowest: lowest.numbers,
            rows: candidates,
        }
    }
}

/// The best lower bounds so far.
struct Lowest {
    wanted: usize,
    numbers: Vec<f32>,
    /// As many rows as are wanted are known to reach this.
    reached: f32,
}

impl Lowest {
    fn new(wanted: usize) -> Self {
        Self {
            wanted,
            numbers: Vec::new(),
            reached: f32::NEG_INFINITY,
        }
    }

    fn push(&mut self, low: f32) {
        if low > self.reached {
            self.numbers.push(low);
            if self.numbers.len() >= 2 * self.wanted {
                self.settle();
            }
        }
    }

    /// Forgets all but the best as many as are wanted; returns what those reach.
    fn settle(&mut self) -> f32 {
        if self.numbers.len() >= self.wanted {
            let worst = |left: &f32, right: &f32| right.total_cmp(left);
            let (_, reached, _) = self.numbers.select_nth_unstable_by(self.wanted - 1, worst);
            self.reached = *reached;
            self.numbers.truncate(self.wanted);
        }
        self.reached
    }
}

/// Returns the product of a row and a query: the twin that the others are tested against.
#[inline(always)]
fn product(row: &[u8], query: &[i16]) -> i32 {
    let products = row
        .iter()
        .zip(query)
        .map(|(&number, &other)| i32::from(number.cast_signed()) * i32::from(other));
    products.sum()
}

/// The same with registers of 256 bits.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn product_v3(simd: pulp::x86::V3, row: &[u8], query: &[i16]) -> i32 {
    let mut sums = [simd.avx._mm256_setzero_si256(); 2];
    let blocks = row.as_chunks::<PADDING>().0.iter().zip(query.as_chunks::<PADDING>().0);
    for (row, query) in blocks {
        let (row, query) = (row.as_chunks::<16>().0, query.as_chunks::<16>().0);
        for part in 0..PADDING / 16 {
            let wide = simd.avx2._mm256_cvtepi8_epi16(pulp::cast(row[part]));
            let products = simd.avx2._mm256_madd_epi16(wide, pulp::cast(query[part]));
            sums[part % 2] = simd.avx2._mm256_add_epi32(sums[part % 2], products);
        }
    }
    let sums: [i32; 8] = pulp::cast(simd.avx2._mm256_add_epi32(sums[0], sums[1]));
    sums.iter().sum()
}

/// The same with registers of 512 bits.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn product_v4(simd: pulp::x86::V4, row: &[u8], query: &[i16]) -> i32 {
    let mut sums = [simd.avx512f._mm512_setzero_si512(); 2];
    let blocks = row.as_chunks::<PADDING>().0.iter().zip(query.as_chunks::<PADDING>().0);
    for (row, query) in blocks {
        let (row, query) = (row.as_chunks::<32>().0, query.as_chunks::<32>().0);
        for part in 0..PADDING / 32 {
            let wide = simd.avx512bw._mm512_cvtepi8_epi16(pulp::cast(row[part]));
            let products = simd.avx512bw._mm512_madd_epi16(wide, pulp::cast(query[part]));
            sums[part] = simd.avx512f._mm512_add_epi32(sums[part], products);
        }
    }
    simd.avx512f
        ._mm512_reduce_add_epi32(simd.avx512f._mm512_add_epi32(sums[0], sums[1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks every way to multiply that this processor has against the plain one.
    fn check(row: &[u8], query: &[i16]) {
        let expected = product(row, query);
        #[cfg(target_arch = "x86_64")]
        {
            if let Some(simd) = pulp::x86::V3::try_new() {
                let found = simd.vectorize(
                    #[inline(always)]
                    || product_v3(simd, row, query),
                );
                assert_eq!(found, expected);
            }
            if let Some(simd) = pulp::x86::V4::try_new() {
                let found = simd.vectorize(
                    #[inline(always)]
                    || product_v4(simd, row, query),
                );
                assert_eq!(found, expected);
            }
        }
        let codes = Codes {
            stride: row.len(),
            numbers: row.to_vec(),
            steps: vec![Step { scale: 1.0, error: 0.0 }],
            arch: pulp::Arch::new(),
        };
        let query = Query {
            numbers: query.to_vec(),
            scale: 1.0,
            slope: 0.0,
            offset: 0.0,
        };
        let found = codes.part(&query, 0, 1, 1).rows;
        assert_eq!(found, [(0, expected as f32)]);
    }

    #[test]
    fn every_way_to_multiply_gives_the_same_integers() {
        for dimension in [64, 128, 384, 1024] {
            let most = (i32::MAX / (127 * dimension)).min(i32::from(i16::MAX));
            let size = dimension as usize;
            for seed in 0..20_i32 {
                let row = (0..dimension).map(|at| ((at * 31 + seed * 17) % 255 - 127) as i8 as u8);
                let query = (0..dimension).map(|at| ((at * 7919 + seed * 104_729) % (2 * most + 1) - most) as i16);
                check(&row.collect::<Vec<_>>(), &query.collect::<Vec<_>>());
            }
            // The largest sums that there can be.
            check(&vec![127; size], &vec![most as i16; size]);
            check(&vec![(-127_i8).cast_unsigned(); size], &vec![most as i16; size]);
        }
    }
}
