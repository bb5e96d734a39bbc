//! One file becomes one item.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::Path;

use super::FileSources;
use super::stamp::{self, Settling};
use super::walk::Entry;
use crate::{Clock, Degradation, Found, KnownItems, KnownState, Resource, ScanItem, Stamp, codes};

/// The reading part of one scan.
pub(super) struct Reading<'a> {
    sources: &'a FileSources,
    known: &'a dyn KnownItems,
    clock: &'a dyn Clock,
    bytes_read: u64,
    /// What is odd about new and changed files that are used all the same.
    oddities: Vec<Degradation>,
}

/// The content of a file and its outside before and after the reading.
struct Content {
    bytes: Vec<u8>,
    before: Metadata,
    after: Metadata,
}

/// Why a file has no content for us.
enum Refusal {
    TooLarge,
    Degraded(&'static str, String),
    Io(io::Error),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl<'a> Reading<'a> {
    pub(super) fn new(sources: &'a FileSources, known: &'a dyn KnownItems, clock: &'a dyn Clock) -> Self {
        Self {
            sources,
            known,
            clock,
            bytes_read: 0,
            oddities: Vec::new(),
        }
    }

    pub(super) fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    /// Returns what is odd about files that are used all the same, by path: the order of reading depends on the time.
    pub(super) fn into_oddities(mut self) -> Vec<Degradation> {
        self.oddities.sort_by(|a, b| a.path.cmp(&b.path));
        self.oddities
    }

    /// Returns whether the file was changed so lately that another edit could leave its stamp as it is.
    pub(super) fn must_wait_for(&self, entry: &Entry) -> bool {
        stamp::settling(&entry.metadata, self.clock.now()) == Settling::Soon
    }

    /// Reads a file. `None` where it is gone by now.
    pub(super) fn read(&mut self, entry: &Entry) -> Option<ScanItem> {
        self.read_trusting(entry, None)
    }

    /// Reads a file that had to be waited for: the stamp it had before the wait is as good as an old one.
    pub(super) fn read_after_wait(&mut self, entry: &Entry) -> Option<ScanItem> {
        self.read_trusting(entry, Some(entry.stamp))
    }

    fn read_trusting(&mut self, entry: &Entry, trusted: Option<Stamp>) -> Option<ScanItem> {
        let source = &self.sources.sources[entry.source];
        let now = self.clock.now();
        let content = match self.sources.content(&entry.path, &entry.metadata, &mut self.bytes_read) {
            Ok(content) => content,
            Err(Refusal::Io(error)) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(refusal) => return Some(self.refused(entry, refusal)),
        };
        let stamp = stamp::of(&content.after, source.reading);
        let settled = trusted == Some(stamp) || stamp::settling(&content.after, now) == Settling::Settled;
        let steady = stamp::of(&content.before, source.reading) == stamp;
        let found = self.found(entry, content.bytes);
        Some(entry.item((settled && steady).then_some(stamp), found))
    }

    fn found(&mut self, entry: &Entry, bytes: Vec<u8>) -> Found {
        let skipped = |code, detail| Found::Skipped(Degradation::at(code, detail, entry.location.as_str()));
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let offset = error.utf8_error().valid_up_to();
                return skipped(codes::FILE_NOT_UTF8, format!("byte {offset} is not UTF-8"));
            }
        };
        let decl = &self.sources.sources[entry.source].decl;
        let (resource, oddities) = match Resource::read_markdown(&entry.location, &text, decl) {
            Ok(read) => read,
            Err(error) => return skipped(codes::FRONT_MATTER_INVALID, error.to_string()),
        };
        match self.known.get(&entry.location).map(|item| item.state) {
            Some(KnownState::Resource { id, content_hash })
                if id == resource.meta.id && content_hash == resource.meta.content_hash =>
            {
                Found::Unchanged
            }
            _ => {
                let named = |detail| Degradation::at(codes::FRONT_MATTER_UNKNOWN_KEY, detail, entry.location.as_str());
                self.oddities.extend(oddities.into_iter().map(named));
                Found::Resource(Box::new(resource))
            }
        }
    }

    /// A file that could not be read gets no stamp, so that it is tried again: the cause may lie outside it.
    fn refused(&self, entry: &Entry, refusal: Refusal) -> ScanItem {
        let (stamp, code, detail) = match refusal {
            Refusal::TooLarge => {
                let limit = self.sources.max_file_bytes;
                let detail = format!("larger than the limit of {limit} bytes");
                (Some(entry.stamp), codes::FILE_TOO_LARGE, detail)
            }
            Refusal::Degraded(code, detail) => (None, code, detail),
            Refusal::Io(error) => (None, codes::FILE_UNREADABLE, error.to_string()),
        };
        entry.item(
            stamp,
            Found::Skipped(Degradation::at(code, detail, entry.location.as_str())),
        )
    }
}

impl FileSources {
    /// Returns the text of a file as it is now; `None` where a scan would skip it.
    pub(super) fn text_now(&self, path: &Path) -> Option<String> {
        let content = self.content(path, &fs::metadata(path).ok()?, &mut 0).ok()?;
        String::from_utf8(content.bytes).ok()
    }

    /// Reads the bytes, after a last look at where the path leads and at what it is: both may have changed since the
    /// walk, and opening a pipe would wait for a writer.
    fn content(&self, path: &Path, metadata: &Metadata, bytes_read: &mut u64) -> Result<Content, Refusal> {
        let limit = self.max_file_bytes;
        if metadata.len() > limit {
            return Err(Refusal::TooLarge);
        }
        let canonical = fs::canonicalize(path)?;
        self.check_bounds(path, &canonical)?;
        let not_a_file = || Refusal::Degraded(codes::NOT_A_FILE, "not a regular file".to_owned());
        if !fs::symlink_metadata(&canonical)?.is_file() {
            return Err(not_a_file());
        }
        let mut file = File::open(&canonical)?;
        let before = file.metadata()?;
        if !before.is_file() {
            return Err(not_a_file());
        }
        let mut bytes = Vec::with_capacity(before.len().min(limit) as usize);
        (&mut file).take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
        *bytes_read += bytes.len() as u64;
        if bytes.len() as u64 > limit {
            return Err(Refusal::TooLarge);
        }
        let after = file.metadata()?;
        Ok(Content { bytes, before, after })
    }

    fn check_bounds(&self, path: &Path, canonical: &Path) -> Result<(), Refusal> {
        if !canonical.starts_with(&self.root) {
            let detail = "leads out of the project root".to_owned();
            return Err(Refusal::Degraded(codes::LINK_OUTSIDE_ROOT, detail));
        }
        if !self.follow_links && canonical != path {
            let detail = "lies behind a symbolic link".to_owned();
            return Err(Refusal::Degraded(codes::LINK_NOT_FOLLOWED, detail));
        }
        Ok(())
    }
}
