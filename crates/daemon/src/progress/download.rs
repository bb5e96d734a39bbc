//! Progress of a download: a bar over all bytes on a terminal, a line now and then elsewhere.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{LINE_EVERY, QUIET, console_is_terminal};
use crate::hub::{HubProgress, HubStep};
use crate::output::note;

/// Shows a download's progress. Quick ones show nothing.
pub(crate) struct DownloadProgress {
    pace: Pace,
    started: Instant,
    last_line: Instant,
    bar: Option<ProgressBar>,
    terminal: bool,
}

impl DownloadProgress {
    pub(crate) fn new() -> Self {
        let now = now();
        Self {
            pace: Pace::default(),
            started: now,
            last_line: now,
            bar: None,
            terminal: console_is_terminal(),
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// Says something beside the bar.
    fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| note(text)),
            None => note(text),
        }
    }

    fn draw(&mut self, received: &Received<'_>, jumped: bool) {
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::new(received.all_total);
            bar.set_draw_target(ProgressDrawTarget::stderr());
            let template = "{msg} {bar:20} {bytes}/{total_bytes}  {bytes_per_sec}, {eta} left";
            bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        bar.set_message(received.of_file());
        bar.set_position(received.all_done);
        if jumped {
            // What was here already is no speed.
            bar.reset_eta();
        }
    }
}

impl HubProgress for DownloadProgress {
    fn step(&mut self, step: HubStep<'_>) {
        match step {
            HubStep::Asking => {}
            HubStep::Waiting { pause, why } => {
                self.say(&format!("casebook: {why}; trying again in {} s", pause.as_secs()));
            }
            HubStep::Checking { file } => {
                if let Some(bar) = &self.bar {
                    bar.set_message(format!("checking {file}"));
                }
            }
            HubStep::Receiving {
                file,
                done,
                total,
                all_done,
                all_total,
            } => {
                let received = Received {
                    file,
                    done,
                    total,
                    all_done,
                    all_total,
                };
                let jumped = self.pace.note(&received);
                let elapsed = self.started.elapsed();
                if elapsed < QUIET {
                    return;
                }
                if self.terminal {
                    self.draw(&received, jumped);
                } else if self.last_line.elapsed() >= LINE_EVERY {
                    self.last_line = now();
                    note(received.line(self.pace.gained, elapsed));
                }
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "progress is shown in real time to a person")]
fn now() -> Instant {
    Instant::now()
}

/// How far a download is.
struct Received<'a> {
    file: &'a str,
    done: u64,
    total: u64,
    all_done: u64,
    all_total: u64,
}

impl Received<'_> {
    fn of_file(&self) -> String {
        format!("{} {} of {} MB", self.file, tenths(self.done), tenths(self.total))
    }

    /// Returns a line for a log, from the bytes that came so far and the time that they took.
    fn line(&self, gained: u64, elapsed: Duration) -> String {
        let rate = gained as f64 / elapsed.as_secs_f64().max(0.001);
        let left = self.all_total.saturating_sub(self.all_done);
        let remaining = if rate < 1.0 {
            String::new()
        } else {
            format!(", {:.0} s left", left as f64 / rate)
        };
        format!(
            "casebook: downloading {}; of all files {} of {} MB, {:.1} MB/s{remaining}",
            self.of_file(),
            tenths(self.all_done),
            tenths(self.all_total),
            rate / 1e6
        )
    }
}

/// Returns bytes as megabytes with one digit behind the point.
fn tenths(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / 1e6)
}

/// Counts the bytes that really came: what an earlier download left is no speed.
#[derive(Default)]
struct Pace {
    file: String,
    last: u64,
    gained: u64,
}

impl Pace {
    /// Takes a report; returns whether it tells of bytes that did not come now.
    fn note(&mut self, received: &Received<'_>) -> bool {
        let same = self.file == received.file;
        let step = received.all_done.saturating_sub(self.last);
        if same {
            self.gained += step;
        } else {
            received.file.clone_into(&mut self.file);
        }
        self.last = received.all_done;
        !same && step > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(file: &str, done: u64, all_done: u64) -> Received<'_> {
        Received {
            file,
            done,
            total: 471_000_000,
            all_done,
            all_total: 500_000_000,
        }
    }

    #[test]
    fn a_line_tells_the_file_the_whole_the_rate_and_the_rest() {
        let half = received("model.safetensors", 231_050_000, 250_000_000);
        assert_eq!(
            half.line(50_000_000, Duration::from_secs(5)),
            "casebook: downloading model.safetensors 231.1 of 471.0 MB; of all files 250.0 of 500.0 MB, 10.0 MB/s, 25 s left"
        );
        let nothing_yet = received("model.safetensors", 0, 0).line(0, Duration::ZERO);
        assert!(nothing_yet.ends_with("0.0 MB/s"), "{nothing_yet}");
    }

    #[test]
    fn what_was_here_before_is_no_speed() {
        let mut pace = Pace::default();
        assert!(!pace.note(&received("a", 0, 0)));
        assert!(!pace.note(&received("a", 100, 100)));
        assert!(pace.note(&received("b", 5000, 5100)), "an earlier call brought 5000");
        assert!(!pace.note(&received("b", 5010, 5110)));
        assert!(!pace.note(&received("b", 0, 100)), "it starts over");
        assert!(!pace.note(&received("b", 10, 110)));
        assert_eq!(pace.gained, 120);
    }

    #[test]
    fn every_step_can_be_shown() {
        let mut progress = DownloadProgress::new();
        for terminal in [false, true] {
            progress.terminal = terminal;
            progress.step(HubStep::Asking);
            progress.draw(&received("a", 1, 1), true);
            progress.step(HubStep::Checking { file: "a" });
            progress.step(HubStep::Receiving {
                file: "a",
                done: 1,
                total: 1,
                all_done: 1,
                all_total: 1,
            });
            progress.finish();
        }
    }
}
