//! Fills under a power supply of the test's own.

use std::path::Path;
use std::sync::Arc;

use casebook_api::{Parts, Project};
use casebook_encoder::{StaticLateInteraction, embedded_table};
use casebook_index::IndexOptions;
use casebook_ranker::RankerConfig;
use casebook_recorder::RunId;
use casebook_testkit::{FakeEncoder, FakePack, FixedClock, TempProject};

use super::*;

fn service(project: &TempProject) -> Service {
    let root = project.root().to_owned();
    let parts = Parts {
        encoder: Arc::new(FakeEncoder::default()),
        preferred: Some(Arc::new(FakePack::new("pack.1"))),
        scorer: Arc::new(StaticLateInteraction::new(embedded_table())),
        clock: Arc::new(FixedClock::default()),
        run_ids: Arc::new(|| RunId::new("run")),
        problems: Vec::new(),
    };
    let project = Project {
        id: Project::derived_id(&root),
        index_dirs: vec![root.join(".casebook")],
        records: root.join("records.db"),
        files: casebook_corpus::FilesConfig::default(),
        index: IndexOptions::default(),
        ranker: RankerConfig::default(),
        audiences: Vec::new(),
        root,
    };
    let unwanted = ApiError::new("history_unavailable", casebook_api::ErrorKind::Internal, "not wanted");
    Service::open(project, Err(unwanted), parts).unwrap()
}

/// A project with more notes than a refresh makes vectors of.
fn project() -> TempProject {
    let project = TempProject::new();
    for n in 0..40 {
        project.write(&format!("{n}.md"), &format!("note {n} 笔记"));
    }
    project
}

fn plug(supplies: &Path, online: bool) {
    let write = |folder: &str, file: &str, text: &str| {
        let folder = supplies.join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(file), text).unwrap();
    };
    write("AC", "type", "Mains\n");
    write("AC", "online", if online { "1\n" } else { "0\n" });
    write("BAT0", "type", "Battery\n");
    write("BAT0", "status", if online { "Charging\n" } else { "Discharging\n" });
}

#[test]
fn on_battery_a_fill_waits_and_lets_others_fill() {
    let (project, supplies) = (project(), tempfile::tempdir().unwrap());
    let service = service(&project);
    service.build(false, &()).unwrap();
    plug(supplies.path(), false);
    let watch = Watch::new(Some(Power::below(supplies.path())), &|| true);
    let mut waits = 0;
    let report = fill_through(&service, &watch, &mut || {
        waits += 1;
        assert!(!service.fill_status().unwrap().filling);
        plug(supplies.path(), waits == 3);
    });
    let report = report.unwrap();
    assert_eq!((report.end, report.encoded, waits), (FillEnd::Complete, 40, 3));
}

#[test]
fn a_pause_ends_the_wait_for_mains_power() {
    let (project, supplies) = (project(), tempfile::tempdir().unwrap());
    let service = service(&project);
    service.build(false, &()).unwrap();
    plug(supplies.path(), false);
    let watch = Watch::new(Some(Power::below(supplies.path())), &|| true);
    let report = fill_through(&service, &watch, &mut || service.pause_fill().unwrap()).unwrap();
    assert_eq!((report.end, report.encoded), (FillEnd::Paused, 0));
}

#[test]
fn whoever_wants_to_fills_on_battery() {
    let project = project();
    let service = service(&project);
    service.build(false, &()).unwrap();
    let report = fill_through(&service, &Watch::new(None, &|| true), &mut || {
        panic!("nothing to wait for")
    });
    assert_eq!(report.unwrap().end, FillEnd::Complete);
}

#[test]
fn who_chooses_another_pack_ends_the_wait_for_mains_power() {
    let (project, supplies) = (project(), tempfile::tempdir().unwrap());
    let service = service(&project);
    service.build(false, &()).unwrap();
    plug(supplies.path(), false);
    let wanted = std::sync::atomic::AtomicBool::new(true);
    let is_wanted = || wanted.load(std::sync::atomic::Ordering::Relaxed);
    let watch = Watch::new(Some(Power::below(supplies.path())), &is_wanted);
    let mut choose = || wanted.store(false, std::sync::atomic::Ordering::Relaxed);
    let report = fill_through(&service, &watch, &mut choose).unwrap();
    assert_eq!((report.end, report.encoded), (FillEnd::NotWanted, 0));
}

#[test]
fn a_pack_is_chosen_as_long_as_the_settings_name_it_and_it_is_there() {
    let project = TempProject::new();
    let data_dir = tempfile::tempdir().unwrap();
    let setup = |model: &str| {
        project.write("casebook.toml", &format!("[encoder]\nmodel = '{model}'\n"));
        let file = project.root().join("casebook.toml");
        Setup {
            root: project.root().to_owned(),
            data_dir: data_dir.path().to_owned(),
            user_file: data_dir.path().join("config.toml"),
            layers: crate::settings::Layers::read(None, &file, std::iter::empty()).unwrap(),
        }
    };
    let pack = |name: &str| data_dir.path().join("models").join(name);
    for name in ["one", "two"] {
        std::fs::create_dir_all(pack(name)).unwrap();
        let manifest = serde_json::json!({
            "format": 1, "name": name, "source": "x", "revision": "x", "licence": "MIT", "architecture": "bert",
            "task": "embed", "pooling": "mean", "normalise": true, "query_prefix": "", "passage_prefix": "",
            "dimension": 8, "max_tokens": 8, "sparse": false, "means": false, "files": []
        });
        std::fs::write(pack(name).join("pack.json"), manifest.to_string()).unwrap();
    }
    let service = setup("one").service_for_fill(None).unwrap();
    let one = service.preferred().unwrap().revision();
    assert!(setup("one").chooses(one));
    assert!(!setup("two").chooses(one) && !setup("embedded").chooses(one));
    std::fs::remove_dir_all(pack("one")).unwrap();
    assert!(!setup("one").chooses(one));
}
