//! Brings the word index to the head. All of it is written before the head moves and committed right after, so it can only
//! be behind, and for moments.

use std::cell::Cell;

use casebook_chunker::UnitKey;
use casebook_corpus::{Degradation, ResourceId};
use rusqlite::{Connection, Row};

use crate::builder::failure::{Failure, Step};
use crate::builder::step;
use crate::degradation::{INDEX_REBUILT, TANTIVY_LANE_UNAVAILABLE};
use crate::error::chain;
use crate::index::Shared;
use crate::lexical::{LaneDocument, TantivyError};
use crate::store::unpack;
use crate::{BuildError, BuildObserver, BuildStage, RevisionId};

/// A unit for the lexical lanes, with everything it borrows.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub(crate) rowid: i64,
    pub(crate) unit_key: UnitKey,
    pub(crate) resource_id: ResourceId,
    pub(crate) order: u32,
    pub(crate) path: String,
    pub(crate) title: String,
    pub(crate) headings: String,
    pub(crate) text: String,
}

impl Document {
    fn borrowed(&self) -> LaneDocument<'_> {
        LaneDocument {
            unit_key: &self.unit_key,
            resource_id: &self.resource_id,
            order: self.order,
            path: &self.path,
            title: &self.title,
            headings: &self.headings,
            text: &self.text,
        }
    }
}

/// What differs between two revisions for the lexical lanes.
#[derive(Debug, Default)]
pub(crate) struct LexicalDifference {
    /// Units that left or changed.
    pub(crate) removed: Vec<(i64, UnitKey)>,
    /// Units that came or changed, as they are now.
    pub(crate) added: Vec<Document>,
    /// Everything is written anew; the two lists say nothing.
    pub(crate) everything: bool,
}

/// Why the word index is not written.
enum Halt {
    /// Its own trouble.
    Words(TantivyError),
    /// The build stops.
    Build(Failure),
}

impl From<TantivyError> for Halt {
    fn from(error: TantivyError) -> Self {
        Self::Words(error)
    }
}

impl<E: Into<Failure>> From<E> for Halt {
    fn from(error: E) -> Self {
        Self::Build(error.into())
    }
}

/// Writes the difference that leads from `parent` to `head`, or everything where the word index is elsewhere; then calls
/// `publish`, which moves the head, and commits. So a build that is stopped here leaves both as they were, and there are
/// but moments between the two commits. A word index that cannot be written is a degradation, not a failed build.
pub(crate) fn follow(
    shared: &Shared,
    db: &Connection,
    (parent, head): (Option<&RevisionId>, &RevisionId),
    difference: &LexicalDifference,
    observer: &dyn BuildObserver,
    publish: &mut dyn FnMut() -> Step<()>,
) -> Step<Option<Degradation>> {
    if !shared.options().tantivy {
        publish()?;
        return Ok(None);
    }
    let unavailable = |error: &dyn std::error::Error| Some(Degradation::new(TANTIVY_LANE_UNAVAILABLE, chain(error)));
    let store = match shared.word_index() {
        Ok(store) => store,
        Err(error) => {
            publish()?;
            return Ok(unavailable(&error));
        }
    };
    let is_published = Cell::new(false);
    let mut publish = || {
        publish().map_err(Halt::Build)?;
        is_published.set(true);
        Ok(())
    };
    let was_suspect = store.is_suspect();
    let follows = !difference.everything && parent.is_some() && store.committed_revision().as_ref() == parent;
    if follows {
        let total = Some(difference.added.len());
        let mut added = |take: &mut dyn FnMut(&LaneDocument<'_>) -> Result<(), Halt>| {
            for (done, document) in difference.added.iter().enumerate() {
                step(observer, BuildStage::Words, done, total)?;
                take(&document.borrowed())?;
            }
            Ok(())
        };
        let mut removed = difference.removed.iter().map(|(_, unit)| unit.clone());
        match store.write(head, &mut removed, &mut added, false, &mut publish) {
            Ok(()) => return Ok(None),
            Err(Halt::Build(failure)) => return Err(failure),
            Err(Halt::Words(error)) if is_published.get() => return Ok(unavailable(&error)),
            // What cannot be added to is made anew.
            Err(Halt::Words(_)) => store.suspect(),
        }
    }
    let total = Some(count_units(db)?);
    let mut everything = |take: &mut dyn FnMut(&LaneDocument<'_>) -> Result<(), Halt>| {
        let mut done = 0;
        each_document(db, &mut |document| {
            step(observer, BuildStage::Words, done, total)?;
            done += 1;
            take(&document.borrowed())
        })
    };
    match store.write(head, &mut std::iter::empty(), &mut everything, true, &mut publish) {
        Ok(()) if follows || was_suspect => {
            let detail = "the word index was broken and has been written anew";
            Ok(Some(Degradation::new(INDEX_REBUILT, detail)))
        }
        Ok(()) => Ok(None),
        Err(Halt::Build(failure)) => Err(failure),
        Err(Halt::Words(error)) => {
            if !is_published.get() {
                publish().map_err(|halt| match halt {
                    Halt::Build(failure) => failure,
                    Halt::Words(error) => BuildError::Write(Box::new(error)).into(),
                })?;
            }
            Ok(unavailable(&error))
        }
    }
}

/// Returns whether the word index is at the head, or there is none to be.
pub(crate) fn is_at(shared: &Shared, head: &RevisionId) -> bool {
    let committed = || shared.word_index().ok().and_then(|store| store.committed_revision());
    !shared.options().tantivy || committed().as_ref() == Some(head)
}

/// Commits everything where the word index is not at the head: a build ended between the two commits.
pub(crate) fn repair(
    shared: &Shared,
    db: &Connection,
    head: &RevisionId,
    observer: &dyn BuildObserver,
) -> Step<Option<Degradation>> {
    if is_at(shared, head) {
        return Ok(None);
    }
    let difference = LexicalDifference::default();
    follow(shared, db, (None, head), &difference, observer, &mut || Ok(()))
}

/// Returns how many units the lexical lanes hold.
pub(crate) fn count_units(db: &Connection) -> rusqlite::Result<usize> {
    db.prepare_cached("SELECT count(*) FROM search_units")?
        .query_row([], |row| row.get(0))
}

/// Gives every unit that the lexical lanes hold, by rising row id, one after another: all of them need not fit into memory.
pub(crate) fn each_document<E: From<rusqlite::Error>>(
    db: &Connection,
    take: &mut dyn FnMut(&Document) -> Result<(), E>,
) -> Result<(), E> {
    let sql = "SELECT u.unit_rowid, u.unit_key, r.id, u.ord, r.meta, u.heading_path, u.text
               FROM search_units AS u JOIN search_resources AS r USING (location) ORDER BY u.unit_rowid";
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        take(&document(row)?)?;
    }
    Ok(())
}

fn document(row: &Row<'_>) -> rusqlite::Result<Document> {
    let meta: casebook_corpus::ResourceMeta = unpack(row.get_ref(4)?.as_blob()?)?;
    let headings: Vec<String> = unpack(row.get_ref(5)?.as_blob()?)?;
    Ok(Document {
        rowid: row.get(0)?,
        unit_key: UnitKey::new(row.get::<_, String>(1)?),
        resource_id: ResourceId::new(row.get::<_, String>(2)?),
        order: row.get(3)?,
        path: meta.path,
        title: meta.title,
        headings: headings.join("\n"),
        text: row.get(6)?,
    })
}
