//! Units of a snapshot.

use std::collections::HashMap;
use std::sync::Arc;

use casebook_chunker::UnitKey;
use casebook_corpus::{ResourceId, ResourceMeta};
use rusqlite::Connection;

use crate::snapshot::Snapshot;
use crate::store::{self, StoredResource, StoredUnit};
use crate::{ReadError, UnitRecord, UnitSource, UnitSourceError};

impl UnitSource for Snapshot {
    fn units(&self, keys: &[UnitKey]) -> Result<Vec<UnitRecord>, UnitSourceError> {
        let records = self.reader.read(|db| {
            let mut resources = Resources::default();
            let mut records = Vec::with_capacity(keys.len());
            for key in keys {
                if let Some(unit) = store::unit_by_key(db, key)? {
                    records.push(resources.join(db, unit)?);
                }
            }
            Ok(records)
        });
        records.map_err(boxed)
    }

    fn units_of(&self, resource: &ResourceId) -> Result<Vec<UnitRecord>, UnitSourceError> {
        let records = self.reader.read(|db| {
            let Some(found) = store::resource_by_id(db, resource)? else {
                return Ok(Vec::new());
            };
            let meta = Arc::new(found.meta.clone());
            let units = store::units_at(db, &found.location)?;
            Ok(units.into_iter().map(|unit| record(unit, &meta, &found)).collect())
        });
        records.map_err(boxed)
    }
}

fn boxed(error: ReadError) -> UnitSourceError {
    UnitSourceError(error.0)
}

/// Resources met in one answer, by location.
#[derive(Default)]
struct Resources(HashMap<String, (Arc<ResourceMeta>, StoredResource)>);

impl Resources {
    fn join(&mut self, db: &Connection, unit: StoredUnit) -> rusqlite::Result<UnitRecord> {
        if !self.0.contains_key(&unit.location) {
            let found = store::resource_at(db, &unit.location)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
            self.0
                .insert(unit.location.clone(), (Arc::new(found.meta.clone()), found));
        }
        let (meta, resource) = &self.0[&unit.location];
        Ok(record(unit, meta, resource))
    }
}

fn record(stored: StoredUnit, meta: &Arc<ResourceMeta>, resource: &StoredResource) -> UnitRecord {
    let mut unit = stored.unit;
    unit.resource_id = meta.id.clone();
    UnitRecord {
        unit,
        order: stored.order,
        resource: Arc::clone(meta),
        standing: resource.standing.clone(),
    }
}
