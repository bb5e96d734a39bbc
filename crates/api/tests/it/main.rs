//! The wire as others see it.

mod preferred;
mod schemas;
