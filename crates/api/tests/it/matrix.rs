//! Everything that can be broken, a row each: what a question gets, what a build does, what mends it. What is seen here is
//! what `docs/reliability.md` shows.
//!
//! The one thing a newcomer gets wrong: a row may tell, refuse or do without, and never answer wrongly. That is checked
//! whatever the document says, and so is that a mended index is as if nothing had happened.

#![cfg(target_os = "linux")]

mod disk;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use casebook_api::{ApiError, Refresh, Service};
use casebook_index::{
    BuildReport, BuildRequest, Cancel, EncodeError, EncoderRevision, Index, IndexOptions, Passage, PassageVector,
    TextEncoder,
};
use casebook_ranker::{Activation, ActivationRequest, Candidate};
use casebook_testkit::damage::{break_table, change, cut_in_half, files_below, flip, sql};
use casebook_testkit::{FakeEncoder, FixedClock, TempProject};

use self::disk::Disk;
use crate::support::{parts, service};

const NOTES: usize = 12;
const QUESTION: &str = "where do pomegranates 石榴 grow";
const ANSWER: &str = "Pomegranates 石榴 grow";
/// Told in every answer: these services have no history.
const NO_HISTORY: &str = "history_unavailable";

/// What is broken, and what a person does about it.
struct Row {
    /// As the document calls it.
    name: &'static str,
    encoder: Encoder,
    disk: Disk,
    /// Is done to a project whose index is whole.
    damage: fn(&Case),
    /// What has to happen before it can mend itself; empty where nothing has to.
    remedy: (&'static str, fn(&Case)),
}

const NOTHING: (&str, fn(&Case)) = ("", |_| ());

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoder {
    Works,
    Fails,
    /// In a thread of its own.
    Panics,
}

impl Encoder {
    fn make(self) -> Arc<dyn TextEncoder> {
        match self {
            Self::Works => Arc::new(FakeEncoder::default()),
            Self::Fails => Arc::new(FakeEncoder::failing()),
            Self::Panics => Arc::new(PanickingWorker(FakeEncoder::panicking())),
        }
    }
}

/// Leaves all work to a thread that panics.
struct PanickingWorker(FakeEncoder);

impl TextEncoder for PanickingWorker {
    fn revision(&self) -> &EncoderRevision {
        self.0.revision()
    }

    fn dimension(&self) -> usize {
        self.0.dimension()
    }

    fn max_input_tokens(&self) -> usize {
        self.0.max_input_tokens()
    }

    fn encode_query(&self, query: &str) -> Result<Vec<f32>, EncodeError> {
        std::thread::scope(|scope| scope.spawn(|| self.0.encode_query(query)).join().unwrap())
    }

    fn encode_passages(
        &self,
        passages: &[Passage<'_>],
        cancel: &dyn Cancel,
    ) -> Result<Vec<PassageVector>, EncodeError> {
        std::thread::scope(|scope| scope.spawn(|| self.0.encode_passages(passages, cancel)).join().unwrap())
    }
}

/// What is done to a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// A question to the index as it is.
    Ask,
    /// A question that brings the index up to date first.
    AskFresh,
    Build,
}

/// A project whose index was whole.
struct Case {
    project: TempProject,
}

impl Case {
    /// Makes a project, builds its index and damages it.
    fn of(row: &Row) -> Self {
        let project = TempProject::new();
        for n in 0..NOTES - 1 {
            project.write(
                &format!("{n:02}.md"),
                &format!("# Note {n}\n\nPlain words about {n} 笔记.\n"),
            );
        }
        project.write("fruit.md", &format!("# Fruit 水果\n\n{ANSWER} in gardens.\n"));
        let case = Self { project };
        case.open(Encoder::Works).unwrap().build(false, &()).unwrap();
        (row.damage)(&case);
        case
    }

    fn open(&self, encoder: Encoder) -> Result<Service, ApiError> {
        service(self.project.root(), parts(encoder.make()))
    }

    fn edit(&self) {
        self.project.write("03.md", "# Note 3\n\nEdited words 改过 about 3.\n");
    }

    fn path(&self, path: &str) -> PathBuf {
        self.project.path(".casebook").join(path)
    }

    fn database(&self) -> PathBuf {
        self.path("index.db")
    }

    fn segment(&self) -> PathBuf {
        let found = files_below(&self.path("vectors")).into_iter();
        let mut segments = found.filter(|path| path.extension().is_some_and(|ending| ending == "seg"));
        segments.next().unwrap()
    }

    /// Returns the files of Tantivy's segments.
    fn words(&self) -> Vec<PathBuf> {
        let mut found = files_below(&self.path("tantivy"));
        found.retain(|path| {
            !path.ends_with("meta.json") && !path.file_name().unwrap().as_encoded_bytes().starts_with(b".")
        });
        found
    }
}

/// Takes a step in this process and says what came of it.
fn take(root: &Path, encoder: Encoder, step: Step) -> String {
    let service = match service(root, parts(encoder.make())) {
        Ok(service) => service,
        Err(error) => return refused(&error),
    };
    match step {
        Step::Ask => answered(ask(&service, Refresh::No)),
        Step::AskFresh => answered(ask(&service, Refresh::First)),
        Step::Build => built(service.build(false, &())),
    }
}

fn ask(service: &Service, refresh: Refresh) -> Result<Activation, ApiError> {
    let request = ActivationRequest::new(QUESTION);
    Ok(service.activate(&request, refresh, Vec::new(), &())?.activation)
}

fn answered(outcome: Result<Activation, ApiError>) -> String {
    match outcome {
        Ok(activation) => {
            let best = activation.fragments.first().map(|fragment| fragment.text.as_str());
            assert!(
                best.is_some_and(|text| text.contains(ANSWER)),
                "a wrong answer: {best:?}"
            );
            format!("answers{}", codes(&activation.degradations))
        }
        Err(error) => refused(&error),
    }
}

fn built(outcome: Result<BuildReport, ApiError>) -> String {
    match outcome {
        Ok(report) => {
            let head = if report.head_moved { "new head" } else { "same head" };
            format!("{head}, {} encoded{}", report.encoded, codes(&report.degradations))
        }
        Err(error) => refused(&error),
    }
}

fn refused(error: &ApiError) -> String {
    assert!(!error.message.is_empty());
    // Shown where the test fails.
    println!("{}", error.summary());
    format!("error `{}`", error.code)
}

fn codes(degradations: &[casebook_corpus::Degradation]) -> String {
    let codes: BTreeSet<&str> = degradations.iter().map(|told| told.code.as_ref()).collect();
    let codes = codes
        .into_iter()
        .filter(|code| *code != NO_HISTORY)
        .map(|code| format!(", `{code}`"));
    codes.collect()
}

/// What an answer is made of: its fragments, all candidates with their bits of the dense score, what is told.
type Essence = (Vec<String>, Vec<(String, Option<u32>)>, String);

fn essence(activation: &Activation) -> Essence {
    let fragments = activation
        .fragments
        .iter()
        .map(|fragment| fragment.unit_key.to_string());
    let candidate = |found: &Candidate| {
        let dense = found.scores.dense.map(|dense| dense.score.to_bits());
        (found.unit_key.to_string(), dense)
    };
    let candidates = activation.candidates.iter().map(candidate);
    (
        fragments.collect(),
        candidates.collect(),
        codes(&activation.degradations),
    )
}

/// Checks what must be so whatever is broken, and that the document tells what was seen.
fn check(row: &Row) {
    let asked = Case::of(row);
    let question = row.disk.take(&asked, row.encoder, Step::Ask);
    let kept = Case::of(row);
    let build = row.disk.take(&kept, row.encoder, Step::Build);
    let after = take(kept.project.root(), Encoder::Works, Step::Ask);
    assert!(
        after.starts_with("answers") || question.starts_with("error"),
        "{} x build: a head that there was answers: {after}",
        row.name
    );
    let (remedy, mend) = row.remedy;
    let mends = match remedy {
        "" if question == "answers" && build.starts_with("same head, 0") => "nothing has to".to_owned(),
        "" if after == "answers" => "the next build".to_owned(),
        "" => "the build after a question that meets it".to_owned(),
        remedy => format!("{remedy}; then the next build"),
    };
    mend(&asked);
    is_mended(row, &asked, 1);
    mend(&kept);
    is_mended(row, &kept, 2);
    published(row.name, &format!("| {} | {question} | {build} | {mends} |", row.name));
}

/// Checks that questions which refresh, so many at most, leave an index as if nothing had been, with nothing to do.
fn is_mended(row: &Row, case: &Case, questions: usize) {
    for _ in 0..questions {
        let mending = take(case.project.root(), Encoder::Works, Step::AskFresh);
        assert!(mending.starts_with("answers"), "{} x mending: {mending}", row.name);
    }
    let service = case.open(Encoder::Works).unwrap();
    let whole = essence(&ask(&service, Refresh::No).unwrap());
    assert_eq!(whole, anew(case), "{} x mended: as if nothing had been", row.name);
    let settled = service.build(false, &()).unwrap();
    let counts = (
        settled.head_moved,
        settled.rows_written,
        settled.encoded,
        settled.segment_rows,
    );
    assert_eq!(
        (counts, codes(&settled.degradations)),
        ((false, 0, 0, 0), String::new()),
        "{} x mended: nothing is left to do",
        row.name
    );
}

/// What is answered from an index that is built of the same notes from nothing.
fn anew(case: &Case) -> Essence {
    static KNOWN: Mutex<BTreeMap<Vec<(PathBuf, String)>, Essence>> = Mutex::new(BTreeMap::new());
    let root = case.project.root();
    let found = files_below(root).into_iter();
    let notes = found.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    let notes = notes.map(|path| {
        (
            path.strip_prefix(root).unwrap().to_owned(),
            fs::read_to_string(&path).unwrap(),
        )
    });
    let notes: Vec<_> = notes.collect();
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let build = || {
        let twin = TempProject::new();
        for (path, text) in &notes {
            twin.write(path.to_str().unwrap(), text);
        }
        let service = service(twin.root(), parts(Encoder::Works.make())).unwrap();
        service.build(false, &()).unwrap();
        essence(&ask(&service, Refresh::No).unwrap())
    };
    known.entry(notes.clone()).or_insert_with(build).clone()
}

/// Compares a line of the document with what was seen; `UPDATE_GENERATED` writes it.
fn published(name: &str, seen: &str) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reliability.md");
    let text = fs::read_to_string(&file).unwrap();
    let start = format!("| {name} |");
    let found = text.lines().find(|line| line.starts_with(&start)).unwrap_or_default();
    if found != seen && std::env::var_os("UPDATE_GENERATED").is_some() {
        let line = |line: &str| {
            if line.starts_with(&start) {
                format!("{seen}\n")
            } else {
                format!("{line}\n")
            }
        };
        let written: String = text.lines().map(line).collect();
        return fs::write(&file, written).unwrap();
    }
    assert_eq!(
        found, seen,
        "docs/reliability.md is out of date; `just generate` writes it"
    );
}

/// Every row is a test of its own.
macro_rules! rows {
    ($($test:ident: $row:expr;)+) => {
        mod rows_are_up_to_date {
            use super::*;

            $(#[test]
            fn $test() {
                check(&$row);
            })+
        }

        #[test]
        fn every_row_of_the_document_is_tested() {
            let text = include_str!("../../../../docs/reliability.md");
            let names = [$($row.name),+];
            let after = text.lines().skip_while(|line| !line.starts_with("| what is broken |")).skip(2);
            let told = after.map_while(|line| line.strip_prefix("| ")?.split_once(" |").map(|(name, _)| name));
            assert_eq!(told.collect::<Vec<_>>(), names);
        }
    };
}

/// A row about files: the encoder works and the disk takes what is written.
fn files(name: &'static str, damage: fn(&Case)) -> Row {
    Row {
        name,
        encoder: Encoder::Works,
        disk: Disk::Free,
        damage,
        remedy: NOTHING,
    }
}

rows! {
    no_encoder: files("index built without an encoder", |case| {
        let index = Index::open_with(&case.path(""), IndexOptions::with_every_lane()).unwrap();
        let files = casebook_corpus::FileSources::new(case.project.root(), Default::default()).unwrap();
        index.build(&BuildRequest::new(&files, None, &FixedClock::default())).unwrap();
    });
    encoder_error: Row {
        encoder: Encoder::Fails,
        remedy: ("the encoder works again", |_| ()),
        ..files("encoder fails", Case::edit)
    };
    encoder_panic: Row {
        encoder: Encoder::Panics,
        remedy: ("the encoder works again", |_| ()),
        ..files("encoder panics in a thread of its own", Case::edit)
    };
    segment_cut_off: files("segment of vectors cut off", |case| cut_in_half(&case.segment()));
    segment_bit_flipped: files("segment of vectors with a flipped bit", |case| flip(&case.segment(), 200));
    segment_missing: files("segment of vectors missing", |case| fs::remove_file(case.segment()).unwrap());
    vectors_missing: files("all segments of vectors missing", |case| fs::remove_dir_all(case.path("vectors")).unwrap());
    vectors_in_the_way: Row {
        remedy: ("the file is removed", |case| fs::remove_file(case.path("vectors")).unwrap()),
        ..files("a file where the folder of segments should be", |case| {
            fs::remove_dir_all(case.path("vectors")).unwrap();
            fs::write(case.path("vectors"), "in the way").unwrap();
        })
    };
    words_missing: files("Tantivy's index missing", |case| fs::remove_dir_all(case.path("tantivy")).unwrap());
    words_unreadable: files("Tantivy's index with an unreadable list of segments", |case| {
        change(&case.path("tantivy/meta.json"), |bytes| bytes.fill(b'x'));
    });
    words_cut_off: files("Tantivy's index with segments cut off", |case| {
        case.words().iter().for_each(|path| cut_in_half(path));
    });
    words_garbled: files("Tantivy's index with garbled segments", |case| {
        let garble = |bytes: &mut Vec<u8>| {
            let end = bytes.len().saturating_sub(200);
            bytes[..end].fill(0xEE);
        };
        case.words().iter().for_each(|path| change(path, garble));
    });
    words_behind: files("Tantivy's index of an older head", |case| {
        let copy = case.project.path("copy");
        fs::rename(case.path("tantivy"), &copy).unwrap();
        case.edit();
        case.open(Encoder::Works).unwrap().build(false, &()).unwrap();
        fs::remove_dir_all(case.path("tantivy")).unwrap();
        fs::rename(copy, case.path("tantivy")).unwrap();
    });
    words_in_the_way: Row {
        remedy: ("the file is removed", |case| fs::remove_file(case.path("tantivy")).unwrap()),
        ..files("a file where Tantivy's index should be", |case| {
            fs::remove_dir_all(case.path("tantivy")).unwrap();
            fs::write(case.path("tantivy"), "in the way").unwrap();
        })
    };
    substrings_garbled: files("garbled table of substrings", |case| {
        sql(&case.database(), "UPDATE search_units_fts_data SET block = zeroblob(length(block)) WHERE id > 10");
    });
    substrings_headless: files("table of substrings without its structure", |case| {
        sql(&case.database(), "DELETE FROM search_units_fts_data WHERE id = 10");
    });
    substrings_gone: files("table of substrings in part gone", |case| {
        sql(&case.database(), "DROP TABLE search_units_fts_idx");
    });
    substrings_edited: files("garbled table of substrings and an edited note", |case| {
        sql(&case.database(), "UPDATE search_units_fts_data SET block = zeroblob(length(block)) WHERE id > 10");
        case.edit();
    });
    words_of_ours_garbled: files("garbled index of words", |case| {
        sql(&case.database(), "UPDATE search_word_blocks SET entries = zeroblob(length(entries))");
    });
    words_of_ours_gone: files("index of words in part gone", |case| {
        sql(&case.database(), "DROP TABLE search_word_blocks");
    });
    words_of_ours_edited: files("garbled index of words and an edited note", |case| {
        sql(&case.database(), "UPDATE search_word_blocks SET entries = zeroblob(length(entries))");
        case.edit();
    });
    database_header: files("`index.db` is no database", |case| {
        change(&case.database(), |bytes| bytes[..100].fill(0xEE));
    });
    database_cut_off: files("`index.db` cut off", |case| cut_in_half(&case.database()));
    database_units: files("`index.db` with unreadable units", |case| break_table(&case.database(), "search_units"));
    database_resources: files("`index.db` with unreadable resources", |case| {
        break_table(&case.database(), "search_resources");
    });
    database_ids: files("`index.db` with an unreadable index of ids", |case| {
        break_table(&case.database(), "search_resources_id");
    });
    database_vectors: files("`index.db` with unreadable vectors", |case| {
        break_table(&case.database(), "search_vector_cache");
    });
    database_missing: files("`index.db` missing", |case| fs::remove_file(case.database()).unwrap());
    database_newer: Row {
        remedy: ("that version is used, or `.casebook` deleted", |case| fs::remove_dir_all(case.path("")).unwrap()),
        ..files("`index.db` of a newer version", |case| sql(&case.database(), "PRAGMA user_version = 99"))
    };
    read_only: Row {
        disk: Disk::ReadOnly,
        remedy: NOTHING,
        ..files("read-only disk", |_| ())
    };
    read_only_edited: Row {
        disk: Disk::ReadOnly,
        remedy: ("the disk can be written", |_| ()),
        ..files("read-only disk and an edited note", Case::edit)
    };
    read_only_without_words: Row {
        disk: Disk::ReadOnly,
        remedy: ("the disk can be written", |_| ()),
        ..files("read-only disk and no index of Tantivy", |case| fs::remove_dir_all(case.path("tantivy")).unwrap())
    };
    read_only_without_index: Row {
        disk: Disk::ReadOnly,
        remedy: ("the disk can be written", |_| ()),
        ..files("read-only disk and no index", |case| fs::remove_dir_all(case.path("")).unwrap())
    };
    full: Row {
        disk: Disk::Full,
        remedy: NOTHING,
        ..files("full disk", |_| ())
    };
    full_edited: Row {
        disk: Disk::Full,
        remedy: ("there is room", |_| ()),
        ..files("full disk and an edited note", Case::edit)
    };
    nearly_full_edited: Row {
        disk: Disk::NearlyFull,
        remedy: ("there is room", |_| ()),
        ..files("disk that becomes full in a build", |case| {
            for n in 0..NOTES {
                let text = format!("# Large {n}\n\n{}\n", "many different words 许多文字 ".repeat(2000));
                case.project.write(&format!("large-{n}.md"), &text);
            }
        })
    };
    full_log: Row {
        remedy: ("there is room", |case| {
            let _ = fs::remove_file(case.path("index.db-wal"));
        }),
        ..files("full disk under the log of `index.db`", |case| {
            case.edit();
            // There is no other place for an index.
            case.project.write("elsewhere", "in the way");
            disk::fill_log(&case.database());
        })
    };
}
