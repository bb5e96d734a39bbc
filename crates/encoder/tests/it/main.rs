//! What callers of the encoder may rely on.

#[cfg(test)]
mod artefact;
#[cfg(test)]
mod embedded;
#[cfg(test)]
mod late_interaction;
#[cfg(test)]
mod packs_archive;
#[cfg(test)]
mod packs_fixture;
#[cfg(test)]
mod packs_gguf;
#[cfg(test)]
mod packs_import;
#[cfg(test)]
mod packs_nano_e5;
#[cfg(test)]
mod packs_refused;
#[cfg(test)]
mod packs_store;
#[cfg(test)]
mod static_encoder;
#[cfg(test)]
mod static_late_interaction;
#[cfg(test)]
mod static_table;
#[cfg(test)]
mod support;
#[cfg(test)]
mod transformer;
