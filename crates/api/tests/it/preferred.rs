//! A service with a further encoder: when its vectors are made, and which encoder answers.

use std::sync::Arc;

use casebook_api::wire::{FillResponse, FillStatusResponse};
use casebook_api::{ApiError, Refresh, Service};
use casebook_corpus::Timestamp;
use casebook_index::{FillEnd, TextEncoder};
use casebook_ranker::{Activation, ActivationRequest};
use casebook_testkit::{FakeEncoder, FakePack, FixedClock, TempProject};

use crate::support::{parts, service};

fn open(project: &TempProject, pack: Option<Arc<FakePack>>) -> Service {
    open_at(project, pack, FixedClock::default())
}

fn open_at(project: &TempProject, pack: Option<Arc<FakePack>>, clock: FixedClock) -> Service {
    let mut parts = parts(Arc::new(FakeEncoder::default()));
    parts.preferred = pack.map(|pack| pack as Arc<dyn TextEncoder>);
    parts.clock = Arc::new(clock);
    service(project.root(), parts).unwrap()
}

fn notes(count: usize) -> TempProject {
    let project = TempProject::new();
    for n in 0..count {
        project.write(&format!("{n:02}.md"), &format!("note {n} 笔记"));
    }
    project
}

fn ask(service: &Service) -> Activation {
    let request = ActivationRequest::new("note 笔记");
    service
        .activate(&request, Refresh::First, Vec::new(), &())
        .unwrap()
        .activation
}

/// What is told about vectors.
fn told(activation: &Activation) -> Vec<&str> {
    let told = activation.degradations.iter();
    told.filter(|told| told.code == "vector_partial" || told.code == "chosen_encoder_failed")
        .map(|told| told.detail.as_str())
        .collect()
}

#[test]
fn a_pack_answers_once_all_its_vectors_are_there() {
    let project = notes(40);
    let pack = Arc::new(FakePack::new("pack.1"));
    let service = open(&project, Some(Arc::clone(&pack)));
    assert_eq!(
        told(&ask(&service)),
        ["0 of 40 units have vectors of pack.1; the embedded encoder answers until all have"]
    );
    assert_eq!(pack.calls(), 0, "an answer waits for no encoder that is slow");
    let report = service.build(false, &()).unwrap();
    assert_eq!(
        report.degradations[0].detail,
        "0 of 40 units have vectors of pack.1; `casebook models fill` makes the others"
    );

    let report = service.fill(&()).unwrap();
    assert_eq!((report.end, report.encoded), (FillEnd::Complete, 40));
    let response = FillResponse::new("pack.1", &report);
    assert_eq!(
        (response.end.as_str(), response.vectors, response.missing),
        ("complete", 40, 0)
    );
    assert_eq!(told(&ask(&service)), [""; 0]);
    assert!(service.build(false, &()).unwrap().degradations.is_empty());
    let status = FillStatusResponse::from(&service.fill_status().unwrap());
    let answering: Vec<_> = status
        .encoders
        .iter()
        .map(|found| (found.revision.as_str(), found.answers))
        .collect();
    assert_eq!(answering, [("fake-encoder", false), ("pack.1", true)]);
}

#[test]
fn a_refresh_makes_the_vectors_of_an_edit() {
    let project = notes(40);
    let pack = Arc::new(FakePack::new("pack.1"));
    let service = open(&project, Some(Arc::clone(&pack)));
    ask(&service);
    service.fill(&()).unwrap();
    project.write("07.md", "edited 编辑");
    assert_eq!(told(&ask(&service)), [""; 0]);
    assert_eq!(pack.encoded().len(), 41);
    for n in 0..17 {
        project.write(&format!("{n:02}.md"), &format!("many edits 许多 {n}"));
    }
    assert_eq!(
        told(&ask(&service)),
        ["17 of 40 units have no vector of pack.1 yet; the embedded encoder answers until they have"]
    );
    assert_eq!(pack.encoded().len(), 41, "more than a few are left to a fill");
}

#[test]
fn a_small_project_needs_no_fill_at_all() {
    let project = notes(3);
    let pack = Arc::new(FakePack::new("pack.1"));
    let service = open(&project, Some(Arc::clone(&pack)));
    assert_eq!(told(&ask(&service)), [""; 0]);
    assert_eq!(pack.encoded().len(), 3);
}

#[test]
fn a_refresh_leaves_the_rest_to_a_fill_where_the_encoder_is_slow() {
    let project = notes(40);
    let pack = Arc::new(FakePack::new("pack.1"));
    open(&project, Some(Arc::clone(&pack))).build(false, &()).unwrap();
    open(&project, Some(Arc::clone(&pack))).fill(&()).unwrap();
    for n in 0..12 {
        project.write(&format!("{n:02}.md"), &format!("some edits 一些 {n}"));
    }
    // Every look at the clock takes four seconds, so that there is time for one batch of four.
    let clock = FixedClock::stepping(Timestamp::from_unix_millis(0), 4_000_000);
    let slow = open_at(&project, Some(Arc::clone(&pack)), clock);
    assert_eq!(
        slow.build(false, &()).unwrap().degradations[0].detail,
        "32 of 40 units have vectors of pack.1; `casebook models fill` makes the others"
    );
    assert_eq!(pack.encoded().len(), 44);
}

#[test]
fn a_pause_keeps_a_refresh_from_making_vectors() {
    let project = notes(40);
    let pack = Arc::new(FakePack::new("pack.1"));
    let service = open(&project, Some(Arc::clone(&pack)));
    ask(&service);
    service.fill(&()).unwrap();
    service.pause_fill().unwrap();
    let paused = service.check_can_fill().unwrap_err();
    assert_eq!((paused.code, paused.details.len()), ("fill_paused", 0));
    let running = ApiError::from(casebook_index::FillError::Busy);
    assert_eq!((running.code, running.details.len()), ("fill_running", 0));
    project.write("07.md", "edited 编辑");
    assert_eq!(
        told(&ask(&service)),
        ["1 of 40 units have no vector of pack.1; the embedded encoder finds them"]
    );
    assert_eq!(service.fill(&()).unwrap().end, FillEnd::Paused);
    service.resume_fill().unwrap();
    let made = pack.encoded().len();
    assert!(told(&ask(&service)).is_empty(), "the next refresh makes up for it");
    assert_eq!(pack.encoded().len(), made + 1);
    assert_eq!(service.fill(&()).unwrap().encoded, 0);
    ask(&service);
    assert_eq!(pack.encoded().len(), made + 1);
}

#[test]
fn a_pack_that_fails_takes_nobody_with_it() {
    let project = notes(40);
    let pack = Arc::new(FakePack::new("pack.1"));
    let service = open(&project, Some(Arc::clone(&pack)));
    ask(&service);
    service.fill(&()).unwrap();
    pack.fail_after(0);
    project.write("07.md", "edited 编辑");
    let activation = ask(&service);
    assert_eq!(
        told(&activation),
        [
            "pack.1: units cannot be encoded: encoder failed: the pack is gone; the units that changed wait for \
             `casebook models fill`",
            "1 of 40 units have no vector of pack.1; the embedded encoder finds them"
        ]
    );
    assert_eq!(service.fill(&()).unwrap_err().code, "encoder_failed");
    pack.fail_after(u64::MAX);
    let deaf = open(&project, Some(Arc::new(FakePack::new("pack.1").deaf())));
    deaf.fill(&()).unwrap();
    assert_eq!(
        told(&ask(&deaf)),
        ["pack.1: encoder failed: the pack hears nothing; the embedded encoder answered"]
    );
}

#[test]
fn term_weights_of_a_pack_are_a_word_lane() {
    let project = notes(40);
    let pack = Arc::new(FakePack::new("pack.1").sparse());
    let service = open(&project, Some(pack));
    let has_sparse = |activation: &Activation| activation.candidates.iter().any(|found| found.scores.sparse.is_some());
    assert!(!has_sparse(&ask(&service)));
    service.fill(&()).unwrap();
    assert!(has_sparse(&ask(&service)));
}

#[test]
fn without_a_further_encoder_nothing_is_filled() {
    let project = notes(2);
    let service = open(&project, None);
    ask(&service);
    assert_eq!(service.fill(&()).unwrap_err().code, "model_not_chosen");
    assert_eq!(service.check_can_fill().unwrap_err().code, "model_not_chosen");
    let same = open(&project, Some(Arc::new(FakePack::new("fake-encoder"))));
    assert_eq!(same.fill(&()).unwrap_err().code, "model_not_chosen");
}
