//! Progress over bytes: a bar for each stage on a terminal, a line now and then elsewhere.

use std::sync::Mutex;
use std::time::Instant;

use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{LINE_EVERY, QUIET, console_is_terminal};
use crate::output::note;

/// Shows how far work over bytes is. Quick work shows nothing.
pub(crate) struct ByteBar {
    state: Mutex<State>,
    terminal: bool,
}

struct State {
    started: Instant,
    last_line: Instant,
    bar: Option<(&'static str, ProgressBar)>,
}

impl ByteBar {
    pub(crate) fn new() -> Self {
        let now = now();
        Self {
            state: Mutex::new(State {
                started: now,
                last_line: now,
                bar: None,
            }),
            terminal: console_is_terminal(),
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        let state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some((_, bar)) = &state.bar {
            bar.finish_and_clear();
        }
    }

    /// Shows how many bytes of a stage are done.
    pub(crate) fn show(&self, stage: &'static str, done: u64, total: u64) {
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if state.started.elapsed() < QUIET {
            return;
        }
        if self.terminal {
            state.draw(stage, done, total);
        } else if state.last_line.elapsed() >= LINE_EVERY {
            state.last_line = now();
            let (done, total) = (HumanBytes(done), HumanBytes(total));
            note(format!("casebook: {stage} {done} of {total}"));
        }
    }
}

impl State {
    fn draw(&mut self, stage: &'static str, done: u64, total: u64) {
        if self.bar.as_ref().map(|(shown, _)| *shown) != Some(stage) {
            if let Some((_, bar)) = self.bar.take() {
                bar.finish_and_clear();
            }
            let bar = ProgressBar::new(total);
            bar.set_draw_target(ProgressDrawTarget::stderr());
            let template = "{msg} {bar:30} {bytes}/{total_bytes}  {bytes_per_sec}, {eta} left";
            bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
            self.bar = Some((stage, bar.with_message(stage)));
        }
        if let Some((_, bar)) = &self.bar {
            bar.set_length(total);
            bar.set_position(done);
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "progress is shown in real time to a person")]
fn now() -> Instant {
    Instant::now()
}
