use std::{
    error::Error,
    path::Path,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
};

use casebook_corpus::ResourceId;
use tempfile::TempDir;

use super::*;
use crate::{LaneAnswer, LexicalLane};

/// Owns what a [`LaneDocument`] borrows.
struct Memory {
    unit_key: UnitKey,
    resource_id: ResourceId,
    order: u32,
    title: &'static str,
    text: String,
}

impl Memory {
    fn new(unit: &str, text: impl Into<String>) -> Self {
        let (resource, order) = unit.split_once('#').unwrap_or((unit, "0"));
        Self {
            unit_key: UnitKey::from(unit),
            resource_id: ResourceId::from(resource),
            order: order.parse().unwrap(),
            title: "",
            text: text.into(),
        }
    }

    fn document(&self) -> LaneDocument<'_> {
        LaneDocument {
            unit_key: &self.unit_key,
            resource_id: &self.resource_id,
            order: self.order,
            path: "",
            title: self.title,
            headings: "",
            text: &self.text,
        }
    }
}

fn write(store: &TantivyStore, revision: &str, removed: &[&str], added: &[Memory], wipe: bool) {
    let mut removed = removed.iter().map(|unit| UnitKey::from(*unit));
    let mut added = |take: &mut dyn FnMut(&LaneDocument<'_>) -> Result<(), TantivyError>| {
        added.iter().try_for_each(|memory| take(&memory.document()))
    };
    store
        .write(&RevisionId::from(revision), &mut removed, &mut added, wipe, &mut || {
            Ok(())
        })
        .unwrap();
}

fn built(memories: &[Memory]) -> (TempDir, TantivyStore) {
    let dir = tempfile::tempdir().unwrap();
    let store = TantivyStore::open(&dir.path().join("words")).unwrap();
    write(&store, "1", &[], memories, false);
    (dir, store)
}

fn lane(store: &TantivyStore, revision: &str) -> Option<TantivyLane> {
    store.lane(&RevisionId::from(revision)).unwrap()
}

fn found(store: &TantivyStore, revision: &str, query: &str) -> Vec<String> {
    let answer = lane(store, revision).unwrap().search(query, 100).unwrap();
    answer.hits.iter().map(|hit| hit.unit_key.to_string()).collect()
}

fn memories(texts: &[(&str, &str)]) -> Vec<Memory> {
    texts.iter().map(|(unit, text)| Memory::new(unit, *text)).collect()
}

#[test]
fn questions_find_units() {
    let (_dir, store) = built(&memories(&[
        ("user", "用户登录以后，会话保存在数据库里"),
        ("cloud", "部署到云上"),
        ("tool", "重跑gen-itgc后检查结果"),
        ("db", "The DB keeps running; see `fooBar` and config_file.toml"),
        ("spec", "TS 38.101 covers multi-agent radios, don't ask"),
        ("lang", "written in C++"),
    ]));
    for (query, expected) in [
        ("用户", "user"),
        ("云", "cloud"),
        ("数据库", "user"),
        ("itgc", "tool"),
        ("gen_itgc 之后", "tool"),
        ("db", "db"),
        ("runs", "db"),
        ("foobar", "db"),
        ("bar", "db"),
        ("config", "db"),
        ("38.101", "spec"),
        ("multiagent", "spec"),
        ("agents", "spec"),
        ("DON’T", "spec"),
        ("c++", "lang"),
        ("户登", "user"),
        ("户用", ""),
        ("nothing 无关", ""),
        ("", ""),
        ("\0\"(*", ""),
    ] {
        assert_eq!(
            found(&store, "1", query).first().map_or("", String::as_str),
            expected,
            "{query:?}"
        );
    }
}

#[test]
fn a_word_in_the_title_wins() {
    let mut titled = Memory::new("z", "about other things");
    titled.title = "Retention";
    let (_dir, store) = built(&[Memory::new("a", "retention of other things"), titled]);
    assert_eq!(found(&store, "1", "retention"), ["z", "a"]);
}

#[test]
fn frequent_words_of_a_question_do_not_decide() {
    let (_dir, store) = built(&memories(&[
        ("a", "how do we do what we do"),
        ("b", "the ledger"),
        ("c", "x"),
    ]));
    assert_eq!(found(&store, "1", "how do we see the ledger"), ["b"]);
    assert_eq!(
        found(&store, "1", "how do we"),
        ["a"],
        "a question of frequent words alone"
    );
}

#[test]
fn equal_scores_come_by_resource_and_order_whatever_the_segments() {
    let units = ["b#10", "a#2", "c#0", "b#9", "a#1", "d#0"];
    let expected = ["a#1", "a#2", "b#9", "b#10", "c#0", "d#0"];
    let text = "same words in every unit 相同";
    let (_dir, store) = built(&[]);
    for (index, unit) in units.iter().enumerate() {
        write(&store, &format!("r{index}"), &[], &[Memory::new(unit, text)], false);
    }
    let lane = lane(&store, "r5").unwrap();
    for limit in 0..=expected.len() {
        let hits = lane.search("every same unit 相同", limit).unwrap().hits;
        let keys: Vec<_> = hits.iter().map(|hit| hit.unit_key.as_str()).collect();
        assert_eq!(keys, expected[..limit]);
    }
}

#[test]
fn pruning_finds_what_a_full_scan_finds() {
    let text = |n: usize| {
        let words = (0..3 + n % 7).map(|i| ["alpha", "beta", "gamma", "delta", "日志"][(n * 7 + i * i) % 5]);
        words.collect::<Vec<_>>().join(" ")
    };
    // Stored against the order of the ids, so that the better of equal units comes last.
    let many: Vec<_> = (0..1500)
        .rev()
        .map(|n| Memory::new(&format!("r{:04}#{}", n / 3, n % 3), text(n)))
        .collect();
    let (_dir, store) = built(&many);
    let lane = lane(&store, "1").unwrap();
    for query in ["alpha", "alpha gamma", "delta beta 日志 alpha"] {
        let all = lane.search(query, many.len()).unwrap().hits;
        for limit in [1, 7, 60, 400] {
            let best = lane.search(query, limit).unwrap().hits;
            assert_eq!(best, all[..limit.min(all.len())], "{query:?} {limit}");
        }
    }
}

#[test]
fn a_revision_is_served_only_after_its_commit_and_until_the_next() {
    let (dir, store) = built(&memories(&[("a", "first"), ("b", "second")]));
    let first = lane(&store, "1").unwrap();
    assert!(lane(&store, "2").is_none());
    let other_process = TantivyStore::open(&dir.path().join("words")).unwrap();
    assert!(lane(&other_process, "1").is_some());

    write(&store, "2", &["a"], &memories(&[("c", "third")]), false);
    assert!(lane(&store, "1").is_none());
    assert_eq!(other_process.committed_revision(), Some(RevisionId::from("2")));
    assert_eq!(found(&other_process, "2", "first second third"), ["b", "c"]);
    assert_eq!(
        first.search("first", 9).unwrap().hits.len(),
        1,
        "a lane taken before serves on"
    );
    assert_eq!(first.revision(), &RevisionId::from("1"));
}

#[test]
fn a_wipe_leaves_what_is_added_with_it() {
    let (_dir, store) = built(&memories(&[("a", "old")]));
    write(&store, "2", &[], &memories(&[("b", "new")]), true);
    assert_eq!(found(&store, "2", "old new"), ["b"]);
    write(&store, "3", &[], &[], true);
    assert_eq!(found(&store, "3", "old new"), [""; 0]);
}

#[test]
fn a_missing_or_broken_folder_is_made_anew_by_the_next_write() {
    type Breakage = (&'static str, fn(&Path));
    let breakages: [Breakage; 4] = [
        ("missing", |dir| fs::remove_dir_all(dir).unwrap()),
        ("no meta", |dir| fs::remove_file(dir.join("meta.json")).unwrap()),
        ("torn meta", |dir| fs::write(dir.join("meta.json"), "{\"ind").unwrap()),
        ("other schema", |dir| {
            fs::remove_dir_all(dir).unwrap();
            fs::create_dir(dir).unwrap();
            let mut other = tantivy::schema::Schema::builder();
            for (_, field) in schema::schema().fields() {
                other.add_text_field(field.name(), tantivy::schema::STRING);
            }
            Index::create_in_dir(dir, other.build()).unwrap();
        }),
    ];
    for (name, break_it) in breakages {
        let (dir, store) = built(&memories(&[("a", "old")]));
        drop(store);
        let words = dir.path().join("words");
        break_it(&words);
        let store = TantivyStore::open(&words).unwrap();
        assert_eq!(store.committed_revision(), None, "{name}");
        assert!(!matches!(store.lane(&RevisionId::from("1")), Ok(Some(_))), "{name}");
        write(&store, "2", &[], &memories(&[("b", "new")]), true);
        assert_eq!(found(&store, "2", "old new"), ["b"], "{name}");
    }
}

#[test]
fn a_file_in_the_place_of_the_folder_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("words");
    fs::write(&path, "mine").unwrap();
    assert!(matches!(TantivyStore::open(&path), Err(TantivyError::Folder { .. })));
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
}

#[test]
fn damage_anywhere_in_a_segment_never_ends_the_caller() {
    let many: Vec<_> = (0..200)
        .map(|n| Memory::new(&format!("u{n}"), "alpha beta 日志 ".repeat(1 + n % 5)))
        .collect();
    let (dir, store) = built(&many);
    drop(store);
    let words = dir.path().join("words");
    let search = || -> Result<LaneAnswer, Box<dyn Error>> {
        let lane = TantivyStore::open(&words)?
            .lane(&RevisionId::from("1"))?
            .ok_or("no lane")?;
        Ok(lane.search("alpha 日志", 10)?)
    };
    let mut failures = 0;
    for path in segment_files(&words) {
        let whole = fs::read(&path).unwrap();
        for part in 0..4 {
            let mut damaged = whole.clone();
            let range = whole.len() * part / 4..whole.len() * (part + 1) / 4;
            damaged[range].iter_mut().for_each(|byte| *byte ^= 0xA5);
            fs::write(&path, damaged).unwrap();
            failures += usize::from(search().is_err());
        }
        fs::write(&path, whole).unwrap();
    }
    assert!(failures > 0);
    assert_eq!(search().unwrap().hits.len(), 10);

    segment_files(&words)
        .iter()
        .for_each(|path| fs::write(path, "torn").unwrap());
    let store = TantivyStore::open(&words).unwrap();
    write(&store, "2", &[], &memories(&[("b", "new")]), true);
    assert_eq!(found(&store, "2", "new"), ["b"]);
}

fn segment_files(dir: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.extension().is_some_and(|name| name != "json" && name != "lock"))
        .collect()
}

#[test]
fn edits_do_not_pile_up_segments_or_files() {
    let (dir, store) = built(&memories(&[("a", "text"), ("b", "text"), ("c", "text"), ("d", "text")]));
    write(&store, "r0", &["b"], &[], false);
    assert_eq!(
        found(&store, "r0", "text"),
        ["a", "c", "d"],
        "a removed unit of a segment that stays"
    );
    for edit in 1..=14 {
        let unit = format!("unit{edit:02}");
        write(
            &store,
            &format!("r{edit}"),
            &["a"],
            &memories(&[("a", "text"), (&unit, "text")]),
            false,
        );
    }
    let opened = store.opened().unwrap().unwrap();
    assert!(opened.index.searchable_segment_ids().unwrap().len() < 10);
    assert!(fs::read_dir(dir.path().join("words")).unwrap().count() < 100);
    assert_eq!(found(&store, "r14", "text").len(), 17);
}

/// Two processes that had opened the index before either wrote.
#[test]
fn writers_that_take_turns_leave_no_file_behind() {
    let (dir, one) = built(&memories(&[("a", "港口 harbour")]));
    let words = dir.path().join("words");
    let other = TantivyStore::open(&words).unwrap();
    other.committed_revision().unwrap();
    for turn in 2..12 {
        let store = if turn % 2 == 0 { &one } else { &other };
        write(
            store,
            &turn.to_string(),
            &["a"],
            &[Memory::new("a", format!("turn {turn}"))],
            false,
        );
    }
    let managed = fs::read_to_string(words.join(".managed.json")).unwrap();
    let left_behind: Vec<_> = segment_files(&words)
        .into_iter()
        .filter(|file| !managed.contains(file.file_name().unwrap().to_str().unwrap()))
        .collect();
    assert_eq!(left_behind, Vec::<PathBuf>::new());
}

#[test]
fn a_long_question_is_bounded_and_says_so() {
    let text: String = (0..200).map(|n| format!("word{n} ")).collect();
    let (_dir, store) = built(&[
        Memory::new("rare", "needle"),
        Memory::new("long", &text),
        Memory::new("more", &text),
    ]);
    let lane = lane(&store, "1").unwrap();
    let answer = lane.search(&format!("{text} needle"), 1).unwrap();
    assert_eq!(answer.degradations.len(), 1);
    assert_eq!(answer.degradations[0].code, "lexical_terms_skipped");
    assert_eq!(
        answer.degradations[0].detail,
        "the question is long; left out: word63, word64, word65, word66, word67, word68, word69, word70 and 129 more words"
    );
    assert_eq!(lane.search("needle", 9).unwrap().hits[0].unit_key.as_str(), "rare");
    assert_eq!(lane.search("word1 word2", 9).unwrap().degradations, []);

    let unknown: String = (0..1030).map(|n| format!("unknown{n} ")).collect();
    let skipped = lane.search(&unknown, 1).unwrap().degradations;
    assert_eq!(
        skipped[0].detail,
        "the question is long; left out: unknown1024, unknown1025, unknown1026, unknown1027, unknown1028, unknown1029"
    );

    let megabyte = "用户 don't \"NEAR( 38.101 ".repeat(40_000) + &"x".repeat(1 << 20);
    lane.search(&megabyte, 9).unwrap();
}

#[test]
fn readers_beside_a_writer_see_whole_revisions() {
    let (dir, store) = built(&[]);
    let words = dir.path().join("words");
    let text = |edit: usize| format!("edit{edit}");
    write(&store, "0", &[], &memories(&[("a", &text(0)), ("b", &text(0))]), true);
    let done = AtomicBool::new(false);
    let read = || {
        let mut served = 0;
        let store = TantivyStore::open(&words).unwrap();
        while !done.load(Relaxed) {
            let newest: usize = store.committed_revision().unwrap().as_str().parse().unwrap();
            for edit in [newest, newest + 1] {
                if let Some(lane) = lane(&store, &edit.to_string()) {
                    assert_eq!(lane.search(&text(edit), 9).unwrap().hits.len(), 2);
                    served += 1;
                }
            }
        }
        served
    };
    thread::scope(|scope| {
        let readers = [(); 3].map(|()| scope.spawn(read));
        for edit in 1..=10 {
            write(
                &store,
                &edit.to_string(),
                &["a", "b"],
                &memories(&[("a", &text(edit)), ("b", &text(edit))]),
                false,
            );
        }
        done.store(true, Relaxed);
        for reader in readers {
            assert!(reader.join().unwrap() > 0);
        }
    });
}
