//! One sync: begin, pages, commit.
//!
//! The one thing a newcomer gets wrong: a page that was staged is never replaced, and a commit says how many there are. So
//! two hosts that share one sync by mistake cannot mix their pages: the second is refused at the first page that differs.

use casebook_corpus::{
    ContentHash, ProjectId, RecordChange, RecordPage, RecordVersion, SyncId, Timestamp, check_label,
};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use super::{RecordStore, SyncError, hash_of, stored};
use crate::store::content_hash;

/// A page that waits for its commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StagedPage {
    /// Its number, from 1.
    pub number: u32,
    /// What it says; see [`RecordPage::digest`].
    pub digest: ContentHash,
    /// Records that it brings.
    pub upserts: u64,
    /// Records that it takes away.
    pub tombstones: u64,
}

/// A sync that is under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenSync {
    /// The sync.
    pub id: SyncId,
    /// The version that it builds on; `None` for the first.
    pub base: Option<RecordVersion>,
    /// When it began.
    pub begun_at: Timestamp,
    /// Its pages, in order: 1, 2, and so on.
    pub pages: Vec<StagedPage>,
}

/// A sync that can be sent pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begun {
    /// The sync.
    pub sync: OpenSync,
    /// Whether it was open already. Whoever goes on with it compares the digests of its pages, or sends them again.
    pub resumed: bool,
}

/// A page that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Staged {
    /// The page.
    pub page: StagedPage,
    /// Whether it was staged before.
    pub already: bool,
}

/// What a commit did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The sync.
    pub sync: SyncId,
    /// The version that the records are at.
    pub version: RecordVersion,
    /// When.
    pub at: Timestamp,
    /// Records now.
    pub records: u64,
    /// Records that came.
    pub added: u64,
    /// Records whose content changed.
    pub changed: u64,
    /// Records that were sent and are as before.
    pub unchanged: u64,
    /// Records that went.
    pub removed: u64,
    /// Tombstones for records that were not there.
    pub unknown: u64,
    /// Rows of records inserted, updated or deleted.
    pub rows_written: u64,
}

/// How a store stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SyncStatus {
    /// The last commit; `None` before the first.
    pub committed: Option<Committed>,
    /// The sync that is under way.
    pub open: Option<OpenSync>,
}

impl SyncStatus {
    /// Returns the version that the records are at.
    pub fn version(&self) -> Option<&RecordVersion> {
        self.committed.as_ref().map(|committed| &committed.version)
    }
}

impl RecordStore {
    /// Begins a sync on top of a version, `None` for the first. A sync that is open on this base is gone on with, unless
    /// `replace`, which drops its pages and begins anew under the id `fresh`.
    ///
    /// # Errors
    /// The records are at another version, or the store cannot be written.
    pub fn begin(
        &self,
        base: Option<&RecordVersion>,
        fresh: &SyncId,
        replace: bool,
        now: Timestamp,
    ) -> Result<Begun, SyncError> {
        self.write(|tx| {
            let sql = "INSERT OR IGNORE INTO record_store (one, project_id) VALUES (1, ?1)";
            tx.execute(sql, [self.project.as_str()])?;
            check_base(tx, base)?;
            if !replace && let Some(sync) = open_sync(tx)? {
                return Ok(Begun { sync, resumed: true });
            }
            drop_open(tx)?;
            let sql = "INSERT INTO sync_open (one, sync_id, base_version, begun_at) VALUES (1, ?1, ?2, ?3)";
            let base = base.map(RecordVersion::as_str);
            tx.execute(sql, params![fresh.as_str(), base, now.unix_millis()])?;
            let sync = open_sync(tx)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
            Ok(Begun { sync, resumed: false })
        })
    }

    /// Stages a page: it is kept, and nobody sees it before the commit. Pages come in order, from 1; one that is staged may
    /// come again.
    ///
    /// # Errors
    /// The sync is not open, a page before this one is missing, or another content is staged under its number.
    pub fn stage(&self, sync: &SyncId, number: u32, page: &RecordPage) -> Result<Staged, SyncError> {
        let digest = page.digest();
        self.write(|tx| {
            let open = expect_open(tx, sync)?;
            if let Some(staged) = number.checked_sub(1).and_then(|before| open.pages.get(before as usize)) {
                return match staged.digest == digest {
                    true => Ok(Staged {
                        page: staged.clone(),
                        already: true,
                    }),
                    false => Err(SyncError::PageDiffers { number }),
                };
            }
            let expected = count(&open.pages) + 1;
            if number != expected {
                return Err(SyncError::PageGap {
                    expected,
                    found: number,
                });
            }
            let upserts = stage_changes(tx, page)?;
            let page = StagedPage {
                number,
                digest,
                upserts,
                tombstones: page.changes().len() as u64 - upserts,
            };
            tx.execute(
                "INSERT INTO sync_pages (number, digest, upserts, tombstones) VALUES (?1, ?2, ?3, ?4)",
                params![number, digest.as_bytes(), page.upserts, page.tombstones],
            )?;
            Ok(Staged { page, already: false })
        })
    }

    /// Makes the staged changes the records, in one step, and ends the sync. Asked again, as after a lost answer, it says
    /// what it did. Work is that of the changes.
    ///
    /// # Errors
    /// The sync is not open, its base is not the version that is here, another number of pages is staged, or the new
    /// version is the base. The records are as they were.
    pub fn commit(
        &self,
        sync: &SyncId,
        pages: u32,
        version: &RecordVersion,
        now: Timestamp,
    ) -> Result<Committed, SyncError> {
        self.write(|tx| {
            if let Some(done) = last_commit(tx)?.filter(|done| done.sync == *sync && done.version == *version) {
                return Ok(done);
            }
            let open = expect_open(tx, sync)?;
            check_base(tx, open.base.as_ref())?;
            Self::check_version(open.base.as_ref(), version)?;
            if count(&open.pages) != pages {
                let (staged, said) = (count(&open.pages), pages);
                return Err(SyncError::PageCount { staged, said });
            }
            apply(tx, sync, version, now)?;
            drop_open(tx)?;
            Ok(last_commit(tx)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?)
        })
    }

    /// Checks the name of a new version, as a commit does.
    ///
    /// # Errors
    /// It is no name, or is that of the base.
    pub fn check_version(base: Option<&RecordVersion>, version: &RecordVersion) -> Result<(), SyncError> {
        let named = version.clone();
        match check_label(version.as_str()) {
            Err(problem) => Err(SyncError::Version {
                version: named,
                problem,
            }),
            Ok(()) if base == Some(version) => Err(SyncError::SameVersion { version: named }),
            Ok(()) => Ok(()),
        }
    }

    /// Drops a sync and its pages. Returns how many there were.
    ///
    /// # Errors
    /// The sync is not open, or the store cannot be written.
    pub fn abort(&self, sync: &SyncId) -> Result<u32, SyncError> {
        self.write(|tx| {
            let open = expect_open(tx, sync)?;
            drop_open(tx)?;
            Ok(count(&open.pages))
        })
    }

    /// Returns how the store stands.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn status(&self) -> Result<SyncStatus, SyncError> {
        let status = self.read(|db| {
            Ok(SyncStatus {
                committed: last_commit(db)?,
                open: open_sync(db)?,
            })
        })?;
        Ok(status.unwrap_or_default())
    }
}

/// A store that another project's file name led to is not touched.
pub(super) fn check_project(db: &Connection, expected: &ProjectId) -> Result<(), SyncError> {
    let found = db.query_row("SELECT project_id FROM record_store", [], |row| row.get::<_, String>(0));
    match found.optional()? {
        Some(found) if found != expected.as_str() => Err(SyncError::Foreign {
            found: ProjectId::new(found),
            expected: expected.clone(),
        }),
        _ => Ok(()),
    }
}

/// Returns the version that the records are at; `None` before the first commit.
pub(super) fn current(db: &Connection) -> rusqlite::Result<Option<RecordVersion>> {
    let version = db.query_row("SELECT version FROM record_store", [], |row| {
        row.get::<_, Option<String>>(0)
    });
    Ok(version.optional()?.flatten().map(RecordVersion::new))
}

fn check_base(db: &Connection, given: Option<&RecordVersion>) -> Result<(), SyncError> {
    let current = current(db)?;
    if current.as_ref() == given {
        return Ok(());
    }
    let given = given.cloned();
    Err(SyncError::WrongBase { given, current })
}

fn expect_open(db: &Connection, sync: &SyncId) -> Result<OpenSync, SyncError> {
    let open = open_sync(db)?;
    match open {
        Some(open) if open.id == *sync => Ok(open),
        other => Err(SyncError::Gone {
            sync: sync.clone(),
            current: current(db)?,
            open: other.map(|open| open.id),
        }),
    }
}

fn count(pages: &[StagedPage]) -> u32 {
    u32::try_from(pages.len()).unwrap_or(u32::MAX)
}

fn open_sync(db: &Connection) -> rusqlite::Result<Option<OpenSync>> {
    let open = db.query_row("SELECT sync_id, base_version, begun_at FROM sync_open", [], |row| {
        Ok(OpenSync {
            id: SyncId::new(row.get::<_, String>(0)?),
            base: row.get::<_, Option<String>>(1)?.map(RecordVersion::new),
            begun_at: Timestamp::from_unix_millis(row.get(2)?),
            pages: Vec::new(),
        })
    });
    let Some(mut open) = open.optional()? else {
        return Ok(None);
    };
    let mut statement =
        db.prepare_cached("SELECT number, digest, upserts, tombstones FROM sync_pages ORDER BY number")?;
    let pages = statement.query_map([], |row| {
        Ok(StagedPage {
            number: row.get(0)?,
            digest: content_hash(row.get_ref(1)?.as_blob()?)?,
            upserts: row.get(2)?,
            tombstones: row.get(3)?,
        })
    })?;
    open.pages = pages.collect::<rusqlite::Result<_>>()?;
    Ok(Some(open))
}

fn last_commit(db: &Connection) -> rusqlite::Result<Option<Committed>> {
    let sql =
        "SELECT sync_id, version, committed_at, records, added, changed, unchanged, removed, unknown, rows_written
               FROM record_store WHERE version IS NOT NULL";
    let committed = |row: &Row<'_>| {
        Ok(Committed {
            sync: SyncId::new(row.get::<_, String>(0)?),
            version: RecordVersion::new(row.get::<_, String>(1)?),
            at: Timestamp::from_unix_millis(row.get(2)?),
            records: row.get(3)?,
            added: row.get(4)?,
            changed: row.get(5)?,
            unchanged: row.get(6)?,
            removed: row.get(7)?,
            unknown: row.get(8)?,
            rows_written: row.get(9)?,
        })
    };
    db.query_row(sql, [], committed).optional()
}

/// Writes the changes of a page down; the last to an id counts. Returns how many are upserts.
fn stage_changes(tx: &Transaction<'_>, page: &RecordPage) -> rusqlite::Result<u64> {
    let sql = "INSERT OR REPLACE INTO sync_changes (id, path, content_hash, record) VALUES (?1, ?2, ?3, ?4)";
    let mut statement = tx.prepare_cached(sql)?;
    let mut upserts = 0;
    for change in page.changes() {
        match change {
            RecordChange::Upsert(record) => {
                let hash = hash_of(record);
                let (path, record_bytes) = (record.shown_path(), stored(record));
                statement.execute(params![record.id.as_str(), path, hash.as_bytes(), record_bytes])?;
                upserts += 1;
            }
            RecordChange::Tombstone(id) => {
                statement.execute(params![id.as_str(), None::<String>, None::<Vec<u8>>, None::<Vec<u8>>])?;
            }
        }
    }
    Ok(upserts)
}

/// What is staged and is not here as it is staged. The content is compared before anything is written.
const DIFFERS: &str = "FROM sync_changes AS c WHERE c.record IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM records AS r WHERE r.id = c.id AND r.content_hash = c.content_hash)";

fn apply(tx: &Transaction<'_>, sync: &SyncId, version: &RecordVersion, now: Timestamp) -> rusqlite::Result<()> {
    let counted = |condition: &str| {
        let sql = format!("SELECT count(*) FROM sync_changes AS c LEFT JOIN records AS r USING (id) WHERE {condition}");
        tx.query_row(&sql, [], |row| row.get::<_, u64>(0))
    };
    let added = counted("c.record IS NOT NULL AND r.id IS NULL")?;
    let changed = counted("c.record IS NOT NULL AND r.content_hash <> c.content_hash")?;
    let unchanged = counted("c.record IS NOT NULL AND r.content_hash = c.content_hash")?;
    let removed = counted("c.record IS NULL AND r.id IS NOT NULL")?;
    let unknown = counted("c.record IS NULL AND r.id IS NULL")?;
    let mut rows = tx.execute(
        &format!("INSERT OR REPLACE INTO record_contents (id, record) SELECT c.id, c.record {DIFFERS}"),
        [],
    )?;
    rows += tx.execute(
        &format!(
            "INSERT OR REPLACE INTO records (id, path, content_hash, changed_at)
             SELECT c.id, c.path, c.content_hash, ?1 {DIFFERS}"
        ),
        [now.unix_millis()],
    )?;
    for table in ["record_contents", "records"] {
        let gone = "SELECT id FROM sync_changes WHERE record IS NULL";
        rows += tx.execute(&format!("DELETE FROM {table} WHERE id IN ({gone})"), [])?;
    }
    tx.execute(
        "UPDATE record_store SET records = records + ?4 - ?7, sync_id = ?1, version = ?2, committed_at = ?3,
             added = ?4, changed = ?5, unchanged = ?6, removed = ?7, unknown = ?8, rows_written = ?9",
        params![
            sync.as_str(),
            version.as_str(),
            now.unix_millis(),
            added,
            changed,
            unchanged,
            removed,
            unknown,
            rows
        ],
    )?;
    Ok(())
}

fn drop_open(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    tx.execute_batch("DELETE FROM sync_open; DELETE FROM sync_pages; DELETE FROM sync_changes;")
}
