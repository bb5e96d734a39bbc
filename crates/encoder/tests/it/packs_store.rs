//! The store: what stays when things go wrong, and what `verify` sees.

use casebook_encoder::{ImportRequest, ImportStage, PackFault, PackStore};

use crate::packs_fixture::{Files, Shelf, from};

fn shelf_with(name: &str) -> Shelf {
    let shelf = Shelf::new();
    let request = from(Files::bert().write(shelf.dir.path().join(name)));
    shelf.add(&request).unwrap();
    shelf
}

fn faults(shelf: &Shelf, name: &str) -> Vec<PackFault> {
    shelf.store.verify(name, &mut |_| {}).unwrap()
}

#[test]
fn a_store_that_is_not_there_is_empty() {
    let shelf = Shelf::new();
    assert!(shelf.store.list().unwrap().packs.is_empty());
    assert!(!shelf.models().exists());
    assert_eq!(shelf.store.verify("x", &mut |_| {}).unwrap_err().code(), "pack_unknown");
    assert_eq!(shelf.store.remove("x").unwrap_err().code(), "pack_unknown");
    assert_eq!(shelf.store.remove("../x").unwrap_err().code(), "pack_name_invalid");
}

#[test]
fn packs_are_listed_and_removed() {
    let shelf = shelf_with("b");
    shelf
        .add(&from(Files::bert().write(shelf.dir.path().join("a"))))
        .unwrap();
    let names = |shelf: &Shelf| -> Vec<_> {
        let packs = shelf.store.list().unwrap().packs;
        packs.into_iter().map(|pack| pack.name).collect()
    };
    assert_eq!(names(&shelf), ["a", "b"]);
    shelf.store.remove("a").unwrap();
    assert_eq!(names(&shelf), ["b"]);
    assert_eq!(shelf.left(), ["b"]);
}

#[test]
fn the_same_again_changes_nothing_and_another_is_refused() {
    let shelf = shelf_with("m");
    let manifest = shelf.models().join("m/pack.json");
    let before = std::fs::read(&manifest).unwrap();
    shelf.add(&from(shelf.dir.path().join("m"))).unwrap();
    assert_eq!(std::fs::read(&manifest).unwrap(), before);
    let other = Files::bert().with("sentence_bert_config.json", r#"{"max_seq_length":17}"#);
    let mut request = from(other.write(shelf.dir.path().join("other")));
    request.name = Some("m".to_owned());
    shelf.refuses(&request, "pack_exists", "--name");
    assert_eq!(std::fs::read(&manifest).unwrap(), before);
    request.name = Some("Bad Name".to_owned());
    shelf.refuses(&request, "pack_name_invalid", "Bad Name");
    let early = shelf
        .store
        .add(&request, &mut |_| panic!("nothing is copied for a name that cannot be"));
    assert_eq!(early.unwrap_err().code(), "pack_name_invalid");
    request.name = Some("embedded".to_owned());
    shelf.refuses(&request, "pack_name_invalid", "embedded");
}

#[test]
fn what_a_killed_import_left_is_removed() {
    let shelf = shelf_with("m");
    for left in [".import", ".removed"] {
        let folder = shelf.models().join(left);
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("model.safetensors"), "half").unwrap();
    }
    assert_eq!(shelf.store.list().unwrap().packs.len(), 1);
    shelf
        .add(&from(Files::bert().write(shelf.dir.path().join("n"))))
        .unwrap();
    assert_eq!(shelf.left(), ["m", "n"]);
}

#[test]
fn only_one_import_is_at_work() {
    let shelf = Shelf::new();
    let request = from(Files::bert().write(shelf.dir.path().join("m")));
    let other = PackStore::open(shelf.models());
    let mut refused = Vec::new();
    let mut stages = Vec::new();
    let added = shelf.store.add(&request, &mut |progress| {
        assert!(progress.done <= progress.total);
        stages.push(progress.stage);
        refused.push(other.add(&request, &mut |_| {}).unwrap_err().code());
    });
    added.unwrap();
    assert!(!refused.is_empty() && refused.iter().all(|code| *code == "pack_store_busy"));
    stages.dedup();
    assert_eq!(stages, [ImportStage::Copying, ImportStage::Hashing]);
}

#[test]
#[cfg(unix)]
fn packs_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let shelf = shelf_with("m");
    let mode = |path: &str| {
        std::fs::metadata(shelf.models().join(path))
            .unwrap()
            .permissions()
            .mode()
            & 0o777
    };
    assert_eq!((mode(""), mode("m")), (0o700, 0o700));
    for file in [
        "m/pack.json",
        "m/config.json",
        "m/model.safetensors",
        "m/tokenizer.json",
    ] {
        assert_eq!(mode(file), 0o600, "{file}");
    }
}

#[test]
fn verify_names_every_fault() {
    let shelf = shelf_with("m");
    assert_eq!(faults(&shelf, "m"), []);
    let path = |name: &str| shelf.models().join("m").join(name);
    let mut weights = std::fs::read(path("model.safetensors")).unwrap();
    *weights.last_mut().unwrap() ^= 1;
    std::fs::write(path("model.safetensors"), &weights).unwrap();
    std::fs::write(path("config.json"), "{}").unwrap();
    std::fs::remove_file(path("tokenizer.json")).unwrap();
    std::fs::write(path("extra.bin"), "x").unwrap();
    let found = faults(&shelf, "m");
    assert!(
        matches!(&found[..], [
        PackFault::Length(config, 2, _),
        PackFault::Content(weights),
        PackFault::Missing(tokenizer),
        PackFault::Unknown(extra),
    ] if config == "config.json" && weights == "model.safetensors" && tokenizer == "tokenizer.json" && extra == "extra.bin"),
        "{found:?}"
    );
}

#[test]
fn verify_looks_at_the_manifest_itself() {
    let shelf = shelf_with("m");
    let path = shelf.models().join("m/pack.json");
    let good = std::fs::read_to_string(&path).unwrap();
    for (from, to, words) in [
        ("\"format\": 1", "\"format\": 2", "format 2"),
        ("\"name\": \"m\"", "\"name\": \"n\"", "that of n"),
        ("\"format\": 1", "\"formal\": 1", "formal"),
        ("config.json", "../../x", "no name of a pack's file"),
        ("config.json", "zonfig.json", "not in order"),
        (
            "\"sparse\": false",
            "\"sparse\": true",
            "sparse_linear.safetensors is not",
        ),
        (
            "model.safetensors",
            "model.weights",
            "it needs model.safetensors or model.gguf",
        ),
        ("\"max_tokens\": 16", "\"max_tokens\": 0", "lacks"),
    ] {
        std::fs::write(&path, good.replace(from, to)).unwrap();
        let found: Vec<_> = faults(&shelf, "m").iter().map(ToString::to_string).collect();
        assert!(found.iter().any(|fault| fault.contains(words)), "{words}: {found:?}");
    }
    std::fs::remove_file(&path).unwrap();
    assert!(faults(&shelf, "m")[0].to_string().contains("missing"));
    let list = shelf.store.list().unwrap();
    assert_eq!((list.packs.len(), list.problems.len()), (0, 1));
    assert_eq!(list.problems[0].code(), "pack_manifest_invalid");
}

#[test]
#[cfg(unix)]
fn verify_does_not_follow_links() {
    let shelf = shelf_with("m");
    let file = shelf.models().join("m/config.json");
    let elsewhere = shelf.dir.path().join("elsewhere");
    std::fs::rename(&file, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
    assert!(matches!(&faults(&shelf, "m")[..], [PackFault::Unreadable(name, _)] if name == "config.json"));
}

#[test]
fn a_request_is_checked_before_its_source_is_here() {
    let shelf = Shelf::new();
    let hub = |source: &str, revision: Option<&str>| ImportRequest {
        source: Some(source.to_owned()),
        revision: revision.map(ToOwned::to_owned),
        licence: Some("MIT".to_owned()),
        ..from(Files::bert().write(shelf.dir.path().join("m")))
    };
    let check = |request: &ImportRequest, card: Option<&str>| {
        let checked = shelf.store.check_request(request, card);
        checked.map_err(|error| error.code())
    };
    shelf.add(&hub("hf:a/m", Some("one"))).unwrap();
    assert_eq!(check(&hub("hf:a/m", Some("one")), None), Ok(()));
    assert_eq!(check(&hub("hf:a/m", None), None), Ok(()));
    assert_eq!(check(&hub("hf:a/m", Some("two")), None), Err("pack_exists"));
    assert_eq!(check(&hub("hf:b/m", Some("one")), None), Err("pack_exists"));
    let named = |name: &str| ImportRequest {
        name: Some(name.to_owned()),
        ..hub("hf:b/m", None)
    };
    assert_eq!(check(&named("other"), None), Ok(()));
    assert_eq!(check(&named("../m"), None), Err("pack_name_invalid"));
    let declared = |licence: Option<&str>| ImportRequest {
        licence: None,
        declared_licence: licence.map(ToOwned::to_owned),
        ..named("other")
    };
    let card = |licence: &str| format!("---\nlicense: {licence}\n---\n");
    assert_eq!(check(&declared(None), None), Ok(()));
    assert_eq!(check(&declared(None), Some("")), Err("pack_licence_missing"));
    assert_eq!(check(&declared(Some("mit")), Some(&card("mit"))), Ok(()));
    for (hub, read_me) in [("cc-by-nc-4.0", "mit"), ("mit", "cc-by-nc-4.0")] {
        assert_eq!(
            check(&declared(Some(hub)), Some(&card(read_me))),
            Err("pack_licence_refused")
        );
    }
}

#[test]
fn a_file_is_found_by_its_hash() {
    let shelf = Shelf::new();
    let pack = shelf
        .add(&from(Files::bert().write(shelf.dir.path().join("m"))))
        .unwrap();
    let weights = pack.files.iter().find(|file| file.name == "model.safetensors").unwrap();
    let found = shelf.store.file_of(&weights.sha256);
    assert_eq!(found, Some(shelf.models().join("m/model.safetensors")));
    assert_eq!(shelf.store.file_of(&"0".repeat(64)), None);
}
