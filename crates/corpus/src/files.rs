//! Markdown files below a project root, as a source.
//!
//! The one thing a newcomer gets wrong: whether a file changed is decided by its stamp alone, without opening it. So a
//! stamp is only given out when a later edit is sure to change it; see [`FileSources`].

mod read;
mod stamp;
mod walk;
mod watcher;

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::{
    Clock, Found, KnownItems, KnownState, Layer, MemorySource, Resource, ResourceMeta, Scan, ScanItem, Scope,
    SourceError, Stamp,
};
use read::Reading;
use walk::Entry;
pub use watcher::{FileWatcher, Waker};

/// Bytes of a file that is still read where nothing else is configured: 4 MiB.
pub const DEFAULT_MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;

/// Folders that never hold memory: Casebook's own storage, and git's.
const RESERVED: [&str; 2] = [".casebook", ".git"];

/// A folder of memory, and what its files are where their front matter does not say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceDecl {
    /// The folder, relative to the project root; empty for the root itself.
    pub path: String,
    /// Whose memory it is.
    pub scope: Scope,
    /// Whether it may be edited.
    pub layer: Layer,
    /// What kind of memory it is.
    pub kind: String,
}

/// The whole project: mutable notes in the default scope.
impl Default for SourceDecl {
    fn default() -> Self {
        Self {
            path: String::new(),
            scope: Scope::default(),
            layer: Layer::Mutable,
            kind: "note".to_owned(),
        }
    }
}

/// What belongs to the memory of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilesConfig {
    /// The folders of memory; a later one lies above an earlier one. Where there are none, the whole project is memory.
    pub sources: Vec<SourceDecl>,
    /// Files that are never memory, as globs on the path relative to the root. One without `/` matches at any depth.
    pub control_plane: Vec<String>,
    /// Bytes of the largest file that is read.
    pub max_file_bytes: u64,
    /// Whether symbolic links that stay within the root are followed.
    pub follow_links: bool,
}

impl Default for FilesConfig {
    fn default() -> Self {
        let control_plane = [
            "AGENTS.md",
            "CLAUDE.md",
            "GEMINI.md",
            ".cursor/**",
            ".github/copilot-instructions.md",
            "policy/**",
            // Not an instruction, but no memory either: the cold lane keeps its originals here.
            "archive/raw-sources/**",
        ];
        Self {
            sources: Vec::new(),
            control_plane: control_plane.map(str::to_owned).to_vec(),
            max_file_bytes: DEFAULT_MAX_FILE_BYTES,
            follow_links: false,
        }
    }
}

/// How a file stands to what is known of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileState {
    /// It is there, as it was.
    Present,
    /// It is there, but was touched, or it is not known whether it was.
    Changed,
    /// It is not there any more, or is no regular file.
    Gone,
}

/// The Markdown files below a project root.
///
/// Found are `*.md` and `*.markdown`, in any case, with the `.gitignore` files of the project respected, in a git
/// repository or not; nothing outside the root has a say. Hidden files and folders are passed over, unless a source
/// names one. A file below two sources belongs to the one with the longest path.
///
/// A stamp holds size, modification and change time, inode, and how the file is read. The times come in ticks of the
/// file system. A file that was just written is read only when its tick is over, so that an edit after the reading is
/// sure to change the stamp; where times are whole seconds, it gets no stamp until they have passed.
#[derive(Debug)]
pub struct FileSources {
    root: PathBuf,
    sources: Vec<Source>,
    control_plane: GlobSet,
    max_file_bytes: u64,
    follow_links: bool,
}

/// A declared source and where it is.
#[derive(Debug)]
struct Source {
    decl: SourceDecl,
    folder: PathBuf,
    /// How its files are read, so that other defaults or limits make other stamps.
    reading: u64,
}

impl FileSources {
    /// Opens the sources of the project at `root`.
    ///
    /// # Errors
    /// The root or a source is no folder, a source lies outside the root or in a folder that is reserved, or a pattern
    /// is no glob.
    pub fn new(root: &Path, config: FilesConfig) -> Result<Self, SourceError> {
        let root = folder(root)?;
        let declared = if config.sources.is_empty() {
            vec![SourceDecl::default()]
        } else {
            config.sources
        };
        let mut sources: Vec<Source> = Vec::with_capacity(declared.len());
        for decl in declared {
            let source = Source {
                folder: source_folder(&root, &decl.path)?,
                reading: stamp::reading(&decl, config.max_file_bytes),
                decl,
            };
            sources.push(source);
        }
        Ok(Self {
            root,
            sources,
            control_plane: globs(&config.control_plane)?,
            max_file_bytes: config.max_file_bytes,
            follow_links: config.follow_links,
        })
    }

    /// Looks whether there is anything to scan.
    ///
    /// # Errors
    /// A source is not there, or cannot be listed.
    pub fn check(&self) -> Result<(), SourceError> {
        for source in &self.sources {
            fs::read_dir(&source.folder).map_err(|error| unreadable(&source.folder, error))?;
        }
        Ok(())
    }

    /// Returns how the file at a [`location`](ScanItem::location) stands to the stamp that a scan gave it, with one
    /// look at each part of its path. Without a stamp an existing file counts as changed; one behind a link that a scan
    /// would not follow counts as gone.
    pub fn state_of(&self, location: &str, stamp: Option<Stamp>) -> FileState {
        let path = Path::new(location);
        if !path.components().all(|part| matches!(part, Component::Normal(_))) {
            return FileState::Gone;
        }
        let path = self.root.join(path);
        let metadata = if self.follow_links {
            fs::metadata(&path)
        } else {
            fs::symlink_metadata(&path)
        };
        match (metadata, self.source_of(&path)) {
            (Ok(metadata), Some(source)) if metadata.is_file() && self.is_reached(&path) => {
                let now = stamp::of(&metadata, self.sources[source].reading);
                if stamp == Some(now) {
                    FileState::Present
                } else {
                    FileState::Changed
                }
            }
            _ => FileState::Gone,
        }
    }

    /// Returns what the file at a [`location`](ScanItem::location) says of itself now; `None` where it is gone, leads out of
    /// the root, is too large or cannot be understood. For a file that has changed since it was scanned: it may say now
    /// that fewer may see it.
    pub fn meta_now(&self, location: &str) -> Option<ResourceMeta> {
        if self.state_of(location, None) == FileState::Gone {
            return None;
        }
        let path = self.root.join(location);
        let decl = &self.sources[self.source_of(&path)?].decl;
        let resource = Resource::from_markdown(location, &self.text_now(&path)?, decl).ok()?;
        Some(resource.meta)
    }

    /// Returns whether what lies at this path, relative to the root, instructs the assistant and is never memory.
    pub fn is_control_plane(&self, path: &str) -> bool {
        walk::is_control_plane(self, path)
    }

    /// Returns whether a scan would come to this path: no folder on the way has become a link that leads elsewhere.
    fn is_reached(&self, path: &Path) -> bool {
        if self.follow_links {
            return fs::canonicalize(path).is_ok_and(|canonical| canonical.starts_with(&self.root));
        }
        let mut above = path.ancestors().skip(1).take_while(|above| *above != self.root);
        above.all(|above| !above.is_symlink())
    }

    /// Returns the most specific source that the path lies in; of two with one folder, the upper.
    fn source_of(&self, path: &Path) -> Option<usize> {
        let within = |&index: &usize| path.starts_with(&self.sources[index].folder);
        let depth = |&index: &usize| self.sources[index].folder.as_os_str().len();
        (0..self.sources.len()).filter(within).max_by_key(depth)
    }

    /// Returns the item where its stamp alone decides.
    fn untouched(&self, entry: &Entry, known: &dyn KnownItems) -> Option<ScanItem> {
        let stamp = Some(entry.stamp);
        let known = known.get(&entry.location).filter(|item| item.stamp == stamp)?;
        let found = match known.state {
            KnownState::Resource { .. } => Found::Unchanged,
            KnownState::Skipped(degradation) => Found::Skipped(degradation),
        };
        Some(entry.item(stamp, found))
    }
}

impl MemorySource for FileSources {
    fn ranks(&self) -> u32 {
        u32::try_from(self.sources.len()).unwrap_or(u32::MAX)
    }

    fn scan(
        &self,
        known: &dyn KnownItems,
        clock: &dyn Clock,
        found: &dyn Fn(usize) -> bool,
    ) -> Result<Scan, SourceError> {
        self.check()?;
        let go_on = |count| {
            if found(count) {
                Ok(())
            } else {
                Err(SourceError::Stopped)
            }
        };
        let walk::Walked {
            entries,
            mut degradations,
        } = walk::walk(self, &|| go_on(0))?;
        let mut reading = Reading::new(self, known, clock);
        let mut items = Vec::with_capacity(entries.len());
        let mut unsettled = Vec::new();
        for entry in entries {
            if let Some(item) = self.untouched(&entry, known) {
                items.push(item);
            } else if reading.must_wait_for(&entry) {
                unsettled.push(entry);
                continue;
            } else {
                items.extend(reading.read(&entry));
            }
            go_on(items.len())?;
        }
        if !unsettled.is_empty() {
            std::thread::sleep(Duration::from_millis(stamp::TICK_MILLIS));
        }
        for entry in unsettled {
            items.extend(reading.read_after_wait(&entry));
            go_on(items.len())?;
        }
        items.sort_unstable_by(|a, b| a.location.cmp(&b.location));
        let bytes_read = reading.bytes_read();
        degradations.extend(reading.into_oddities());
        Ok(Scan {
            items,
            degradations,
            bytes_read,
        })
    }
}

/// Returns the canonical path of a folder that can be listed.
fn folder(path: &Path) -> Result<PathBuf, SourceError> {
    let canonical = fs::canonicalize(path).map_err(|error| unreadable(path, error))?;
    fs::read_dir(&canonical).map_err(|error| unreadable(path, error))?;
    Ok(canonical)
}

fn unreadable(path: &Path, source: std::io::Error) -> SourceError {
    SourceError::Root {
        path: path.to_owned(),
        source,
    }
}

/// Returns where a declared source is; `..` and links may not lead out of the root.
fn source_folder(root: &Path, path: &str) -> Result<PathBuf, SourceError> {
    let outside = || SourceError::Outside { path: path.to_owned() };
    if Path::new(path).components().any(|part| part == Component::ParentDir) {
        return Err(outside());
    }
    let folder = folder(&root.join(path))?;
    let relative = folder.strip_prefix(root).map_err(|_| outside())?;
    if is_reserved(relative) {
        return Err(SourceError::Reserved { path: path.to_owned() });
    }
    Ok(folder)
}

/// Returns whether the path, relative to the root, leads into a folder that never holds memory.
fn is_reserved(relative: &Path) -> bool {
    relative
        .components()
        .any(|part| RESERVED.iter().any(|name| part.as_os_str() == *name))
}

fn globs(patterns: &[String]) -> Result<GlobSet, SourceError> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let wrong = |source| SourceError::Pattern {
            pattern: pattern.clone(),
            source,
        };
        let anywhere = if pattern.contains('/') { "" } else { "**/" };
        let glob = GlobBuilder::new(&format!("{anywhere}{pattern}"))
            .literal_separator(true)
            // On many machines `agents.md` and `AGENTS.md` are one file.
            .case_insensitive(true)
            .build();
        set.add(glob.map_err(wrong)?);
    }
    set.build().map_err(|source| SourceError::Pattern {
        pattern: patterns.join(" "),
        source,
    })
}
