//! Notices of changes below the sources, from the system.
//!
//! The one thing a newcomer gets wrong: folders are watched one by one and never as a tree. A tree takes in `.git`,
//! `.casebook` and all that is ignored: work for nothing, and without an end, for an index is written there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use notify::event::{AccessKind, AccessMode, CreateKind, ModifyKind, RemoveKind};
use notify::{ErrorKind, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::FileSources;
use super::walk::{folders, is_control_plane, is_markdown, with_slashes};
use crate::{Degradation, Notice, Watch, codes};

/// How often a source that went away is looked for.
const RETURN_LOOK: Duration = Duration::from_secs(1);

/// The rules of what is memory change with it.
const IGNORE_FILE: &str = ".gitignore";

/// Watches the folders that a scan looks into.
///
/// A source that goes away, the root say, is a change like any other; when all are there again, that is another one.
pub struct FileWatcher {
    sources: FileSources,
    start: Start,
    backend: Option<Backend>,
    watched: BTreeSet<PathBuf>,
    /// Folders came, went, or may be ignored now.
    is_behind: bool,
    /// A source is not there.
    is_away: bool,
    degradation: Option<Degradation>,
    sender: Sender<Signal>,
    signals: Receiver<Signal>,
}

type Backend = Box<dyn Watcher + Send>;
type Start = Box<dyn Fn(Sender<Signal>) -> notify::Result<Backend> + Send>;

/// What ends a wait.
enum Signal {
    Told(notify::Result<Event>),
    Woken,
}

/// Ends a wait of its watcher, from any thread.
#[derive(Clone, Debug)]
pub struct Waker(Sender<Signal>);

impl Waker {
    /// Ends the wait, or the next one.
    pub fn wake(&self) {
        // Who does not wait any more need not be woken.
        let _ = self.0.send(Signal::Woken);
    }
}

impl FileWatcher {
    /// Makes a watcher. It notices nothing before it is [prepared](Watch::prepare).
    pub fn new(sources: FileSources) -> Self {
        Self::with_backend(sources, Box::new(recommended))
    }

    fn with_backend(sources: FileSources, start: Start) -> Self {
        let (sender, signals) = channel();
        Self {
            sources,
            start,
            backend: None,
            watched: BTreeSet::new(),
            is_behind: true,
            is_away: false,
            degradation: None,
            sender,
            signals,
        }
    }

    /// Returns what ends a wait.
    pub fn waker(&self) -> Waker {
        Waker(self.sender.clone())
    }

    fn judge(&mut self, signal: &Signal) -> Option<Notice> {
        let event = match signal {
            Signal::Woken => return None,
            Signal::Told(Ok(event)) => event,
            Signal::Told(Err(_)) => return Some(Notice::Overflow),
        };
        // Before the paths: on Linux what was lost has none.
        if event.need_rescan() {
            return Some(Notice::Overflow);
        }
        let mut notice = None;
        for path in &event.paths {
            let about_folders = self.is_about_folders(path, event.kind);
            self.is_behind |= about_folders;
            if about_folders || self.may_be_memory(path) {
                notice = Some(Notice::Changed);
            }
        }
        notice
    }

    /// Returns whether other folders may have to be watched now. The system lets go of one that was moved or removed.
    fn is_about_folders(&mut self, path: &Path, kind: EventKind) -> bool {
        if path.file_name().is_some_and(|name| name == IGNORE_FILE) {
            return true;
        }
        if is_of_a_file(kind) {
            return false;
        }
        if self.watched.contains(path) {
            if matches!(kind, EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_))) {
                self.watched.retain(|folder| !folder.starts_with(path));
            }
            return true;
        }
        !is_hidden(path) && path.is_dir()
    }

    fn may_be_memory(&self, path: &Path) -> bool {
        if !is_markdown(path) || is_hidden(path) {
            return false;
        }
        let location = path.strip_prefix(&self.sources.root).ok().and_then(Path::to_str);
        location.is_none_or(|location| !is_control_plane(&self.sources, &with_slashes(location)))
    }

    /// Watches the folders that there are, until there are no others: what was made in one before it was watched is found
    /// by looking again.
    ///
    /// # Errors
    /// When the system tells of no changes, or watches no more folders.
    fn watch_folders(&mut self, anew: bool) -> Result<(), Degradation> {
        let backend = match &mut self.backend {
            Some(backend) => backend,
            none => none.insert((self.start)(self.sender.clone()).map_err(|error| unavailable(&error))?),
        };
        let mut anew = anew;
        loop {
            let folders = folders(&self.sources);
            for gone in self.watched.difference(&folders) {
                // It may have gone by itself.
                let _ = backend.unwatch(gone);
            }
            self.watched.retain(|folder| !anew && folders.contains(folder));
            anew = false;
            let new: Vec<PathBuf> = folders.difference(&self.watched).cloned().collect();
            let mut found = false;
            for folder in new {
                match backend.watch(&folder, RecursiveMode::NonRecursive) {
                    Ok(()) => found |= self.watched.insert(folder),
                    Err(error) if matches!(error.kind, ErrorKind::MaxFilesWatch) => {
                        return Err(limited(self.watched.len(), folders.len()));
                    }
                    // It is gone again or closed to us, and the folder above tells when that changes.
                    Err(_) => {}
                }
            }
            if !found {
                return Ok(());
            }
        }
    }
}

impl Watch for FileWatcher {
    fn wait(&mut self, limit: Duration) -> Option<Notice> {
        let limit = if self.is_away { limit.min(RETURN_LOOK) } else { limit };
        let Ok(first) = self.signals.recv_timeout(limit) else {
            let is_back = self.is_away && self.sources.check().is_ok();
            self.is_away &= !is_back;
            self.is_behind |= is_back;
            return is_back.then_some(Notice::Changed);
        };
        let further: Vec<Signal> = self.signals.try_iter().collect();
        let notices = std::iter::once(first).chain(further).map(|signal| self.judge(&signal));
        notices.max().flatten()
    }

    fn prepare(&mut self, after: Option<Notice>) {
        let anew = after != Some(Notice::Changed);
        if !anew && !self.is_behind {
            return;
        }
        self.is_behind = false;
        self.is_away = self.sources.check().is_err();
        self.degradation = self.watch_folders(anew).err();
    }

    fn degradation(&self) -> Option<&Degradation> {
        self.degradation.as_ref()
    }
}

impl std::fmt::Debug for FileWatcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FileWatcher")
            .field("sources", &self.sources)
            .field("watched", &self.watched)
            .finish_non_exhaustive()
    }
}

/// Starts what the system has. What could not matter wakes nobody: our own scans open every folder.
fn recommended(sender: Sender<Signal>) -> notify::Result<Backend> {
    let tell = move |told: notify::Result<Event>| {
        if told.as_ref().map_or(true, may_matter) {
            // Nobody waits any more: nothing to do about it.
            let _ = sender.send(Signal::Told(told));
        }
    };
    let backend: RecommendedWatcher = notify::recommended_watcher(tell)?;
    Ok(Box::new(backend))
}

fn may_matter(event: &Event) -> bool {
    let is_read = matches!(event.kind, EventKind::Access(kind) if kind != AccessKind::Close(AccessMode::Write));
    let is_other_file = is_of_a_file(event.kind)
        && event
            .paths
            .iter()
            .all(|path| !is_markdown(path) && path.file_name().is_none_or(|name| name != IGNORE_FILE));
    event.need_rescan() || (!is_read && !is_other_file)
}

/// Returns whether this happens to files alone.
fn is_of_a_file(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::Access(_)
            | EventKind::Create(CreateKind::File)
            | EventKind::Remove(RemoveKind::File)
            | EventKind::Modify(ModifyKind::Data(_))
    )
}

fn is_hidden(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name.as_encoded_bytes().starts_with(b".")
}

fn unavailable(error: &notify::Error) -> Degradation {
    let detail = format!("the system tells of no changes: {error}; the whole folder is looked at now and then instead");
    Degradation::new(codes::WATCH_UNAVAILABLE, detail)
}

fn limited(watched: usize, all: usize) -> Degradation {
    let detail = format!(
        "the system watches {watched} of {all} folders and no more (on Linux, fs.inotify.max_user_watches); the whole \
         folder is looked at now and then instead"
    );
    Degradation::new(codes::WATCH_LIMITED, detail)
}

#[cfg(test)]
mod tests;
