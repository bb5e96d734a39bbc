//! One revision as a query sees it, whole, for as long as it is held.
//!
//! The one thing a newcomer gets wrong: a snapshot is a read transaction. It never blocks a build and is never blocked by
//! one, but while it is held the database cannot take the log of later builds in, so let go of it when the answer is made.

mod encoder_lanes;
mod reader;
mod units;

use std::sync::Arc;

use casebook_corpus::{Degradation, Manifest, ResourceId, ResourceMeta, Stamp, Standing};

pub use self::encoder_lanes::{Coverage, EncoderLanes};
pub(crate) use self::reader::Reader;
use crate::degradation::{FTS5_LANE_BEHIND, IMPACT_LANE_BEHIND, TANTIVY_LANE_BEHIND, TANTIVY_LANE_UNAVAILABLE};
use crate::index::Shared;
use crate::lexical::{Fts5Lane, IdentityLane, ImpactLane, TantivyLane};
use crate::store::{self, Head};
use crate::vector::{ExactLane, Role};
use crate::{EncoderRevision, LexicalLane, ReadError, Revision, VectorLane};

/// One revision, whole. Several threads may use it at once.
pub struct Snapshot {
    reader: Arc<Reader>,
    revision: Revision,
    identity: IdentityLane,
    impact: Option<ImpactLane>,
    fts5: Option<Fts5Lane>,
    tantivy: Option<TantivyLane>,
    dense: Option<ExactLane>,
    degradations: Vec<Degradation>,
    seq: i64,
    units_searched: u64,
}

/// What became of the word index for a snapshot.
pub(crate) enum WordLane {
    /// Not wanted.
    Off,
    /// It serves the head.
    Ready(TantivyLane),
    /// Its last commit belongs to another revision.
    Behind,
    /// It cannot be used.
    Broken(String),
}

/// Where a resource was read from, for telling whether it is still so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Where it is: for a file its name on disk, relative to the root.
    pub location: String,
    /// Its stamp then; `None` where it cannot be trusted.
    pub stamp: Option<Stamp>,
}

impl Snapshot {
    pub(crate) fn new(shared: &Arc<Shared>, reader: Arc<Reader>, head: Head, word_lane: WordLane) -> Self {
        let mut degradations: Vec<Degradation> = shared.rebuilt().iter().cloned().collect();
        let id = &head.revision.id;
        let tantivy = match word_lane {
            WordLane::Ready(lane) => Some(lane),
            WordLane::Off => None,
            WordLane::Behind => {
                let detail = "the word index belongs to another revision than the head";
                degradations.push(Degradation::new(TANTIVY_LANE_BEHIND, detail));
                None
            }
            WordLane::Broken(reason) => {
                degradations.push(Degradation::new(TANTIVY_LANE_UNAVAILABLE, reason));
                None
            }
        };
        degradations.extend(head.vector_degradation());
        let has_vectors = head.units_searched == 0 || head.lacking() < head.units_searched;
        let encoder = head.revision.encoder_revision.clone().filter(|_| has_vectors);
        let mut impact = None;
        if shared.options().impact {
            if ImpactLane::is_served_by(&head.revision) {
                impact = Some(ImpactLane::new(Arc::clone(&reader), id.clone()));
            } else {
                let detail = "the index of words was written by another version or left out";
                degradations.push(Degradation::new(IMPACT_LANE_BEHIND, detail));
            }
        }
        let mut fts5 = None;
        if shared.options().fts5 {
            if Fts5Lane::is_served_by(&head.revision) {
                fts5 = Some(Fts5Lane::new(Arc::clone(&reader), id.clone(), head.units_searched));
            } else {
                let detail = "the table of substrings was written by another version or left out";
                degradations.push(Degradation::new(FTS5_LANE_BEHIND, detail));
            }
        }
        Self {
            identity: IdentityLane::new(Arc::clone(&reader), id.clone()),
            impact,
            fts5,
            tantivy,
            dense: encoder
                .map(|encoder| ExactLane::new(Arc::clone(&reader), id.clone(), encoder, head.dimension, Role::Base)),
            revision: head.revision,
            degradations,
            seq: head.seq,
            units_searched: head.units_searched,
            reader,
        }
    }

    /// Returns the revision.
    pub fn revision(&self) -> &Revision {
        &self.revision
    }

    /// Returns the lane that finds resources by id, path and title.
    pub fn identity(&self) -> &dyn LexicalLane {
        &self.identity
    }

    /// Returns the lanes that find units by their words: `impact`, `fts5` and `tantivy`, each where it is wanted and works.
    pub fn lexical(&self) -> Vec<&dyn LexicalLane> {
        let lanes = [
            self.impact.as_ref().map(|lane| lane as &dyn LexicalLane),
            self.fts5.as_ref().map(|lane| lane as &dyn LexicalLane),
            self.tantivy.as_ref().map(|lane| lane as &dyn LexicalLane),
        ];
        lanes.into_iter().flatten().collect()
    }

    /// Returns the lanes of an encoder that is filled in beside the one of the builds, complete or not. One that was never
    /// filled has lanes that find nothing.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn lanes_of(&self, encoder: &EncoderRevision) -> Result<EncoderLanes, ReadError> {
        EncoderLanes::of(self, encoder)
    }

    /// Returns the lane that finds units by the vectors of the encoder that the revision was built with, where there are
    /// any.
    pub fn dense(&self) -> Option<&dyn VectorLane> {
        self.dense.as_ref().map(|lane| lane as &dyn VectorLane)
    }

    /// Returns what this revision does without.
    pub fn degradations(&self) -> &[Degradation] {
        &self.degradations
    }

    /// Returns the ordered list of live resources.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn manifest(&self) -> Result<Manifest, ReadError> {
        self.reader.read(store::manifest)
    }

    /// Returns every resource and how it stands, overlaid ones included, by location.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn metas(&self) -> Result<Vec<(ResourceMeta, Standing)>, ReadError> {
        let resources = self.reader.read(store::resources)?;
        Ok(resources
            .into_iter()
            .map(|resource| (resource.meta, resource.standing))
            .collect())
    }

    /// Returns a resource and how it stands; of several with one id, the one that no other lies above.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn meta(&self, id: &ResourceId) -> Result<Option<(ResourceMeta, Standing)>, ReadError> {
        let found = self.reader.read(|db| store::resource_by_id(db, id))?;
        Ok(found.map(|resource| (resource.meta, resource.standing)))
    }

    /// Returns where a resource was read from.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn place(&self, id: &ResourceId) -> Result<Option<Place>, ReadError> {
        let found = self.reader.read(|db| store::resource_by_id(db, id))?;
        Ok(found.map(|resource| Place {
            location: resource.location,
            stamp: resource.stamp,
        }))
    }

    /// Returns a resource's body, byte for byte as it was read.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn body(&self, id: &ResourceId) -> Result<Option<String>, ReadError> {
        self.reader.read(|db| match store::resource_by_id(db, id)? {
            Some(resource) => store::body(db, &resource.location).map(Some),
            None => Ok(None),
        })
    }
}
