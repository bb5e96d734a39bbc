//! Which files below the root are memory, by their names and kinds alone.

use std::collections::BTreeSet;
use std::fs::{self, FileType, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ignore::gitignore::Gitignore;
use ignore::{DirEntry, Match, Walk, WalkBuilder};
use unicode_normalization::UnicodeNormalization;

use super::{FileSources, is_reserved, stamp};
use crate::{Degradation, Found, ScanItem, SourceError, Stamp, codes};

/// A file that is memory.
pub(super) struct Entry {
    pub(super) location: String,
    pub(super) path: PathBuf,
    /// Index of its source, which is its rank.
    pub(super) source: usize,
    pub(super) metadata: Metadata,
    pub(super) stamp: Stamp,
}

impl Entry {
    pub(super) fn item(&self, stamp: Option<Stamp>, found: Found) -> ScanItem {
        ScanItem {
            location: self.location.clone(),
            rank: self.source as u32,
            stamp,
            found,
        }
    }
}

/// The outcome of a walk.
#[derive(Default)]
pub(super) struct Walked {
    pub(super) entries: Vec<Entry>,
    pub(super) degradations: Vec<Degradation>,
}

/// Walks every source, each on its own: so a source may be hidden or ignored where it lies. Asks before every entry whether
/// to go on.
pub(super) fn walk(sources: &FileSources, go_on: &dyn Fn() -> Result<(), SourceError>) -> Result<Walked, SourceError> {
    let mut walked = Walked::default();
    for index in walked_sources(sources) {
        walk_source(sources, index, go_on, &mut walked)?;
    }
    walked.entries.sort_unstable_by(|a, b| a.location.cmp(&b.location));
    walked
        .degradations
        .sort_unstable_by(|a, b| (&a.path, a).cmp(&(&b.path, b)));
    walked.degradations.dedup();
    Ok(walked)
}

/// Returns every folder that a walk looks into. What it cannot look into is for [`walk`] to name.
pub(super) fn folders(sources: &FileSources) -> BTreeSet<PathBuf> {
    let walked = walked_sources(sources).flat_map(|index| walker(sources, index).0.flatten());
    let folders = walked.filter(|entry| entry.file_type().is_some_and(|kind| kind.is_dir()));
    folders.map(DirEntry::into_path).collect()
}

/// Returns the sources that are walked: of two with one folder, the upper.
fn walked_sources(sources: &FileSources) -> impl Iterator<Item = usize> {
    (0..sources.sources.len()).filter(|&index| sources.source_of(&sources.sources[index].folder) == Some(index))
}

fn walker(sources: &FileSources, index: usize) -> (Walk, Arc<Gate>) {
    let folder = &sources.sources[index].folder;
    let gate = Arc::new(Gate::new(sources, folder));
    let filter = Arc::clone(&gate);
    let mut builder = WalkBuilder::new(folder);
    builder
        .standard_filters(false)
        .hidden(true)
        .git_ignore(true)
        .require_git(false)
        .follow_links(sources.follow_links)
        .filter_entry(move |entry| filter.admits(entry));
    (builder.build(), gate)
}

fn walk_source(
    sources: &FileSources,
    index: usize,
    go_on: &dyn Fn() -> Result<(), SourceError>,
    walked: &mut Walked,
) -> Result<(), SourceError> {
    let (walker, gate) = walker(sources, index);
    for entry in walker {
        go_on()?;
        match entry {
            Ok(entry) => {
                if let Some(error) = entry.error() {
                    gate.note_error(error, None);
                }
                if let Some(entry) = file_entry(sources, index, &entry, &gate) {
                    walked.entries.push(entry);
                }
            }
            Err(error) => gate.note_error(&error, None),
        }
    }
    let mut noted = gate.noted.lock().unwrap_or_else(PoisonError::into_inner);
    walked.degradations.append(&mut noted);
    Ok(())
}

/// Returns the entry where it is a Markdown file and no control-plane file.
fn file_entry(sources: &FileSources, source: usize, entry: &DirEntry, gate: &Gate) -> Option<Entry> {
    let kind = entry.file_type().filter(|kind| !kind.is_dir())?;
    let path = entry.path();
    if !is_markdown(path) {
        return None;
    }
    let relative = path.strip_prefix(&sources.root).ok()?;
    let Some(location) = relative.to_str().map(with_slashes) else {
        gate.note(codes::PATH_NOT_UTF8, "the name is not Unicode", path);
        return None;
    };
    if is_control_plane(sources, &location) || !within_bounds(sources, entry, gate) {
        return None;
    }
    if !kind.is_file() {
        gate.note(codes::NOT_A_FILE, kind_of(kind), path);
        return None;
    }
    match entry.metadata() {
        Ok(metadata) => Some(Entry {
            location,
            path: path.to_owned(),
            source,
            stamp: stamp::of(&metadata, sources.sources[source].reading),
            metadata,
        }),
        Err(error) => {
            gate.note_error(&error, Some(path));
            None
        }
    }
}

pub(super) fn is_markdown(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default();
    extension.eq_ignore_ascii_case("md") || extension.eq_ignore_ascii_case("markdown")
}

pub(super) fn is_control_plane(sources: &FileSources, location: &str) -> bool {
    if location.is_ascii() {
        return sources.control_plane.is_match(location);
    }
    let normal: String = location.nfc().collect();
    sources.control_plane.is_match(normal)
}

/// Returns whether what links made of the path is memory too. Only where links are followed can they differ.
fn within_bounds(sources: &FileSources, entry: &DirEntry, gate: &Gate) -> bool {
    if !sources.follow_links {
        return true;
    }
    let Ok(canonical) = fs::canonicalize(entry.path()) else {
        return true;
    };
    let Ok(relative) = canonical.strip_prefix(&sources.root) else {
        gate.note(codes::LINK_OUTSIDE_ROOT, "leads out of the project root", entry.path());
        return false;
    };
    let control_plane = relative
        .to_str()
        .is_some_and(|path| is_control_plane(sources, &with_slashes(path)));
    if control_plane || is_reserved(relative) {
        gate.note(
            codes::LINK_NOT_FOLLOWED,
            "leads to a file that is never memory",
            entry.path(),
        );
        return false;
    }
    true
}

pub(super) fn with_slashes(path: &str) -> String {
    if std::path::MAIN_SEPARATOR == '/' {
        path.to_owned()
    } else {
        path.replace(std::path::MAIN_SEPARATOR, "/")
    }
}

fn kind_of(kind: FileType) -> &'static str {
    if kind.is_symlink() {
        "a symbolic link"
    } else {
        "a pipe, a socket or a device"
    }
}

/// Decides what the walk goes into, and keeps what it has to name.
struct Gate {
    root: PathBuf,
    follow_links: bool,
    /// Other sources below this one, which are walked on their own.
    inner: Vec<PathBuf>,
    /// Ignore files between the root and the source, deepest first.
    above: Vec<Gitignore>,
    noted: Mutex<Vec<Degradation>>,
}

impl Gate {
    fn new(sources: &FileSources, folder: &Path) -> Self {
        let others = sources.sources.iter().map(|source| source.folder.clone());
        let mut gate = Self {
            root: sources.root.clone(),
            follow_links: sources.follow_links,
            inner: others
                .filter(|other| other != folder && other.starts_with(folder))
                .collect(),
            above: Vec::new(),
            noted: Mutex::default(),
        };
        for parent in folder
            .ancestors()
            .skip(1)
            .take_while(|parent| parent.starts_with(&sources.root))
        {
            let file = parent.join(".gitignore");
            if file.is_file() {
                let (rules, error) = Gitignore::new(&file);
                gate.above.push(rules);
                if let Some(error) = error {
                    gate.note_error(&error, Some(&file));
                }
            }
        }
        gate
    }

    fn admits(&self, entry: &DirEntry) -> bool {
        let path = entry.path();
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        if is_folder && (self.inner.iter().any(|inner| inner == path) || is_reserved(Path::new(entry.file_name()))) {
            return false;
        }
        let verdicts = self.above.iter().map(|rules| rules.matched(path, is_folder));
        match verdicts.into_iter().find(|verdict| !verdict.is_none()) {
            Some(Match::Ignore(_)) => false,
            _ => !entry.path_is_symlink() || self.admits_link(path),
        }
    }

    /// A link that leads out is refused in any case, and named unless it could not have been memory. One that stays
    /// inside is followed where that is allowed.
    fn admits_link(&self, path: &Path) -> bool {
        let target = match fs::canonicalize(path) {
            Ok(target) => target,
            Err(error) => {
                // Where links are followed, the walk runs into it and names it.
                if !self.follow_links {
                    self.note_io_error(&error, path);
                }
                return self.follow_links;
            }
        };
        let outside = !target.starts_with(&self.root);
        if outside && (target.is_dir() || is_markdown(path)) {
            self.note(codes::LINK_OUTSIDE_ROOT, "leads out of the project root", path);
        } else if !self.follow_links && is_markdown(path) {
            self.note(codes::LINK_NOT_FOLLOWED, "symbolic links are not followed", path);
        }
        self.follow_links && !outside
    }

    fn note(&self, code: &'static str, detail: impl Into<String>, path: &Path) {
        // What lies outside the root differs from machine to machine and is nobody's business here.
        if let Ok(relative) = path.strip_prefix(&self.root) {
            let location = with_slashes(&relative.to_string_lossy());
            let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
            noted.push(Degradation::at(code, detail, location));
        }
    }

    /// Names what the walk could not do; `path` is where, as far as the outer layers of the error tell.
    fn note_error(&self, error: &ignore::Error, path: Option<&Path>) {
        match error {
            ignore::Error::Partial(errors) => errors.iter().for_each(|error| self.note_error(error, path)),
            ignore::Error::WithPath { path, err } => self.note_error(err, Some(path)),
            ignore::Error::WithLineNumber { err, .. } | ignore::Error::WithDepth { err, .. } => {
                self.note_error(err, path);
            }
            ignore::Error::Loop { child, .. } => {
                self.note(codes::LINK_BROKEN, "leads back to a folder above it", child);
            }
            ignore::Error::Io(error) => self.note_io_error(error, path.unwrap_or(&self.root)),
            rule => self.note(codes::IGNORE_RULE_INVALID, rule.to_string(), path.unwrap_or(&self.root)),
        }
    }

    fn note_io_error(&self, error: &io::Error, path: &Path) {
        let is_link = path.is_symlink();
        if is_link && is_markdown(path) {
            self.note(codes::LINK_BROKEN, error.to_string(), path);
        } else if !is_link && error.kind() != io::ErrorKind::NotFound {
            let code = if is_markdown(path) {
                codes::FILE_UNREADABLE
            } else {
                codes::FOLDER_UNREADABLE
            };
            self.note(code, error.to_string(), path);
        }
    }
}
