//! Resources, and items that were skipped.

use std::collections::HashMap;

use casebook_corpus::{
    ContentHash, Degradation, Manifest, ManifestEntry, ResourceId, ResourceMeta, Scope, Stamp, Standing,
};
use rusqlite::{Connection, OptionalExtension, Row};

use crate::store::{content_hash, unpack, unpack_stamp};

/// What is held of an item of the last scan, enough to tell whether it changed.
#[derive(Clone, Debug)]
pub(crate) struct StoredItem {
    pub(crate) rank: u32,
    pub(crate) stamp: Option<Stamp>,
    pub(crate) state: ItemState,
}

#[derive(Clone, Debug)]
pub(crate) enum ItemState {
    Resource {
        read_id: ResourceId,
        content_hash: ContentHash,
    },
    Skipped(Degradation),
}

/// A resource of the head with its place.
#[derive(Clone, Debug)]
pub(crate) struct StoredResource {
    pub(crate) location: String,
    pub(crate) rank: u32,
    pub(crate) stamp: Option<Stamp>,
    /// The id before overlay.
    pub(crate) read_id: ResourceId,
    pub(crate) standing: Standing,
    /// Everything but the body, with the id after overlay.
    pub(crate) meta: ResourceMeta,
}

/// What the live resources come to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) resources: u64,
    pub(crate) units: u64,
    /// Units of live and of superseded resources.
    pub(crate) units_searched: u64,
    pub(crate) body_bytes: u64,
}

/// Returns every item by its location.
pub(crate) fn all_items(db: &Connection) -> rusqlite::Result<HashMap<String, StoredItem>> {
    let mut items = HashMap::new();
    let mut statement =
        db.prepare_cached("SELECT location, rank, stamp, read_id, content_hash FROM search_resources")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let state = ItemState::Resource {
            read_id: ResourceId::new(row.get::<_, String>(3)?),
            content_hash: content_hash(row.get_ref(4)?.as_blob()?)?,
        };
        items.insert(row.get(0)?, item(row, state)?);
    }
    let mut statement = db.prepare_cached("SELECT location, rank, stamp, degradation FROM search_skipped")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let state = ItemState::Skipped(unpack(row.get_ref(3)?.as_blob()?)?);
        items.insert(row.get(0)?, item(row, state)?);
    }
    Ok(items)
}

fn item(row: &Row<'_>, state: ItemState) -> rusqlite::Result<StoredItem> {
    Ok(StoredItem {
        rank: row.get(1)?,
        stamp: unpack_stamp(row.get_ref(2)?.as_blob_or_null()?),
        state,
    })
}

const COLUMNS: &str = "SELECT location, rank, stamp, read_id, id, standing, meta FROM search_resources";

fn resource(row: &Row<'_>) -> rusqlite::Result<StoredResource> {
    let mut meta: ResourceMeta = unpack(row.get_ref(6)?.as_blob()?)?;
    meta.id = ResourceId::new(row.get::<_, String>(4)?);
    Ok(StoredResource {
        location: row.get(0)?,
        rank: row.get(1)?,
        stamp: unpack_stamp(row.get_ref(2)?.as_blob_or_null()?),
        read_id: ResourceId::new(row.get::<_, String>(3)?),
        standing: unpack(row.get_ref(5)?.as_blob()?)?,
        meta,
    })
}

/// Returns every resource, overlaid ones included, by location.
pub(crate) fn resources(db: &Connection) -> rusqlite::Result<Vec<StoredResource>> {
    let mut statement = db.prepare_cached(&format!("{COLUMNS} ORDER BY location"))?;
    let resources = statement.query_map([], resource)?;
    resources.collect()
}

/// Returns the resource at a location.
pub(crate) fn resource_at(db: &Connection, location: &str) -> rusqlite::Result<Option<StoredResource>> {
    let mut statement = db.prepare_cached(&format!("{COLUMNS} WHERE location = ?1"))?;
    statement.query_row([location], resource).optional()
}

/// Returns the resource of this id that no other lies above.
pub(crate) fn resource_by_id(db: &Connection, id: &ResourceId) -> rusqlite::Result<Option<StoredResource>> {
    let mut statement = db.prepare_cached(&format!("{COLUMNS} WHERE id = ?1 ORDER BY location"))?;
    let mut rows = statement.query([id.as_str()])?;
    while let Some(row) = rows.next()? {
        let found = resource(row)?;
        if !matches!(found.standing, Standing::Overlaid { .. }) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Returns the body of the resource at a location.
pub(crate) fn body(db: &Connection, location: &str) -> rusqlite::Result<String> {
    let mut statement = db.prepare_cached("SELECT body FROM search_bodies WHERE location = ?1")?;
    statement.query_row([location], |row| row.get(0))
}

/// Returns the manifest of the live resources.
pub(crate) fn manifest(db: &Connection) -> rusqlite::Result<Manifest> {
    let mut statement = db.prepare_cached("SELECT scope, id, content_hash FROM search_resources WHERE live")?;
    let entries = statement.query_map([], |row| {
        Ok(ManifestEntry {
            scope: Scope::new(row.get::<_, String>(0)?),
            id: ResourceId::new(row.get::<_, String>(1)?),
            content_hash: content_hash(row.get_ref(2)?.as_blob()?)?,
        })
    })?;
    entries.collect::<rusqlite::Result<Vec<_>>>().map(Manifest::new)
}

/// Adds up the live resources.
pub(crate) fn totals(db: &Connection) -> rusqlite::Result<Totals> {
    let sql = "SELECT count(*) FILTER (WHERE live), ifnull(sum(unit_count) FILTER (WHERE live), 0),
                      ifnull(sum(unit_count), 0), ifnull(sum(body_bytes) FILTER (WHERE live), 0)
               FROM search_resources";
    db.prepare_cached(sql)?.query_row([], |row| {
        Ok(Totals {
            resources: row.get(0)?,
            units: row.get(1)?,
            units_searched: row.get(2)?,
            body_bytes: row.get(3)?,
        })
    })
}
