//! What goes well.

use std::sync::Arc;

use serde_json::json;

use super::super::*;
use super::fixture::*;
use super::server::{Reply, Server, Way};

#[test]
fn a_model_comes_with_what_a_pack_needs_and_nothing_else() {
    let hub = Hub::model(200_000);
    let fixture = Fixture::new(hub.clone());
    let model = fixture.fetch().unwrap();
    assert_eq!(model.revision, COMMIT);
    assert_eq!(model.licence.as_deref(), Some("apache-2.0"));
    assert_eq!(model.source, "hf:owner/model");
    let mut expected: Vec<_> = hub
        .files
        .iter()
        .filter(|(name, _, _)| !name.ends_with(".bin"))
        .map(|(name, content, _)| (name.clone(), content.clone()))
        .collect();
    expected.sort();
    assert_eq!(tree(&model.dir), expected);
    assert_eq!(
        fixture.paths(),
        [
            "/api/models/owner/model/revision/main?blobs=true",
            "README.md",
            "config.json",
            "1_Pooling/config.json",
            "tokenizer.json",
            WEIGHTS
        ]
    );
    for asked in fixture.server.asked() {
        assert_eq!(asked.header("authorization"), Some("Bearer hf_TESTSECRET"));
        assert!(asked.header("user-agent").unwrap().starts_with("casebook/"));
        assert_eq!(asked.header("accept-encoding"), Some("identity"));
    }
    assert!(fixture.pauses().is_empty());
    drop(model);
    let again = fixture.fetch().unwrap();
    assert_eq!(tree(&again.dir), expected);
    assert_eq!(fixture.paths().len(), 7, "the second call asks for the listing alone");
}

#[test]
fn a_revision_is_one_segment_of_the_address() {
    let fixture = Fixture::new(Hub::model(10));
    let spec = "hf:owner/model@refs/pr/7".parse().unwrap();
    let (options, mut told) = (fixture.options(), Told::default());
    fetch(&spec, fixture.folder.path(), &options, &mut |_| Ok(()), &mut told).unwrap();
    assert_eq!(
        fixture.paths()[0],
        "/api/models/owner/model/revision/refs%2Fpr%2F7?blobs=true"
    );
}

#[test]
fn without_a_token_none_is_sent() {
    let fixture = Fixture::new(Hub::model(10));
    let options = HubOptions {
        token: None,
        ..fixture.options()
    };
    fixture.fetch_with(&options).unwrap();
    assert!(
        fixture
            .server
            .asked()
            .iter()
            .all(|asked| asked.header("authorization").is_none())
    );
}

#[test]
fn a_token_stays_with_the_endpoint() {
    let hub = Hub::model(5000);
    let storage = {
        let weights = hub.content(WEIGHTS).to_owned();
        Arc::new(Server::start(move |asked, _| ranged(asked, &weights)))
    };
    let elsewhere = format!("{}/store?Signature=s", storage.address());
    let fixture = Fixture::changed(hub.clone(), move |asked, _, usual| {
        if asked.path.ends_with(WEIGHTS) {
            Reply::redirect(&elsewhere)
        } else {
            usual
        }
    });
    let model = fixture.fetch().unwrap();
    assert_eq!(std::fs::read(model.dir.join(WEIGHTS)).unwrap(), hub.content(WEIGHTS));
    let asked = storage.asked();
    assert_eq!(asked[0].path, "/store?Signature=s");
    assert_eq!(asked[0].header("authorization"), None);
    assert!(fixture.asked_for(WEIGHTS)[0].header("authorization").is_some());
}

#[test]
fn a_stranger_cannot_send_the_token_back_to_the_endpoint() {
    let hub = Hub::model(5000);
    let home = Arc::new(std::sync::Mutex::new(String::new()));
    let back = Arc::clone(&home);
    let stranger = Server::start(move |_, _| Reply::redirect(format!("{}/settings/tokens", back.lock().unwrap())));
    let elsewhere = stranger.address();
    let fixture = Fixture::changed(hub, move |asked, _, usual| match &*asked.path {
        path if path.ends_with(WEIGHTS) => Reply::redirect(&elsewhere),
        "/settings/tokens" => Reply::new(200, noise(5000)),
        _ => usual,
    });
    *home.lock().unwrap() = fixture.server.address();
    fixture.fetch().unwrap();
    let asked = fixture.server.asked();
    let last = asked.iter().find(|asked| asked.path == "/settings/tokens").unwrap();
    assert_eq!(last.header("authorization"), None);
}

#[test]
fn a_move_within_the_endpoint_keeps_the_token() {
    let fixture = Fixture::changed(Hub::model(10), |asked, _, usual| match &*asked.path {
        "/api/models/new/name" => Reply::new(200, Hub::model(10).reply(&api(asked)).body),
        path if path.starts_with("/api/models/owner") => Reply {
            status: 307,
            ..Reply::redirect("/api/models/new/name")
        },
        _ => usual,
    });
    fixture.fetch().unwrap();
    assert!(fixture.server.asked()[1].header("authorization").is_some());
}

fn api(asked: &super::server::Asked) -> super::server::Asked {
    let mut asked = asked.clone();
    asked.path = "/api/models/owner/model/revision/main?blobs=true".to_owned();
    asked
}

#[test]
fn a_body_without_a_length_is_taken_when_it_is_the_file() {
    for way in [Way::Chunked, Way::UntilClosed] {
        let hub = Hub::model(5000);
        let fixture = Fixture::changed(hub.clone(), move |asked, _, usual| {
            if asked.path.ends_with(WEIGHTS) {
                usual.sent(way)
            } else {
                usual
            }
        });
        let model = fixture.fetch().unwrap();
        assert_eq!(std::fs::read(model.dir.join(WEIGHTS)).unwrap(), hub.content(WEIGHTS));
    }
}

#[test]
fn an_empty_file_is_a_file() {
    let hub = Hub::model(10).without("README.md").with("README.md", b"", false);
    let fixture = Fixture::new(hub);
    let model = fixture.fetch().unwrap();
    assert_eq!(std::fs::read(model.dir.join("README.md")).unwrap(), b"");
}

#[test]
fn a_licence_is_read_from_the_read_me_where_the_hub_tells_none() {
    let hub = Hub::model(10).saying(json!({"cardData": null}));
    assert_eq!(
        Fixture::new(hub.clone()).fetch().unwrap().licence.as_deref(),
        Some("mit")
    );
    let silent = hub.without("README.md");
    assert_eq!(Fixture::new(silent).fetch().unwrap().licence, None);
}

#[test]
fn the_folder_holds_the_chosen_weights_alone() {
    let hub = Hub::model(10)
        .without(WEIGHTS)
        .with("a-Q8_0.gguf", b"eight", true)
        .with("sub/a-Q4_0.gguf", b"four", true);
    let fixture = Fixture::new(hub);
    let chosen = |file: &str| {
        let options = HubOptions {
            file: Some(file.to_owned()),
            ..fixture.options()
        };
        let model = fixture.fetch_with(&options).unwrap();
        let names = tree(&model.dir).into_iter().map(|(name, _)| name);
        names.filter(|name| name.ends_with("gguf")).collect::<Vec<_>>()
    };
    assert_eq!(chosen("a-Q8_0.gguf"), ["a-Q8_0.gguf"]);
    assert_eq!(chosen("sub/a-Q4_0.gguf"), ["a-Q4_0.gguf"]);
    assert_eq!(fixture.code(), "hub_model_unusable");
}

#[test]
fn a_download_is_removed_once_it_is_imported() {
    let fixture = Fixture::new(Hub::model(10));
    let model = fixture.fetch().unwrap();
    let dir = model.dir.clone();
    model.discard().unwrap();
    assert!(!dir.exists());
    fixture.fetch().unwrap();
}

#[test]
fn a_whole_file_that_was_changed_since_comes_anew() {
    let hub = Hub::model(5000);
    let fixture = Fixture::new(hub.clone());
    let path = fixture.fetch().unwrap().dir.join("config.json");
    std::fs::write(&path, b"{}").unwrap();
    fixture.fetch().unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), hub.content("config.json"));
    let weights = path.with_file_name(WEIGHTS);
    let mut bytes = hub.content(WEIGHTS).to_owned();
    bytes[4321] ^= 1;
    std::fs::write(&weights, bytes).unwrap();
    fixture.fetch().unwrap();
    assert_eq!(std::fs::read(&weights).unwrap(), hub.content(WEIGHTS));
    assert_eq!(fixture.asked_for("tokenizer.json").len(), 1);
}

#[test]
#[cfg(unix)]
fn a_download_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let fixture = Fixture::new(Hub::model(10));
    let model = fixture.fetch().unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&model.dir), mode(&model.dir.join(WEIGHTS))), (0o700, 0o600));
}

#[test]
fn what_is_not_wanted_is_refused_before_its_weights_are_asked_for() {
    let fixture = Fixture::new(Hub::model(200_000));
    let mut refuse = |offer: Offer<'_>| {
        assert_eq!(
            (offer.revision, offer.licence, offer.is_gguf),
            (COMMIT, Some("apache-2.0"), false)
        );
        assert!(offer.card.unwrap().contains("license: mit"));
        Err(casebook_encoder::PackError::LicenceMissing)
    };
    let refused = fixture.fetch_unless(&fixture.options(), &mut refuse, &mut Told::default());
    assert_eq!(refused.unwrap_err().code(), "pack_licence_missing");
    assert_eq!(fixture.paths().last().unwrap(), "README.md");
    assert!(tree(fixture.folder.path()).is_empty(), "not even a lock stays");
    // What an earlier call has brought is not thrown away for it.
    drop(fixture.fetch().unwrap());
    let mut refuse = |_: Offer<'_>| Err(casebook_encoder::PackError::LicenceMissing);
    let refused = fixture.fetch_unless(&fixture.options(), &mut refuse, &mut Told::default());
    assert!(refused.is_err());
    drop(fixture.fetch().unwrap());
    assert_eq!(fixture.asked_for(WEIGHTS).len(), 1);
}

#[test]
fn weights_that_a_pack_has_are_copied_and_checked() {
    let hub = Hub::model(5000);
    let elsewhere = tempfile::tempdir().unwrap();
    let known = elsewhere.path().join("weights");
    for (content, requests) in [(hub.content(WEIGHTS).to_owned(), 0), (noise(4999), 1)] {
        std::fs::write(&known, content).unwrap();
        let fixture = Fixture::new(hub.clone());
        let known = |_: &str| Some(known.clone());
        let options = HubOptions {
            known: &known,
            ..fixture.options()
        };
        let model = fixture.fetch_with(&options).unwrap();
        assert_eq!(std::fs::read(model.dir.join(WEIGHTS)).unwrap(), hub.content(WEIGHTS));
        assert_eq!(fixture.asked_for(WEIGHTS).len(), requests);
    }
}

#[test]
fn a_download_that_waits_is_listed_and_removed_with_its_lock() {
    let fixture = Fixture::new(Hub::model(5000));
    let folder = fixture.folder.path();
    assert_eq!(kept(folder).unwrap(), []);
    let model = fixture.fetch().unwrap();
    let found = kept(folder).unwrap();
    assert_eq!(found.len(), 1);
    assert!(
        found[0].source == "hf:owner/model" && found[0].bytes > 5000,
        "{found:?}"
    );
    assert_eq!(discard(folder, &found[0]).unwrap_err().code(), "hub_busy");
    drop(model);
    discard(folder, &found[0]).unwrap();
    assert!(tree(folder).is_empty());
    fixture.fetch().unwrap().discard().unwrap();
    assert!(tree(folder).is_empty());
}

#[test]
fn a_sparse_head_that_is_a_pickle_is_told() {
    let pickled = Hub::model(10).with("sparse_linear.pt", b"never", true);
    assert!(Fixture::new(pickled.clone()).fetch().unwrap().lacks_sparse_head);
    let both = pickled.with("sparse_linear.safetensors", b"x", true);
    for hub in [both, Hub::model(10)] {
        assert!(!Fixture::new(hub).fetch().unwrap().lacks_sparse_head);
    }
}
