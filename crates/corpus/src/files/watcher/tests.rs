use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use casebook_testkit::TempProject;
use notify::event::{DataChange, Flag, MetadataKind, RenameMode};

use super::*;
use crate::FilesConfig;

/// What the system is asked to watch, and how many folders it allows.
#[derive(Clone, Default)]
struct System(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    watched: BTreeSet<PathBuf>,
    allowed: Option<usize>,
    is_broken: bool,
    /// A folder that somebody makes just before another one is watched.
    late: Option<(PathBuf, PathBuf)>,
}

impl Watcher for System {
    fn new<F: notify::EventHandler>(_: F, _: notify::Config) -> notify::Result<Self> {
        unreachable!("made by the test")
    }

    fn watch(&mut self, path: &Path, mode: RecursiveMode) -> notify::Result<()> {
        assert_eq!(mode, RecursiveMode::NonRecursive);
        let mut state = self.0.lock().unwrap();
        if state.allowed.is_some_and(|allowed| state.watched.len() >= allowed) {
            return Err(notify::Error::new(ErrorKind::MaxFilesWatch));
        }
        if let Some((_, made)) = state.late.take_if(|(watched, _)| watched == path) {
            std::fs::create_dir(made).unwrap();
        }
        state.watched.insert(path.to_owned());
        Ok(())
    }

    fn unwatch(&mut self, path: &Path) -> notify::Result<()> {
        self.0.lock().unwrap().watched.remove(path);
        Ok(())
    }

    fn kind() -> notify::WatcherKind {
        notify::WatcherKind::NullWatcher
    }
}

struct Fixture {
    project: TempProject,
    root: PathBuf,
    system: System,
    watcher: FileWatcher,
}

impl Fixture {
    fn new(files: &[(&str, &str)]) -> Self {
        let project = TempProject::with(files);
        let root = project.root().canonicalize().unwrap();
        let sources = FileSources::new(&root, FilesConfig::default()).unwrap();
        let system = System::default();
        let given = system.clone();
        let start = move |_| {
            if given.0.lock().unwrap().is_broken {
                return Err(notify::Error::generic("too many"));
            }
            Ok(Box::new(given.clone()) as Backend)
        };
        let watcher = FileWatcher::with_backend(sources, Box::new(start));
        Self {
            project,
            root,
            system,
            watcher,
        }
    }

    fn prepared(files: &[(&str, &str)]) -> Self {
        let mut fixture = Self::new(files);
        fixture.watcher.prepare(None);
        fixture
    }

    /// Folders that the system watches, relative to the root.
    fn watched(&self) -> Vec<String> {
        let state = self.system.0.lock().unwrap();
        let relative = state.watched.iter().map(|path| path.strip_prefix(&self.root).unwrap());
        relative.map(|path| with_slashes(path.to_str().unwrap())).collect()
    }

    fn change(&self, f: impl FnOnce(&mut State)) {
        f(&mut self.system.0.lock().unwrap());
    }

    fn tell(&mut self, kind: EventKind, path: &str) {
        let path = if path.is_empty() {
            self.root.clone()
        } else {
            self.root.join(path)
        };
        let event = Event::new(kind).add_path(path);
        // The system lets go of what is gone.
        if matches!(
            kind,
            EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(RenameMode::From))
        ) {
            self.change(|state| state.watched.retain(|folder| !folder.starts_with(&event.paths[0])));
        }
        self.watcher.sender.send(Signal::Told(Ok(event))).unwrap();
    }

    fn wait(&mut self) -> Option<Notice> {
        self.watcher.wait(Duration::ZERO)
    }

    fn code(&self) -> Option<&str> {
        self.watcher.degradation().map(|found| &*found.code)
    }
}

const WRITTEN: EventKind = EventKind::Modify(ModifyKind::Data(DataChange::Any));
const MADE: EventKind = EventKind::Create(CreateKind::Folder);
const FROM: EventKind = EventKind::Modify(ModifyKind::Name(RenameMode::From));
const TO: EventKind = EventKind::Modify(ModifyKind::Name(RenameMode::To));

#[test]
fn only_folders_that_a_scan_looks_into_are_watched() {
    let fixture = Fixture::prepared(&[
        (".gitignore", "target/\n忽略/\n"),
        (".git/HEAD", ""),
        (".casebook/index.db", ""),
        (".hidden/a.md", ""),
        ("target/deep/a.md", ""),
        ("忽略/a.md", ""),
        ("docs/笔记/a.md", ""),
        ("empty/nothing.txt", ""),
    ]);
    assert_eq!(fixture.watched(), ["", "docs", "docs/笔记", "empty"]);
    assert!(fixture.watcher.degradation().is_none());
}

#[test]
fn what_can_be_no_memory_is_no_notice() {
    let mut fixture = Fixture::prepared(&[("docs/a.md", ""), ("target/a.md", ""), (".gitignore", "target/\n")]);
    let mut check = |kind, path: &str, expected: Option<Notice>| {
        fixture.tell(kind, path);
        assert_eq!(fixture.wait(), expected, "{kind:?} {path}");
    };
    let changed = Some(Notice::Changed);
    let renamed = |mode| EventKind::Modify(ModifyKind::Name(mode));
    let access = EventKind::Modify(ModifyKind::Metadata(MetadataKind::Any));
    for kind in [
        WRITTEN,
        access,
        FROM,
        TO,
        EventKind::Remove(RemoveKind::File),
        EventKind::Create(CreateKind::File),
    ] {
        check(kind, "docs/a.md", changed);
        check(kind, "docs/笔记.MARKDOWN", changed);
        check(kind, "docs/a.txt", None);
        check(kind, "docs/.a.md", None);
        check(kind, "docs/AGENTS.md", None);
        check(kind, "policy/rule.md", None);
        check(kind, ".casebook", None);
        check(kind, "docs/.gitignore", changed);
    }
    // Folders, those too that are gone.
    check(renamed(RenameMode::To), "docs", changed);
    check(EventKind::Remove(RemoveKind::Folder), "never-watched", None);
    check(MADE, "never-made", None);
    check(WRITTEN, "docs", None);
}

#[test]
fn what_is_read_wakes_nobody() {
    let check = |kind, path: &str, expected| {
        let event = Event::new(kind).add_path(path.into());
        assert_eq!(may_matter(&event), expected, "{kind:?} {path}");
    };
    let access = |kind| EventKind::Access(kind);
    check(access(AccessKind::Open(AccessMode::Any)), "docs", false);
    check(access(AccessKind::Open(AccessMode::Any)), "docs/a.md", false);
    check(access(AccessKind::Close(AccessMode::Read)), "docs/a.md", false);
    check(access(AccessKind::Close(AccessMode::Write)), "docs/a.md", true);
    check(access(AccessKind::Close(AccessMode::Write)), "docs/a.log", false);
    check(WRITTEN, "docs/a.log", false);
    check(WRITTEN, ".gitignore", true);
    check(TO, "docs/anything", true);
    check(MADE, "docs/anything", true);
    assert!(may_matter(&Event::new(EventKind::Other).set_flag(Flag::Rescan)));
}

#[test]
fn lost_notices_are_told_though_they_name_nothing() {
    let mut fixture = Fixture::prepared(&[("a.md", "")]);
    let lost = Event::new(EventKind::Other).set_flag(Flag::Rescan);
    fixture.watcher.sender.send(Signal::Told(Ok(lost))).unwrap();
    fixture.tell(WRITTEN, "a.md");
    assert_eq!(fixture.wait(), Some(Notice::Overflow));
    let error = notify::Error::io(std::io::Error::other("no more"));
    fixture.watcher.sender.send(Signal::Told(Err(error))).unwrap();
    assert_eq!(fixture.wait(), Some(Notice::Overflow));
    // Nothing is taken to be watched still.
    fixture.change(|state| state.watched.clear());
    fixture.watcher.prepare(Some(Notice::Overflow));
    assert_eq!(fixture.watched(), [""]);
}

#[test]
fn folders_are_watched_when_they_come_and_let_go_when_they_are_ignored() {
    let mut fixture = Fixture::prepared(&[("docs/a.md", "")]);
    fixture.project.write("新/deep/er/b.md", "");
    fixture.tell(MADE, "新");
    assert_eq!(fixture.wait(), Some(Notice::Changed));
    fixture.watcher.prepare(Some(Notice::Changed));
    assert_eq!(fixture.watched(), ["", "docs", "新", "新/deep", "新/deep/er"]);
    fixture.project.write(".gitignore", "新/\n");
    fixture.tell(WRITTEN, ".gitignore");
    assert_eq!(fixture.wait(), Some(Notice::Changed));
    fixture.watcher.prepare(Some(Notice::Changed));
    assert_eq!(fixture.watched(), ["", "docs"]);
}

#[test]
fn a_folder_that_came_before_its_parent_was_watched_is_found() {
    let mut fixture = Fixture::new(&[("docs/a.md", "")]);
    let late = (fixture.root.join("docs"), fixture.root.join("docs/晚"));
    fixture.change(|state| state.late = Some(late));
    fixture.watcher.prepare(None);
    assert_eq!(fixture.watched(), ["", "docs", "docs/晚"]);
}

#[test]
fn a_folder_that_moves_is_watched_where_it_is() {
    let mut fixture = Fixture::prepared(&[("docs/in/a.md", "")]);
    std::fs::rename(fixture.root.join("docs"), fixture.root.join("notes")).unwrap();
    fixture.tell(FROM, "docs");
    fixture.tell(TO, "notes");
    assert_eq!(fixture.wait(), Some(Notice::Changed));
    fixture.watcher.prepare(Some(Notice::Changed));
    assert_eq!(fixture.watched(), ["", "notes", "notes/in"]);
    // Away and back under its name, all within one wait: the system has let go of it.
    fixture.tell(FROM, "notes");
    fixture.tell(TO, "notes");
    assert_eq!(fixture.wait(), Some(Notice::Changed));
    assert_eq!(fixture.watched(), [""]);
    fixture.watcher.prepare(Some(Notice::Changed));
    assert_eq!(fixture.watched(), ["", "notes", "notes/in"]);
}

#[test]
fn a_root_that_is_gone_is_looked_for() {
    let mut fixture = Fixture::prepared(&[("docs/a.md", "")]);
    let aside = fixture.root.with_extension("aside");
    std::fs::rename(&fixture.root, &aside).unwrap();
    fixture.tell(FROM, "");
    assert_eq!(fixture.wait(), Some(Notice::Changed));
    fixture.watcher.prepare(Some(Notice::Changed));
    assert!(fixture.watched().is_empty());
    assert_eq!((fixture.wait(), fixture.wait()), (None, None));
    std::fs::rename(&aside, &fixture.root).unwrap();
    // Told once.
    assert_eq!((fixture.wait(), fixture.wait()), (Some(Notice::Changed), None));
    fixture.watcher.prepare(Some(Notice::Changed));
    assert_eq!(fixture.watched(), ["", "docs"]);
}

#[test]
fn a_system_that_watches_no_more_is_named_until_it_does() {
    let mut fixture = Fixture::new(&[("a/a.md", ""), ("b/b.md", "")]);
    fixture.change(|state| state.allowed = Some(2));
    fixture.watcher.prepare(None);
    assert_eq!(fixture.code(), Some("watch_limited"));
    let detail = &fixture.watcher.degradation().unwrap().detail;
    assert!(detail.contains("2 of 3 folders"), "{detail}");
    fixture.change(|state| state.allowed = None);
    fixture.watcher.prepare(None);
    assert_eq!((fixture.code(), fixture.watched().len()), (None, 3));
}

#[test]
fn a_system_that_tells_nothing_is_named_until_it_does() {
    let mut fixture = Fixture::new(&[("a.md", "")]);
    fixture.change(|state| state.is_broken = true);
    fixture.watcher.prepare(None);
    assert_eq!(fixture.code(), Some("watch_unavailable"));
    assert_eq!(fixture.wait(), None);
    fixture.change(|state| state.is_broken = false);
    fixture.watcher.prepare(None);
    assert_eq!((fixture.code(), fixture.watched().len()), (None, 1));
}

#[test]
fn a_wait_ends_when_it_is_woken() {
    let mut fixture = Fixture::prepared(&[]);
    fixture.watcher.waker().wake();
    assert_eq!(fixture.watcher.wait(Duration::MAX), None);
}
