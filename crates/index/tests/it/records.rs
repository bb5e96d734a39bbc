//! Pushed records: the protocol of a sync, and the records as a source of memory.

use std::path::PathBuf;

use casebook_corpus::{
    Found, KnownItems, MemorySource, ProjectId, PushedRecord, RecordChange, RecordPage, RecordVersion, Scan, Stack,
    SyncId, Timestamp,
};
use casebook_index::{Begun, Committed, RecordStore, Staged, SyncError, UnitSource};
use casebook_testkit::FixedClock;
use rusqlite::Connection;

use crate::support::{Fixture, Memory, codes, request, search};

/// A store in a folder that is gone when the test is.
pub(crate) struct Pushed {
    folder: tempfile::TempDir,
    pub(crate) store: RecordStore,
}

pub(crate) fn upsert(id: &str, body: &str) -> RecordChange {
    RecordChange::Upsert(Box::new(PushedRecord::new(id, body)))
}

pub(crate) fn gone(id: &str) -> RecordChange {
    RecordChange::Tombstone(id.into())
}

pub(crate) fn page(changes: Vec<RecordChange>) -> RecordPage {
    RecordPage::new(changes).unwrap()
}

impl Pushed {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            store: store_at(&folder.path().join("records/p.db"), "p"),
            folder,
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("records/p.db")
    }

    /// Another process's view of the same store.
    pub(crate) fn reopened(&self) -> RecordStore {
        store_at(&self.path(), "p")
    }

    fn begin(&self, base: Option<&str>, fresh: &str) -> Result<Begun, SyncError> {
        begin(&self.store, base, fresh, false)
    }

    fn stage(&self, sync: &str, number: u32, changes: Vec<RecordChange>) -> Result<Staged, SyncError> {
        self.store.stage(&sync.into(), number, &page(changes))
    }

    fn commit(&self, sync: &str, pages: u32, version: &str) -> Result<Committed, SyncError> {
        self.store
            .commit(&sync.into(), pages, &version.into(), Timestamp::from_unix_millis(5))
    }

    /// A whole sync of one page.
    pub(crate) fn sync(&self, base: Option<&str>, version: &str, changes: Vec<RecordChange>) -> Committed {
        let sync = format!("to {version}");
        self.begin(base, &sync).unwrap();
        self.stage(&sync, 1, changes).unwrap();
        self.commit(&sync, 1, version).unwrap()
    }

    fn show(&self) -> String {
        show(&scan(&self.store, &()))
    }

    fn sql(&self, sql: &str) {
        Connection::open(self.path()).unwrap().execute_batch(sql).unwrap();
    }
}

fn store_at(path: &std::path::Path, project: &str) -> RecordStore {
    RecordStore::at(path, &ProjectId::new(project))
}

pub(crate) fn begin(store: &RecordStore, base: Option<&str>, fresh: &str, replace: bool) -> Result<Begun, SyncError> {
    let base = base.map(RecordVersion::from);
    store.begin(
        base.as_ref(),
        &SyncId::from(fresh),
        replace,
        Timestamp::from_unix_millis(1),
    )
}

pub(crate) fn scan(store: &RecordStore, known: &dyn KnownItems) -> Scan {
    let source = store.source(&|path| path == "AGENTS.md");
    source.scan(known, &FixedClock::default(), &|_| true).unwrap()
}

/// Shows a scan in one line: `=` unchanged, `+` read with its body, `!` skipped.
fn show(scan: &Scan) -> String {
    let shown = scan.items.iter().map(|item| match &item.found {
        Found::Unchanged => format!("={}", item.location),
        Found::Resource(resource) => format!("+{} {}", item.location, resource.body),
        Found::Skipped(told) => format!("!{}", told.code),
    });
    shown.collect::<Vec<_>>().join("; ")
}

fn told<T: std::fmt::Debug>(outcome: Result<T, SyncError>) -> String {
    outcome.unwrap_err().to_string()
}

#[test]
fn nobody_sees_a_page_before_its_commit() {
    let pushed = Pushed::new();
    assert!(!pushed.begin(None, "s").unwrap().resumed);
    pushed
        .stage("s", 1, vec![upsert("b", "香蕉"), upsert("a", "apple")])
        .unwrap();
    pushed.stage("s", 2, vec![upsert("云", "cloud")]).unwrap();
    assert_eq!(pushed.show(), "");
    assert_eq!(pushed.store.status().unwrap().version(), None);
    let done = pushed.commit("s", 2, "v1").unwrap();
    assert_eq!((done.records, done.added, done.rows_written), (3, 3, 6));
    assert_eq!(pushed.show(), "+record://a apple; +record://b 香蕉; +record://云 cloud");
    let status = pushed.reopened().status().unwrap();
    assert_eq!((status.committed, status.open), (Some(done), None));
}

#[test]
fn a_commit_counts_what_it_did_and_the_last_change_to_a_record_counts() {
    let pushed = Pushed::new();
    pushed.sync(
        None,
        "v1",
        vec![upsert("a", "1"), upsert("b", "1"), upsert("c", "1"), upsert("d", "1")],
    );
    pushed.begin(Some("v1"), "s").unwrap();
    pushed
        .stage(
            "s",
            1,
            vec![
                upsert("a", "2"),
                upsert("b", "1"),
                gone("c"),
                gone("nobody"),
                upsert("e", "1"),
            ],
        )
        .unwrap();
    pushed
        .stage("s", 2, vec![gone("e"), upsert("f", "1"), upsert("d", "2")])
        .unwrap();
    pushed.stage("s", 3, vec![upsert("d", "1")]).unwrap();
    let done = pushed.commit("s", 3, "v2").unwrap();
    assert_eq!((done.added, done.changed, done.unchanged), (1, 1, 2), "f; a; b and d");
    assert_eq!((done.removed, done.unknown, done.records), (1, 2, 4), "c; nobody and e");
    assert_eq!(done.rows_written, 6, "two rows each of f, a and c");
    assert_eq!(
        pushed.show(),
        "+record://a 2; +record://b 1; +record://d 1; +record://f 1"
    );
}

#[test]
fn another_base_is_a_conflict_that_names_the_version() {
    let pushed = Pushed::new();
    let refused = told(pushed.begin(Some("v1"), "s"));
    assert_eq!(refused, "base version is \"v1\", but the records are at none");
    pushed.sync(None, "v1", vec![upsert("a", "1")]);
    for base in [None, Some("v0")] {
        let refused = pushed.begin(base, "s").unwrap_err();
        assert!(
            matches!(&refused, SyncError::WrongBase { current: Some(current), .. } if current.as_str() == "v1"),
            "{refused}"
        );
    }
    pushed.begin(Some("v1"), "s").unwrap();
    pushed.stage("s", 1, vec![gone("a")]).unwrap();
    // As a copy of the data folder would that was put back under a sync.
    pushed.sql("UPDATE record_store SET version = 'v7'");
    let refused = told(pushed.commit("s", 1, "v2"));
    assert_eq!(refused, "base version is \"v1\", but the records are at \"v7\"");
    assert_eq!(pushed.show(), "+record://a 1", "the old state is kept");
}

#[test]
fn a_staged_page_may_come_again_and_is_never_replaced() {
    let pushed = Pushed::new();
    pushed.begin(None, "s").unwrap();
    let stage = |number, body: &str| pushed.stage("s", number, vec![upsert("a", body)]);
    assert_eq!(told(stage(0, "x")), "page 0 came where page 1 is due");
    assert_eq!(told(stage(2, "x")), "page 2 came where page 1 is due");
    let first = stage(1, "x").unwrap();
    let again = stage(1, "x").unwrap();
    assert_eq!((first.already, again.already, &first.page), (false, true, &again.page));
    assert_eq!(told(stage(1, "y")), "page 1 is staged with another content");
    stage(2, "y").unwrap();
    assert_eq!(
        told(stage(u32::MAX, "x")),
        format!("page {} came where page 3 is due", u32::MAX)
    );
    assert_eq!(pushed.commit("s", 2, "v1").unwrap().added, 1);
    assert_eq!(pushed.show(), "+record://a y");
}

#[test]
fn a_sync_is_gone_on_with_or_replaced() {
    let pushed = Pushed::new();
    pushed.begin(None, "one").unwrap();
    let staged = pushed.stage("one", 1, vec![upsert("a", "1")]).unwrap();
    let resumed = begin(&pushed.reopened(), None, "two", false).unwrap();
    assert_eq!((resumed.resumed, resumed.sync.id.as_str()), (true, "one"));
    assert_eq!(resumed.sync.pages, [staged.page]);
    let replaced = begin(&pushed.reopened(), None, "three", true).unwrap();
    assert_eq!((replaced.resumed, replaced.sync.pages.len()), (false, 0));
    let refused = "sync one is not open; the records are at none";
    assert_eq!(told(pushed.stage("one", 2, vec![gone("a")])), refused);
    assert_eq!(told(pushed.commit("one", 1, "v1")), refused);
    pushed.stage("three", 1, vec![upsert("b", "1")]).unwrap();
    pushed.commit("three", 1, "v1").unwrap();
    assert_eq!(pushed.show(), "+record://b 1", "what was replaced is gone");
    let late = told(pushed.commit("one", 1, "v2"));
    assert_eq!(late, "sync one is not open; the records are at \"v1\"");
}

#[test]
fn a_commit_may_be_asked_for_again_and_refuses_what_makes_no_sense() {
    let pushed = Pushed::new();
    pushed.begin(None, "s").unwrap();
    pushed.stage("s", 1, vec![upsert("a", "1")]).unwrap();
    assert_eq!(
        told(pushed.commit("s", 2, "v1")),
        "1 pages are staged, and the commit is for 2"
    );
    assert_eq!(
        told(pushed.commit("s", 0, "v1")),
        "1 pages are staged, and the commit is for 0"
    );
    assert_eq!(told(pushed.commit("s", 1, " ")), "version \" \" must not be empty");
    assert_eq!(
        told(pushed.commit("s", 1, "v\n1")),
        "version \"v\\n1\" must not hold control characters"
    );
    let done = pushed.commit("s", 1, "v1").unwrap();
    assert_eq!(
        pushed.commit("s", 1, "v1").unwrap(),
        done,
        "the answer may have been lost"
    );
    assert_eq!(
        told(pushed.commit("s", 1, "v2")),
        "sync s is not open; the records are at \"v1\""
    );
    pushed.begin(Some("v1"), "t").unwrap();
    assert_eq!(
        told(pushed.commit("t", 0, "v1")),
        "new version \"v1\" is the base version"
    );
    let empty = pushed.commit("t", 0, "v2").unwrap();
    assert_eq!(
        (empty.records, empty.rows_written),
        (1, 0),
        "a version may bring no change"
    );
}

#[test]
fn an_aborted_sync_leaves_the_old_state() {
    let pushed = Pushed::new();
    pushed.sync(None, "v1", vec![upsert("a", "1")]);
    pushed.begin(Some("v1"), "s").unwrap();
    pushed.stage("s", 1, vec![gone("a"), upsert("b", "1")]).unwrap();
    assert_eq!(
        told(pushed.store.abort(&"t".into())),
        "sync t is not open; the records are at \"v1\""
    );
    assert_eq!(pushed.store.abort(&"s".into()).unwrap(), 1);
    assert_eq!(pushed.show(), "+record://a 1");
    assert!(!pushed.begin(Some("v1"), "u").unwrap().resumed);
    assert_eq!(pushed.commit("u", 0, "v2").unwrap().removed, 0, "its pages are gone");
}

#[test]
fn a_look_makes_no_store() {
    let pushed = Pushed::new();
    assert_eq!(pushed.store.status().unwrap(), casebook_index::SyncStatus::default());
    assert_eq!(
        (pushed.show(), pushed.store.stamp_of(&"a".into()).unwrap()),
        (String::new(), None)
    );
    assert!(!pushed.path().exists());
    pushed.sync(None, "v1", vec![upsert("a", "1")]);
    std::fs::remove_file(pushed.path()).unwrap();
    assert_eq!(
        pushed.show(),
        "",
        "a store that was removed is empty, also for who had it open"
    );
}

#[cfg(unix)]
#[test]
fn a_store_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let pushed = Pushed::new();
    pushed.sync(None, "v1", vec![upsert("a", "1")]);
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(pushed.path().parent().unwrap()), 0o700);
    for entry in std::fs::read_dir(pushed.path().parent().unwrap()).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{path:?}");
    }
}

#[test]
fn what_is_not_this_projects_store_is_refused_and_left_as_it_is() {
    let pushed = Pushed::new();
    pushed.sync(None, "v1", vec![upsert("a", "1")]);
    let other = store_at(&pushed.path(), "other");
    let refused = "\"p\" is the project of these records, not \"other\"";
    assert_eq!(told(other.status()), refused);
    assert_eq!(told(begin(&other, Some("v1"), "s", true)), refused);
    assert!(
        other
            .source(&|_| false)
            .scan(&(), &FixedClock::default(), &|_| true)
            .is_err()
    );
    pushed.sql("PRAGMA user_version = 99");
    let newer = pushed.reopened().status().unwrap_err();
    assert!(matches!(newer, SyncError::Newer { found: 99, .. }), "{newer}");
    pushed.sql("PRAGMA user_version = 1");
    assert_eq!(pushed.reopened().status().unwrap().committed.unwrap().records, 1);
    let text = pushed.folder.path().join("text.db");
    std::fs::write(&text, "这不是数据库 ".repeat(1000)).unwrap();
    let broken = store_at(&text, "p");
    assert!(matches!(begin(&broken, None, "s", false), Err(SyncError::Open { .. })));
    assert!(std::fs::read_to_string(&text).unwrap().starts_with("这不是数据库"));
}

#[test]
fn a_record_that_cannot_be_read_is_named_and_the_others_are_there() {
    let pushed = Pushed::new();
    let mut agents = PushedRecord::new("rules", "obey");
    agents.path = Some("AGENTS.md".to_owned());
    pushed.sync(
        None,
        "v1",
        vec![
            upsert("a", "1"),
            upsert("b", "1"),
            RecordChange::Upsert(Box::new(agents)),
        ],
    );
    pushed.sql("UPDATE record_contents SET record = X'c1' WHERE id = 'a'");
    let scan = scan(&pushed.store, &());
    assert_eq!(show(&scan), "!record_unreadable; +record://b 1");
    assert_eq!(
        codes(&scan.degradations),
        ["record_control_plane"],
        "never memory, and told"
    );
    let fixture = Fixture::new();
    let source = pushed.store.source(&|_| false);
    let build = || fixture.index.build(&request(&source, Some(&fixture.encoder))).unwrap();
    let first = build();
    assert_eq!(
        (codes(&first.degradations), first.resources),
        (vec!["record_unreadable"], 2)
    );
    let second = build();
    assert_eq!(
        (codes(&second.degradations), second.bytes_read),
        (vec!["record_unreadable"], 0)
    );
}

#[test]
fn a_stamp_tells_a_change_and_when_it_came() {
    let pushed = Pushed::new();
    pushed.sync(None, "v1", vec![upsert("a", "1"), upsert("b", "1")]);
    let stamp = |id: &str| pushed.store.stamp_of(&id.into()).unwrap();
    let (a, b) = (stamp("a").unwrap(), stamp("b").unwrap());
    assert_eq!(a.written_at(), Timestamp::from_unix_millis(5));
    assert_eq!(scan(&pushed.store, &()).items[0].stamp, Some(a));
    pushed.begin(Some("v1"), "s").unwrap();
    pushed.stage("s", 1, vec![upsert("a", "2"), upsert("b", "1")]).unwrap();
    let later = Timestamp::from_unix_millis(9);
    pushed.store.commit(&"s".into(), 1, &"v2".into(), later).unwrap();
    assert_eq!((stamp("a").unwrap().written_at(), stamp("b")), (later, Some(b)));
    let now = pushed.store.record(&"a".into()).unwrap().unwrap();
    assert_eq!((now.body.as_str(), stamp("c")), ("2", None));
}

/// The cost law: ten changes among many move ten.
#[test]
fn work_is_proportional_to_the_change() {
    const RECORDS: usize = 2000;
    const A_PAGE: usize = 250;
    let pushed = Pushed::new();
    let fixture = Fixture::new();
    let source = pushed.store.source(&|_| false);
    let build = || fixture.index.build(&request(&source, Some(&fixture.encoder))).unwrap();
    let text = |n: usize, version: u32| format!("memory {n} at {version} 记忆");
    pushed.begin(None, "one").unwrap();
    for (number, first) in (1..).zip((0..RECORDS).step_by(A_PAGE)) {
        let changes = (first..first + A_PAGE).map(|n| upsert(&format!("{n:05}"), &text(n, 1)));
        pushed.stage("one", number, changes.collect()).unwrap();
    }
    let pages = (RECORDS / A_PAGE) as u32;
    assert_eq!(pushed.commit("one", pages, "v1").unwrap().added, RECORDS as u64);
    let first = build();
    assert_eq!((first.added, first.encoded), (RECORDS as u64, RECORDS as u64));
    let idle = build();
    assert_eq!((idle.bytes_read, idle.rows_written, idle.encoder_calls), (0, 0, 0));

    let changed: Vec<_> = (0..8).map(|n| n * 200 + 7).collect();
    let mut changes: Vec<_> = changed
        .iter()
        .map(|&n| upsert(&format!("{n:05}"), &text(n, 2)))
        .collect();
    changes.extend([upsert("new", "a new one 新的"), gone("00000")]);
    let done = pushed.sync(Some("v1"), "v2", changes);
    assert_eq!(
        (done.changed, done.added, done.removed, done.rows_written),
        (8, 1, 1, 20)
    );
    let second = build();
    assert_eq!((second.changed, second.added, second.removed), (8, 1, 1));
    let bytes: usize = changed.iter().map(|&n| text(n, 2).len()).sum();
    assert_eq!(
        second.bytes_read,
        (bytes + "a new one 新的".len()) as u64,
        "nothing else was read"
    );
    assert_eq!((second.encoded, second.units_written), (9, 9));
    assert!(second.rows_written < 60, "{}", second.rows_written);
    // A sync that says again what is there moves nothing.
    let same = pushed.sync(Some("v2"), "v3", vec![upsert("new", "a new one 新的")]);
    assert_eq!((same.unchanged, same.rows_written), (1, 0));
    assert_eq!(build().rows_written, 0);
}

#[test]
fn records_and_files_are_one_memory() {
    let pushed = Pushed::new();
    let files = Memory::default();
    let mut newer = PushedRecord::new("host-2", "we use spaces 用空格");
    newer.stated.supersedes = vec!["style.md".into()];
    pushed.sync(
        None,
        "v1",
        vec![
            RecordChange::Upsert(Box::new(newer)),
            upsert("shared", "the host's words"),
            upsert("alone", "only the host knows 只有主机知道"),
        ],
    );
    files.write("style.md", "we use tabs 用制表符");
    files.put(
        "shared.md",
        0,
        casebook_testkit::resource("shared.md", "the file's words")
            .id("shared")
            .build(),
    );
    files.put(
        "later.md",
        0,
        casebook_testkit::resource("later.md", "host-2 was wrong")
            .retracts(&["host-2"])
            .build(),
    );
    let records = pushed.store.source(&|_| false);
    let memory = Stack::new(vec![&records, &files]);
    let fixture = Fixture::new();
    let build = || fixture.index.build(&request(&memory, Some(&fixture.encoder))).unwrap();
    let report = build();
    assert_eq!(
        (report.resources, report.degradations.len()),
        (3, 0),
        "alone, shared, later.md"
    );
    let standing = |id: &str| fixture.snapshot().meta(&id.into()).unwrap().unwrap().1;
    let show = |id: &str| format!("{:?}", standing(id));
    assert!(
        show("style.md").starts_with("Superseded { by: ResourceId(\"host-2\")"),
        "{}",
        show("style.md")
    );
    assert!(show("host-2").contains("retracted: true"), "{}", show("host-2"));
    assert_eq!(
        search(&fixture.snapshot(), "fts5", "words"),
        ["the file's words"],
        "a file lies above a record"
    );
    let place = fixture.snapshot().place(&"alone".into()).unwrap().unwrap();
    assert_eq!(place.location, "record://alone");
    let unit = fixture.snapshot().units_of(&"alone".into()).unwrap().remove(0);
    assert_eq!(
        (unit.resource.path.as_str(), unit.unit.locator.first_line),
        ("alone", 0)
    );
    files.remove("shared.md");
    let uncovered = build();
    assert_eq!(
        (uncovered.encoded, uncovered.bytes_read),
        (1, 0),
        "the record's body is in the index"
    );
    assert_eq!(search(&fixture.snapshot(), "fts5", "words"), ["the host's words"]);
}

/// While one thread commits version after version, every build of another sees one of them, whole.
#[test]
fn a_build_beside_commits_sees_one_version() {
    const VERSIONS: u32 = 30;
    const RECORDS: usize = 20;
    let pushed = Pushed::new();
    let all = |version: u32| -> Vec<_> {
        (0..RECORDS)
            .map(|n| upsert(&format!("{n}"), &format!("v{version}")))
            .collect()
    };
    pushed.sync(None, "v0", all(0));
    let fixture = Fixture::new();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for version in 1..=VERSIONS {
                pushed.sync(Some(&format!("v{}", version - 1)), &format!("v{version}"), all(version));
            }
        });
        let reader = pushed.reopened();
        let source = reader.source(&|_| false);
        let mut is_last = false;
        while !is_last {
            is_last = writer.is_finished();
            fixture.index.build(&request(&source, None)).unwrap();
            let snapshot = fixture.snapshot();
            let bodies = (0..RECORDS).map(|n| snapshot.body(&n.to_string().as_str().into()).unwrap().unwrap());
            let versions: std::collections::BTreeSet<_> = bodies.collect();
            assert_eq!(versions.len(), 1, "{versions:?}");
        }
        writer.join().unwrap();
    });
    let last = fixture.snapshot().body(&"0".into()).unwrap();
    assert_eq!(last, Some(format!("v{VERSIONS}")));
}

#[test]
fn records_whose_store_is_gone_stay_until_their_host_pushes_again() {
    type Loss = fn(&Pushed);
    let losses: [Loss; 3] = [
        |pushed| std::fs::remove_dir_all(pushed.path().parent().unwrap()).unwrap(),
        |pushed| {
            std::fs::remove_dir_all(pushed.path().parent().unwrap()).unwrap();
            begin(&pushed.reopened(), None, "again", false).unwrap();
        },
        |pushed| pushed.sql("DELETE FROM records; DELETE FROM record_contents; DELETE FROM record_store"),
    ];
    for lose in losses {
        let pushed = Pushed::new();
        pushed.sync(None, "v1", vec![upsert("a", "apple"), upsert("b", "香蕉 banana")]);
        let fixture = Fixture::new();
        let build = |store: &RecordStore| {
            let nothing = |_: &str| false;
            let source = store.source(&nothing);
            fixture.index.build(&request(&source, Some(&fixture.encoder))).unwrap()
        };
        let whole = build(&pushed.store);
        assert_eq!((whole.resources, codes(&whole.degradations)), (2, vec![]));
        assert!(!pushed.store.is_new().unwrap());
        lose(&pushed);
        let store = pushed.reopened();
        assert!(store.is_new().unwrap());
        for _ in 0..2 {
            let kept = build(&store);
            assert_eq!((kept.rows_written, &kept.revision), (0, &whole.revision));
            assert_eq!(codes(&kept.degradations), ["records_lost"]);
        }
        assert!(kept_detail(&build(&store)).contains("the 2 records"));
        assert_eq!(search(&fixture.snapshot(), "impact", "banana"), ["香蕉 banana"]);
        begin(&store, None, "new", true).unwrap();
        store
            .stage(&"new".into(), 1, &page(vec![upsert("c", "cherry")]))
            .unwrap();
        store
            .commit(&"new".into(), 1, &"v9".into(), Timestamp::from_unix_millis(9))
            .unwrap();
        let pushed_again = build(&store);
        assert_eq!((pushed_again.resources, codes(&pushed_again.degradations)), (1, vec![]));
        assert!(search(&fixture.snapshot(), "impact", "banana").is_empty());
    }
}

fn kept_detail(report: &casebook_index::BuildReport) -> String {
    report.degradations[0].detail.clone()
}
