//! What callers of the encoder may rely on.

#[cfg(test)]
mod artefact;
#[cfg(test)]
mod embedded;
#[cfg(test)]
mod late_interaction;
#[cfg(test)]
mod static_encoder;
#[cfg(test)]
mod static_late_interaction;
#[cfg(test)]
mod static_table;
#[cfg(test)]
mod support;
