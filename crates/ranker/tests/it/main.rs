//! The chain from outside, over lanes that say what they are told to.

mod delta;
mod dispositions;
mod fusion;
mod guards;
mod history;
#[cfg(test)]
mod laws;
mod preferred;
mod recall;
mod redirects;
mod rerank;
#[cfg(test)]
mod support;
mod trace;
