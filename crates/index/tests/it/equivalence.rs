//! An index after any edits equals one made fresh from what the edits led to.

use casebook_corpus::{Manifest, ResourceMeta, Standing};
use casebook_index::{UnitRecord, UnitSource};
use casebook_testkit::resource;
use proptest::prelude::*;

use crate::support::{Fixture, Memory, request, sections};

#[derive(Clone, Debug)]
enum Edit {
    Write(usize, usize),
    Long(usize, usize),
    Title(usize, usize),
    Supersede(usize, usize),
    Overlay(usize, usize),
    Remove(usize),
    Skip(usize),
    EncoderGone,
    Build,
}

const TEXTS: [&str; 6] = [
    "the index is rebuilt 索引重建",
    "a note on 用户 and agents",
    "gen-itgc runs nightly",
    "ＦＵＬＬ width and don't",
    "",
    "REFUSE this 拒绝",
];

fn edit() -> impl Strategy<Value = Edit> {
    let (file, text) = (0..4_usize, 0..TEXTS.len());
    prop_oneof![
        3 => (file.clone(), text.clone()).prop_map(|(file, text)| Edit::Write(file, text)),
        2 => (file.clone(), text.clone()).prop_map(|(file, text)| Edit::Long(file, text)),
        1 => (file.clone(), text.clone()).prop_map(|(file, text)| Edit::Title(file, text)),
        1 => (file.clone(), file.clone()).prop_map(|(file, other)| Edit::Supersede(file, other)),
        1 => (file.clone(), text).prop_map(|(file, text)| Edit::Overlay(file, text)),
        1 => file.clone().prop_map(Edit::Remove),
        1 => file.prop_map(Edit::Skip),
        1 => Just(Edit::EncoderGone),
        3 => Just(Edit::Build),
    ]
}

fn path(file: usize) -> String {
    format!("notes/{file}.md")
}

fn apply(memory: &Memory, edit: &Edit) {
    match *edit {
        Edit::Write(file, text) => memory.write(&path(file), TEXTS[text]),
        Edit::Long(file, text) => memory.write(&path(file), &sections(3 + text, |n| TEXTS[(text + n) % 5].into())),
        Edit::Title(file, text) => {
            let titled = resource(&path(file), TEXTS[text])
                .title(TEXTS[(text + 1) % 4])
                .description("描述 text");
            memory.put(&path(file), 0, titled.build());
        }
        Edit::Supersede(file, other) => {
            let newer = resource(&path(file), "newer").supersedes(&[&path(other)]);
            memory.put(&path(file), 0, newer.build());
        }
        Edit::Overlay(file, text) => {
            let over = resource(&format!("over/{file}.md"), TEXTS[text]).id(&path(file));
            memory.put(&format!("over/{file}.md"), 1, over.build());
        }
        Edit::Remove(file) => {
            for location in memory.locations() {
                if location.ends_with(&format!("/{file}.md")) {
                    memory.remove(&location);
                    return;
                }
            }
        }
        Edit::Skip(file) => memory.skip(&path(file)),
        Edit::EncoderGone | Edit::Build => {}
    }
}

/// Lane, query, keys and scores.
type Answer = (String, String, Vec<(String, f32)>);

/// Everything that a caller can see.
#[derive(Debug, PartialEq)]
struct View {
    manifest: Manifest,
    metas: Vec<(ResourceMeta, Standing)>,
    units: Vec<UnitRecord>,
    answers: Vec<Answer>,
    counts: (u64, u64),
    degradations: Vec<String>,
}

fn view(fixture: &Fixture) -> View {
    let snapshot = fixture.snapshot();
    let metas = snapshot.metas().unwrap();
    let units = metas
        .iter()
        .flat_map(|(meta, _)| snapshot.units_of(&meta.id).unwrap())
        .collect();
    let mut answers = Vec::new();
    for query in [
        "索引重建",
        "用户",
        "gen-itgc",
        "notes/1",
        "full width",
        "newer",
        "text",
        "index",
    ] {
        let mut lanes = snapshot.lexical();
        lanes.push(snapshot.identity());
        for lane in lanes {
            let hits = lane.search(query, 30).unwrap().hits;
            // Tantivy's statistics count what was deleted and not yet merged away, so its scores are its own.
            let hits = hits.into_iter().map(|hit| {
                let score = if lane.name() == "tantivy" { 0.0 } else { hit.score };
                (hit.unit_key.to_string(), score)
            });
            let mut hits: Vec<_> = hits.collect();
            if lane.name() == "tantivy" {
                hits.sort_by(|left, right| left.0.cmp(&right.0));
            }
            answers.push((lane.name().to_owned(), query.to_owned(), hits));
        }
        if let Some(dense) = snapshot.dense() {
            let hits = dense.search(&crate::support::Letters::vector(query), 30).unwrap().hits;
            let hits = hits.into_iter().map(|hit| (hit.unit_key.to_string(), hit.score));
            answers.push(("dense".to_owned(), query.to_owned(), hits.collect()));
        }
    }
    View {
        manifest: snapshot.manifest().unwrap(),
        metas,
        units,
        answers,
        counts: (snapshot.revision().resources, snapshot.revision().units),
        degradations: snapshot.degradations().iter().map(ToString::to_string).collect(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]
    #[test]
    fn deltas_equal_a_fresh_build(edits in prop::collection::vec(edit(), 1..24)) {
        let fixture = Fixture::new();
        let memory = Memory::default();
        for edit in &edits {
            apply(&memory, edit);
            // A memory that contradicts itself is refused; the head stays until it is mended.
            match edit {
                Edit::Build => drop(fixture.try_build(&memory)),
                Edit::EncoderGone => drop(fixture.index.build(&request(&memory, None))),
                _ => {}
            }
        }
        let fresh = Fixture::new();
        match (fixture.try_build(&memory), fresh.try_build(&memory)) {
            (Ok(delta), Ok(full)) => {
                prop_assert_eq!(delta.effective_hash, full.effective_hash);
                prop_assert_eq!((delta.resources, delta.units, delta.body_bytes),
                                (full.resources, full.units, full.body_bytes));
                prop_assert_eq!(delta.degradations, full.degradations);
                prop_assert_eq!(view(&fixture), view(&fresh));
            }
            (Err(_), Err(_)) => {}
            (delta, full) => prop_assert!(false, "{delta:?} {full:?}"),
        }
    }
}
