//! Development only: fixtures, a clock that stands still, arbitrary values.
//!
//! The one thing a newcomer gets wrong: nothing here may be named by a crate's normal dependencies. A crate that this
//! one depends on can use it in its integration tests only, since its unit tests are built from a second copy of it.

mod arbitrary;
mod clock;
pub mod damage;
mod generated;
#[cfg(feature = "lanes")]
mod lanes;
#[cfg(feature = "lanes")]
mod packs;
mod project;
mod resource;

pub use arbitrary::{markdown, word_text};
pub use clock::FixedClock;
pub use generated::{GeneratedNote, Generator};
#[cfg(feature = "lanes")]
pub use lanes::{FakeEncoder, FakeLane, FakeMemory};
#[cfg(feature = "lanes")]
pub use packs::FakePack;
pub use project::TempProject;
pub use resource::{ResourceBuilder, resource};
