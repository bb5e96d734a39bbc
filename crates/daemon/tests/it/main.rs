//! The binary as its users meet it: processes, files, exit codes.

#![expect(clippy::unwrap_used, reason = "a helper of a test ends the test at the first fault")]

mod activate;
mod bad_input;
mod concurrency;
mod config;
mod fill;
mod interrupt;
mod kill;
mod models;
mod network;
mod reference;
mod runs;
mod sandbox;
mod sync;
mod sync_faults;
mod watch;
