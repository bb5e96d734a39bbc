//! Transformer packs: what PyTorch computes, what is refused, and what no input may do.

mod bad_input;
mod corrupt;
mod languages;
mod pack;
mod reference;
mod refused;
