//! `casebook sync push`
//!
//! The one thing a newcomer gets wrong: the same file is always cut into the same pages. So after an interruption the digests
//! of the staged pages tell whether they are this file's, and only what is missing is sent.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use casebook_api::wire::SyncPushResponse;
use casebook_api::{ApiError, Records, read_change};
use casebook_corpus::{MAX_PAGE_BYTES, RecordChange, RecordPage, RecordVersion, ResourceId, SyncId};
use casebook_index::{Begun, Committed, SyncError};

use super::{input, unreadable};
use crate::cli::PushArgs;
use crate::clock::new_id;
use crate::failure::Failure;
use crate::progress::ByteBar;

/// Bytes of a page around its changes: `{"changes":[]}`.
const PAGE_FRAME: usize = 14;

pub(super) fn push(records: &Records, args: &PushArgs) -> Result<SyncPushResponse, Failure> {
    let base = args.base.as_deref().map(RecordVersion::from);
    let version = RecordVersion::from(args.version.as_str());
    Records::check_version(base.as_ref(), &version)?;
    if let Some(done) = records.status()?.committed.filter(|done| done.version == version) {
        // The answer to an earlier push was lost.
        return Ok(response(&done, true, 0, 0));
    }
    let mut pages = Pages::new(&args.file)?;
    let begun = records.begin(base.as_ref(), &SyncId::new(new_id()), args.replace)?;
    let bar = ByteBar::new();
    let outcome = send(records, &begun, &mut pages, &bar);
    bar.finish();
    let (count, sent) = outcome?;
    let committed = records.commit(&begun.sync.id, count, &version)?;
    Ok(response(&committed, false, count, sent))
}

fn response(committed: &Committed, already_there: bool, pages: u32, pages_sent: u32) -> SyncPushResponse {
    SyncPushResponse {
        commit: committed.into(),
        already_there,
        pages,
        pages_sent,
    }
}

/// Stages what is not staged yet. Returns how many pages there are, and how many were sent now.
fn send(records: &Records, begun: &Begun, pages: &mut Pages, bar: &ByteBar) -> Result<(u32, u32), Failure> {
    let mut staged = begun.sync.pages.iter();
    let (mut count, mut sent) = (0, 0);
    while let Some(page) = pages.next_page()? {
        count += 1;
        match staged.next() {
            Some(before) if before.digest == page.digest() => {}
            Some(_) => return Err(ApiError::from(SyncError::PageDiffers { number: count }).into()),
            None => {
                records.stage(&begun.sync.id, count, &page)?;
                sent += 1;
            }
        }
        if let Some(total) = pages.total {
            bar.show("sending changes", pages.done, total);
        }
    }
    Ok((count, sent))
}

/// A file of changes, cut into pages.
struct Pages {
    lines: BufReader<Box<dyn Read>>,
    name: String,
    /// Bytes of the file, where they are known.
    total: Option<u64>,
    /// Bytes read.
    done: u64,
    line: u64,
    /// A change that did not fit into the page before, and its bytes.
    held: Option<(RecordChange, usize)>,
}

impl Pages {
    fn new(file: &Path) -> Result<Self, Failure> {
        Ok(Self {
            lines: BufReader::new(input(file)?),
            name: file.display().to_string(),
            total: file.metadata().ok().map(|metadata| metadata.len()),
            done: 0,
            line: 0,
            held: None,
        })
    }

    /// Returns the next page. A page ends where the next change does not fit, or is of a record that it has already: the
    /// later change counts.
    fn next_page(&mut self) -> Result<Option<RecordPage>, Failure> {
        let mut changes: Vec<RecordChange> = Vec::new();
        let mut ids: HashSet<ResourceId> = HashSet::new();
        let mut bytes = PAGE_FRAME;
        while let Some((change, length)) = self.next_change()? {
            let fits = bytes + length <= MAX_PAGE_BYTES && !ids.contains(change.id());
            if !fits {
                self.held = Some((change, length));
                break;
            }
            bytes += length;
            ids.insert(change.id().clone());
            changes.push(change);
        }
        if changes.is_empty() {
            return Ok(None);
        }
        let page = RecordPage::new(changes).expect("each change was checked, and no id is there twice");
        Ok(Some(page))
    }

    /// Returns the next change and the bytes that it takes in a page.
    fn next_change(&mut self) -> Result<Option<(RecordChange, usize)>, Failure> {
        if let Some(held) = self.held.take() {
            return Ok(Some(held));
        }
        loop {
            let mut line = Vec::new();
            // Of a line that is far too long no more is read than tells so.
            let limit = 2 * MAX_PAGE_BYTES as u64;
            let read = (&mut self.lines).take(limit).read_until(b'\n', &mut line);
            let read = read.map_err(|error| unreadable(Path::new(&self.name), &error))?;
            if read == 0 {
                return Ok(None);
            }
            self.done += read as u64;
            self.line += 1;
            let text = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&line).trim_ascii();
            if text.is_empty() {
                continue;
            }
            let name = format!("{}, line {}", self.name, self.line);
            if PAGE_FRAME + text.len() + 1 > MAX_PAGE_BYTES {
                let message = format!("{name}: the change does not fit into a page of {MAX_PAGE_BYTES} bytes");
                return Err(Failure::input("sync_page_too_large", message));
            }
            let change = read_change(text, &name)?;
            // In a page a comma comes before it.
            return Ok(Some((change, text.len() + 1)));
        }
    }
}
