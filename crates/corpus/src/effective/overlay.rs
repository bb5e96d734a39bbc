//! One member per id.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization as _;

use crate::{ContentHash, Degradation, Member, ResourceId, codes};

/// Gives members whose paths are one in Unicode NFC ids of their own, unless their front matter names one.
///
/// The member whose name is in NFC keeps the plain id, and where there is none the first by location. A pushed record has no
/// name on disk: its path is what its host says, and takes no file's id away.
pub(super) fn separate_twins(members: &mut [Member], degradations: &mut Vec<Degradation>) {
    let mut keepers: HashMap<String, usize> = HashMap::new();
    let is_file = |member: &Member| member.meta.body_span.first_line > 0;
    for (index, member) in members.iter().enumerate().filter(|(_, member)| is_file(member)) {
        let keeper = keepers.entry(member.meta.path.clone()).or_insert(index);
        if member.meta.disk_path.is_none() && members[*keeper].meta.disk_path.is_some() {
            *keeper = index;
        }
    }
    for index in 0..members.len() {
        if !is_file(&members[index]) {
            continue;
        }
        let keeper = keepers[&members[index].meta.path];
        let kept = members[keeper].location.clone();
        let member = &mut members[index];
        let Some(name) = member.meta.disk_path.as_ref().filter(|_| keeper != index) else {
            continue;
        };
        if member.meta.id.as_str() == member.meta.path {
            let digest = ContentHash::of(name).to_string();
            member.meta.id = ResourceId::new(format!("{}~{}", member.meta.path, &digest[..8]));
        }
        let detail = format!(
            "its name is that of {kept:?}, written with other code points; its id is {:?}",
            member.meta.id.as_str()
        );
        degradations.push(Degradation::at(codes::PATH_TWIN, detail, member.location.clone()));
    }
}

/// Which members lie below another one with their id.
pub(super) struct Overlay {
    uppers: Vec<Option<usize>>,
    by_id: HashMap<ResourceId, usize>,
    by_path: HashMap<String, usize>,
}

impl Overlay {
    /// Finds the uppermost member of every id. `members` are in order of location.
    pub(super) fn new(members: &[Member], degradations: &mut Vec<Degradation>) -> Self {
        let mut by_rank: Vec<usize> = (0..members.len()).collect();
        by_rank.sort_by_key(|&index| std::cmp::Reverse(members[index].rank));
        let mut overlay = Self {
            uppers: vec![None; members.len()],
            by_id: HashMap::with_capacity(members.len()),
            by_path: HashMap::new(),
        };
        let mut first_of_rank: HashMap<(&ResourceId, u32), usize> = HashMap::new();
        for index in by_rank {
            let Member { location, rank, meta } = &members[index];
            let upper = *overlay.by_id.entry(meta.id.clone()).or_insert(index);
            overlay.uppers[index] = Some(upper).filter(|&upper| upper != index);
            let first = *first_of_rank.entry((&meta.id, *rank)).or_insert(index);
            if first != index {
                let detail = format!(
                    "its id {:?} is that of {:?}, which is kept",
                    meta.id.as_str(),
                    members[first].location
                );
                degradations.push(Degradation::at(codes::DUPLICATE_ID, detail, location.clone()));
            }
        }
        // Where the id is the path, the id finds it.
        let named = members
            .iter()
            .filter(|member| member.meta.id.as_str() != member.meta.path);
        for member in named {
            let kept = overlay.by_id[&member.meta.id];
            overlay.by_path.entry(member.meta.path.clone()).or_insert(kept);
        }
        overlay
    }

    /// Returns the member that lies above this one.
    pub(super) fn upper(&self, index: usize) -> Option<usize> {
        self.uppers[index]
    }

    /// Returns the kept member with the id of the file at this path.
    pub(super) fn kept_at(&self, path: &str) -> Option<usize> {
        let path: String = path.nfc().collect();
        self.by_path.get(&path).copied()
    }

    /// Returns the kept member with this id.
    pub(super) fn kept(&self, id: &ResourceId) -> Option<usize> {
        self.by_id.get(id).copied()
    }
}
