//! Keeps an index up to date while its memory changes.
//!
//! The one thing a newcomer gets wrong: what a notice names is not looked at, the memory is, as a whole and at the cost of
//! what changed. So a notice that is lost costs time and never leaves a wrong head.

use std::collections::BTreeSet;
use std::time::Duration;

use casebook_corpus::{Clock, Degradation, Notice, Watch};
use casebook_index::{BuildReport, Cancel};

use crate::{ApiError, ErrorKind};

/// How long is waited for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// A burst of changes is over when so long nothing more was noticed.
    pub quiet: Duration,
    /// A burst that goes on is looked at after so long.
    pub burst: Duration,
    /// How often the memory is looked at without a notice.
    pub reconcile: Duration,
    /// The same where not every change is noticed, and after a build that failed for a reason outside the memory.
    pub poll: Duration,
}

/// A save is in the head well within a second; notices that are lost cost five minutes at most.
impl Default for Pace {
    fn default() -> Self {
        Self {
            quiet: Duration::from_millis(150),
            burst: Duration::from_secs(1),
            reconcile: Duration::from_secs(300),
            poll: Duration::from_secs(10),
        }
    }
}

/// What a follower has to tell.
#[derive(Clone, Copy, Debug)]
pub enum Told<'a> {
    /// There is a head: the first, another one, or the same with other problems or after a failure.
    Head(&'a BuildReport),
    /// There is no other head, for a reason that was not told before. It is tried again when something changes.
    Failed(&'a ApiError),
    /// Not every change is noticed.
    Degraded(&'a Degradation),
}

/// Follows one project. Several are followed by as many threads.
pub struct Follower<'a> {
    /// Tells when to look.
    pub watch: &'a mut dyn Watch,
    /// Brings the index up to date: [`Service::build`](crate::Service::build), with an observer that `stop` cancels.
    pub build: &'a mut dyn FnMut() -> Result<BuildReport, ApiError>,
    /// Tells the time.
    pub clock: &'a dyn Clock,
    /// How long is waited.
    pub pace: Pace,
    /// Ends it. Who stops it also wakes `watch`.
    pub stop: &'a dyn Cancel,
    /// Hears of it.
    pub tell: &'a mut dyn FnMut(Told<'_>),
}

impl Follower<'_> {
    /// Builds at once and whenever something changed, one build at a time, until it is stopped.
    pub fn run(self) {
        let mut following = Following {
            rest: Duration::ZERO,
            standing: Standing::Unknown,
            degradation: None,
            parts: self,
        };
        let mut after = None;
        while !following.parts.stop.cancelled() {
            following.look(after);
            after = following.wait();
        }
    }
}

struct Following<'a> {
    parts: Follower<'a>,
    standing: Standing,
    degradation: Option<Degradation>,
    /// How long a burst of lost notices is left alone.
    rest: Duration,
}

/// What was told last.
enum Standing {
    Unknown,
    /// A head with these problems.
    Ready(BTreeSet<Problem>),
    Failed(ApiError),
}

/// The code and the file. Details count what is missing, say, and are other ones each time.
type Problem = (String, Option<String>);

impl Following<'_> {
    fn look(&mut self, after: Option<Notice>) {
        self.parts.watch.prepare(after);
        self.tell_degradation();
        let is_news = match (self.parts.build)() {
            Ok(report) => self.built(&report),
            Err(_) if self.parts.stop.cancelled() => return,
            Err(error) => self.failed(error),
        };
        // Looking opens every folder, which may be what overran the system: then looking again at once would never end.
        self.rest = match after {
            Some(Notice::Overflow) if !is_news => (self.rest * 2).clamp(self.parts.pace.burst, self.parts.pace.poll),
            _ => Duration::ZERO,
        };
    }

    fn tell_degradation(&mut self) {
        let now = self.parts.watch.degradation();
        let code = |found: Option<&Degradation>| found.map(|found| found.code.clone());
        if let Some(now) = now
            && code(Some(now)) != code(self.degradation.as_ref())
        {
            (self.parts.tell)(Told::Degraded(now));
        }
        self.degradation = now.cloned();
    }

    /// Returns whether there is anything new.
    fn built(&mut self, report: &BuildReport) -> bool {
        let problem = |found: &Degradation| (found.code.to_string(), found.path.clone());
        let problems: BTreeSet<Problem> = report.degradations.iter().map(problem).collect();
        let is_as_told = matches!(&self.standing, Standing::Ready(told) if *told == problems);
        self.standing = Standing::Ready(problems);
        let is_news = report.head_moved || !is_as_told;
        if is_news {
            (self.parts.tell)(Told::Head(report));
        }
        is_news
    }

    fn failed(&mut self, error: ApiError) -> bool {
        let is_news = !matches!(&self.standing, Standing::Failed(told) if *told == error);
        if is_news {
            (self.parts.tell)(Told::Failed(&error));
            self.standing = Standing::Failed(error);
        }
        is_news
    }

    /// Waits until there is a reason to look: a burst of notices that is over, or `None`, the time.
    fn wait(&mut self) -> Option<Notice> {
        let until = self.now() + self.interval();
        while let Some(left) = self.left(until) {
            if let Some(first) = self.parts.watch.wait(left) {
                return Some(self.wait_out(first));
            }
        }
        None
    }

    fn wait_out(&mut self, first: Notice) -> Notice {
        let pace = self.parts.pace;
        let begun = self.now();
        let (mut all, mut last, mut least) = (first, begun, first);
        loop {
            let rest = if least == Notice::Overflow {
                self.rest
            } else {
                Duration::ZERO
            };
            let until = (last + pace.quiet).min(begun + pace.burst).max(begun + rest);
            let Some(left) = self.left(until) else {
                return all;
            };
            if let Some(further) = self.parts.watch.wait(left) {
                last = self.now();
                all = all.max(further);
                least = least.min(further);
            }
        }
    }

    /// How long until the memory is looked at without a notice.
    fn interval(&self) -> Duration {
        let is_our_trouble = matches!(&self.standing, Standing::Failed(error) if error.kind != ErrorKind::Input);
        if is_our_trouble || self.degradation.is_some() {
            self.parts.pace.poll
        } else {
            self.parts.pace.reconcile
        }
    }

    fn now(&self) -> Duration {
        Duration::from_micros(self.parts.clock.monotonic_micros())
    }

    /// Returns how long there is to wait, `None` where the time is over or nobody wants to wait any more.
    fn left(&self, until: Duration) -> Option<Duration> {
        let left = until.saturating_sub(self.now());
        (!left.is_zero() && !self.parts.stop.cancelled()).then_some(left)
    }
}

#[cfg(test)]
mod tests;
