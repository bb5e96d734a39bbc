//! Typed requests and responses, and the service that composes the layers.
//!
//! The one thing a newcomer gets wrong: the types in [`wire`] are a contract with scripts, agents and pages, not a view
//! of inner types. They are converted by hand, so that a refactoring inside cannot change what others parse; the
//! schemas in `schemas/` are generated from them.

mod error;
mod follow;
mod history;
mod project;
mod records;
mod service;
pub mod wire;

pub use error::{ApiError, ErrorKind};
pub use follow::{Follower, Pace, Told};
pub use history::History;
pub use project::Project;
pub use records::{Records, read_change, read_page};
pub use service::{Activated, Parts, Refresh, Service};
