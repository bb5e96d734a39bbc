//! History: a replaced memory right behind the fragment that replaced it, never alone and never first.

use casebook_corpus::{ResourceId, Standing};

use crate::assembly::{Picked, Selection};
use crate::guard::Guard;
use crate::hit::Hit;
use crate::{Disposition, RankerConfig, Role};

/// Attaches to each selected fragment the best hit on the resource that it replaced directly. What the evidence left of
/// the budgets is all there is for it.
pub(crate) fn attach(selection: &mut Selection, hits: &mut [Hit], guard: &mut Guard<'_>, config: &RankerConfig) {
    let mut served = Vec::new();
    let mut position = 0;
    while let Some(successor) = selection.picked.get(position).copied() {
        position += 1;
        let resource = hits[successor.hit].record.resource.id.clone();
        if successor.role == Role::History || served.contains(&resource) {
            continue;
        }
        let fits = |&hit: &usize| {
            let replaced = hits[hit].disposition == Some(Disposition::Superseded);
            let direct = successor_of(&hits[hit]) == Some(&resource);
            replaced && direct && selection.refusal(hits, hit, config).is_none()
        };
        let candidates: Vec<_> = (0..hits.len()).filter(fits).collect();
        if let Some(hit) = candidates
            .into_iter()
            .find(|hit| guard.refusal(&mut hits[*hit]).is_none())
        {
            hits[hit].disposition = Some(Disposition::Selected);
            let role = Role::History;
            selection.insert(hits, position, Picked { hit, role });
        }
        served.push(resource);
    }
    check_adjacency(selection, hits);
}

/// Drops every history fragment that does not stand right behind evidence of its direct successor.
pub(crate) fn check_adjacency(selection: &mut Selection, hits: &mut [Hit]) {
    let mut position = 0;
    while let Some(picked) = selection.picked.get(position).copied() {
        let before = position.checked_sub(1).map(|before| selection.picked[before]);
        let led = before.is_some_and(|before| {
            let resource = &hits[before.hit].record.resource.id;
            before.role == Role::Evidence && successor_of(&hits[picked.hit]) == Some(resource)
        });
        if picked.role == Role::Evidence || led {
            position += 1;
        } else {
            selection.remove(hits, position);
            hits[picked.hit].disposition = Some(Disposition::Superseded);
        }
    }
}

fn successor_of(hit: &Hit) -> Option<&ResourceId> {
    match &hit.record.standing {
        Standing::Superseded { by, .. } => Some(by),
        Standing::Live | Standing::Overlaid { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use casebook_corpus::{ContentHash, Resource, SourceDecl};
    use casebook_index::{Locator, Unit, UnitKind, UnitRecord};

    use super::*;

    fn replaced_by(id: &str) -> Standing {
        Standing::Superseded {
            by: id.into(),
            live: "new".into(),
            retracted: false,
        }
    }

    /// Units of `new`, of `old` that it replaced, of `older` that this replaced, and of `other`.
    fn hits() -> Vec<Hit> {
        let standing = |id: &str| match id {
            "old" => replaced_by("new"),
            "older" => replaced_by("old"),
            _ => Standing::Live,
        };
        let record = |id: &str| {
            let meta = Resource::from_markdown(
                &format!("{id}.md"),
                &format!("---\nid: {id}\n---\n"),
                &SourceDecl::default(),
            );
            let resource = Arc::new(meta.unwrap().meta);
            let unit = Unit {
                unit_key: id.into(),
                resource_id: resource.id.clone(),
                kind: UnitKind::Root,
                heading_path: Vec::new(),
                locator: Locator {
                    bytes: 0..1,
                    first_line: 1,
                    last_line: 1,
                },
                text: id.to_owned(),
                token_count: 10,
                content_hash: ContentHash::of(id),
            };
            let standing = standing(id);
            Hit::new(UnitRecord {
                unit,
                order: 0,
                resource,
                standing,
            })
        };
        ["new", "old", "older", "other"].map(record).into()
    }

    /// Packets in, packets out: `+` evidence, `-` history.
    fn check(packet: &[&str], expected: &[&str]) {
        let mut hits = hits();
        let mut selection = Selection::default();
        for name in packet {
            let role = if name.starts_with('-') {
                Role::History
            } else {
                Role::Evidence
            };
            let hit = hits
                .iter()
                .position(|hit| hit.record.unit.unit_key.as_str() == &name[1..])
                .unwrap();
            hits[hit].disposition = Some(Disposition::Selected);
            selection.insert(&hits, selection.picked.len(), Picked { hit, role });
        }
        check_adjacency(&mut selection, &mut hits);
        let names: Vec<_> = selection
            .picked
            .iter()
            .map(|picked| packet_name(picked, &hits))
            .collect();
        assert_eq!(names, expected, "{packet:?}");
        assert_eq!(
            selection.budget(&RankerConfig::default()).tokens_used,
            10 * expected.len()
        );
        let selected = hits
            .iter()
            .filter(|hit| hit.disposition == Some(Disposition::Selected))
            .count();
        assert_eq!(selected, expected.len(), "what is dropped is not selected");
    }

    fn packet_name(picked: &Picked, hits: &[Hit]) -> String {
        let sign = if picked.role == Role::History { '-' } else { '+' };
        format!("{sign}{}", hits[picked.hit].record.unit.unit_key)
    }

    #[test]
    fn history_out_of_its_place_is_dropped() {
        check(&["+new", "-old", "+other"], &["+new", "-old", "+other"]);
        check(&["+new", "+other", "-old"], &["+new", "+other"]);
        check(&["-old", "+new"], &["+new"]);
        check(&["-old"], &[]);
        check(&["+other", "-old"], &["+other"]);
        check(&["+new", "-other"], &["+new"]);
        check(&["-new", "-old"], &[]);
        check(&["+new", "-old", "-older"], &["+new", "-old"]);
    }
}
