//! Progress of long work on standard error: a bar on a terminal, a line now and then elsewhere.

mod bytes;
mod download;

pub(crate) use bytes::ByteBar;
pub(crate) use download::DownloadProgress;

use std::sync::Mutex;
use std::time::{Duration, Instant};

use casebook_index::{BuildObserver, BuildStage, Cancel};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::interrupt::{self, Asked};
use crate::output::note;

/// How often a log gets a line.
const LINE_EVERY: Duration = Duration::from_secs(5);
/// Work shorter than this shows nothing.
const QUIET: Duration = Duration::from_millis(300);

/// Shows a build's progress, and stops it where the process is asked to end. Quick builds show nothing.
pub(crate) struct Progress {
    state: Mutex<State>,
    asked_to_end: &'static Asked,
}

struct State {
    started: Instant,
    last_line: Instant,
    stage: Option<BuildStage>,
    bar: Option<ProgressBar>,
    terminal: bool,
}

impl Progress {
    #[expect(clippy::disallowed_methods, reason = "progress is shown in real time to a person")]
    pub(crate) fn new() -> Self {
        let now = Instant::now();
        let terminal = console_is_terminal();
        Self {
            state: Mutex::new(State {
                started: now,
                last_line: now,
                stage: None,
                bar: None,
                terminal,
            }),
            asked_to_end: interrupt::install(),
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        let state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(bar) = &state.bar {
            bar.finish_and_clear();
        }
    }
}

impl Cancel for Progress {
    fn cancelled(&self) -> bool {
        self.asked_to_end.cancelled()
    }
}

impl BuildObserver for Progress {
    fn progress(&self, stage: BuildStage, done: usize, total: Option<usize>) {
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if state.started.elapsed() < QUIET {
            return;
        }
        if state.terminal {
            state.draw(stage, done, total)
        } else {
            state.log(stage, done, total)
        }
    }
}

impl State {
    fn draw(&mut self, stage: BuildStage, done: usize, total: Option<usize>) {
        if self.stage != Some(stage) {
            if let Some(bar) = self.bar.take() {
                bar.finish_and_clear();
            }
            self.stage = Some(stage);
            self.bar = Some(new_bar(stage, done, total));
        }
        if let Some(bar) = &self.bar {
            bar.set_position(done as u64);
        }
    }

    #[expect(clippy::disallowed_methods, reason = "progress is shown in real time to a person")]
    fn log(&mut self, stage: BuildStage, done: usize, total: Option<usize>) {
        if self.last_line.elapsed() < LINE_EVERY {
            return;
        }
        self.last_line = Instant::now();
        let of = total.map_or_else(String::new, |total| format!(" of {total}"));
        note(format!("casebook: {} {done}{of}", words(stage)));
    }
}

/// A bar may begin in the midst of a stage; the rate counts from there.
fn new_bar(stage: BuildStage, done: usize, total: Option<usize>) -> ProgressBar {
    let bar = total.map_or_else(ProgressBar::no_length, |total| ProgressBar::new(total as u64));
    bar.set_draw_target(ProgressDrawTarget::stderr());
    bar.set_style(bar_style(total.is_some()));
    bar.set_position(done as u64);
    bar.reset_eta();
    bar.with_message(words(stage))
}

/// Returns how every bar looks: with rate and remaining time where the total is known.
pub(crate) fn bar_style(has_total: bool) -> ProgressStyle {
    let template = if has_total {
        "{msg} {bar:30} {pos}/{len}  {rate}, {eta} left"
    } else {
        "{spinner} {msg} {pos}"
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.with_key("rate", |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        // A bar that cannot be drawn is no reason to stop.
        let _ = write!(out, "{:.0}/s", state.per_sec());
    })
}

fn words(stage: BuildStage) -> &'static str {
    match stage {
        BuildStage::Waiting => "waiting for another build",
        BuildStage::Scanning => "looking at files",
        BuildStage::Chunking => "cutting documents",
        BuildStage::Comparing => "comparing documents with the index",
        BuildStage::Encoding => "encoding units",
        BuildStage::Vectors => "writing vectors",
        BuildStage::Writing => "writing units",
        BuildStage::Words => "writing the word index",
    }
}

fn console_is_terminal() -> bool {
    std::io::IsTerminal::is_terminal(&std::io::stderr())
}
