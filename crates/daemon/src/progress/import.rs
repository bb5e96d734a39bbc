//! Progress of an import: a bar over the bytes of each stage on a terminal, a line now and then elsewhere.

use std::sync::Mutex;
use std::time::Instant;

use casebook_encoder::{ImportProgress, ImportStage};
use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{LINE_EVERY, QUIET, console_is_terminal};
use crate::output::note;

/// Shows how far an import or a check is. Quick ones show nothing.
pub(crate) struct ImportBar {
    state: Mutex<State>,
    terminal: bool,
}

struct State {
    started: Instant,
    last_line: Instant,
    bar: Option<(ImportStage, ProgressBar)>,
}

impl ImportBar {
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

    pub(crate) fn show(&self, progress: ImportProgress) {
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if state.started.elapsed() < QUIET {
            return;
        }
        if self.terminal {
            state.draw(progress);
        } else if state.last_line.elapsed() >= LINE_EVERY {
            state.last_line = now();
            let (done, total) = (HumanBytes(progress.done), HumanBytes(progress.total));
            note(format!("casebook: {} {done} of {total}", words(progress.stage)));
        }
    }
}

impl State {
    fn draw(&mut self, progress: ImportProgress) {
        if self.bar.as_ref().map(|(stage, _)| *stage) != Some(progress.stage) {
            if let Some((_, bar)) = self.bar.take() {
                bar.finish_and_clear();
            }
            let bar = ProgressBar::new(progress.total);
            bar.set_draw_target(ProgressDrawTarget::stderr());
            let template = "{msg} {bar:30} {bytes}/{total_bytes}  {bytes_per_sec}, {eta} left";
            bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
            self.bar = Some((progress.stage, bar.with_message(words(progress.stage))));
        }
        if let Some((_, bar)) = &self.bar {
            bar.set_length(progress.total);
            bar.set_position(progress.done);
        }
    }
}

fn words(stage: ImportStage) -> &'static str {
    match stage {
        ImportStage::Copying => "copying the model",
        ImportStage::Converting => "converting weights",
        ImportStage::Hashing => "checking files",
    }
}

#[expect(clippy::disallowed_methods, reason = "progress is shown in real time to a person")]
fn now() -> Instant {
    Instant::now()
}
