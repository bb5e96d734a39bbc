//! How a process of ours steps back behind what a person is doing.
//!
//! `rustix` calls the system without unsafe code of ours, and is in the tree already; running again through `nice` would
//! cost a process and need the tool. Where a call is refused, the work goes on at the priority it has.

/// How far work in the background steps back; 19 is the farthest.
#[cfg(unix)]
const STEPS_BACK: i32 = 10;

/// Lowers the priority of this thread and of those that it starts, so call it before any other is started.
pub(crate) fn step_back() {
    #[cfg(unix)]
    let _ = rustix::process::nice(STEPS_BACK);
}

/// Leaves the terminal that started this process, so that closing it does not end the work.
pub(crate) fn leave_terminal() {
    #[cfg(unix)]
    let _ = rustix::process::setsid();
}
