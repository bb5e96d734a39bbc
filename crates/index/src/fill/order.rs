//! In which order a fill goes: the newest memory first, because it is asked for most.

use std::collections::HashMap;

use casebook_corpus::{ContentHash, ResourceId, Timestamp};
use rusqlite::Connection;

use crate::store::{self, Encoding, Head, LackingUnit, StoredResource};

/// An input to encode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// The newest of the units that have it.
    pub(crate) rowid: i64,
    pub(crate) hash: ContentHash,
    /// How many units have it.
    pub(crate) units: u64,
}

/// What is lacking at one head.
pub(crate) struct Order {
    pub(crate) seq: i64,
    pub(crate) total: u64,
    /// Units that lack nothing, or were refused.
    pub(crate) done: u64,
    /// The next one last.
    pub(crate) left: Vec<Wanted>,
}

impl Order {
    /// Reads what is lacking at the head that the connection sees.
    pub(crate) fn read(db: &Connection, head: &Head, encoding: Encoding<'_>) -> rusqlite::Result<Self> {
        let lacking = store::lacking_units(db, encoding)?;
        let done = head.units_searched.saturating_sub(lacking.len() as u64);
        let mut ages = Ages::default();
        let mut placed = Vec::with_capacity(lacking.len());
        for unit in lacking {
            placed.push((ages.of(db, &unit)?, unit));
        }
        placed.sort_by(|(one, _), (other, _)| one.cmp(other));
        let mut counts = HashMap::<ContentHash, u64>::new();
        for (_, unit) in &placed {
            *counts.entry(unit.input_hash).or_default() += 1;
        }
        let wanted = placed.into_iter().filter_map(|(_, unit)| {
            let units = counts.remove(&unit.input_hash)?;
            Some(Wanted {
                rowid: unit.rowid,
                hash: unit.input_hash,
                units,
            })
        });
        let mut left: Vec<Wanted> = wanted.collect();
        left.reverse();
        Ok(Self {
            seq: head.seq,
            total: head.units_searched,
            done,
            left,
        })
    }

    /// Returns the next inputs.
    pub(crate) fn next(&self, batch: usize) -> impl Iterator<Item = &Wanted> {
        self.left.iter().rev().take(batch)
    }

    /// Crosses the next inputs off.
    pub(crate) fn cross_off(&mut self, batch: usize) {
        let rest = self.left.len().saturating_sub(batch);
        self.done += self.left.drain(rest..).map(|wanted| wanted.units).sum::<u64>();
    }
}

/// Where a unit stands in the order: newest resource first, then by id, then as in the file.
type Place = (std::cmp::Reverse<Option<Timestamp>>, ResourceId, u32);

/// Resources met, by location.
#[derive(Default)]
struct Ages(HashMap<String, (Option<Timestamp>, ResourceId)>);

impl Ages {
    fn of(&mut self, db: &Connection, unit: &LackingUnit) -> rusqlite::Result<Place> {
        if !self.0.contains_key(&unit.location) {
            let found = store::resource_at(db, &unit.location)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
            self.0.insert(unit.location.clone(), (newest(&found), found.meta.id));
        }
        let (age, id) = &self.0[&unit.location];
        Ok((std::cmp::Reverse(*age), id.clone(), unit.order))
    }
}

/// Returns the latest moment that the resource itself tells of; where it tells none, when its file was written. A file's
/// time alone would make everything new after a fresh checkout.
fn newest(resource: &StoredResource) -> Option<Timestamp> {
    let meta = &resource.meta;
    let told = [meta.observed_at, meta.valid_from, meta.last_confirmed_at];
    let written = || resource.stamp.map(casebook_corpus::Stamp::written_at);
    told.into_iter().flatten().max().or_else(written)
}
