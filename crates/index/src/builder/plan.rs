//! What has to change so that the index holds the memory as it is now.

use std::collections::{BTreeMap, HashMap};

use casebook_corpus::{
    Degradation, EffectiveHash, EffectiveMemory, Found, Manifest, Member, ResourceId, Scan, Stamp, Standing,
};

use crate::builder::failure::Step;
use crate::builder::known::Known;
use crate::store::StoredResource;

/// A resource as it has to be.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) rank: u32,
    pub(crate) stamp: Option<Stamp>,
    /// The id before overlay.
    pub(crate) read_id: ResourceId,
    pub(crate) member: Member,
    pub(crate) standing: Standing,
    /// The body where it was read anew; `None` where it is the stored one.
    pub(crate) body: Option<String>,
    /// What is stored at its location.
    pub(crate) stored: Option<StoredResource>,
}

/// An item that could not be used.
#[derive(Debug)]
pub(crate) struct SkippedItem {
    pub(crate) location: String,
    pub(crate) rank: u32,
    pub(crate) stamp: Option<Stamp>,
    pub(crate) degradation: Degradation,
}

/// What has to change.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Every resource, by location.
    pub(crate) targets: Vec<Target>,
    /// Locations of resources that are gone.
    pub(crate) gone: Vec<String>,
    /// Items skipped anew or for another reason.
    pub(crate) skipped: Vec<SkippedItem>,
    /// Locations where nothing is skipped any more.
    pub(crate) not_skipped: Vec<String>,
    pub(crate) effective_hash: EffectiveHash,
    /// What the scan had to leave out.
    pub(crate) left_out: Vec<Degradation>,
    /// What the memory was bent to.
    pub(crate) bent: Vec<Degradation>,
    pub(crate) difference: Difference,
}

/// How the live resources differ from those of the head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) added: u64,
    pub(crate) changed: u64,
    pub(crate) removed: u64,
}

impl Target {
    pub(crate) fn location(&self) -> &str {
        &self.member.location
    }

    pub(crate) fn is_overlaid(&self) -> bool {
        matches!(self.standing, Standing::Overlaid { .. })
    }

    /// Returns whether it had units and loses them to a resource above it.
    pub(crate) fn is_newly_overlaid(&self) -> bool {
        let was = |stored: &StoredResource| matches!(stored.standing, Standing::Overlaid { .. });
        self.is_overlaid() && self.stored.as_ref().is_some_and(|stored| !was(stored))
    }

    /// Returns whether its row differs from the stored one in anything but the content.
    pub(crate) fn is_moved(&self) -> bool {
        self.stored.as_ref().is_none_or(|stored| {
            stored.rank != self.rank
                || stored.stamp != self.stamp
                || stored.read_id != self.read_id
                || stored.meta.id != self.member.meta.id
                || stored.standing != self.standing
        })
    }

    /// Returns whether its units have to be cut: it is searched, and its content or its id is not what they were cut from.
    pub(crate) fn needs_cut(&self, chunker_changed: bool) -> bool {
        let same = |stored: &StoredResource| {
            let was_overlaid = matches!(stored.standing, Standing::Overlaid { .. });
            self.body.is_none() && !was_overlaid && stored.meta.id == self.member.meta.id
        };
        !self.is_overlaid() && (chunker_changed || !self.stored.as_ref().is_some_and(same))
    }
}

/// Puts the memory together and compares it with what is stored.
pub(crate) fn plan(scan: Scan, known: &Known, stored: Vec<StoredResource>, before: &Manifest) -> Step<Plan> {
    let skipped = known
        .skipped(&scan)
        .filter(|(item, degradation)| !known.holds_skipped(item, degradation));
    let skipped = skipped.map(|(item, degradation)| SkippedItem {
        location: item.location.clone(),
        rank: item.rank,
        stamp: item.stamp,
        degradation: degradation.clone(),
    });
    let skipped: Vec<SkippedItem> = skipped.collect();
    let mut not_skipped: Vec<String> = known.no_longer_skipped(&scan).map(str::to_owned).collect();
    not_skipped.sort_unstable();
    let left_out = scan_degradations(known, &scan);

    let mut stored: BTreeMap<String, StoredResource> = stored
        .into_iter()
        .map(|resource| (resource.location.clone(), resource))
        .collect();
    let mut members = Vec::new();
    let mut files_were_skipped = false;
    let mut sides = HashMap::new();
    for item in scan.items {
        let held = stored.remove(&item.location);
        let (meta, body) = match (item.found, &held) {
            (Found::Resource(resource), _) => (resource.meta, Some(resource.body)),
            (Found::Unchanged, Some(held)) => {
                let mut meta = held.meta.clone();
                meta.id = held.read_id.clone();
                (meta, None)
            }
            (Found::Unchanged | Found::Skipped(_), held) => {
                files_were_skipped = true;
                // What was a resource here and is skipped now is gone.
                if held.is_some() {
                    stored.extend(held.clone().map(|held| (held.location.clone(), held)));
                }
                continue;
            }
        };
        sides.insert(item.location.clone(), (meta.id.clone(), item.stamp, body, held));
        members.push(Member {
            location: item.location,
            rank: item.rank,
            meta,
        });
    }
    let memory = if files_were_skipped {
        EffectiveMemory::resolve_beside_skipped(members)?
    } else {
        EffectiveMemory::resolve(members)?
    };
    let mut targets = Vec::with_capacity(memory.members.len());
    for (member, standing) in memory.members {
        if let Some((read_id, stamp, body, stored)) = sides.remove(&member.location) {
            targets.push(Target {
                rank: member.rank,
                stamp,
                read_id,
                member,
                standing,
                body,
                stored,
            });
        }
    }
    Ok(Plan {
        targets,
        gone: stored.into_keys().collect(),
        skipped,
        not_skipped,
        effective_hash: memory.manifest.effective_hash(),
        left_out,
        bent: memory.degradations,
        difference: difference(before, &memory.manifest),
    })
}

/// Returns what the scan had to leave out, as every build tells it.
pub(crate) fn scan_degradations(known: &Known, scan: &Scan) -> Vec<Degradation> {
    let skipped = known.skipped(scan).map(|(_, degradation)| degradation);
    scan.degradations.iter().chain(skipped).cloned().collect()
}

fn difference(before: &Manifest, after: &Manifest) -> Difference {
    let before: HashMap<_, _> = before
        .entries()
        .iter()
        .map(|entry| ((&entry.scope, &entry.id), entry))
        .collect();
    let mut difference = Difference::default();
    let mut stayed = 0;
    for entry in after.entries() {
        match before.get(&(&entry.scope, &entry.id)) {
            Some(then) => {
                stayed += 1;
                difference.changed += u64::from(then.content_hash != entry.content_hash);
            }
            None => difference.added += 1,
        }
    }
    difference.removed = before.len() as u64 - stayed;
    difference
}
