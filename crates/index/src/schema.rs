//! The tables of `index.db`, and how the file is opened.
//!
//! The one thing a newcomer gets wrong: row ids (`unit_rowid`) join the full-text table to its units and mean nothing
//! else. They differ between two indexes of the same memory. And the blobs hold types of other crates: where their serde
//! form changes, old blobs cannot be read, so such a change needs a migration that empties the tables.

use std::path::Path;

use casebook_storage::{DatabaseError, Migration, OpenOptions, Synchronous, migrate, open, open_read_only};
use rusqlite::Connection;

use crate::lexical::impact;

/// Marks `index.db` as ours: "CBix".
const APPLICATION_ID: i32 = 0x4342_6978;

/// What a log may keep on disk after a large build, in bytes.
const LOG_BYTES: i64 = 64 << 20;

/// Opens the database and brings its schema up to date.
pub(crate) fn open_database(path: &Path) -> Result<Connection, DatabaseError> {
    // A loss of power may cost the last build, which the next one makes again.
    let db = open(path, &OpenOptions::new(APPLICATION_ID, Synchronous::Normal))?;
    db.pragma_update_and_check(None, "journal_size_limit", LOG_BYTES, |_| Ok(()))?;
    finished(db)
}

/// Opens a database that cannot be written. One of an earlier version cannot be used so.
pub(crate) fn open_database_to_read(path: &Path) -> Result<Connection, DatabaseError> {
    finished(open_read_only(path, APPLICATION_ID)?)
}

fn finished(mut db: Connection) -> Result<Connection, DatabaseError> {
    migrate(&mut db, MIGRATIONS)?;
    db.set_prepared_statement_cache_capacity(64);
    Ok(db)
}

const MIGRATIONS: &[Migration] = &[
    Migration { sql: TABLES },
    Migration { sql: WHAT_A_HEAD_KNOWS },
    Migration { sql: FURTHER_ENCODERS },
    Migration { sql: impact::TABLES },
    Migration {
        sql: WHAT_NEED_NOT_BE_COUNTED,
    },
];

/// Bodies lie apart from the other columns, so that looking through all resources reads few pages.
const TABLES: &str = "
CREATE TABLE search_revisions (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    parent TEXT,
    status TEXT NOT NULL CHECK (status IN ('building', 'ready', 'failed')),
    effective_hash BLOB,
    chunker_revision TEXT NOT NULL,
    encoder_revision TEXT,
    lexical_revision TEXT NOT NULL,
    resources INTEGER NOT NULL DEFAULT 0,
    units INTEGER NOT NULL DEFAULT 0,
    units_searched INTEGER NOT NULL DEFAULT 0,
    vectors_missing INTEGER NOT NULL DEFAULT 0,
    vectors_refused INTEGER NOT NULL DEFAULT 0,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    elapsed_ms INTEGER,
    error TEXT
) STRICT;

CREATE TABLE search_heads (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    seq INTEGER NOT NULL REFERENCES search_revisions (seq)
) STRICT;

CREATE TABLE search_resources (
    location TEXT NOT NULL PRIMARY KEY,
    rank INTEGER NOT NULL,
    stamp BLOB,
    read_id TEXT NOT NULL,
    id TEXT NOT NULL,
    scope TEXT NOT NULL,
    content_hash BLOB NOT NULL,
    live INTEGER NOT NULL,
    standing BLOB NOT NULL,
    unit_count INTEGER NOT NULL,
    body_bytes INTEGER NOT NULL,
    id_key TEXT NOT NULL,
    path_key TEXT NOT NULL,
    stem_key TEXT NOT NULL,
    title_key TEXT NOT NULL,
    meta BLOB NOT NULL
) STRICT;
CREATE INDEX search_resources_id ON search_resources (id);
CREATE INDEX search_resources_id_key ON search_resources (id_key, location);
CREATE INDEX search_resources_path_key ON search_resources (path_key, location);
CREATE INDEX search_resources_stem_key ON search_resources (stem_key, location);
CREATE INDEX search_resources_title_key ON search_resources (title_key, location);

CREATE TABLE search_bodies (
    location TEXT NOT NULL PRIMARY KEY,
    body TEXT NOT NULL
) STRICT;

CREATE TABLE search_skipped (
    location TEXT NOT NULL PRIMARY KEY,
    rank INTEGER NOT NULL,
    stamp BLOB,
    degradation BLOB NOT NULL
) STRICT;

CREATE TABLE search_units (
    unit_rowid INTEGER PRIMARY KEY,
    unit_key TEXT NOT NULL UNIQUE,
    location TEXT NOT NULL,
    ord INTEGER NOT NULL,
    kind TEXT NOT NULL,
    heading_path BLOB NOT NULL,
    byte_start INTEGER NOT NULL,
    byte_end INTEGER NOT NULL,
    first_line INTEGER NOT NULL,
    last_line INTEGER NOT NULL,
    token_count INTEGER NOT NULL,
    content_hash BLOB NOT NULL,
    input_hash BLOB NOT NULL,
    text TEXT NOT NULL
) STRICT;
CREATE INDEX search_units_location ON search_units (location, ord);

CREATE VIRTUAL TABLE search_units_fts USING fts5 (
    path, title, heading, body,
    content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 0'
);

CREATE TABLE search_vector_cache (
    input_hash BLOB NOT NULL,
    encoder_revision TEXT NOT NULL,
    input_windows INTEGER NOT NULL,
    vector BLOB,
    PRIMARY KEY (input_hash, encoder_revision)
) STRICT;
CREATE INDEX search_vector_cache_refused ON search_vector_cache (encoder_revision) WHERE vector IS NULL;
";

/// The head says how long its vectors are and what its memory was bent to; one that does not is made again. The indexes
/// let every build look for missing and broken vectors without reading one.
const WHAT_A_HEAD_KNOWS: &str = "
ALTER TABLE search_revisions ADD COLUMN dimension INTEGER;
ALTER TABLE search_revisions ADD COLUMN degradations BLOB;
DROP INDEX search_vector_cache_refused;
CREATE INDEX search_units_input ON search_units (input_hash);
CREATE INDEX search_vector_cache_length ON search_vector_cache (encoder_revision, input_hash, length(vector));
";

/// Encoders beside the one that builds use, and the term weights of those that offer them. A row of `search_encoders`
/// stays when its vectors go, so that a `generation` never means two things.
const FURTHER_ENCODERS: &str = "
CREATE TABLE search_encoders (
    encoder_revision TEXT NOT NULL PRIMARY KEY,
    dimension INTEGER NOT NULL,
    sparse INTEGER NOT NULL DEFAULT 0,
    chosen INTEGER NOT NULL DEFAULT 0,
    generation INTEGER NOT NULL DEFAULT 0,
    complete_seq INTEGER,
    refused INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE search_sparse_cache (
    input_hash BLOB NOT NULL,
    encoder_revision TEXT NOT NULL,
    weights BLOB NOT NULL,
    PRIMARY KEY (input_hash, encoder_revision)
) STRICT;
CREATE INDEX search_sparse_cache_encoder ON search_sparse_cache (encoder_revision);
";

/// A build that knows that nothing was lost since the head need not look at every unit for a missing vector, and one that
/// knows how much may be spare at most need not look at every vector for what the head does without.
const WHAT_NEED_NOT_BE_COUNTED: &str = "
ALTER TABLE search_revisions ADD COLUMN vectors_lost INTEGER;
CREATE TABLE search_vector_counts (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    lost INTEGER NOT NULL,
    spare_bytes INTEGER
) STRICT;
INSERT INTO search_vector_counts (one, lost) VALUES (1, 0);
CREATE TRIGGER search_vector_deleted AFTER DELETE ON search_vector_cache BEGIN
    UPDATE search_vector_counts SET lost = lost + 1;
END;
CREATE TRIGGER search_vector_changed AFTER UPDATE ON search_vector_cache BEGIN
    UPDATE search_vector_counts SET lost = lost + 1;
END;
";
