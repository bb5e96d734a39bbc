//! Brings the word index to the head. Its commit comes after the database's, so it can only be behind.

use casebook_chunker::UnitKey;
use casebook_corpus::{Degradation, ResourceId};
use rusqlite::Connection;

use crate::RevisionId;
use crate::degradation::{INDEX_REBUILT, TANTIVY_LANE_UNAVAILABLE};
use crate::error::chain;
use crate::index::Shared;
use crate::lexical::LaneDocument;
use crate::store::unpack;

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
    pub(crate) removed: Vec<UnitKey>,
    /// Units that came or changed, as they are now.
    pub(crate) added: Vec<Document>,
    /// Everything is written anew; the two lists say nothing.
    pub(crate) everything: bool,
}

/// Commits the difference that leads from `parent` to `head`, or everything where the word index is elsewhere. A word
/// index that cannot be written is a degradation, not a failed build.
pub(crate) fn follow(
    shared: &Shared,
    db: &Connection,
    parent: Option<&RevisionId>,
    head: &RevisionId,
    difference: &LexicalDifference,
) -> Option<Degradation> {
    if !shared.options().tantivy {
        return None;
    }
    let unavailable = |error: &dyn std::error::Error| Some(Degradation::new(TANTIVY_LANE_UNAVAILABLE, chain(error)));
    let store = match shared.word_index() {
        Ok(store) => store,
        Err(error) => return unavailable(&error),
    };
    let was_suspect = store.is_suspect();
    let follows = !difference.everything && parent.is_some() && store.committed_revision().as_ref() == parent;
    if follows {
        let mut added = difference.added.iter().map(Document::borrowed);
        if store
            .write(head, &mut difference.removed.iter().cloned(), &mut added, false)
            .is_ok()
        {
            return None;
        }
        // What cannot be added to is made anew.
        store.suspect();
    }
    let all = match documents(db) {
        Ok(all) => all,
        Err(error) => {
            shared.note(&error);
            return unavailable(&error);
        }
    };
    let mut all = all.iter().map(Document::borrowed);
    match store.write(head, &mut std::iter::empty(), &mut all, true) {
        Ok(()) if follows || was_suspect => {
            let detail = "the word index was broken and has been written anew";
            Some(Degradation::new(INDEX_REBUILT, detail))
        }
        Ok(()) => None,
        Err(error) => unavailable(&error),
    }
}

/// Returns whether the word index is at the head, or there is none to be.
pub(crate) fn is_at(shared: &Shared, head: &RevisionId) -> bool {
    let committed = || shared.word_index().ok().and_then(|store| store.committed_revision());
    !shared.options().tantivy || committed().as_ref() == Some(head)
}

/// Commits everything where the word index is not at the head: a build ended between the two commits.
pub(crate) fn repair(shared: &Shared, db: &Connection, head: &RevisionId) -> Option<Degradation> {
    if is_at(shared, head) {
        return None;
    }
    follow(shared, db, None, head, &LexicalDifference::default())
}

/// Returns every unit that the lexical lanes hold.
pub(crate) fn documents(db: &Connection) -> rusqlite::Result<Vec<Document>> {
    let sql = "SELECT u.unit_rowid, u.unit_key, r.id, u.ord, r.meta, u.heading_path, u.text
               FROM search_units AS u JOIN search_resources AS r USING (location) ORDER BY u.location, u.ord";
    let mut statement = db.prepare_cached(sql)?;
    let documents = statement.query_map([], |row| {
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
    })?;
    documents.collect()
}
