//! The wire as others see it.

#[cfg(test)]
mod preferred;
mod schemas;
