//! The ordered set of resources that retrieval may see now, after overlay and supersession.

mod overlay;
mod supersession;

use crate::{Degradation, Manifest, ManifestEntry, ResourceId, ResourceMeta};

/// How a resource stands in the memory.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Standing {
    /// May be retrieved.
    Live,
    /// Replaced or retracted; only its successor may be retrieved.
    Superseded {
        /// The resource that replaced it directly.
        by: ResourceId,
        /// The live end of the chain.
        live: ResourceId,
        /// Whether `by` declares it wrong rather than replacing it.
        retracted: bool,
    },
    /// A resource with the same id lies in a source above it.
    Overlaid {
        /// Where the upper one is.
        by_location: String,
    },
}

/// One resource as the memory is put together from.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// Where it is; unique.
    pub location: String,
    /// Position of its source in the stack.
    pub rank: u32,
    /// The resource. Its id may be changed by [`EffectiveMemory::resolve`] where two locations share one.
    pub meta: ResourceMeta,
}

/// The Effective Memory and its audit view.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EffectiveMemory {
    /// Every member with its standing, ordered by location.
    pub members: Vec<(Member, Standing)>,
    /// The canonical list of the live ones.
    pub manifest: Manifest,
    /// What was bent to get here: two files with one id.
    pub degradations: Vec<Degradation>,
}

/// The supersession declared in the memory makes no sense; nothing was published.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("supersession has {} problem(s): {}", problems.len(), problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
pub struct SupersessionError {
    /// Every problem found, in order of location.
    pub problems: Vec<SupersessionProblem>,
}

/// One problem of the supersession graph.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SupersessionProblem {
    /// A resource replaces itself.
    #[error("{location} supersedes itself")]
    Itself {
        /// The file.
        location: String,
    },
    /// A resource replaces one that is not there.
    #[error("{location} supersedes {target}, which does not exist: remove the entry or restore the file")]
    Unknown {
        /// The file.
        location: String,
        /// The missing id.
        target: ResourceId,
    },
    /// Resources replace each other in a circle.
    #[error("these supersede each other in a circle: {}", locations.join(", "))]
    Cycle {
        /// The files, in order of the circle.
        locations: Vec<String>,
    },
}

impl EffectiveMemory {
    /// Puts the memory together: overlay first, then supersession and retraction, then the manifest.
    ///
    /// Of two members with one id, the one in the upper source is kept, in one source the first by location. Names that
    /// are one in Unicode NFC do not share an id: the one that is not in NFC gets its path, `~` and the first eight hex
    /// digits of the SHA-256 of its name on disk. Only kept members replace others. Where two replace one, the later
    /// `observed_at` counts, then the greater id. An entry that is no id may be the path of a member.
    ///
    /// # Errors
    /// A circle, a self-reference or an unknown target; the error names every file concerned.
    pub fn resolve(members: Vec<Member>) -> Result<Self, SupersessionError> {
        Self::put_together(members, false)
    }

    /// As [`resolve`](Self::resolve), for a memory of which some files could not be read: an unknown target may be one of
    /// them, so it is told and is no error.
    ///
    /// # Errors
    /// A circle or a self-reference.
    pub fn resolve_beside_skipped(members: Vec<Member>) -> Result<Self, SupersessionError> {
        Self::put_together(members, true)
    }

    fn put_together(mut members: Vec<Member>, files_were_skipped: bool) -> Result<Self, SupersessionError> {
        members.sort_by(|a, b| a.location.cmp(&b.location));
        let mut degradations = Vec::new();
        overlay::separate_twins(&mut members, &mut degradations);
        let overlay = overlay::Overlay::new(&members, &mut degradations);
        let successors = supersession::resolve(&members, &overlay, files_were_skipped, &mut degradations)?;
        let standings: Vec<_> = (0..members.len())
            .map(|index| match (overlay.upper(index), successors[index]) {
                (Some(upper), _) => Standing::Overlaid {
                    by_location: members[upper].location.clone(),
                },
                (None, Some(successor)) => Standing::Superseded {
                    by: members[successor.by].meta.id.clone(),
                    live: members[successor.live].meta.id.clone(),
                    retracted: successor.retracted,
                },
                (None, None) => Standing::Live,
            })
            .collect();
        let members: Vec<_> = members.into_iter().zip(standings).collect();
        let live = members.iter().filter(|(_, standing)| *standing == Standing::Live);
        let manifest = Manifest::new(live.map(|(member, _)| ManifestEntry {
            scope: member.meta.scope.clone(),
            id: member.meta.id.clone(),
            content_hash: member.meta.content_hash,
        }));
        degradations.sort_unstable_by(|a, b| (&a.path, a).cmp(&(&b.path, b)));
        Ok(Self {
            members,
            manifest,
            degradations,
        })
    }
}

#[cfg(test)]
mod tests;
