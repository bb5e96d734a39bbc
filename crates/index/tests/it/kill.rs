//! A builder that is killed leaves the old head or the new one, never a mixture.

#![cfg(unix)]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use casebook_corpus::ContentHash;
use casebook_index::{FillEnd, Index, TextEncoder, UnitSource};
use casebook_testkit::FakePack;

use crate::support::{Fixture, Letters, Memory, every_lane, fill, fill_by, lane_of, request, search};

/// Tells the child which folder to build in.
const FOLDER: &str = "CASEBOOK_INDEX_KILL_TEST_FOLDER";
const KILLS: u64 = 20;
const FILES: usize = 12;

fn memory(generation: usize) -> Memory {
    let memory = Memory::default();
    for file in 0..FILES {
        // Two of three files change with the generation; every generation has one file that the others lack.
        let text = format!(
            "generation {} file {file} 第{generation}代",
            if file % 3 == 0 { 0 } else { generation }
        );
        memory.write(&format!("{file}.md"), &text);
    }
    memory.write(
        &format!("only-{generation}.md"),
        &format!("only in generation {generation}"),
    );
    memory
}

/// Not a test of its own: the child's side, which builds until it is killed. Alone it returns at once.
#[test]
fn child() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let encoder = Letters::new("letters.1");
    for generation in 0.. {
        let index = every_lane(Path::new(&folder)).unwrap();
        index.build(&request(&memory(generation), Some(&encoder))).unwrap();
    }
}

/// Tells the child which folder to fill.
const FILLED: &str = "CASEBOOK_INDEX_FILL_KILL_TEST_FOLDER";
/// Units of the index that is filled.
const NOTES: usize = 40;

/// Not a test of its own: the child's side, which fills one input at a time until it is killed. Alone it returns at once.
#[test]
fn filling_child() {
    let Some(folder) = std::env::var_os(FILLED) else {
        return;
    };
    let index = every_lane(Path::new(&folder)).unwrap();
    let slow = FakePack::new("pack.1").before_batch(|_| std::thread::sleep(Duration::from_millis(4)));
    // Who is killed at the end of a fill leaves nothing to do.
    index.fill(&fill_by(&slow, 1)).unwrap();
}

#[test]
fn a_killed_fill_is_gone_on_with_and_loses_one_batch() {
    let memory = Memory::default();
    for n in 0..NOTES {
        memory.write(&format!("{n:03}.md"), &format!("note {n} 笔记"));
    }
    let [killed, whole] = [Fixture::new(), Fixture::new()];
    killed.build(&memory);
    whole.build(&memory);
    let pack = FakePack::new("pack.1");
    let vectors = || {
        killed
            .snapshot()
            .lanes_of(pack.revision())
            .unwrap()
            .coverage()
            .vectors()
    };
    let mut before = 0;
    for round in 0..6 {
        let mut filler = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "kill::filling_child"])
            .env(FILLED, killed.dir())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        while vectors() < before + 3 && filler.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(round % 4));
        filler.kill().unwrap();
        filler.wait().unwrap();
        before = vectors();
        assert!(
            (1..NOTES as u64).contains(&before),
            "round {round}: {before} of {NOTES}"
        );
        assert!(!killed.index.fill_status().unwrap().filling, "the lock is free");
    }
    let report = fill(&killed.index, &pack);
    assert_eq!((report.end, report.encoded), (FillEnd::Complete, NOTES as u64 - before));
    let twin = FakePack::new("pack.1");
    fill(&whole.index, &twin);
    assert_eq!(
        lane_of(&killed.snapshot(), &pack, "note 7"),
        lane_of(&whole.snapshot(), &twin, "note 7")
    );
}

/// Checks that what a reader sees belongs together.
fn check_whole(index: &Index) {
    let Some(snapshot) = index.snapshot().unwrap() else {
        return;
    };
    let manifest = snapshot.manifest().unwrap();
    assert_eq!(manifest.effective_hash(), snapshot.revision().effective_hash);
    assert_eq!(manifest.entries().len(), FILES + 1);
    let mut units = 0;
    for entry in manifest.entries() {
        let (meta, _) = snapshot.meta(&entry.id).unwrap().unwrap();
        assert_eq!(meta.content_hash, entry.content_hash);
        let body = snapshot.body(&entry.id).unwrap().unwrap();
        for record in snapshot.units_of(&entry.id).unwrap() {
            units += 1;
            assert_eq!(record.unit.text, body);
            assert_eq!(record.unit.content_hash, ContentHash::of(&body));
        }
    }
    assert_eq!(units, snapshot.revision().units);
    for lane in snapshot.lexical() {
        let found = lane.search("generation", 99).unwrap().hits;
        assert_eq!(found.len(), FILES + 1, "{}", lane.name());
        assert_eq!(search(&snapshot, lane.name(), "only").len(), 1, "{}", lane.name());
    }
    assert_eq!(search(&snapshot, "dense", "generation").len(), FILES + 1);
    let dense = snapshot.dense().unwrap().search(&Letters::vector("generation"), 99);
    let told = dense.unwrap().degradations;
    assert!(told.is_empty(), "every vector of a head is in a segment: {told:?}");
}

#[test]
fn a_killed_builder_leaves_a_whole_head() {
    let fixture = Fixture::new();
    let mut seed = 0x2545_F491_4F6C_DD1D_u64;
    for round in 0..KILLS {
        let mut builder = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "kill::child"])
            .env(FOLDER, fixture.dir())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_millis(20 + (seed >> 33) % 180));
        builder.kill().unwrap();
        builder.wait().unwrap();
        let index = every_lane(&fixture.dir()).unwrap();
        check_whole(&index);
        let report = index
            .build(&request(&memory(round as usize), Some(&fixture.encoder)))
            .unwrap();
        assert!(report.degradations.is_empty(), "{:?}", report.degradations);
        check_whole(&index);
        assert!(index.snapshot().unwrap().unwrap().degradations().is_empty());
    }
}
