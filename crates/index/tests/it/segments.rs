//! Vectors in files beside the database: what they save, what they cost, and that they never decide an answer.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use casebook_index::{BuildReport, BuildRequest, FillRequest, Snapshot, TextEncoder};
use casebook_testkit::FakePack;

use crate::support::{Fixture, Letters, Memory, StopAfter, codes, every_lane, fill, fill_by, lane_of, request};
use crate::vectors::change;

const NOTES: usize = 40;

fn notes(count: usize) -> Memory {
    let memory = Memory::default();
    for n in 0..count {
        memory.write(&format!("{n:04}.md"), &format!("note {n} 笔记 {}", n * n % 97));
    }
    memory
}

/// What the dense lane says: keys and scores, and what it had to do without.
fn dense(snapshot: &Snapshot, limit: usize) -> (Vec<(String, u32)>, Vec<String>) {
    let answer = snapshot
        .dense()
        .unwrap()
        .search(&Letters::vector("note 7 笔记"), limit)
        .unwrap();
    let hits = answer
        .hits
        .iter()
        .map(|hit| (hit.unit_key.to_string(), hit.score.to_bits()));
    let told = answer
        .degradations
        .iter()
        .map(|told| format!("{}: {}", told.code, told.detail));
    (hits.collect(), told.collect())
}

fn files(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Returns the segments of all encoders.
fn segments(fixture: &Fixture) -> Vec<PathBuf> {
    let mut found = files(&fixture.dir().join("vectors"));
    found.retain(|path| path.extension().is_some_and(|ending| ending == "seg"));
    found
}

fn is_free(report: &BuildReport) -> bool {
    (
        report.segment_rows,
        report.segment_bytes,
        report.encoder_calls,
        report.rows_written,
    ) == (0, 0, 0, 0)
}

#[test]
fn a_search_reads_no_vector_out_of_the_database() {
    let mut fixture = Fixture::new();
    let report = fixture.build(&notes(NOTES));
    assert_eq!(report.segment_rows, NOTES as u64);
    let sizes: u64 = segments(&fixture)
        .iter()
        .map(|path| path.metadata().unwrap().len())
        .sum();
    assert_eq!(report.segment_bytes, sizes);
    assert_eq!(sizes, 128 + NOTES as u64 * (32 + 12 + 64 + 4 * 16));
    let expected = dense(&fixture.snapshot(), 5);
    assert_eq!(expected.1, [""; 0]);
    change(&fixture, "UPDATE search_vector_cache SET vector = zeroblob(64)");
    fixture.reopen();
    assert_eq!(dense(&fixture.snapshot(), 5), expected);
}

#[test]
fn the_database_says_which_units_have_a_vector() {
    let mut fixture = Fixture::new();
    let memory = notes(NOTES);
    fixture.build(&memory);
    let whole = dense(&fixture.snapshot(), 99).0;
    change(
        &fixture,
        "UPDATE search_vector_cache SET vector = NULL
         WHERE input_hash IN (SELECT input_hash FROM search_units WHERE location IN ('0003.md', '0007.md'))",
    );
    fixture.reopen();
    let (found, told) = dense(&fixture.snapshot(), 99);
    let without = |key: &str| !key.starts_with("0003.md") && !key.starts_with("0007.md");
    let expected: Vec<_> = whole.into_iter().filter(|(key, _)| without(key)).collect();
    assert_eq!(found, expected);
    assert_eq!(told, ["vector_partial: 2 of 40 units have no vector"]);
}

#[test]
fn rows_without_direction_or_number_stay_what_they_are() {
    let mut fixture = Fixture::new();
    let memory = notes(3);
    memory.write("zero.md", "—…");
    fixture.build(&memory);
    let nan = "UPDATE search_vector_cache SET vector = CAST(x'0000c07f' || zeroblob(60) AS BLOB)
               WHERE input_hash IN (SELECT input_hash FROM search_units WHERE location = '0001.md')";
    change(&fixture, nan);
    fs::remove_dir_all(fixture.dir().join("vectors")).unwrap();
    let mut answers = Vec::new();
    for _ in 0..2 {
        fixture.reopen();
        let (found, told) = dense(&fixture.snapshot(), 99);
        let partial: Vec<_> = told
            .into_iter()
            .filter(|told| told.starts_with("vector_partial"))
            .collect();
        answers.push((found, partial));
        fixture.build(&memory);
    }
    assert_eq!(answers[0], answers[1], "read from the database, then from a segment");
    assert_eq!(answers[0].0.len(), 2);
    assert_eq!(answers[0].1, ["vector_partial: 1 of 4 units have no vector"]);
    fixture.reopen();
    assert_eq!(dense(&fixture.snapshot(), 99).1.len(), 1, "and the segment has them");
}

/// Checks that damage is noticed, that the answer is the same, and that the next build mends it without the encoder.
fn check_damage(name: &str, damage: impl Fn(&Path)) {
    let mut fixture = Fixture::new();
    let memory = notes(NOTES);
    let first = fixture.build(&memory);
    let (expected, told) = dense(&fixture.snapshot(), 5);
    assert!(told.is_empty());
    let path = segments(&fixture).pop().unwrap();
    damage(&path);
    let other = every_lane(&fixture.dir()).unwrap();
    for _ in 0..2 {
        let snapshot = other.snapshot().unwrap().unwrap();
        // All rows, so that damage of any one shows.
        let (_, told) = dense(&snapshot, 99);
        assert_eq!(told.len(), 1, "{name}: {told:?}");
        assert!(told[0].starts_with("vector_segments_unusable: "), "{name}: {told:?}");
        assert_eq!(dense(&snapshot, 5).0, expected, "{name}");
    }
    let report = fixture.build(&memory);
    assert_eq!(
        (report.head_moved, &report.revision),
        (false, &first.revision),
        "{name}"
    );
    assert_eq!((report.encoder_calls, report.rows_written), (0, 0), "{name}");
    assert!((1..=NOTES as u64).contains(&report.segment_rows), "{name}: {report:?}");
    assert!(report.degradations.is_empty(), "{name}");
    let healed = (expected, Vec::new());
    assert_eq!(
        dense(&other.snapshot().unwrap().unwrap(), 5),
        healed,
        "{name}: a process that saw it"
    );
    fixture.reopen();
    assert_eq!(dense(&fixture.snapshot(), 5), healed, "{name}");
    assert!(is_free(&fixture.build(&memory)), "{name}: once");
    assert_eq!(segments(&fixture).len(), 1, "{name}");
}

fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at] ^= 0x10;
    // Under its name in one step: what others have open stays as it was, as after damage on a disk that they read before.
    let aside = path.with_extension("aside");
    fs::write(&aside, bytes).unwrap();
    fs::rename(aside, path).unwrap();
}

#[test]
fn a_damaged_segment_is_noticed_and_mended() {
    let rows = NOTES;
    let (hashes, steps) = (128, 128 + rows * 32);
    let (small, full) = (steps + rows * 12, steps + rows * (12 + 64));
    for at in [
        0,
        9,
        17,
        30,
        50,
        126,
        hashes + 5,
        steps + 3,
        steps + 9,
        small + 70,
        full,
        full + rows * 64 - 1,
    ] {
        check_damage(&format!("bit at {at}"), |path| flip(path, at));
    }
}

#[test]
fn a_segment_that_is_cut_off_gone_or_foreign_is_noticed_and_mended() {
    for left in [0, 100, 128, 1000, 6000] {
        check_damage(&format!("{left} bytes left"), |path| {
            let bytes = fs::read(path).unwrap();
            fs::remove_file(path).unwrap();
            fs::write(path, &bytes[..left]).unwrap();
        });
    }
    check_damage("longer", |path| {
        let mut bytes = fs::read(path).unwrap();
        bytes.push(0);
        fs::write(path, bytes).unwrap();
    });
    check_damage("gone", |path| fs::remove_file(path).unwrap());
    check_damage("a folder", |path| {
        fs::remove_file(path).unwrap();
        fs::create_dir(path).unwrap();
    });
    check_damage("no list", |path| fs::remove_file(path.with_file_name("list")).unwrap());
    check_damage("a broken list", |path| flip(&path.with_file_name("list"), 25));
    check_damage("nothing left", |path| {
        fs::remove_dir_all(path.parent().unwrap().parent().unwrap()).unwrap()
    });
    let other = Fixture::new();
    other.build(&notes(NOTES + 1));
    let other = segments(&other).pop().unwrap();
    check_damage("another segment of this name", |path| {
        fs::remove_file(path).unwrap();
        fs::copy(&other, path).unwrap();
        // Of the length that the list tells.
        let list = path.with_file_name("list");
        let text = fs::read_to_string(&list).unwrap();
        let (body, _) = text.trim_end().rsplit_once('\n').unwrap();
        let (rest, _) = body.rsplit_once(' ').unwrap();
        let body = format!("{rest} {}", other.metadata().unwrap().len());
        fs::write(list, format!("{body}\nend {:08x}\n", crc32fast::hash(body.as_bytes()))).unwrap();
    });
    check_damage("another version", |path| {
        let mut bytes = fs::read(path).unwrap();
        bytes[8] = 99;
        let checksum = crc32fast::hash(&bytes[..124]);
        bytes[124..128].copy_from_slice(&checksum.to_le_bytes());
        fs::write(path, bytes).unwrap();
    });
}

#[test]
fn a_build_mends_what_no_search_has_seen() {
    let fixture = Fixture::new();
    let memory = notes(NOTES);
    fixture.build(&memory);
    fs::remove_file(&segments(&fixture)[0]).unwrap();
    assert_eq!(fixture.build(&memory).segment_rows, NOTES as u64);
    fs::remove_dir_all(fixture.dir().join("vectors")).unwrap();
    assert_eq!(fixture.build(&memory).segment_rows, NOTES as u64);
    assert!(is_free(&fixture.build(&memory)));
}

#[test]
fn an_edit_writes_a_logarithm_and_leaves_few_files() {
    const EDITS: usize = 200;
    let fixture = Fixture::new();
    let memory = notes(2 * EDITS);
    fixture.build(&memory);
    let (mut rows, mut largest, mut most_files) = (0, 0, 0);
    for n in 0..EDITS {
        memory.write(&format!("{n:04}.md"), &format!("changed note {n}"));
        let report = fixture.build(&memory);
        assert_eq!(report.encoded, 1);
        rows += report.segment_rows;
        largest = largest.max(report.segment_rows);
        most_files = most_files.max(segments(&fixture).len());
    }
    let log = EDITS.ilog2() as u64 + 1;
    assert!(rows >= EDITS as u64);
    assert!(rows <= EDITS as u64 * log, "{rows} rows for {EDITS} edits");
    assert!(most_files as u64 <= log + 1, "{most_files} files");
    assert!(largest < 2 * EDITS as u64, "{largest}: no edit wrote everything");
    assert_eq!(dense(&fixture.snapshot(), 9).1, [""; 0]);
    // What is not in the memory any more goes once it is most of what is there.
    for n in 0..2 * EDITS - 3 {
        memory.remove(&format!("{n:04}.md"));
    }
    let full = BuildRequest {
        full: true,
        ..request(&memory, Some(&fixture.encoder))
    };
    fixture.index.build(&full).unwrap();
    memory.write("new.md", "a new note");
    assert_eq!(fixture.build(&memory).segment_rows, 4);
    assert_eq!(segments(&fixture).len(), 1);
}

#[test]
fn an_undone_edit_is_neither_encoded_nor_written_again() {
    let fixture = Fixture::new();
    let memory = notes(NOTES);
    fixture.build(&memory);
    memory.write("0001.md", "changed");
    fixture.build(&memory);
    memory.write("0001.md", "note 1 笔记 1");
    let report = fixture.build(&memory);
    assert_eq!(
        (report.head_moved, report.encoder_calls, report.segment_rows),
        (true, 0, 0)
    );
    assert_eq!(dense(&fixture.snapshot(), 9).1, [""; 0]);
}

#[test]
fn a_reader_keeps_what_it_has_while_segments_are_merged_away() {
    let fixture = Fixture::new();
    let memory = notes(8);
    fixture.build(&memory);
    let [asked, unasked] = [
        fixture.snapshot(),
        every_lane(&fixture.dir()).unwrap().snapshot().unwrap().unwrap(),
    ];
    let expected = dense(&asked, 5);
    let before: BTreeSet<_> = segments(&fixture).into_iter().collect();
    for n in 0..40 {
        memory.write(&format!("{n:04}.md"), &format!("another note {n}"));
        fixture.build(&memory);
    }
    let after = segments(&fixture).into_iter().collect();
    assert!(before.is_disjoint(&after), "the first segment is gone");
    assert_eq!(dense(&asked, 5), expected);
    assert_eq!(dense(&unasked, 5), expected, "its rows are in a later segment");
}

#[test]
fn what_a_killed_writer_left_is_made_good() {
    let fixture = Fixture::new();
    let memory = notes(NOTES);
    fixture.build(&memory);
    let segment = segments(&fixture).pop().unwrap();
    let folder = segment.parent().unwrap().to_owned();
    let second = notes(NOTES);
    second.write("new.md", "a new note");
    // Vectors were kept and no segment was written: the head is old, or it would say so.
    let list = fs::read(folder.join("list")).unwrap();
    fixture.build(&second);
    for path in segments(&fixture).into_iter().filter(|path| *path != segment) {
        fs::remove_file(path).unwrap();
    }
    fs::write(folder.join("list"), list).unwrap();
    fs::write(folder.join("behind"), b"").unwrap();
    fs::write(folder.join(".tmpAbC123"), b"a part").unwrap();
    fs::write(folder.join("00ff.seg"), b"in no list").unwrap();
    let report = fixture.build(&second);
    assert_eq!(
        (report.head_moved, report.encoder_calls, report.segment_rows),
        (false, 0, 1)
    );
    let left: BTreeSet<_> = files(&folder).into_iter().collect();
    let expected = segments(&fixture).into_iter().chain([folder.join("list")]).collect();
    assert_eq!(left, expected);
    assert_eq!(left.len(), 3);
    assert!(is_free(&fixture.build(&second)));
}

#[test]
fn a_build_that_ends_in_between_says_that_segments_are_behind() {
    let fixture = Fixture::new();
    let memory = notes(12 * NOTES);
    let is_behind = || files(&fixture.dir()).iter().any(|path| path.ends_with("behind"));
    // Stopped a little later each time, until it is in the middle of encoding; a batch is a step.
    let encoded = || fixture.encoder.inputs.load(Ordering::Relaxed);
    for stops in 0.. {
        let stop = StopAfter(AtomicU64::new(stops));
        let cancelled = BuildRequest {
            observer: &stop,
            ..request(&memory, Some(&fixture.encoder))
        };
        assert!(fixture.index.build(&cancelled).is_err(), "{stops} questions");
        if encoded() > 0 {
            break;
        }
    }
    assert!(encoded() < 12 * NOTES as u64);
    assert!(is_behind(), "whoever builds next looks for vectors that no segment has");
    fixture.build(&memory);
    assert!(!is_behind());
}

#[test]
fn vectors_that_cannot_be_written_to_files_are_found_all_the_same() {
    let fixture = Fixture::new();
    fs::write(fixture.dir().join("vectors"), b"in the way").unwrap();
    let memory = notes(NOTES);
    let report = fixture.build(&memory);
    assert!(report.head_moved);
    assert_eq!(codes(&report.degradations), ["vector_segments_unwritten"]);
    let (found, told) = dense(&fixture.snapshot(), 5);
    assert_eq!(
        told,
        ["vector_segments_unusable: 40 of 40 vectors are read from the database: no segment holds them"]
    );
    fs::remove_file(fixture.dir().join("vectors")).unwrap();
    let report = fixture.build(&memory);
    assert_eq!(
        (report.head_moved, report.segment_rows, report.encoder_calls),
        (false, NOTES as u64, 0)
    );
    assert!(report.degradations.is_empty());
    assert_eq!(dense(&fixture.snapshot(), 5), (found, Vec::new()));
}

#[test]
fn a_full_build_mends_what_has_no_sign_of_being_behind() {
    let mut fixture = Fixture::new();
    let memory = notes(NOTES);
    fixture.build(&notes(NOTES / 2));
    let list = || {
        files(&fixture.dir().join("vectors"))
            .into_iter()
            .map(|path| (fs::read(&path).unwrap(), path))
    };
    let before: Vec<_> = list().collect();
    fixture.build(&memory);
    for (_, path) in list() {
        fs::remove_file(path).unwrap();
    }
    for (bytes, path) in before {
        fs::write(path, bytes).unwrap();
    }
    assert!(is_free(&fixture.build(&memory)), "nothing tells");
    let request = BuildRequest {
        full: true,
        ..request(&memory, Some(&fixture.encoder))
    };
    let report = fixture.index.build(&request).unwrap();
    assert_eq!((report.segment_rows > 0, report.encoder_calls), (true, 0));
    fixture.reopen();
    assert_eq!(dense(&fixture.snapshot(), 5).1, Vec::<String>::new());
}

#[test]
fn a_pack_has_segments_of_its_own() {
    let mut fixture = Fixture::new();
    let memory = notes(NOTES);
    fixture.build(&memory);
    let base = segments(&fixture);
    let pack = FakePack::new("pack.1");
    let some = FillRequest {
        most: Some(10),
        ..fill_by(&pack, 4)
    };
    assert_eq!(fixture.index.fill(&some).unwrap().segment_rows, 10);
    let report = fill(&fixture.index, &pack);
    assert_eq!(report.segment_rows, NOTES as u64, "10 are merged with 30");
    assert_eq!(fill(&fixture.index, &pack).segment_rows, 0);
    let expected = lane_of(&fixture.snapshot(), &pack, "note 7");
    assert_eq!(expected.1, [""; 0]);
    let own: Vec<_> = segments(&fixture)
        .into_iter()
        .filter(|path| !base.contains(path))
        .collect();
    assert_eq!(own.len(), 1);
    flip(&own[0], 128 + NOTES * (32 + 12 + 64));
    fixture.reopen();
    let (found, told) = lane_of(&fixture.snapshot(), &pack, "note 7");
    assert_eq!((&found, told.len()), (&expected.0, 1));
    let report = fixture.build(&memory);
    assert_eq!((report.segment_rows, report.head_moved), (NOTES as u64, false));
    assert_eq!(lane_of(&fixture.snapshot(), &pack, "note 7"), expected);
    assert!(
        base.iter().all(|path| path.exists()),
        "those of the builds are untouched"
    );

    let next = FakePack::new("pack.2");
    fill(&fixture.index, &next);
    assert!(
        own.iter().all(|path| !path.parent().unwrap().exists()),
        "a dropped pack leaves no files"
    );
    assert_eq!(lane_of(&fixture.snapshot(), &next, "note 7").1, [""; 0]);
    assert_eq!(next.revision().as_str(), "pack.2");
}
