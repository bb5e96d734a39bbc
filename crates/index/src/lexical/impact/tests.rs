use std::collections::{BTreeMap, BTreeSet};

use casebook_corpus::ResourceId;
use proptest::prelude::*;
use rusqlite::params;

use super::lane::Search;
use super::segments::segments;
use super::*;
use crate::UnitKey;
use crate::lexical::analyzer::Stems;
use crate::schema::open_database;
use crate::store::is_full_text_broken;

type Failed = rusqlite::Error;

/// A database with units, and the words of those that were written.
struct Memory {
    _folder: tempfile::TempDir,
    db: Connection,
    texts: BTreeMap<i64, String>,
}

impl Memory {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let db = open_database(&folder.path().join("index.db")).unwrap();
        Self {
            _folder: folder,
            db,
            texts: BTreeMap::new(),
        }
    }

    fn of(texts: &[&str]) -> Self {
        let mut memory = Self::new();
        memory.write(
            (1..)
                .zip(texts)
                .map(|(unit, text)| (unit, Some(text.to_string())))
                .collect(),
            usize::MAX,
        );
        memory
    }

    /// Writes one difference: units with their new text, or none.
    fn write(&mut self, units: BTreeMap<i64, Option<String>>, gathered: usize) {
        let stay = || Ok::<_, Failed>(());
        let moment = self.db.unchecked_transaction().unwrap();
        let mut writer = ImpactWriter::new(&self.db, &stay);
        writer.gathered = gathered;
        writer.remove(units.keys().copied()).unwrap();
        for (unit, text) in units {
            self.texts.remove(&unit);
            if let Some(text) = text {
                writer.add(&document(unit, &text)).unwrap();
                self.texts.insert(unit, text);
            }
        }
        writer.finish().unwrap();
        self.db
            .execute_batch("DELETE FROM search_units; DELETE FROM search_resources")
            .unwrap();
        for unit in self.texts.keys() {
            let sql = "INSERT INTO search_units VALUES (?1, ?2, ?2, 0, 'text', x'', 0, 0, 0, 0, 0, x'', x'', '')";
            self.db.execute(sql, params![unit, name(*unit)]).unwrap();
            let sql = "INSERT INTO search_resources
                       VALUES (?1, 0, NULL, '', ?1, '', x'', 1, x'', 1, 0, '', '', '', '', x'')";
            self.db.execute(sql, [name(*unit)]).unwrap();
        }
        moment.commit().unwrap();
    }

    fn find(&self, query: &str, limit: usize) -> rusqlite::Result<Vec<(String, f32)>> {
        let answer = Search::open(&self.db)?.find(query, limit)?;
        Ok(answer
            .hits
            .into_iter()
            .map(|hit| (hit.unit_key.to_string(), hit.score))
            .collect())
    }

    fn names(&self, query: &str) -> String {
        let found = self.find(query, 60).unwrap();
        found.into_iter().map(|(name, _)| name).collect::<Vec<_>>().join(" ")
    }
}

fn name(unit: i64) -> String {
    format!("u{unit:03}")
}

/// A text whose first line is its title, and whose path is that of one of two folders.
fn document(unit: i64, text: &str) -> Document {
    let (title, text) = text.split_once('|').unwrap_or(("", text));
    Document {
        rowid: unit,
        unit_key: UnitKey::new(name(unit)),
        resource_id: ResourceId::new(name(unit)),
        order: 0,
        path: "notes".into(),
        title: title.into(),
        headings: String::new(),
        text: text.into(),
    }
}

/// BM25 by its definition over the texts, one unit after the other.
fn naive(texts: &BTreeMap<i64, String>, query: &str) -> BTreeMap<String, f32> {
    let terms = |text: &str| {
        let mut stems = Stems::default();
        let words = crate::words::words(text, crate::words::WordSide::Stored);
        words.iter().map(|word| stems.of(word)).collect::<Vec<_>>()
    };
    let fields: Vec<[Vec<String>; 3]> = texts
        .values()
        .map(|text| {
            let (title, text) = text.split_once('|').unwrap_or(("", text));
            let path = terms("notes");
            let all = [terms(text), terms(title), path.clone()].concat();
            [all, terms(title), path]
        })
        .collect();
    let mut scores = BTreeMap::new();
    for term in crate::lexical::analyzer::asked(query) {
        for (field, weight) in [1.0, 0.6, 1.0].into_iter().enumerate() {
            let has = |unit: &&[Vec<String>; 3]| unit[field].contains(&term.text);
            let having = fields.iter().filter(has).count() as f32;
            let mean = fields.iter().map(|unit| unit[field].len()).sum::<usize>() as f32 / fields.len() as f32;
            let rarity = (1.0 + (fields.len() as f32 - having + 0.5) / (having + 0.5)).ln();
            for (unit, words) in texts.keys().zip(&fields) {
                let count = words[field].iter().filter(|word| **word == term.text).count() as f32;
                let norm = 1.2 * (0.25 + 0.75 * words[field].len() as f32 / mean);
                if count > 0.0 {
                    *scores.entry(name(*unit)).or_insert(0.0) +=
                        term.weight * weight * rarity * 2.2 * count / (count + norm);
                }
            }
        }
    }
    scores
}

#[test]
fn words_are_found_by_what_they_are() {
    let memory = Memory::of(&[
        "Journals are kept, then archived",
        "用户登录以后，会话状态保存在数据库里。",
        "重跑gen-itgc后检查报告",
        "running fast|she ran to the db",
        "a cloud 云",
    ]);
    for (query, found) in [
        ("journal", "u001"),
        ("用户", "u002"),
        ("云", "u005"),
        ("db", "u004"),
        ("itgc", "u003"),
        ("runs", "u004"),
        ("archive 云", "u001 u005"),
        ("the and of", "u004"),
        ("notes", "u001 u002 u003 u004 u005"),
        ("库里 不在这里", "u002"),
        ("", ""),
        ("\0\"*(", ""),
    ] {
        let mut names: Vec<String> = memory.names(query).split_whitespace().map(str::to_owned).collect();
        names.sort();
        assert_eq!(names.join(" "), found, "{query:?}");
    }
}

#[test]
fn a_word_that_no_unit_has_finds_longer_ones_that_hold_it() {
    let mut memory = Memory::of(&["the getUserName call", "metadata and database", "index", "username"]);
    assert_eq!(memory.names("atabas"), "u002");
    assert_eq!(memory.names("tad"), "u002");
    assert_eq!(
        memory.names("sername"),
        "u004 u001",
        "the shorter word is the rarer text"
    );
    assert_eq!(memory.names("ta"), "", "too short to mean a part");
    assert_eq!(
        memory.names("index tadat"),
        "u003 u002",
        "a part counts for less than a word"
    );
    memory.write([(2, None)].into(), usize::MAX);
    assert_eq!(
        memory.names("atabas"),
        "",
        "the word is there, but no unit has it any more"
    );
}

#[test]
fn ties_fall_by_resource_and_order() {
    let memory = Memory::of(&["same words"; 40]);
    let found = memory.find("words", 7).unwrap();
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["u001", "u002", "u003", "u004", "u005", "u006", "u007"]);
}

#[test]
fn segments_stay_few_and_lose_what_is_gone() {
    let mut memory = Memory::new();
    for unit in 1..=300 {
        memory.write([(unit, Some(format!("unit number{unit} of many")))].into(), usize::MAX);
    }
    let after_adding = segments(&memory.db).unwrap();
    assert!(after_adding.len() <= 8, "{after_adding:?}");
    for unit in 1..=290 {
        memory.write([(unit, None)].into(), usize::MAX);
    }
    let left = segments(&memory.db).unwrap();
    assert!(
        left.iter().map(|segment| segment.written).sum::<u32>() <= 20,
        "{left:?}"
    );
    assert_eq!(memory.names("number295"), "u295");
    assert_eq!(memory.names("number5"), "");
    memory.write((291..=300).map(|unit| (unit, None)).collect(), usize::MAX);
    for table in [
        "search_word_segments",
        "search_word_blocks",
        "search_word_terms",
        "search_word_units",
        "search_word_lengths",
    ] {
        let rows: i64 = memory
            .db
            .query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))
            .unwrap();
        assert_eq!(rows, 0, "{table}");
    }
}

#[test]
fn many_terms_are_bounded_and_told() {
    let words: Vec<String> = (0..2000).map(|n| format!("word{n}")).collect();
    let all = words.join(" ");
    let frequent = words[..100].join(" ");
    let memory = Memory::of(&[&all, &frequent, &frequent]);
    let answer = Search::open(&memory.db).unwrap().find(&all, 10).unwrap();
    assert_eq!(answer.hits[0].unit_key.as_str(), "u001");
    assert_eq!(answer.hits.len(), 1, "the frequent words are left out");
    let told = answer.degradations[0].to_string();
    assert!(
        told.starts_with("lexical_terms_skipped: the question is long; left out: word0, word1, "),
        "{told}"
    );
    assert!(told.ends_with(" more words"), "{told}");
}

#[test]
fn what_is_damaged_is_told_and_never_a_panic() {
    let damages = [
        "UPDATE search_word_blocks SET entries = zeroblob(length(entries))",
        "UPDATE search_word_blocks SET entries = substr(entries, 1, length(entries) - 1)",
        "UPDATE search_word_blocks SET entries = x''",
        "UPDATE search_word_terms SET terms = x'ff00000000'",
        "UPDATE search_word_units SET chunk = 4294967",
        "DELETE FROM search_word_lengths",
        "DROP TABLE search_word_blocks",
        "DROP TABLE search_word_segments",
    ];
    for damage in damages {
        let mut memory = Memory::of(&["one thing", "another thing", "a third thing"]);
        memory.write([(1, None), (2, Some("another thing again".into()))].into(), usize::MAX);
        memory.db.execute_batch(damage).unwrap();
        let read = memory.find("thing hing", 60);
        let stay = || Ok::<_, Failed>(());
        let written = (|| {
            let mut writer = ImpactWriter::new(&memory.db, &stay);
            writer.remove([2, 3].into_iter())?;
            writer.add(&document(4, "thing"))?;
            writer.finish()
        })();
        let errors: Vec<_> = [read.map(drop), written].into_iter().filter_map(Result::err).collect();
        assert!(!errors.is_empty() || damage.contains("lengths"), "{damage}");
        assert!(errors.iter().all(is_full_text_broken), "{damage}: {errors:?}");
        clear(&memory.db).unwrap();
        memory.texts.clear();
        memory.write([(7, Some("thing".into()))].into(), usize::MAX);
        assert_eq!(memory.names("things"), "u007", "{damage}");
    }
}

fn text() -> impl Strategy<Value = Option<String>> {
    let word = prop::sample::select(vec![
        "index",
        "running",
        "ran",
        "用户",
        "a",
        "db",
        "notes",
        "索引表",
        "|",
        "getName",
    ]);
    prop::option::weighted(
        0.8,
        prop::collection::vec(word, 0..12).prop_map(|words| words.join(" ")),
    )
}

fn difference() -> impl Strategy<Value = BTreeMap<i64, Option<String>>> {
    prop::collection::btree_map(1..40_i64, text(), 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn any_edits_lead_to_what_a_fresh_index_answers(
        differences in prop::collection::vec(difference(), 1..12),
        gathered in prop::sample::select(vec![1, 2_000, usize::MAX]),
    ) {
        let mut grown = Memory::new();
        for difference in differences {
            grown.write(difference, gathered);
        }
        let mut fresh = Memory::new();
        fresh.write(grown.texts.clone().into_iter().map(|(unit, text)| (unit, Some(text))).collect(), usize::MAX);
        for query in ["index", "run notes", "用户 db", "索引表 getName index", "ndex tNam", "notes a the"] {
            let found = grown.find(query, 100).unwrap();
            prop_assert_eq!(&found, &fresh.find(query, 100).unwrap(), "{}", query);
            if query.contains("tNam") {
                continue;
            }
            // Lengths below 64 are exact, so nothing but rounding differs.
            let expected = naive(&grown.texts, query);
            let names = |names: &mut dyn Iterator<Item = &String>| names.cloned().collect::<BTreeSet<_>>();
            prop_assert_eq!(names(&mut found.iter().map(|(name, _)| name)), names(&mut expected.keys()), "{}", query);
            for (name, score) in &found {
                let expected = expected[name];
                prop_assert!((score - expected).abs() <= 1e-4 * expected.max(1.0), "{}: {} {}", query, score, expected);
            }
        }
    }
}
