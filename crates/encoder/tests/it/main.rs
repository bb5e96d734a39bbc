//! What callers of the encoder may rely on.

#[cfg(test)]
mod encoder;
#[cfg(test)]
mod late_interaction;
