//! The wire as others see it, and the service over folders of its own.

#[cfg(test)]
mod follow;
#[cfg(test)]
mod matrix;
#[cfg(test)]
mod preferred;
#[cfg(test)]
mod schemas;
#[cfg(test)]
mod support;
