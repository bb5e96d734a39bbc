//! The real clock and the source of Run ids: the only places that read the time and randomness.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use casebook_corpus::{Clock, Timestamp};

/// The machine's clock.
pub(crate) struct SystemClock {
    started: Instant,
}

impl SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the clock that everything else is given"
    )]
    pub(crate) fn new() -> Self {
        Self {
            started: Instant::now(),
        }
    }
}

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the clock that everything else is given"
    )]
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_unix_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    fn monotonic_micros(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

/// Returns a new id that sorts by time.
pub(crate) fn new_id() -> String {
    let millis = u64::try_from(SystemClock::new().now().unix_millis()).unwrap_or(0);
    let since = Duration::from_millis(millis);
    uuid::Uuid::new_v7(uuid::Timestamp::from_unix(
        uuid::NoContext,
        since.as_secs(),
        since.subsec_nanos(),
    ))
    .to_string()
}
