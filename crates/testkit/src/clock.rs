//! A clock that goes only when told to.

use std::sync::atomic::{AtomicU64, Ordering};

use casebook_corpus::{Clock, Timestamp};

/// A clock that shows one time until it is advanced.
#[derive(Debug)]
pub struct FixedClock {
    start: Timestamp,
    advanced_micros: AtomicU64,
    step_micros: u64,
}

impl FixedClock {
    /// Makes a clock that stands still at `start`.
    pub const fn new(start: Timestamp) -> Self {
        Self::stepping(start, 0)
    }

    /// Makes a clock that goes on by `step_micros` with every look at [`Clock::monotonic_micros`].
    pub const fn stepping(start: Timestamp, step_micros: u64) -> Self {
        Self {
            start,
            advanced_micros: AtomicU64::new(0),
            step_micros,
        }
    }

    /// Moves both the time of day and the monotonic time on.
    pub fn advance_millis(&self, millis: u64) {
        self.advanced_micros.fetch_add(millis * 1000, Ordering::Relaxed);
    }
}

/// Stands still at the start of the Unix epoch.
impl Default for FixedClock {
    fn default() -> Self {
        Self::new(Timestamp::from_unix_millis(0))
    }
}

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        let advanced = self.advanced_micros.load(Ordering::Relaxed) / 1000;
        Timestamp::from_unix_millis(self.start.unix_millis().saturating_add_unsigned(advanced))
    }

    fn monotonic_micros(&self) -> u64 {
        self.advanced_micros.fetch_add(self.step_micros, Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_clock_moves_only_when_told() {
        let clock = FixedClock::new(Timestamp::from_unix_millis(7));
        assert_eq!((clock.monotonic_micros(), clock.monotonic_micros()), (0, 0));
        clock.advance_millis(3);
        assert_eq!(clock.now(), Timestamp::from_unix_millis(10));
        assert_eq!(clock.monotonic_micros(), 3000);
    }

    #[test]
    fn a_stepping_clock_moves_with_every_look() {
        let clock = FixedClock::stepping(Timestamp::from_unix_millis(0), 5);
        assert_eq!(
            [
                clock.monotonic_micros(),
                clock.monotonic_micros(),
                clock.monotonic_micros()
            ],
            [0, 5, 10]
        );
    }
}
