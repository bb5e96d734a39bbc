//! What asks a process that goes on and on to end: ctrl-c and `SIGTERM`.
//!
//! `signal-hook` does it without unsafe code of ours. Elsewhere than on Unix ctrl-c ends the process at once, which the
//! index survives at any moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::Failure;

/// Whether somebody asked to end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Listens to the system from now on; `wake` is called, from another thread, when it asks. Who asks twice does not want
    /// to wait: the process ends at once then.
    #[cfg(unix)]
    pub(crate) fn on_signals(wake: impl Fn() + Send + 'static) -> Result<Self, Failure> {
        use signal_hook::consts::{SIGINT, SIGTERM};
        use signal_hook::flag::register_conditional_shutdown;
        let refused = |error: std::io::Error| {
            Failure::internal("signals_unavailable", "the process cannot listen to signals", &error)
        };
        let stop = Self::default();
        for signal in [SIGINT, SIGTERM] {
            register_conditional_shutdown(signal, 128 + signal, Arc::clone(&stop.0)).map_err(refused)?;
        }
        let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM]).map_err(refused)?;
        let asked = stop.clone();
        std::thread::spawn(move || {
            for _ in signals.forever() {
                asked.ask();
                wake();
            }
        });
        Ok(stop)
    }

    /// Elsewhere nobody asks.
    #[cfg(not(unix))]
    pub(crate) fn on_signals(_wake: impl Fn() + Send + 'static) -> Result<Self, Failure> {
        Ok(Self::default())
    }

    /// Asks to end.
    pub(crate) fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
