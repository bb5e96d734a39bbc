//! What the index holds of the last scan, and what a new one says about it.

use std::collections::{HashMap, HashSet};

use casebook_corpus::{Degradation, Found, KnownItem, KnownItems, KnownState, Scan, ScanItem};
use rusqlite::{Connection, TransactionBehavior, params};

use crate::store::{self, ItemState, StoredItem};

/// Items by location. The empty one makes everything new.
#[derive(Default)]
pub(crate) struct Known(HashMap<String, StoredItem>);

impl KnownItems for Known {
    fn get(&self, location: &str) -> Option<KnownItem> {
        let item = self.0.get(location)?;
        let state = match &item.state {
            ItemState::Resource { read_id, content_hash } => KnownState::Resource {
                id: read_id.clone(),
                content_hash: *content_hash,
            },
            ItemState::Skipped(degradation) => KnownState::Skipped(degradation.clone()),
        };
        Some(KnownItem {
            stamp: item.stamp,
            state,
        })
    }

    fn beginning_with(&self, prefix: &str) -> Vec<String> {
        let found = self.0.keys().filter(|location| location.starts_with(prefix));
        let mut found: Vec<String> = found.cloned().collect();
        found.sort_unstable();
        found
    }
}

impl Known {
    pub(crate) fn load(db: &Connection) -> rusqlite::Result<Self> {
        store::all_items(db).map(Self)
    }

    /// Returns whether the scan found what is held, nothing more and nothing less. Stamps may differ.
    pub(crate) fn is_unchanged(&self, scan: &Scan) -> bool {
        self.0.len() == scan.items.len() && scan.items.iter().all(|item| self.holds(item))
    }

    fn holds(&self, item: &ScanItem) -> bool {
        let Some(known) = self.0.get(&item.location) else {
            return false;
        };
        let same = match (&item.found, &known.state) {
            (Found::Unchanged, _) => true,
            (Found::Skipped(now), ItemState::Skipped(then)) => now == then,
            _ => false,
        };
        same && known.rank == item.rank
    }

    /// Returns the skipped items as the scan tells them: those anew and those that are as before.
    pub(crate) fn skipped<'a>(&'a self, scan: &'a Scan) -> impl Iterator<Item = (&'a ScanItem, &'a Degradation)> {
        scan.items
            .iter()
            .filter_map(|item| match (&item.found, self.0.get(&item.location)) {
                (Found::Skipped(now), _) => Some((item, now)),
                (Found::Unchanged, Some(known)) => match &known.state {
                    ItemState::Skipped(then) => Some((item, then)),
                    ItemState::Resource { .. } => None,
                },
                _ => None,
            })
    }

    /// Returns whether the skipped item is held as it is now.
    pub(crate) fn holds_skipped(&self, item: &ScanItem, degradation: &Degradation) -> bool {
        let known = self.0.get(&item.location);
        known.is_some_and(|known| {
            let same = matches!(&known.state, ItemState::Skipped(then) if then == degradation);
            same && known.rank == item.rank && known.stamp == item.stamp
        })
    }

    /// Returns where something was skipped that the scan found gone or usable.
    pub(crate) fn no_longer_skipped<'a>(&'a self, scan: &'a Scan) -> impl Iterator<Item = &'a str> {
        let skipped: HashSet<&str> = self.skipped(scan).map(|(item, _)| item.location.as_str()).collect();
        let held = self
            .0
            .iter()
            .filter(|(_, item)| matches!(item.state, ItemState::Skipped(_)));
        held.map(|(location, _)| location.as_str())
            .filter(move |location| !skipped.contains(location))
    }

    /// Returns whether items were touched that hold what they held.
    pub(crate) fn has_other_stamps(&self, scan: &Scan) -> bool {
        self.touched(scan).next().is_some()
    }

    fn touched<'a>(&'a self, scan: &'a Scan) -> impl Iterator<Item = &'a ScanItem> {
        scan.items.iter().filter(|item| {
            let known = self.0.get(&item.location);
            item.stamp.is_some() && known.is_some_and(|known| known.stamp != item.stamp)
        })
    }

    /// Notes the stamps of items that were touched and hold what they held. Returns how many.
    pub(crate) fn renew_stamps(&self, db: &mut Connection, scan: &Scan) -> rusqlite::Result<u64> {
        let touched: Vec<&ScanItem> = self.touched(scan).collect();
        if touched.is_empty() {
            return Ok(0);
        }
        let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for item in &touched {
            let stamp = store::pack_stamp(item.stamp);
            for table in ["search_resources", "search_skipped"] {
                let sql = format!("UPDATE {table} SET stamp = ?2 WHERE location = ?1");
                tx.prepare_cached(&sql)?.execute(params![item.location, stamp])?;
            }
        }
        tx.commit()?;
        Ok(touched.len() as u64)
    }
}
