//! The wire as others see it, and the service over folders of its own.

#[cfg(test)]
mod follow;
#[cfg(test)]
mod preferred;
mod schemas;
#[cfg(test)]
mod support;
