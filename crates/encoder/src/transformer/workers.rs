//! Many texts at once: one per thread, a question whether to stop before each, and a panic that names its text.

use std::panic::{AssertUnwindSafe, catch_unwind};

use casebook_index::{Cancel, EncodeError};
use rayon::ThreadPool;
use rayon::iter::{IndexedParallelIterator as _, IntoParallelIterator as _, ParallelIterator as _};

use super::TransformerError;

/// Threads that wait for work.
pub(super) struct Workers(Option<ThreadPool>);

impl Workers {
    /// Starts so many threads; with one the caller's own does the work.
    pub(super) fn start(threads: usize) -> Result<Self, TransformerError> {
        if threads <= 1 {
            return Ok(Self(None));
        }
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|thread| format!("encoder-{thread}"))
            .build();
        pool.map(|pool| Self(Some(pool)))
            .map_err(|error| TransformerError::Threads(Box::new(error)))
    }

    /// Does every piece of work and returns the results in order, or the error of the first piece that failed.
    ///
    /// `input` says which input a piece belongs to.
    pub(super) fn run<T: Send>(
        &self,
        pieces: usize,
        cancel: &dyn Cancel,
        input: impl Fn(usize) -> usize + Sync,
        work: impl Fn(usize) -> Result<T, String> + Sync,
    ) -> Result<Vec<T>, EncodeError> {
        let one = |piece| {
            if cancel.cancelled() {
                return Err(EncodeError::Cancelled);
            }
            guarded(input(piece), || work(piece))
        };
        match &self.0 {
            Some(pool) if pieces > 1 => {
                let results = || -> Vec<_> {
                    let pieces = (0..pieces).into_par_iter().with_max_len(1);
                    pieces.map(one).collect()
                };
                // Collected before it is looked at, so that the same error is named whichever thread was first.
                pool.install(results).into_iter().collect()
            }
            _ => (0..pieces).map(one).collect(),
        }
    }
}

/// Does the work for one input; a panic or a reason becomes an error that names it.
pub(super) fn guarded<T>(index: usize, work: impl FnOnce() -> Result<T, String>) -> Result<T, EncodeError> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result.map_err(|reason| EncodeError::Input { index, reason }),
        Err(_) => Err(EncodeError::Panicked { index }),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    struct After(AtomicUsize);

    impl Cancel for After {
        fn cancelled(&self) -> bool {
            self.0.fetch_sub(1, Ordering::Relaxed) == 0
        }
    }

    #[test]
    fn results_keep_their_order_and_the_first_trouble_is_named() {
        for threads in [1, 4] {
            let workers = Workers::start(threads).unwrap();
            let halves = workers.run(50, &(), |piece| piece, |piece| Ok(piece * 2)).unwrap();
            assert!(halves.iter().enumerate().all(|(at, double)| *double == at * 2));
            let panicked = workers.run::<()>(
                50,
                &(),
                |piece| piece / 2,
                |piece| {
                    assert!(!(31..40).contains(&piece), "a panic on purpose");
                    Ok(())
                },
            );
            assert!(matches!(panicked, Err(EncodeError::Panicked { index: 15 })));
            let failed = workers.run::<()>(
                9,
                &(),
                |piece| piece,
                |piece| {
                    if piece < 7 { Ok(()) } else { Err("no".to_owned()) }
                },
            );
            assert!(matches!(failed, Err(EncodeError::Input { index: 7, .. })));
            // The worker that panicked is at work again.
            assert!(workers.run(4, &(), |piece| piece, Ok).is_ok());
        }
    }

    #[test]
    fn work_stops_between_pieces() {
        let (workers, done) = (Workers::start(2).unwrap(), AtomicUsize::new(0));
        let stopped = workers.run(
            100,
            &After(AtomicUsize::new(3)),
            |piece| piece,
            |_| {
                done.fetch_add(1, Ordering::Relaxed);
                Ok(())
            },
        );
        assert!(matches!(stopped, Err(EncodeError::Cancelled)));
        assert!(done.load(Ordering::Relaxed) < 100);
    }
}
