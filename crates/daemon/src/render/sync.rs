//! Syncs of pushed records, for people.

use casebook_api::wire::{
    SyncBeginResponse, SyncCommitResponse, SyncPageResponse, SyncPushResponse, SyncSession, SyncStatusResponse,
};

use super::{counted, safe};

/// Renders a sync that can be sent pages.
pub(crate) fn sync_begun(response: &SyncBeginResponse) -> String {
    let words = if response.resumed {
        "Sync goes on: "
    } else {
        "Sync begun: "
    };
    format!("{words}{}", session(&response.sync))
}

fn session(sync: &SyncSession) -> String {
    let base = match &sync.base_version {
        Some(base) => format!("on top of version {}", safe(base)),
        None => "the first".to_owned(),
    };
    let pages = counted(sync.pages.len(), "page");
    format!(
        "{}, {base}, {pages} staged, begun {}",
        safe(&sync.session),
        sync.begun_at
    )
}

/// Renders a page that was sent.
pub(crate) fn sync_staged(response: &SyncPageResponse) -> String {
    let page = &response.page;
    let before = if response.already_staged { " before" } else { "" };
    format!(
        "Page {} was staged{before}: {} records, {} tombstones",
        page.page, page.upserts, page.tombstones
    )
}

/// Renders what a commit did.
pub(crate) fn sync_committed(response: &SyncCommitResponse) -> String {
    let mut text = format!(
        "{} records at version {}: {} added, {} changed, {} removed; {} were as before",
        response.records,
        safe(&response.version),
        response.added,
        response.changed,
        response.removed,
        response.unchanged
    );
    if response.unknown > 0 {
        text += &format!("\n{} tombstones named no record", response.unknown);
    }
    text + "\nThe next answer or `casebook index` takes them in."
}

/// Renders what a push did.
pub(crate) fn sync_pushed(response: &SyncPushResponse) -> String {
    if response.already_there {
        return format!(
            "{} records are at version {} already; the file was not read and nothing was sent. Other content needs another \
             --version.",
            response.commit.records,
            safe(&response.commit.version)
        );
    }
    let pages = match (response.pages, response.pages_sent) {
        (all, sent) if all == sent => format!("{all} pages sent."),
        (all, sent) => format!("{sent} of {all} pages sent; the others were staged before."),
    };
    format!("{pages}\n{}", sync_committed(&response.commit))
}

/// Renders how the records stand.
pub(crate) fn sync_status(response: &SyncStatusResponse) -> String {
    let records = match &response.committed {
        Some(committed) => format!(
            "{} records at version {} since {}",
            committed.records,
            safe(&committed.version),
            committed.committed_at
        ),
        None => "No records were pushed yet.".to_owned(),
    };
    let open = match &response.open {
        Some(sync) => format!("\nOpen sync: {}", session(sync)),
        None => String::new(),
    };
    records + &open
}
