//! What several of these tests need.

use std::sync::atomic::{AtomicUsize, Ordering};

use casebook_index::{Cancel, Passage};

/// A passage without a place.
pub(crate) fn plain(text: &str) -> Passage<'_> {
    Passage {
        path: "",
        heading_path: &[],
        text,
    }
}

/// Stops the work when it has been asked so many times.
pub(crate) struct After(AtomicUsize);

impl After {
    pub(crate) fn new(times: usize) -> Self {
        Self(AtomicUsize::new(times))
    }
}

impl Cancel for After {
    fn cancelled(&self) -> bool {
        self.0.fetch_sub(1, Ordering::Relaxed) == 0
    }
}
