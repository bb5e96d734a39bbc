//! Notices that memory may have changed, behind one trait.
//!
//! The one thing a newcomer gets wrong: a notice says when to look, never what is there. Notices are lost, doubled and
//! late on every system, so whoever gets one scans, and scans now and then without one.

use std::time::Duration;

use crate::Degradation;

/// Something may have changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Notice {
    /// Memory came, went or was written to.
    Changed,
    /// The system lost notices: anything may have changed.
    Overflow,
}

/// Waits for changes of memory.
///
/// Contract: what changes after [`prepare`](Self::prepare) leads to a notice, unless a
/// [`degradation`](Self::degradation) says otherwise. What can be no memory leads to none.
pub trait Watch {
    /// Waits for a notice, for as long as `limit`. May return `None` before: somebody woke it, or what happened is of no
    /// interest. Who waits looks at a clock, and waits again.
    fn wait(&mut self, limit: Duration) -> Option<Notice>;

    /// Gets ready for a scan, right before it: what changes from now on is noticed. `after` is the notice that led to the
    /// scan; without one, or after an overflow, nothing is taken to be as it was.
    fn prepare(&mut self, after: Option<Notice>);

    /// Returns what keeps changes from being noticed, where something does.
    fn degradation(&self) -> Option<&Degradation>;
}
