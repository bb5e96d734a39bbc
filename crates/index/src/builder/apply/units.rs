//! How the units of one resource differ from the stored ones.

use std::collections::HashMap;

use casebook_chunker::{Unit, UnitKey};
use casebook_corpus::ContentHash;
use rusqlite::Connection;

use crate::builder::cut::CutResource;
use crate::builder::plan::Target;
use crate::store::{StoredUnit, units_at};

/// One change. `order` is the position among the new units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UnitChange {
    /// A unit that was not there.
    Insert { order: u32 },
    /// A unit that was there and differs; `is_lexical` where the lexical lanes can tell.
    Update { order: u32, rowid: i64, is_lexical: bool },
    /// A unit that is not there any more.
    Remove { rowid: i64, unit_key: UnitKey },
}

/// Returns the changes that lead from the stored units to the new ones.
pub(crate) fn unit_changes(db: &Connection, target: &Target, cut: &CutResource) -> rusqlite::Result<Vec<UnitChange>> {
    let stored = match &target.stored {
        Some(stored) => units_at(db, &stored.location)?,
        None => Vec::new(),
    };
    let was = target
        .stored
        .as_ref()
        .map(|stored| (&stored.meta.path, &stored.meta.title, &stored.meta.id));
    let is = (
        &target.member.meta.path,
        &target.member.meta.title,
        &target.member.meta.id,
    );
    let is_renamed = was != Some(is);
    let mut stored: HashMap<UnitKey, StoredUnit> = stored
        .into_iter()
        .map(|unit| (unit.unit.unit_key.clone(), unit))
        .collect();
    let mut changes = Vec::new();
    for (order, (unit, input_hash)) in (0..).zip(&cut.units) {
        match stored.remove(&unit.unit_key) {
            Some(old) => changes.extend(update(&old, unit, input_hash, order, is_renamed)),
            None => changes.push(UnitChange::Insert { order }),
        }
    }
    let mut removed: Vec<UnitChange> = stored
        .into_values()
        .map(|unit| UnitChange::Remove {
            rowid: unit.rowid,
            unit_key: unit.unit.unit_key,
        })
        .collect();
    removed.sort_unstable_by_key(|change| match change {
        UnitChange::Remove { rowid, .. } => *rowid,
        _ => 0,
    });
    changes.extend(removed);
    Ok(changes)
}

fn update(old: &StoredUnit, new: &Unit, input_hash: &ContentHash, order: u32, is_renamed: bool) -> Option<UnitChange> {
    let is_lexical = is_renamed
        || old.order != order
        || old.unit.content_hash != new.content_hash
        || old.unit.heading_path != new.heading_path;
    let is_same = old.input_hash == *input_hash
        && old.unit.locator == new.locator
        && old.unit.kind == new.kind
        && old.unit.token_count == new.token_count;
    (is_lexical || !is_same).then_some(UnitChange::Update {
        order,
        rowid: old.rowid,
        is_lexical,
    })
}
