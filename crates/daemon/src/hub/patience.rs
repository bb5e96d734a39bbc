//! How often and after which pause something is tried again.

use std::time::Duration;

use casebook_index::Cancel;

use super::{HubError, HubOptions, HubProgress, HubStep};

/// Tries of one thing at most; a file that grows meanwhile begins anew.
const MAX_TRIES: u32 = 5;
/// The first pause; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause that a server may ask for: the window of the hub's own limits.
const MAX_PAUSE: Duration = Duration::from_secs(300);
/// How soon a pause sees that it is not wanted any more.
const LOOK: Duration = Duration::from_millis(100);

/// Waits.
pub(crate) trait Sleeper {
    /// Returns after `pause`, or earlier when the caller wants to stop.
    fn sleep(&self, pause: Duration, cancel: &dyn Cancel);
}

/// Really waits.
pub(crate) struct RealSleeper;

impl Sleeper for RealSleeper {
    fn sleep(&self, pause: Duration, cancel: &dyn Cancel) {
        let mut left = pause;
        while !left.is_zero() && !cancel.cancelled() {
            let piece = left.min(LOOK);
            std::thread::sleep(piece);
            left -= piece;
        }
    }
}

/// The tries of one thing.
#[derive(Default)]
pub(super) struct Patience {
    tries: u32,
}

impl Patience {
    /// Begins anew: something was gained.
    pub(super) fn renew(&mut self) {
        self.tries = 0;
    }

    /// Waits before the next try.
    ///
    /// # Errors
    /// `error`, when it was the last try or the server asks for a pause that is too long.
    pub(super) fn pause(
        &mut self,
        error: HubError,
        wait: Option<Duration>,
        options: &HubOptions<'_>,
        progress: &mut dyn HubProgress,
    ) -> Result<(), HubError> {
        self.tries += 1;
        let pause = wait.unwrap_or(FIRST_PAUSE * (1 << (self.tries - 1).min(10)));
        if self.tries >= MAX_TRIES || pause > MAX_PAUSE {
            return Err(error);
        }
        progress.step(HubStep::Waiting { pause, why: &error });
        // Whoever tries again looks first whether that is still wanted.
        options.sleeper.sleep(pause, options.cancel);
        Ok(())
    }
}

/// # Errors
/// When the caller wants to stop.
pub(super) fn stop_if_asked(options: &HubOptions<'_>) -> Result<(), HubError> {
    if options.cancel.cancelled() {
        return Err(HubError::Cancelled);
    }
    Ok(())
}
