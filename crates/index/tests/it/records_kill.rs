//! A sync that is killed leaves the old version or the new one, whole, and is gone on with.

#![cfg(unix)]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use casebook_corpus::{Found, ProjectId, RecordPage, Timestamp};
use casebook_index::RecordStore;

use crate::records::{begin, gone, page, scan, upsert};

/// Tells the child which store to sync into.
const STORE: &str = "CASEBOOK_RECORDS_KILL_TEST_STORE";
const KILLS: u64 = 20;
const RECORDS: u64 = 12;
const PAGES: u64 = 4;

/// Page `number` of the sync to a generation: its share of the records, and one record that the other generations lack.
fn page_of(generation: u64, number: u64) -> RecordPage {
    let share = (0..RECORDS).filter(|n| n % PAGES == number - 1);
    let mut changes: Vec<_> = share
        .map(|n| upsert(&format!("{n}"), &format!("generation {generation} 第{generation}代")))
        .collect();
    if number == PAGES {
        changes.push(upsert(
            &format!("only-{generation}"),
            &format!("generation {generation} 第{generation}代"),
        ));
        changes.push(gone(&format!("only-{}", generation.wrapping_sub(1))));
    }
    page(changes)
}

fn store(path: &Path) -> RecordStore {
    RecordStore::at(path, &ProjectId::new("p"))
}

/// Goes on from whatever version and pages are there to the next generation.
fn sync_once(store: &RecordStore) -> u64 {
    let version = store.status().unwrap().version().cloned();
    let generation = version
        .as_ref()
        .map_or(0, |version| version.as_str().parse::<u64>().unwrap() + 1);
    let begun = begin(
        store,
        version.as_ref().map(|version| version.as_str()),
        &format!("to {generation}"),
        false,
    )
    .unwrap();
    for staged in &begun.sync.pages {
        let ours = page_of(generation, u64::from(staged.number)).digest();
        assert_eq!(staged.digest, ours, "what a killed process staged is whole");
    }
    for number in begun.sync.pages.len() as u64 + 1..=PAGES {
        store
            .stage(&begun.sync.id, number as u32, &page_of(generation, number))
            .unwrap();
    }
    let now = Timestamp::from_unix_millis(0);
    let done = store
        .commit(
            &begun.sync.id,
            PAGES as u32,
            &generation.to_string().as_str().into(),
            now,
        )
        .unwrap();
    assert_eq!(done.records, RECORDS + 1);
    generation
}

/// Not a test of its own: the child's side, which syncs until it is killed. Alone it returns at once.
#[test]
fn child() {
    let Some(path) = std::env::var_os(STORE) else {
        return;
    };
    loop {
        sync_once(&store(Path::new(&path)));
    }
}

/// Returns the generation that the records are of, after checking that they are of one.
fn check_whole(store: &RecordStore) -> Option<u64> {
    let status = store.status().unwrap();
    let bodies: BTreeSet<String> = scan(store, &())
        .items
        .into_iter()
        .map(|item| match item.found {
            Found::Resource(resource) => resource.body,
            other => panic!("{other:?}"),
        })
        .collect();
    let Some(version) = status.version() else {
        assert!(bodies.is_empty(), "{bodies:?}");
        return None;
    };
    assert_eq!(bodies, BTreeSet::from([format!("generation {version} 第{version}代")]));
    assert_eq!(scan(store, &()).items.len() as u64, RECORDS + 1);
    Some(version.as_str().parse().unwrap())
}

#[test]
fn a_killed_sync_leaves_one_version_and_is_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.db");
    let mut before = None;
    for round in 0..KILLS {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "records_kill::child"])
            .env(STORE, &path)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(15 + round * 37 % 120));
        child.kill().unwrap();
        child.wait().unwrap();
        let store = store(&path);
        let found = check_whole(&store);
        assert!(
            found >= before,
            "a version that was told is never lost: {found:?} after {before:?}"
        );
        assert!(found.is_none_or(|found| sync_once(&store) == found + 1));
        before = check_whole(&store);
    }
    assert!(before > Some(KILLS), "{before:?}: the children got somewhere");
}
