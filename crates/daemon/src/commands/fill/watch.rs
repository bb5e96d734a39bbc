//! What a person sees of a fill, and what holds it up.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use casebook_index::{Cancel, FillObserver, FillProgress};
use indicatif::{ProgressBar, ProgressDrawTarget};

use crate::interrupt::{self, Asked};
use crate::output::note;
use crate::power::{Power, PowerSource};
use crate::progress::bar_style;

/// How often a log gets a line.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Shows how far a fill is: a bar on a terminal, a line now and then elsewhere. Between batches it asks what feeds the
/// machine, and whether its encoder is still wanted.
pub(super) struct Watch<'a> {
    state: Mutex<State>,
    /// `None` where the fill goes on whatever feeds the machine.
    power: Option<Power>,
    /// Tells whether the encoder that fills is still the chosen one.
    is_wanted: &'a (dyn Fn() -> bool + Sync),
    asked_to_end: &'static Asked,
}

struct State {
    first: Option<(FillProgress, Instant)>,
    last_line: Option<Instant>,
    bar: Option<ProgressBar>,
    terminal: bool,
}

impl<'a> Watch<'a> {
    pub(super) fn new(power: Option<Power>, is_wanted: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Self {
            state: Mutex::new(State {
                first: None,
                last_line: None,
                bar: None,
                terminal: std::io::IsTerminal::is_terminal(&std::io::stderr()),
            }),
            power,
            is_wanted,
            asked_to_end: interrupt::install(),
        }
    }

    /// Takes the bar away.
    pub(super) fn finish(&self) {
        if let Some(bar) = self.lock().bar.take() {
            bar.finish_and_clear();
        }
    }

    /// Waits, unless the process is asked to end.
    pub(super) fn wait(&self, long: Duration) {
        const LOOK: Duration = Duration::from_millis(200);
        let mut waited = Duration::ZERO;
        while waited < long && !self.cancelled() {
            std::thread::sleep(LOOK);
            waited += LOOK;
        }
    }

    pub(super) fn is_on_battery(&self) -> bool {
        let source = self.power.as_ref().map(Power::source);
        source == Some(PowerSource::Battery)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Cancel for Watch<'_> {
    fn cancelled(&self) -> bool {
        self.asked_to_end.cancelled()
    }
}

impl FillObserver for Watch<'_> {
    #[expect(clippy::disallowed_methods, reason = "progress is shown in real time to a person")]
    fn progress(&self, progress: FillProgress) {
        let mut state = self.lock();
        let now = Instant::now();
        let (first, since) = *state.first.get_or_insert((progress, now));
        if state.terminal {
            state.draw(progress);
        } else if state.last_line.is_none_or(|last| now - last >= LINE_EVERY) {
            state.last_line = Some(now);
            note(format!("casebook: {}", line(first, progress, now - since)));
        }
    }

    fn go_on(&self) -> bool {
        !self.is_on_battery()
    }

    fn is_wanted(&self) -> bool {
        (self.is_wanted)()
    }
}

impl State {
    fn draw(&mut self, progress: FillProgress) {
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::new(progress.total);
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.set_style(bar_style(true));
            bar.set_position(progress.done);
            bar.reset_eta();
            bar.with_message("making vectors")
        });
        bar.set_length(progress.total);
        bar.set_position(progress.done);
    }
}

/// Tells how far a fill is, at what rate, and how long the rest takes at that rate.
fn line(first: FillProgress, now: FillProgress, elapsed: Duration) -> String {
    let (done, total) = (now.done, now.total);
    let made = done.saturating_sub(first.done);
    let seconds = elapsed.as_secs_f64();
    if made == 0 || seconds <= 0.0 {
        return format!("{done} of {total} units have vectors");
    }
    let rate = made as f64 / seconds;
    let left = (total.saturating_sub(done) as f64 / rate).ceil();
    let left = indicatif::HumanDuration(Duration::from_secs_f64(left.min(1e9)));
    format!("{done} of {total} units have vectors, {rate:.1}/s, about {left} left")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_rate_and_remaining_time() {
        let at = |done| FillProgress {
            done,
            total: 4704,
            encoded: 0,
        };
        assert_eq!(line(at(400), at(400), Duration::ZERO), "400 of 4704 units have vectors");
        assert_eq!(
            line(at(400), at(704), Duration::from_secs(40)),
            "704 of 4704 units have vectors, 7.6/s, about 9 minutes left"
        );
        assert_eq!(
            line(at(4000), at(4704), Duration::from_secs(40)),
            "4704 of 4704 units have vectors, 17.6/s, about 0 seconds left"
        );
    }
}
