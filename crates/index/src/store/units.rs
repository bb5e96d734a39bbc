//! Units.

use casebook_chunker::{Locator, Unit, UnitKey};
use casebook_corpus::ContentHash;
use rusqlite::{Connection, OptionalExtension, Row};

use crate::store::{content_hash, unpack, unreadable};

/// A unit as it is stored.
#[derive(Clone, Debug)]
pub(crate) struct StoredUnit {
    pub(crate) rowid: i64,
    pub(crate) location: String,
    pub(crate) order: u32,
    pub(crate) input_hash: ContentHash,
    /// The unit; the resource id is set by the reader, who knows it.
    pub(crate) unit: Unit,
}

const COLUMNS: &str =
    "SELECT unit_rowid, unit_key, location, ord, kind, heading_path, byte_start, byte_end, first_line,
                              last_line, token_count, content_hash, input_hash, text
                       FROM search_units";

fn stored(row: &Row<'_>) -> rusqlite::Result<StoredUnit> {
    Ok(StoredUnit {
        rowid: row.get(0)?,
        location: row.get(2)?,
        order: row.get(3)?,
        input_hash: content_hash(row.get_ref(12)?.as_blob()?)?,
        unit: Unit {
            unit_key: UnitKey::new(row.get::<_, String>(1)?),
            resource_id: "".into(),
            kind: row.get_ref(4)?.as_str()?.parse().map_err(unreadable::<String>)?,
            heading_path: unpack(row.get_ref(5)?.as_blob()?)?,
            locator: Locator {
                bytes: row.get(6)?..row.get(7)?,
                first_line: row.get(8)?,
                last_line: row.get(9)?,
            },
            text: row.get(13)?,
            token_count: row.get(10)?,
            content_hash: content_hash(row.get_ref(11)?.as_blob()?)?,
        },
    })
}

/// Returns the units at a location in their order.
pub(crate) fn units_at(db: &Connection, location: &str) -> rusqlite::Result<Vec<StoredUnit>> {
    let mut statement = db.prepare_cached(&format!("{COLUMNS} WHERE location = ?1 ORDER BY ord"))?;
    let units = statement.query_map([location], stored)?;
    units.collect()
}

/// Returns a unit by its key.
pub(crate) fn unit_by_key(db: &Connection, key: &UnitKey) -> rusqlite::Result<Option<StoredUnit>> {
    let mut statement = db.prepare_cached(&format!("{COLUMNS} WHERE unit_key = ?1"))?;
    statement.query_row([key.as_str()], stored).optional()
}

/// Returns the unit of a row.
pub(crate) fn stored_unit(db: &Connection, rowid: i64) -> rusqlite::Result<StoredUnit> {
    let mut statement = db.prepare_cached(&format!("{COLUMNS} WHERE unit_rowid = ?1"))?;
    statement.query_row([rowid], stored)
}
