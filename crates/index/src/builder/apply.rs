//! The difference between what is stored and what has to be, written in one transaction.

mod units;

use std::cell::RefCell;

use casebook_corpus::Standing;
use rusqlite::{Connection, params};

pub(crate) use self::units::{UnitChange, unit_changes};
use crate::builder::cut::CutResource;
use crate::builder::failure::{Failure, Step};
use crate::builder::plan::{Plan, Target};
use crate::builder::step;
use crate::builder::word_index::{Document, LexicalDifference, count_units, each_document};
use crate::lexical::{ImpactWriter, fold, impact, normalise};
use crate::store::{is_full_text_broken, pack, pack_stamp, unreadable};
use crate::{BuildError, BuildObserver, BuildStage};

/// What was written.
#[derive(Debug, Default)]
pub(crate) struct Written {
    pub(crate) rows: u64,
    pub(crate) units: u64,
    pub(crate) lexical: LexicalDifference,
}

/// How much is written anew.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope {
    /// Everything that is stored goes first.
    pub(crate) full: bool,
    /// The full-text table is written anew.
    pub(crate) full_text: bool,
    /// There is a full-text table to write.
    pub(crate) fts5: bool,
    /// There is an index of words to write.
    pub(crate) impact: bool,
}

/// Writes the plan inside the caller's transaction.
pub(crate) fn apply(
    tx: &Connection,
    plan: &Plan,
    cut: &[CutResource],
    unit_changes: &[Vec<UnitChange>],
    scope: Scope,
    observer: &dyn BuildObserver,
) -> Step<Written> {
    let mut writer = Writer {
        tx,
        written: Written::default(),
        fts5: scope.fts5 && !scope.full_text,
    };
    writer.written.lexical.everything = scope.full_text;
    if scope.full {
        writer.clear()?;
    }
    if scope.full_text {
        empty_full_text(tx)?;
        impact::clear(tx)?;
    }
    let mut steps = Steps {
        observer,
        done: 0,
        total: plan.gone.len() + 2 * cut.len() + plan.targets.len(),
    };
    // What leaves goes first: a unit key may come back at another location.
    for location in &plan.gone {
        steps.next()?;
        writer.remove_resource(location)?;
    }
    for target in plan.targets.iter().filter(|target| target.is_newly_overlaid()) {
        writer.remove_units(target.location())?;
    }
    for changes in unit_changes {
        steps.next()?;
        for change in changes {
            writer.remove_unit(change)?;
        }
    }
    for (cut, changes) in cut.iter().zip(unit_changes) {
        steps.next()?;
        writer.write_units(&plan.targets[cut.target], cut, changes)?;
    }
    let mut unit_counts = vec![None; plan.targets.len()];
    for cut in cut {
        unit_counts[cut.target] = Some(cut.units.len());
    }
    for (target, units) in plan.targets.iter().zip(unit_counts) {
        steps.next()?;
        let units = if target.is_overlaid() { Some(0) } else { units };
        writer.write_resource(target, units)?;
    }
    writer.write_skipped(plan)?;
    if scope.full_text && scope.fts5 {
        steps.total += count_units(tx)?;
        each_document::<Failure>(tx, &mut |document| {
            steps.next()?;
            Ok(insert_full_text(tx, document)?)
        })?;
    }
    if scope.impact {
        write_words(tx, &writer.written.lexical, &mut steps)?;
    }
    if scope.fts5 {
        tidy(tx, scope.full_text, &steps)?;
    }
    Ok(writer.written)
}

/// Writes what differs for the word lane.
fn write_words(tx: &Connection, difference: &LexicalDifference, steps: &mut Steps<'_>) -> Step<()> {
    if difference.everything {
        steps.total += count_units(tx)?;
    }
    let steps = RefCell::new(steps);
    let stay = || Ok::<_, Failure>(steps.borrow().stay()?);
    let mut words = ImpactWriter::new(tx, &stay);
    if difference.everything {
        each_document(tx, &mut |document| {
            steps.borrow_mut().next()?;
            words.add(document)
        })?;
    } else {
        words.remove(difference.removed.iter().map(|(rowid, _)| *rowid))?;
        let mut added: Vec<&Document> = difference.added.iter().collect();
        added.sort_unstable_by_key(|document| document.rowid);
        added.into_iter().try_for_each(|document| words.add(document))?;
    }
    words.finish()
}

/// How far the writing is.
struct Steps<'a> {
    observer: &'a dyn BuildObserver,
    done: usize,
    total: usize,
}

impl Steps<'_> {
    fn next(&mut self) -> Result<(), BuildError> {
        self.done += 1;
        self.stay()
    }

    fn stay(&self) -> Result<(), BuildError> {
        step(self.observer, BuildStage::Writing, self.done, Some(self.total))
    }
}

/// Empties the full-text table. One that is broken is made anew; where that fails as well, the whole database is to blame.
fn empty_full_text(tx: &Connection) -> rusqlite::Result<()> {
    let emptied = tx.execute(
        "INSERT INTO search_units_fts (search_units_fts) VALUES ('delete-all')",
        [],
    );
    match emptied {
        Err(error) if is_full_text_broken(&error) => {
            let sql = "SELECT sql FROM sqlite_schema WHERE name = 'search_units_fts'";
            let sql: String = tx.query_row(sql, [], |row| row.get(0))?;
            let made = tx.execute_batch(&format!("DROP TABLE search_units_fts; {sql}"));
            made.map_err(|error| {
                if is_full_text_broken(&error) {
                    unreadable(error)
                } else {
                    error
                }
            })
        }
        emptied => emptied.map(drop),
    }
}

/// Pages of the full-text table that a delta may merge.
const MERGED_PAGES: i64 = 256;

/// Merges what the writes left in pieces: the table answers in half the time when it is in one. A delta does a part of
/// the work, so that its cost stays that of the edit. All of it is done in such parts, for one statement that does the
/// whole could not be stopped.
fn tidy(tx: &Connection, everything: bool, steps: &Steps<'_>) -> Step<()> {
    let sql = "INSERT INTO search_units_fts (search_units_fts, rank) VALUES ('merge', ?1)";
    let mut merge = tx.prepare_cached(sql)?;
    if !everything {
        merge.execute([MERGED_PAGES])?;
        return Ok(());
    }
    // The sign says that all pieces are to become one.
    let mut pages = -MERGED_PAGES;
    loop {
        steps.stay()?;
        let before = tx.total_changes();
        merge.execute([pages])?;
        if tx.total_changes() - before < 2 {
            return Ok(());
        }
        pages = MERGED_PAGES;
    }
}

struct Writer<'a> {
    tx: &'a Connection,
    written: Written,
    fts5: bool,
}

impl Writer<'_> {
    fn execute(&mut self, sql: &str, values: impl rusqlite::Params) -> rusqlite::Result<()> {
        self.written.rows += self.tx.prepare_cached(sql)?.execute(values)? as u64;
        Ok(())
    }

    fn clear(&mut self) -> rusqlite::Result<()> {
        for table in ["search_units", "search_bodies", "search_resources", "search_skipped"] {
            self.execute(&format!("DELETE FROM {table}"), [])?;
        }
        Ok(())
    }

    fn remove_resource(&mut self, location: &str) -> rusqlite::Result<()> {
        self.remove_units(location)?;
        self.execute("DELETE FROM search_bodies WHERE location = ?1", [location])?;
        self.execute("DELETE FROM search_resources WHERE location = ?1", [location])
    }

    fn remove_units(&mut self, location: &str) -> rusqlite::Result<()> {
        for unit in crate::store::units_at(self.tx, location)? {
            self.remove_unit(&UnitChange::Remove {
                rowid: unit.rowid,
                unit_key: unit.unit.unit_key,
            })?;
        }
        Ok(())
    }

    fn remove_unit(&mut self, change: &UnitChange) -> rusqlite::Result<()> {
        if let UnitChange::Remove { rowid, unit_key } = change {
            self.execute("DELETE FROM search_units WHERE unit_rowid = ?1", [rowid])?;
            self.remove_full_text(*rowid)?;
            self.written.lexical.removed.push((*rowid, unit_key.clone()));
        }
        Ok(())
    }

    fn remove_full_text(&mut self, rowid: i64) -> rusqlite::Result<()> {
        if self.fts5 {
            self.tx
                .prepare_cached("DELETE FROM search_units_fts WHERE rowid = ?1")?
                .execute([rowid])?;
        }
        Ok(())
    }

    fn write_units(&mut self, target: &Target, cut: &CutResource, changes: &[UnitChange]) -> rusqlite::Result<()> {
        for change in changes {
            let (order, rowid, is_lexical) = match *change {
                UnitChange::Insert { order } => (order, None, true),
                UnitChange::Update {
                    order,
                    rowid,
                    is_lexical,
                } => (order, Some(rowid), is_lexical),
                UnitChange::Remove { .. } => continue,
            };
            let rowid = self.write_unit(target, cut, order, rowid)?;
            self.written.units += 1;
            if is_lexical {
                self.write_lexical(target, cut, order, rowid)?;
            }
        }
        Ok(())
    }

    /// Writes a unit's row; returns its number.
    fn write_unit(
        &mut self,
        target: &Target,
        cut: &CutResource,
        order: u32,
        rowid: Option<i64>,
    ) -> rusqlite::Result<i64> {
        let (unit, input_hash) = &cut.units[order as usize];
        self.execute(
            "INSERT INTO search_units (unit_rowid, unit_key, location, ord, kind, heading_path, byte_start, byte_end,
                                       first_line, last_line, token_count, content_hash, input_hash, text)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
             ON CONFLICT (unit_rowid) DO UPDATE SET
                 ord = ?4, kind = ?5, heading_path = ?6, byte_start = ?7, byte_end = ?8, first_line = ?9,
                 last_line = ?10, token_count = ?11, content_hash = ?12, input_hash = ?13, text = ?14",
            params![
                rowid,
                unit.unit_key.as_str(),
                target.location(),
                order,
                unit.kind.as_str(),
                pack(&unit.heading_path),
                unit.locator.bytes.start,
                unit.locator.bytes.end,
                unit.locator.first_line,
                unit.locator.last_line,
                unit.token_count,
                unit.content_hash.as_bytes(),
                input_hash.as_bytes(),
                unit.text,
            ],
        )?;
        Ok(rowid.unwrap_or_else(|| self.tx.last_insert_rowid()))
    }

    fn write_lexical(&mut self, target: &Target, cut: &CutResource, order: u32, rowid: i64) -> rusqlite::Result<()> {
        if self.written.lexical.everything {
            return Ok(());
        }
        let (unit, _) = &cut.units[order as usize];
        let document = Document {
            rowid,
            unit_key: unit.unit_key.clone(),
            resource_id: unit.resource_id.clone(),
            order,
            path: target.member.meta.path.clone(),
            title: target.member.meta.title.clone(),
            headings: unit.heading_path.join("\n"),
            text: unit.text.clone(),
        };
        if self.fts5 {
            self.remove_full_text(rowid)?;
            insert_full_text(self.tx, &document)?;
        }
        self.written.lexical.removed.push((rowid, unit.unit_key.clone()));
        self.written.lexical.added.push(document);
        Ok(())
    }

    /// Writes a resource's row where it differs. `units` is `None` where they stay as they are.
    fn write_resource(&mut self, target: &Target, units: Option<usize>) -> rusqlite::Result<()> {
        let meta = &target.member.meta;
        let values = (
            target.location(),
            target.rank,
            pack_stamp(target.stamp),
            target.read_id.as_str(),
            meta.id.as_str(),
            matches!(target.standing, Standing::Live),
            pack(&target.standing),
            fold(meta.id.as_str()),
        );
        if let Some(body) = &target.body {
            let stem = meta.path.rsplit_once('.').map_or(meta.path.as_str(), |(stem, _)| stem);
            self.execute(
                "INSERT OR REPLACE INTO search_resources (
                     location, rank, stamp, read_id, id, live, standing, id_key, scope, content_hash, unit_count,
                     body_bytes, path_key, stem_key, title_key, meta)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
                params![
                    values.0,
                    values.1,
                    values.2,
                    values.3,
                    values.4,
                    values.5,
                    values.6,
                    values.7,
                    meta.scope.as_str(),
                    meta.content_hash.as_bytes(),
                    units.unwrap_or_default(),
                    body.len(),
                    fold(&meta.path),
                    fold(stem),
                    fold(&meta.title),
                    pack(meta),
                ],
            )?;
            let sql = "INSERT OR REPLACE INTO search_bodies (location, body) VALUES (?1, ?2)";
            return self.execute(sql, params![target.location(), body]);
        }
        if target.is_moved() {
            let sql = "UPDATE search_resources
                       SET rank = ?2, stamp = ?3, read_id = ?4, id = ?5, live = ?6, standing = ?7, id_key = ?8
                       WHERE location = ?1";
            self.execute(sql, values)?;
        }
        if let Some(units) = units {
            let sql = "UPDATE search_resources SET unit_count = ?2 WHERE location = ?1 AND unit_count <> ?2";
            self.execute(sql, params![target.location(), units])?;
        }
        Ok(())
    }

    fn write_skipped(&mut self, plan: &Plan) -> rusqlite::Result<()> {
        for location in &plan.not_skipped {
            self.execute("DELETE FROM search_skipped WHERE location = ?1", [location])?;
        }
        for item in &plan.skipped {
            let sql = "INSERT OR REPLACE INTO search_skipped (location, rank, stamp, degradation)
                       VALUES (?1, ?2, ?3, ?4)";
            let stamp = pack_stamp(item.stamp);
            self.execute(sql, params![item.location, item.rank, stamp, pack(&item.degradation)])?;
        }
        Ok(())
    }
}

fn insert_full_text(tx: &Connection, document: &Document) -> rusqlite::Result<()> {
    let sql = "INSERT INTO search_units_fts (rowid, path, title, heading, body) VALUES (?1, ?2, ?3, ?4, ?5)";
    let texts = [&document.path, &document.title, &document.headings, &document.text].map(|text| normalise(text));
    let [path, title, headings, text] = texts;
    tx.prepare_cached(sql)?
        .execute(params![document.rowid, path, title, headings, text])?;
    Ok(())
}
