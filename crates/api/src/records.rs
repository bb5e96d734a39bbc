//! Pushed records of a project: a host syncs them, in pages of JSON, and builds take them in.
//!
//! The one thing a newcomer gets wrong: a commit builds no index. The next answer or build sees that records changed, as it
//! sees that files did.

use std::sync::Arc;

use casebook_corpus::{Clock, MAX_PAGE_BYTES, RecordChange, RecordPage, RecordPageError, RecordVersion, SyncId};
use casebook_index::{Begun, Committed, RecordStore, Staged, SyncError, SyncStatus};

use crate::wire::{SyncChange, SyncPage};
use crate::{ApiError, ErrorKind, Project};

/// The pushed records of one project.
pub struct Records {
    store: RecordStore,
    clock: Arc<dyn Clock>,
}

impl Records {
    /// Names the records of a project; nothing is opened yet.
    pub fn of(project: &Project, clock: Arc<dyn Clock>) -> Self {
        Self {
            store: RecordStore::at(&project.records, &project.id),
            clock,
        }
    }

    /// Begins a sync on top of a version, `None` for the first, under the id `fresh`; or goes on with the one that is open,
    /// unless `replace`.
    ///
    /// # Errors
    /// The records are at another version, or cannot be written.
    pub fn begin(&self, base: Option<&RecordVersion>, fresh: &SyncId, replace: bool) -> Result<Begun, ApiError> {
        Ok(self.store.begin(base, fresh, replace, self.clock.now())?)
    }

    /// Stages a page.
    ///
    /// # Errors
    /// The sync is not open, a page is missing before this one, another content is staged under its number, or the records
    /// cannot be written.
    pub fn stage(&self, sync: &SyncId, number: u32, page: &RecordPage) -> Result<Staged, ApiError> {
        Ok(self.store.stage(sync, number, page)?)
    }

    /// Makes the staged pages, so many, the records at the new version.
    ///
    /// # Errors
    /// The sync is not open, another number of pages is staged, the version is no name or is the base, or the records cannot
    /// be written. They are as they were.
    pub fn commit(&self, sync: &SyncId, pages: u32, version: &RecordVersion) -> Result<Committed, ApiError> {
        Ok(self.store.commit(sync, pages, version, self.clock.now())?)
    }

    /// Drops a sync and its pages. Returns how many there were.
    ///
    /// # Errors
    /// The sync is not open, or the records cannot be written.
    pub fn abort(&self, sync: &SyncId) -> Result<u32, ApiError> {
        Ok(self.store.abort(sync)?)
    }

    /// Returns how the records stand.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn status(&self) -> Result<SyncStatus, ApiError> {
        Ok(self.store.status()?)
    }

    /// Checks what a host calls its new state, as a commit does, before anything is sent.
    ///
    /// # Errors
    /// It is no name, or is that of the base.
    pub fn check_version(base: Option<&RecordVersion>, version: &RecordVersion) -> Result<(), ApiError> {
        Ok(RecordStore::check_version(base, version)?)
    }
}

/// Reads a page of JSON.
///
/// # Errors
/// It is larger than a page may be, is no page, or a record of it cannot be taken; the error names every problem.
pub fn read_page(json: &[u8]) -> Result<RecordPage, ApiError> {
    if json.len() > MAX_PAGE_BYTES {
        return Err(ApiError::new(
            "sync_page_too_large",
            ErrorKind::Input,
            format!(
                "the page has {} bytes; {MAX_PAGE_BYTES} at most, so send its changes in several",
                json.len()
            ),
        ));
    }
    let page: SyncPage = serde_json::from_slice(json).map_err(|error| unreadable("the page", &error))?;
    page.try_into().map_err(|error| refused("the page", &error))
}

/// Reads one change of JSON. `name` says in errors where it is.
///
/// # Errors
/// It is no change, or its record cannot be taken.
pub fn read_change(json: &[u8], name: &str) -> Result<RecordChange, ApiError> {
    let change: SyncChange = serde_json::from_slice(json).map_err(|error| unreadable(name, &error))?;
    let page = SyncPage { changes: vec![change] };
    let page: RecordPage = page.try_into().map_err(|error| refused(name, &error))?;
    let change = page.changes().first().cloned();
    Ok(change.expect("a page of one change has one"))
}

fn unreadable(name: &str, error: &serde_json::Error) -> ApiError {
    let message = format!("{name} is not what a sync takes: {error}");
    ApiError::new("sync_page_invalid", ErrorKind::Input, message)
}

fn refused(name: &str, error: &RecordPageError) -> ApiError {
    let message = format!("{name} was not taken: correct what is named below");
    ApiError {
        details: error.problems.iter().map(ToString::to_string).collect(),
        ..ApiError::new("sync_record_invalid", ErrorKind::Input, message)
    }
}

impl From<SyncError> for ApiError {
    fn from(error: SyncError) -> Self {
        let told = error.to_string();
        let (code, kind, message) = match &error {
            SyncError::WrongBase { .. } => (
                "sync_base_wrong",
                ErrorKind::Conflict,
                format!("{told}; sync what changed since that version"),
            ),
            SyncError::Gone { open, .. } => {
                let open = open
                    .as_ref()
                    .map_or_else(String::new, |open| format!(", and sync {open} is open"));
                (
                    "sync_gone",
                    ErrorKind::Conflict,
                    format!("{told}{open}; begin again on top of that"),
                )
            }
            SyncError::PageGap { .. } => (
                "sync_page_gap",
                ErrorKind::Input,
                format!("{told}; send pages in order, from 1"),
            ),
            SyncError::PageDiffers { .. } => (
                "sync_page_differs",
                ErrorKind::Conflict,
                format!(
                    "{told}; another sync of this project is under way, or was: begin anew with --replace to drop it"
                ),
            ),
            SyncError::PageCount { .. } => (
                "sync_pages_differ",
                ErrorKind::Conflict,
                format!("{told}; nothing was committed. Send what is missing, or begin anew with --replace"),
            ),
            SyncError::SameVersion { .. } | SyncError::Version { .. } => (
                "sync_version_invalid",
                ErrorKind::Input,
                format!("{told}; name the new state of your memory otherwise"),
            ),
            SyncError::Newer { .. } => (
                "records_newer",
                ErrorKind::Conflict,
                "a newer version of casebook wrote the pushed records; use that version".to_owned(),
            ),
            SyncError::Foreign { .. } => (
                "records_foreign",
                ErrorKind::Conflict,
                "the file of this project's pushed records is that of another project; put it back to its place"
                    .to_owned(),
            ),
            _ => (
                "records_unusable",
                ErrorKind::Internal,
                "the pushed records cannot be used; check free space and permissions of the data folder".to_owned(),
            ),
        };
        match kind {
            ErrorKind::Internal => Self::new(code, kind, message).because(&error),
            _ => Self::new(code, kind, message),
        }
    }
}
