//! A person or the system asks the process to end: Ctrl-C, or a signal to terminate.
//!
//! The one thing a newcomer gets wrong: the first signal only asks. Work that can be stopped hears of it between two
//! pieces and ends in good order; the second signal ends the process where it is, as if nobody had listened.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use casebook_index::Cancel;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::failure::Failure;

/// The exit code of a process that Ctrl-C ended, as shells have it.
pub(crate) const EXIT_CODE: u8 = 130;

static ASKED: OnceLock<Asked> = OnceLock::new();

/// Cancels work when the process is asked to end.
#[derive(Debug, Default)]
pub(crate) struct Asked(Arc<AtomicBool>);

impl Asked {
    /// Asks, as a signal does.
    pub(crate) fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Cancel for Asked {
    fn cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Returns what becomes true when the process is asked to end. Until the first call a signal ends it at once; call this
/// where work begins that asks.
pub(crate) fn install() -> &'static Asked {
    ASKED.get_or_init(|| {
        let asked = Asked::default();
        for signal in [SIGINT, SIGTERM] {
            // In this order, so that it is the second signal that ends the process. Where the system refuses, the first does.
            let ends = flag::register_conditional_shutdown(signal, i32::from(EXIT_CODE), Arc::clone(&asked.0));
            let _ = ends.and_then(|_| flag::register(signal, Arc::clone(&asked.0)));
        }
        asked
    })
}

/// Returns whether the process was asked to end.
pub(crate) fn is_asked() -> bool {
    ASKED.get().is_some_and(Cancel::cancelled)
}

/// Calls `wake`, from another thread, each time the process is asked to end: for work that sleeps meanwhile. Elsewhere than
/// on Unix nothing calls it, and such work hears of it when it next wakes.
#[cfg(unix)]
pub(crate) fn on_asked(wake: impl Fn() + Send + 'static) -> Result<(), Failure> {
    let refused = |error: std::io::Error| {
        Failure::internal("signals_unavailable", "the process cannot listen to signals", &error)
    };
    // After what sets the flag, so that who is woken finds it set.
    install();
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM]).map_err(refused)?;
    std::thread::spawn(move || signals.forever().for_each(|_| wake()));
    Ok(())
}

/// Elsewhere nobody asks.
#[cfg(not(unix))]
pub(crate) fn on_asked(_wake: impl Fn() + Send + 'static) -> Result<(), Failure> {
    Ok(())
}
