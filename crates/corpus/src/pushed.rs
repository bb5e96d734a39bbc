//! Pushed records: memories that a host holds and syncs in pages of changes.
//!
//! The one thing a newcomer gets wrong: a record is kept as its host said it. Its title, path and scope, where it says
//! none, are made when it becomes a [`Resource`], so that a better rule for them needs no new sync.

mod problems;

use unicode_normalization::UnicodeNormalization as _;

pub use self::problems::{RecordPageError, RecordProblem};
use crate::markdown::title_of;
use crate::stated::Named;
use crate::{BodySpan, ContentHash, Resource, ResourceId, SourceDecl, StatedMeta};

/// Bytes of a page at most, as it is sent: 256 KiB.
pub const MAX_PAGE_BYTES: usize = 256 * 1024;

/// First bytes of what a page's digest is taken over.
const PAGE_FORM: &[u8] = b"casebook.record-page.v1";

crate::string_id! {
    /// One sync of pushed records, from its begin to its commit.
    SyncId
}

crate::string_id! {
    /// A state of a host's memory, by the name that the host gives it. Compared, never ordered.
    RecordVersion
}

/// One memory that a host pushed, as the host said it. Stored by position: a new field goes to the end, with a default.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PushedRecord {
    /// Its id. A file with the same id lies above it.
    pub id: ResourceId,
    /// What to show as its path; `None` for the id, where that can be a path.
    #[serde(default)]
    pub path: Option<String>,
    /// What it says of itself.
    #[serde(default)]
    pub stated: StatedMeta,
    /// The text, Markdown.
    pub body: String,
}

/// One change of a host's memory.
#[derive(Clone, Debug, PartialEq)]
pub enum RecordChange {
    /// The record is new or replaces the one with its id.
    Upsert(Box<PushedRecord>),
    /// The record with this id is gone.
    Tombstone(ResourceId),
}

/// Changes that are sent together. They are checked: whoever holds a page can take it as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordPage {
    changes: Vec<RecordChange>,
}

impl PushedRecord {
    /// Start of every record's location. No file has one like it: between the names of a file's path there is one `/`.
    pub const LOCATION_PREFIX: &str = "record://";

    /// Makes a record that says nothing of itself.
    pub fn new(id: impl Into<ResourceId>, body: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            path: None,
            stated: StatedMeta::default(),
            body: body.into(),
        }
    }

    /// Returns the location of the record with this id in a [`Scan`](crate::Scan).
    pub fn location_of(id: &ResourceId) -> String {
        format!("{}{id}", Self::LOCATION_PREFIX)
    }

    /// Returns the id of the record at this location; `None` where it is not that of a record.
    pub fn id_at(location: &str) -> Option<ResourceId> {
        location.strip_prefix(Self::LOCATION_PREFIX).map(ResourceId::new)
    }

    /// Returns what is shown as its path: the one that its host gave in Unicode NFC, else the id, where that can be a path,
    /// else `record-` and the first 16 hex digits of the SHA-256 of the id.
    pub fn shown_path(&self) -> String {
        let id = self.id.as_str();
        match &self.path {
            Some(path) => path.nfc().collect(),
            None if problems::path_problem(id).is_none() => id.nfc().collect(),
            None => format!("record-{}", &ContentHash::of(id).to_string()[..16]),
        }
    }

    /// Returns the resource that it is, with its content hash: a mutable note of the project where it says nothing else.
    ///
    /// ```
    /// use casebook_corpus::PushedRecord;
    ///
    /// let resource = PushedRecord::new("部署", "# 部署手册\n先备份。 Back up first.\n").into_resource();
    /// assert_eq!((resource.meta.title.as_str(), resource.meta.path.as_str()), ("部署手册", "部署"));
    /// ```
    pub fn into_resource(self) -> Resource {
        let path = self.shown_path();
        let named = Named {
            id: self.id,
            disk_path: None,
            title: title_of(&self.body, &path),
            path,
            // There is no file that a locator could point into.
            body_span: BodySpan::default(),
        };
        self.stated.into_resource(named, self.body, &SourceDecl::default())
    }
}

impl RecordChange {
    /// Returns the id of the record that changes.
    pub fn id(&self) -> &ResourceId {
        match self {
            Self::Upsert(record) => &record.id,
            Self::Tombstone(id) => id,
        }
    }
}

impl RecordPage {
    /// Checks the changes.
    ///
    /// # Errors
    /// An id is empty, too long, has control characters or is there twice; a field holds what it cannot. The error names
    /// every change and field concerned.
    pub fn new(changes: Vec<RecordChange>) -> Result<Self, RecordPageError> {
        let problems = problems::problems(&changes);
        if problems.is_empty() {
            Ok(Self { changes })
        } else {
            Err(RecordPageError { problems })
        }
    }

    /// Returns the changes in their order.
    pub fn changes(&self) -> &[RecordChange] {
        &self.changes
    }

    /// Returns the SHA-256 of what the page says: two pages with one digest change the same, however they were written.
    ///
    /// The form is `casebook.record-page.v1`, then per change, in order: for an upsert one byte 1 and the content hash of the
    /// resource that it is; for a tombstone one byte 0, the length of its id in bytes as a little-endian u64, and the id.
    pub fn digest(&self) -> ContentHash {
        let mut form = PAGE_FORM.to_vec();
        for change in &self.changes {
            match change {
                RecordChange::Upsert(record) => {
                    form.push(1);
                    form.extend(record.as_ref().clone().into_resource().meta.content_hash.as_bytes());
                }
                RecordChange::Tombstone(id) => {
                    form.push(0);
                    form.extend((id.as_str().len() as u64).to_le_bytes());
                    form.extend(id.as_str().as_bytes());
                }
            }
        }
        ContentHash::of(form)
    }
}

#[cfg(test)]
mod tests;
