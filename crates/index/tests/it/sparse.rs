//! Term weights of packs that offer them.

use casebook_index::{FillRequest, Snapshot, TextEncoder, UnitSource};
use casebook_testkit::FakePack;

use crate::support::{Fixture, Memory, fill, fill_by};

fn notes() -> Memory {
    Memory::with(&[
        ("a.md", "苹果苹果"),
        ("b.md", "苹果"),
        ("c.md", "香蕉 banana"),
        ("d.md", "苹果"),
    ])
}

fn found(snapshot: &Snapshot, pack: &FakePack, query: &str, limit: usize) -> Vec<(String, f32)> {
    let lanes = snapshot.lanes_of(pack.revision()).unwrap();
    let lane = lanes.sparse(pack).unwrap();
    assert_eq!((lane.name(), lane.revision()), ("sparse", &snapshot.revision().id));
    let hits = lane.search(query, limit).unwrap().hits;
    hits.into_iter()
        .map(|hit| {
            let unit = snapshot.units(&[hit.unit_key]).unwrap().remove(0);
            (unit.unit.resource_id.to_string(), hit.score)
        })
        .collect()
}

#[test]
fn units_are_found_by_the_inner_product_of_their_terms() {
    let fixture = Fixture::new();
    fixture.build(&notes());
    let pack = FakePack::new("pack.1").sparse();
    fill(&fixture.index, &pack);
    let snapshot = fixture.snapshot();
    let owned = |hits: &[(&str, f32)]| {
        hits.iter()
            .map(|(id, score)| ((*id).to_owned(), *score))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        found(&snapshot, &pack, "苹果", 9),
        owned(&[("a.md", 4.0), ("b.md", 2.0), ("d.md", 2.0)])
    );
    assert_eq!(
        found(&snapshot, &pack, "苹果", 2),
        owned(&[("a.md", 4.0), ("b.md", 2.0)])
    );
    assert_eq!(found(&snapshot, &pack, "蕉an", 9), owned(&[("c.md", 1.0 + 3.0 + 2.0)]));
    assert!(found(&snapshot, &pack, "  ", 9).is_empty());
    assert!(found(&snapshot, &pack, "xyz", 9).is_empty());
    let status = fixture.index.fill_status().unwrap();
    assert!(status.encoders[1].sparse && !status.encoders[0].sparse);
}

#[test]
fn a_pack_without_weights_offers_no_lane_and_another_encoder_cannot_ask() {
    let fixture = Fixture::new();
    fixture.build(&notes());
    let plain = FakePack::new("pack.plain");
    fill(&fixture.index, &plain);
    let snapshot = fixture.snapshot();
    assert!(snapshot.lanes_of(plain.revision()).unwrap().sparse(&plain).is_none());
    let pack = FakePack::new("pack.1").sparse();
    fill(&fixture.index, &pack);
    let snapshot = fixture.snapshot();
    let lanes = snapshot.lanes_of(pack.revision()).unwrap();
    assert!(lanes.sparse(&plain).is_none());
    assert!(lanes.sparse(&pack).is_some());
}

#[test]
fn a_pack_that_comes_to_offer_weights_has_them_filled_in() {
    let fixture = Fixture::new();
    fixture.build(&notes());
    fill(&fixture.index, &FakePack::new("pack.1"));
    let pack = FakePack::new("pack.1").sparse();
    let partly = FillRequest {
        most: Some(1),
        ..fill_by(&pack, 1)
    };
    let report = fixture.index.fill(&partly).unwrap();
    assert_eq!((report.coverage.missing, report.coverage.was_complete), (3, true));
    fill(&fixture.index, &pack);
    assert_eq!(found(&fixture.snapshot(), &pack, "苹果", 9).len(), 3);
}

#[test]
fn what_the_sparse_head_refuses_keeps_its_vector_is_counted_and_is_not_asked_for_again() {
    // The empty text stands in every other.
    for (words, unweighed, found_by_terms) in [("banana", 1, 3), ("", 4, 0)] {
        let fixture = Fixture::new();
        fixture.build(&notes());
        let pack = FakePack::new("pack.1").sparse_but_for(words);
        let report = fill(&fixture.index, &pack);
        assert_eq!((report.encoded, report.refused, report.unweighed), (4, 0, unweighed));
        assert_eq!((report.coverage.vectors(), report.coverage.refused), (4, 0));
        assert_eq!(pack.calls(), 1, "the others are not encoded twice");
        let again = fill(&fixture.index, &pack);
        assert_eq!((again.encoded, again.unweighed), (0, 0));
        if found_by_terms > 0 {
            assert_eq!(found(&fixture.snapshot(), &pack, "苹果", 9).len(), found_by_terms);
        }
    }
}

#[test]
fn weights_that_are_gone_or_broken_hide_no_others() {
    let fixture = Fixture::new();
    fixture.build(&notes());
    let pack = FakePack::new("pack.1").sparse();
    fill(&fixture.index, &pack);
    let db = rusqlite::Connection::open(fixture.dir().join("index.db")).unwrap();
    let of = |file: &str| format!("input_hash = (SELECT input_hash FROM search_units WHERE location = '{file}')");
    db.execute_batch(&format!(
        "UPDATE search_sparse_cache SET weights = CAST(weights || x'00' AS BLOB) WHERE {}; DELETE FROM search_sparse_cache WHERE {}",
        of("a.md"),
        of("b.md")
    ))
    .unwrap();
    assert_eq!(found(&fixture.snapshot(), &pack, "苹果", 9), [("d.md".to_owned(), 2.0)]);
    assert_eq!(fill(&fixture.index, &pack).encoded, 1, "what is gone is made again");
}
