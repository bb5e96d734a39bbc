//! The wire as others see it.

mod schemas;
