//! What a ranker asks of a revision beside its lanes.

use std::sync::Arc;

use casebook_chunker::{Unit, UnitKey};
use casebook_corpus::{ResourceId, ResourceMeta, Standing};

/// A unit with the resource that it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitRecord {
    /// The unit.
    pub unit: Unit,
    /// Position among the units of its resource, from 0.
    pub order: u32,
    /// Its resource, shared by the units of one answer.
    pub resource: Arc<ResourceMeta>,
    /// How the resource stands in the memory.
    pub standing: Standing,
}

/// Looks up units of one revision.
pub trait UnitSource: Send + Sync {
    /// Returns the units of these keys, in the order asked; a key that the revision lacks is left out.
    ///
    /// # Errors
    /// When the storage cannot be read.
    fn units(&self, keys: &[UnitKey]) -> Result<Vec<UnitRecord>, UnitSourceError>;

    /// Returns all units of a resource in their order; none for an unknown one.
    ///
    /// # Errors
    /// When the storage cannot be read.
    fn units_of(&self, resource: &ResourceId) -> Result<Vec<UnitRecord>, UnitSourceError>;
}

/// The units cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("units cannot be read")]
pub struct UnitSourceError(#[source] pub Box<dyn std::error::Error + Send + Sync>);
