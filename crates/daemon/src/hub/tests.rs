//! The downloader against a server on this machine that speaks as the hub does, and as it should not.

mod fixture;
mod hostile;
mod progress;
mod refusals;
mod resume;
mod server;
mod whole;
