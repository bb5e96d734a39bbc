//! Syncing pushed records, on the wire.

use casebook_corpus::{
    PushedRecord, RecordChange, RecordPage, RecordPageError, RecordProblem, ResourceId, Scope, StatedMeta,
};
use casebook_index as index;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Changes that are sent together: at most 256 KiB of JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SyncPage {
    /// The changes, each of another record.
    pub changes: Vec<SyncChange>,
}

/// One change of a host's memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SyncChange {
    /// The record is new, or replaces the one with its id.
    Upsert(Box<SyncRecord>),
    /// The record with this id is gone.
    Tombstone(String),
}

/// A record as its host holds it. What is left out or null takes the value that a file without front matter has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SyncRecord {
    /// Its id, stable across changes: 1 to 512 bytes without control characters.
    pub id: String,
    /// The text, Markdown.
    pub body: String,
    /// What to show as its path: relative, with `/`; else the id, where that can be one.
    #[serde(default)]
    pub path: Option<String>,
    /// Whose memory it is.
    #[serde(default)]
    pub scope: Option<String>,
    /// What kind of memory it is.
    #[serde(default)]
    pub kind: Option<String>,
    /// `immutable` or `mutable`.
    #[serde(default)]
    pub layer: Option<String>,
    /// Its title; else its first heading.
    #[serde(default)]
    pub title: Option<String>,
    /// Its description.
    #[serde(default)]
    pub description: Option<String>,
    /// Topics it is filed under.
    #[serde(default)]
    pub topics: Vec<String>,
    /// Ids of the entities it is about.
    #[serde(default)]
    pub entities: Vec<String>,
    /// How close to the original words it is: `visible_transcript`, `transcript_snapshot`, `hybrid_record`,
    /// `structured_summary` or `derived_projection`.
    #[serde(default)]
    pub fidelity: Option<String>,
    /// 0 (trivial) to 1 (vital).
    #[serde(default)]
    pub importance: Option<f32>,
    /// Sensitivity label.
    #[serde(default)]
    pub sensitivity: Option<String>,
    /// Audiences that may see it; with none and no sensitivity, everyone.
    #[serde(default)]
    pub audience: Vec<String>,
    /// Provenance links.
    #[serde(default)]
    pub sources: Vec<String>,
    /// Ids of the memories that it replaces.
    #[serde(default)]
    pub supersedes: Vec<String>,
    /// Ids of the memories that it declares wrong.
    #[serde(default)]
    pub retracts: Vec<String>,
    /// When the observation was made: a date, or a time as in RFC 3339. So are the other times.
    #[serde(default)]
    pub observed_at: Option<String>,
    /// Start of the interval in which it is known to hold.
    #[serde(default)]
    pub valid_from: Option<String>,
    /// End of that interval.
    #[serde(default)]
    pub valid_to: Option<String>,
    /// Last explicit confirmation.
    #[serde(default)]
    pub last_confirmed_at: Option<String>,
    /// Last review of the collection.
    #[serde(default)]
    pub reviewed_at: Option<String>,
    /// When a result or a re-check was expected.
    #[serde(default)]
    pub expected_resolution_at: Option<String>,
}

impl TryFrom<SyncPage> for RecordPage {
    type Error = RecordPageError;

    fn try_from(page: SyncPage) -> Result<Self, RecordPageError> {
        let mut problems = Vec::new();
        let changes = (1..)
            .zip(page.changes)
            .map(|(position, change)| change.read(position, &mut problems));
        let changes = changes.collect();
        if problems.is_empty() {
            Self::new(changes)
        } else {
            Err(RecordPageError { problems })
        }
    }
}

impl SyncChange {
    fn read(self, position: usize, problems: &mut Vec<RecordProblem>) -> RecordChange {
        match self {
            Self::Tombstone(id) => RecordChange::Tombstone(ResourceId::new(id)),
            Self::Upsert(record) => {
                let id = record.id.clone();
                let mut note =
                    |field, problem: String| problems.push(RecordProblem::new(position, &id, field, problem));
                RecordChange::Upsert(Box::new(record.read(&mut note)))
            }
        }
    }
}

impl SyncRecord {
    /// Turns texts into values. A text that is none is noted, and counts as not said.
    fn read(self, note: &mut dyn FnMut(&'static str, String)) -> PushedRecord {
        let ids = |ids: Vec<String>| ids.into_iter().map(ResourceId::new).collect();
        PushedRecord {
            stated: StatedMeta {
                scope: self.scope.map(Scope::new),
                kind: self.kind,
                layer: parsed("layer", self.layer, note),
                title: self.title,
                description: self.description,
                topics: self.topics,
                entities: self.entities,
                fidelity: parsed("fidelity", self.fidelity, note),
                importance: self.importance,
                sensitivity: self.sensitivity,
                audience: self.audience,
                sources: self.sources,
                supersedes: ids(self.supersedes),
                retracts: ids(self.retracts),
                observed_at: parsed("observed_at", self.observed_at, note),
                valid_from: parsed("valid_from", self.valid_from, note),
                valid_to: parsed("valid_to", self.valid_to, note),
                last_confirmed_at: parsed("last_confirmed_at", self.last_confirmed_at, note),
                reviewed_at: parsed("reviewed_at", self.reviewed_at, note),
                expected_resolution_at: parsed("expected_resolution_at", self.expected_resolution_at, note),
            },
            id: ResourceId::new(self.id),
            path: self.path,
            body: self.body,
        }
    }
}

fn parsed<T: std::str::FromStr<Err: std::fmt::Display>>(
    field: &'static str,
    text: Option<String>,
    note: &mut dyn FnMut(&'static str, String),
) -> Option<T> {
    let parsed = text?.parse::<T>();
    parsed.map_err(|error| note(field, error.to_string())).ok()
}

/// A sync that is under way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SyncSession {
    /// The sync.
    pub session: String,
    /// The version that it builds on; null for the first.
    pub base_version: Option<String>,
    /// When it began, RFC 3339.
    pub begun_at: String,
    /// Its staged pages, in order.
    pub pages: Vec<SyncStagedPage>,
}

/// A page that waits for its commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SyncStagedPage {
    /// Its number, from 1.
    pub page: u32,
    /// SHA-256 of what it says, however it was written.
    pub digest: String,
    /// Records that it brings.
    pub upserts: u64,
    /// Records that it takes away.
    pub tombstones: u64,
}

/// A sync that can be sent pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SyncBeginResponse {
    /// The sync.
    #[serde(flatten)]
    pub sync: SyncSession,
    /// Whether it was open already: compare the digests of its pages, or send them again.
    pub resumed: bool,
}

/// A page that was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SyncPageResponse {
    /// The sync.
    pub session: String,
    /// The page.
    #[serde(flatten)]
    pub page: SyncStagedPage,
    /// Whether it was staged before.
    pub already_staged: bool,
}

/// What a commit did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SyncCommitResponse {
    /// The sync.
    pub session: String,
    /// The version that the records are at.
    pub version: String,
    /// When, RFC 3339.
    pub committed_at: String,
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

/// What a push did: a begin, its pages and a commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SyncPushResponse {
    /// The commit, or the earlier one that brought the records to this version.
    #[serde(flatten)]
    pub commit: SyncCommitResponse,
    /// Whether the records were at this version already; the file was not read then.
    pub already_there: bool,
    /// Pages of the file.
    pub pages: u32,
    /// Pages that were sent now; the others were staged before.
    pub pages_sent: u32,
}

/// How the records stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SyncStatusResponse {
    /// The version that the records are at: the base of the next sync; null before the first commit.
    pub version: Option<String>,
    /// The last commit.
    pub committed: Option<SyncCommitResponse>,
    /// The sync that is under way.
    pub open: Option<SyncSession>,
}

/// A sync that was dropped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SyncAbortResponse {
    /// The sync.
    pub session: String,
    /// Staged pages that went with it.
    pub pages_dropped: u32,
}

impl From<&index::StagedPage> for SyncStagedPage {
    fn from(page: &index::StagedPage) -> Self {
        Self {
            page: page.number,
            digest: page.digest.to_string(),
            upserts: page.upserts,
            tombstones: page.tombstones,
        }
    }
}

impl From<&index::OpenSync> for SyncSession {
    fn from(sync: &index::OpenSync) -> Self {
        Self {
            session: sync.id.to_string(),
            base_version: sync.base.as_ref().map(ToString::to_string),
            begun_at: sync.begun_at.to_string(),
            pages: sync.pages.iter().map(Into::into).collect(),
        }
    }
}

impl From<&index::Begun> for SyncBeginResponse {
    fn from(begun: &index::Begun) -> Self {
        Self {
            sync: (&begun.sync).into(),
            resumed: begun.resumed,
        }
    }
}

impl SyncPageResponse {
    /// Tells what became of a page of this sync.
    pub fn new(session: &str, staged: &index::Staged) -> Self {
        Self {
            session: session.to_owned(),
            page: (&staged.page).into(),
            already_staged: staged.already,
        }
    }
}

impl From<&index::Committed> for SyncCommitResponse {
    fn from(committed: &index::Committed) -> Self {
        Self {
            session: committed.sync.to_string(),
            version: committed.version.to_string(),
            committed_at: committed.at.to_string(),
            records: committed.records,
            added: committed.added,
            changed: committed.changed,
            unchanged: committed.unchanged,
            removed: committed.removed,
            unknown: committed.unknown,
            rows_written: committed.rows_written,
        }
    }
}

impl From<&index::SyncStatus> for SyncStatusResponse {
    fn from(status: &index::SyncStatus) -> Self {
        Self {
            version: status.version().map(ToString::to_string),
            committed: status.committed.as_ref().map(Into::into),
            open: status.open.as_ref().map(Into::into),
        }
    }
}
