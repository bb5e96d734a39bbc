//! A follower over a real folder and the system's own notices. Every wait is for a condition, with a bound that only a
//! fault reaches.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use casebook_api::{Follower, Pace, Refresh, Service, Told};
use casebook_corpus::{Clock, Timestamp, Waker};
use casebook_index::Cancel;
use casebook_ranker::{ActivationRequest, Fragment, TimeLabel};
use casebook_testkit::{FakeEncoder, TempProject};

use crate::support::{parts, service};

const BOUND: Duration = Duration::from_secs(60);

/// The machine's clock: a follower that waits for the system's notices waits in real time.
struct RealClock(Instant);

impl RealClock {
    #[expect(clippy::disallowed_methods, reason = "the notices come in real time")]
    fn start() -> Self {
        Self(Instant::now())
    }
}

impl Clock for RealClock {
    fn now(&self) -> Timestamp {
        let since = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
        Timestamp::from_unix_millis(since.as_millis() as i64)
    }

    fn monotonic_micros(&self) -> u64 {
        self.0.elapsed().as_micros() as u64
    }
}

#[derive(Default)]
struct Shared {
    stop: AtomicBool,
    builds: AtomicUsize,
    heads: AtomicUsize,
    failures: Mutex<Vec<&'static str>>,
    resources: AtomicU64,
}

impl Cancel for Shared {
    fn cancelled(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }
}

/// A project that is followed by a thread, until this is dropped.
struct Followed {
    project: TempProject,
    /// Another process, as it were: asks and never builds.
    reader: Service,
    shared: Arc<Shared>,
    waker: Waker,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Followed {
    fn with(files: &[(&str, &str)]) -> Self {
        let project = TempProject::with(files);
        let clock: Arc<dyn Clock> = Arc::new(RealClock::start());
        let open = || {
            let mut parts = parts(Arc::new(FakeEncoder::default()));
            parts.clock = Arc::clone(&clock);
            service(project.root(), parts).unwrap()
        };
        let (builder, reader) = (open(), open());
        let shared = Arc::<Shared>::default();
        let mut watch = builder.watcher().unwrap();
        let waker = watch.waker();
        let ours = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            Follower {
                watch: &mut watch,
                build: &mut || {
                    ours.builds.fetch_add(1, Ordering::SeqCst);
                    builder.build(false, &())
                },
                clock: &*clock,
                // Nothing is found by looking now and then.
                pace: Pace {
                    reconcile: Duration::from_secs(86_400),
                    ..Pace::default()
                },
                stop: &*ours,
                tell: &mut |told| match told {
                    Told::Head(report) => {
                        ours.resources.store(report.resources, Ordering::SeqCst);
                        ours.heads.fetch_add(1, Ordering::SeqCst);
                    }
                    Told::Failed(error) => ours.failures.lock().unwrap().push(error.code),
                    Told::Degraded(degradation) => panic!("{degradation}"),
                },
            }
            .run();
        });
        let followed = Self {
            project,
            reader,
            shared,
            waker,
            thread: Some(thread),
        };
        followed.until("the first head", || followed.heads() > 0);
        followed
    }

    fn heads(&self) -> usize {
        self.shared.heads.load(Ordering::SeqCst)
    }

    /// Codes of what was told to have failed.
    fn failures(&self) -> Vec<&'static str> {
        self.shared.failures.lock().unwrap().clone()
    }

    fn builds(&self) -> usize {
        self.shared.builds.load(Ordering::SeqCst)
    }

    #[track_caller]
    fn until(&self, what: &str, condition: impl Fn() -> bool) {
        let waited = RealClock::start();
        while !condition() {
            assert!(waited.0.elapsed() < BOUND, "{what} does not come");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until the question finds this text alone, asked of the head as it is.
    #[track_caller]
    fn until_found(&self, question: &str, expected: &[&str]) {
        self.until(&format!("{question:?} finding {expected:?}"), || {
            let request = ActivationRequest::new(question);
            let Ok(answer) = self.reader.activate(&request, Refresh::No, Vec::new(), &()) else {
                return false;
            };
            let activation = answer.activation;
            let mut texts: Vec<&str> = activation.fragments.iter().map(|found| found.text.trim()).collect();
            texts.sort_unstable();
            let is_stale = |found: &Fragment| found.time_labels.contains(&TimeLabel::Stale);
            texts == expected && !activation.fragments.iter().any(is_stale)
        });
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        self.waker.wake();
        let ended = self.thread.take().map(std::thread::JoinHandle::join);
        assert!(
            std::thread::panicking() || matches!(ended, Some(Ok(()))),
            "the follower panicked"
        );
    }
}

#[test]
fn however_an_editor_saves_the_head_is_what_it_saved() {
    let followed = Followed::with(&[("笔记/a.md", "numbat zero")]);
    let path = followed.project.path("笔记/a.md");
    followed.until_found("numbat", &["numbat zero"]);

    fs::write(&path, "numbat one").unwrap();
    followed.until_found("numbat", &["numbat one"]);

    let beside = followed.project.path("笔记/.a.md.tmp");
    fs::write(&beside, "numbat two").unwrap();
    fs::rename(&beside, &path).unwrap();
    followed.until_found("numbat", &["numbat two"]);

    // As vim: the old one becomes a backup that goes when the new one is there.
    let backup = followed.project.path("笔记/a.md~");
    fs::rename(&path, &backup).unwrap();
    fs::write(&path, "numbat three").unwrap();
    fs::remove_file(&backup).unwrap();
    followed.until_found("numbat", &["numbat three"]);

    fs::remove_file(&path).unwrap();
    fs::write(&path, "numbat four 四").unwrap();
    followed.until_found("numbat", &["numbat four 四"]);

    fs::File::create(&path).unwrap();
    std::thread::sleep(Duration::from_millis(2));
    fs::write(&path, "numbat five").unwrap();
    followed.until_found("numbat", &["numbat five"]);

    fs::remove_file(&path).unwrap();
    followed.until_found("numbat", &[]);
}

#[test]
fn folders_come_move_and_go() {
    let followed = Followed::with(&[("a.md", "numbat a")]);
    followed.project.write("new/deep/er/b.md", "numbat b");
    followed.until_found("numbat", &["numbat a", "numbat b"]);
    followed.project.write("new/deep/er/b.md", "numbat bb");
    followed.until_found("numbat", &["numbat a", "numbat bb"]);

    let root = followed.project.root();
    fs::rename(root.join("new"), root.join("搬")).unwrap();
    followed.until("the move", || followed.heads() >= 4);
    followed.project.write("搬/deep/er/b.md", "numbat moved");
    followed.until_found("numbat", &["numbat a", "numbat moved"]);

    // Replaced by another folder of that name.
    fs::remove_dir_all(root.join("搬")).unwrap();
    followed.project.write("搬/deep/c.md", "numbat c");
    followed.until_found("numbat", &["numbat a", "numbat c"]);
    followed.project.write("搬/deep/c.md", "numbat cc");
    followed.until_found("numbat", &["numbat a", "numbat cc"]);

    followed.project.write(".gitignore", "搬/\n");
    followed.until_found("numbat", &["numbat a"]);
}

#[test]
fn a_checkout_of_two_thousand_files_is_few_builds() {
    let followed = Followed::with(&[("a.md", "numbat a")]);
    let before = followed.builds();
    let outside = tempfile::tempdir().unwrap();
    for n in 0..2000 {
        let folder = outside.path().join(format!("branch/{}", n % 40));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{n}.md")), format!("file {n}")).unwrap();
    }
    // One by one, as git does it.
    for n in 0..2000 {
        let to = followed.project.path(&format!("branch/{}", n % 40));
        fs::create_dir_all(&to).unwrap();
        let name = format!("{n}.md");
        fs::copy(outside.path().join(format!("branch/{}/{name}", n % 40)), to.join(name)).unwrap();
    }
    let resources = || followed.shared.resources.load(Ordering::SeqCst);
    followed.until("all files", || resources() == 2001);
    let builds = followed.builds() - before;
    assert!(builds < 60, "{builds} builds");
}

#[test]
fn what_is_no_memory_builds_nothing() {
    let followed = Followed::with(&[("a.md", "numbat a"), (".gitignore", "target/\n"), ("target/x", "")]);
    followed.project.write("a.md", "numbat b");
    followed.until_found("numbat", &["numbat b"]);
    let before = followed.builds();
    for n in 0..50 {
        let text = n.to_string();
        for path in [
            ".git/index.md",
            ".casebook/x.md",
            "target/y.md",
            "log.txt",
            ".hidden.md",
            "AGENTS.md",
        ] {
            followed.project.write(path, &text);
        }
        std::thread::sleep(Duration::from_millis(4));
    }
    followed.project.write("a.md", "numbat c");
    followed.until_found("numbat", &["numbat c"]);
    // `.git` and `.casebook` were made in a watched folder; the index wrote to the latter all along.
    let builds = followed.builds() - before;
    assert!(builds <= 2, "{builds} builds");
}

#[test]
fn a_memory_that_contradicts_itself_is_told_once_and_tried_again() {
    let followed = Followed::with(&[("a.md", "numbat a")]);
    followed
        .project
        .write("b.md", "---\nid: b\nsupersedes: [c]\n---\nnumbat b\n");
    followed
        .project
        .write("c.md", "---\nid: c\nsupersedes: [b]\n---\nnumbat c\n");
    followed.until("the failure", || !followed.failures().is_empty());
    let builds = followed.builds();
    followed.project.write("d.md", "numbat d");
    followed.until("another build", || followed.builds() > builds);
    followed.until_found("numbat", &["numbat a"]);
    followed.project.write("c.md", "---\nid: c\n---\nnumbat c\n");
    followed.until_found("numbat", &["numbat a", "numbat b", "numbat d"]);
    // Two where the first of the files was looked at without the second.
    let failures = followed.failures();
    assert!(
        failures.len() <= 2 && failures.iter().all(|code| *code == "supersession_invalid"),
        "{failures:?}"
    );
}

#[test]
fn a_root_that_goes_is_told_left_alone_and_taken_up_again() {
    let followed = Followed::with(&[("in/a.md", "numbat a")]);
    let root = followed.project.root().to_owned();
    let aside = root.with_extension("aside");
    fs::rename(&root, &aside).unwrap();
    followed.until("the failure", || !followed.failures().is_empty());
    assert!(!root.exists(), "nobody asked for a new one");
    fs::rename(&aside, &root).unwrap();
    followed.project.write("in/a.md", "numbat b");
    followed.until_found("numbat", &["numbat b"]);

    // The index, too, may go at any time.
    fs::remove_dir_all(root.join(".casebook")).unwrap();
    followed.project.write("in/a.md", "numbat c");
    followed.until_found("numbat", &["numbat c"]);
    assert!(root.join(".casebook/.gitignore").exists());
    assert_eq!(followed.failures(), ["memory_unreadable"]);
}
