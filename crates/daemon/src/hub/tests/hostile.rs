//! Servers that do not keep their word.

use std::time::Duration;

use serde_json::json;

use super::super::*;
use super::fixture::*;
use super::server::{Asked, Reply, Way};

/// The outcome where one file is answered otherwise, always.
fn fetch_file(name: &'static str, change: impl Fn(Reply) -> Reply + Send + Sync + 'static) -> (Fixture, HubError) {
    let fixture = Fixture::changed(Hub::model(5000), move |asked, _, usual| {
        if asked.path.ends_with(name) {
            change(usual)
        } else {
            usual
        }
    });
    let error = fixture.fetch().unwrap_err();
    (fixture, error)
}

/// A file that is refused for good, was tried twice from the start, and left nothing behind.
#[track_caller]
fn check_useless(name: &'static str, code: &str, words: &str, change: impl Fn(Reply) -> Reply + Send + Sync + 'static) {
    let (fixture, error) = fetch_file(name, change);
    assert_eq!(error.code(), code, "{error}");
    assert!(
        error.to_string().contains(words) && error.to_string().contains(name),
        "{error}"
    );
    let asked = fixture.asked_for(name);
    assert_eq!(asked.len(), 2, "{error}");
    assert!(asked.iter().all(|asked| asked.header("range").is_none()));
    assert!(!fixture.part(name).exists());
}

#[test]
fn a_file_that_is_not_the_listed_one_is_refused_after_a_second_try() {
    let flip = |mut usual: Reply| {
        usual.body[7] ^= 1;
        usual
    };
    check_useless(WEIGHTS, "hub_file_differs", "checksum", flip);
    check_useless("tokenizer.json", "hub_file_differs", "checksum", flip);
}

#[test]
fn a_file_that_is_right_the_second_time_is_taken() {
    let hub = Hub::model(5000);
    let fixture = Fixture::changed(hub.clone(), |asked, nth, mut usual| {
        if nth == 0 && asked.path.contains("/resolve/") {
            usual.body[0] ^= 1;
        }
        usual
    });
    let model = fixture.fetch().unwrap();
    assert_eq!(std::fs::read(model.dir.join(WEIGHTS)).unwrap(), hub.content(WEIGHTS));
}

#[test]
fn more_bytes_than_listed_are_refused() {
    let longer = |mut usual: Reply| {
        usual.body.push(0);
        usual
    };
    check_useless(WEIGHTS, "hub_transfer_invalid", "tells 5001 bytes", longer);
    check_useless(
        WEIGHTS,
        "hub_transfer_invalid",
        "more than the 5000 bytes",
        move |usual| longer(usual).sent(Way::Chunked),
    );
    check_useless(
        WEIGHTS,
        "hub_transfer_invalid",
        "more than the 5000 bytes",
        move |usual| longer(usual).sent(Way::UntilClosed),
    );
}

#[test]
fn fewer_bytes_than_listed_are_refused() {
    let shorter = |mut usual: Reply| {
        usual.body.truncate(4000);
        usual
    };
    check_useless(WEIGHTS, "hub_transfer_invalid", "tells 4000 bytes", shorter);
    let (fixture, error) = fetch_file(WEIGHTS, move |mut usual| {
        if usual.status == 200 {
            usual = shorter(usual);
        } else {
            usual.body.clear();
        }
        usual.sent(Way::Chunked)
    });
    assert_eq!(error.code(), "hub_transfer_invalid", "{error}");
    assert!(error.to_string().contains("after 4000 of 5000"), "{error}");
    assert_eq!(fixture.pauses(), [1, 2, 4, 8], "it may have been the connection");
}

#[test]
fn a_part_that_nobody_asked_for_is_refused() {
    check_useless(WEIGHTS, "hub_transfer_invalid", "not asked for", |usual| {
        Reply { status: 206, ..usual }.with("content-range", "bytes 0-4999/5000")
    });
    check_useless(WEIGHTS, "hub_transfer_invalid", "no such bytes", |_| {
        Reply::new(416, "")
    });
}

#[test]
fn a_packed_body_is_refused() {
    check_useless(WEIGHTS, "hub_transfer_invalid", "packs", |usual| {
        usual.with("content-encoding", "gzip")
    });
}

#[test]
fn silence_is_a_lost_connection() {
    for (name, sent) in [("config.json", 0), (WEIGHTS, 1000)] {
        let fixture = Fixture::changed(Hub::model(5000), move |asked, _, usual| {
            if asked.path.ends_with(&format!("/{name}")) && !asked.path.contains("Pooling") {
                let gain = if usual.status == 200 { sent } else { 0 };
                usual.sent(Way::HangAfter(gain))
            } else {
                usual
            }
        });
        let options = HubOptions {
            silence: Duration::from_millis(100),
            ..fixture.options()
        };
        let error = fixture.fetch_with(&options).unwrap_err();
        assert_eq!(error.code(), "hub_unreachable", "{error}");
        assert!(error.to_string().contains("nothing came for 100ms"), "{error}");
        assert_eq!(fixture.pauses(), [1, 2, 4, 8]);
    }
}

#[test]
fn a_drip_is_a_lost_connection() {
    for listing in [true, false] {
        let fixture = Fixture::changed(Hub::model(5000), move |asked, _, usual| {
            let dripping = if listing { "/revision/main?blobs=true" } else { WEIGHTS };
            if asked.path.ends_with(dripping) {
                usual.sent(Way::DripAfter(0))
            } else {
                usual
            }
        });
        let options = HubOptions {
            slowness: Duration::from_millis(50),
            ..fixture.options()
        };
        let error = fixture.fetch_with(&options).unwrap_err();
        assert_eq!(error.code(), "hub_unreachable", "{error}");
        assert!(error.to_string().contains("bytes came within"), "{error}");
        assert_eq!(fixture.pauses(), [1, 2, 4, 8]);
    }
}

#[test]
fn a_server_that_never_answers_is_given_up() {
    let fixture = Fixture::changed(Hub::model(10), |_, _, _| Reply::new(200, "").sent(Way::Raw));
    let error = fixture.fetch().unwrap_err();
    assert_eq!(error.code(), "hub_unreachable", "{error}");
    // Nobody listens here. The port of a server that has ended may be given to that of another test.
    let options = HubOptions {
        endpoint: Endpoint::parse("http://127.0.0.1:1").unwrap(),
        ..fixture.options()
    };
    let error = fixture.fetch_with(&options).unwrap_err();
    assert_eq!(error.code(), "hub_unreachable", "{error}");
    assert_eq!(fixture.pauses(), [1, 2, 4, 8, 1, 2, 4, 8]);
}

#[test]
fn a_silent_hub_is_given_up() {
    let fixture = Fixture::changed(Hub::model(10), |_, _, _| {
        Reply::new(200, "HTTP/1.1 200").sent(Way::HangAfter(3))
    });
    let options = HubOptions {
        silence: Duration::from_millis(50),
        ..fixture.options()
    };
    let error = fixture.fetch_with(&options).unwrap_err();
    assert_eq!(error.code(), "hub_unreachable", "{error}");
}

#[track_caller]
fn check_redirect(words: &str, location: impl Fn(&Asked) -> String + Send + Sync + 'static) {
    let fixture = Fixture::changed(Hub::model(10), move |asked, _, _| Reply::redirect(location(asked)));
    let error = fixture.fetch().unwrap_err();
    assert_eq!(error.code(), "hub_redirect_refused", "{error}");
    assert!(error.to_string().contains(words), "{error}");
    assert!(fixture.paths().len() <= 8, "{error}");
}

#[test]
fn a_redirect_that_leads_nowhere_is_not_followed() {
    check_redirect("circles", |_| "/a".to_owned());
    check_redirect("circles", |asked| format!("{}x", asked.path));
    check_redirect("from https to http", |_| "http://mirror.example/x".to_owned());
    check_redirect("from https to http", |_| "//mirror.example/x".to_owned());
    check_redirect("no web address", |_| "ftp://mirror.example/x".to_owned());
    check_redirect("no web address", |_| "https://me:secret@mirror.example/x".to_owned());
    check_redirect("malformed", |_| "x/y".to_owned());
    check_redirect("malformed", |_| String::new());
    check_redirect("malformed", |_| "https://a b/".to_owned());
}

#[track_caller]
fn check_listing(words: &str, reply: Reply) {
    let fixture = Fixture::changed(Hub::model(10), move |_, _, _| reply.clone());
    let error = fixture.fetch().unwrap_err();
    assert_eq!(error.code(), "hub_answer_invalid", "{error}");
    assert!(error.to_string().contains(words), "{error}");
    assert_eq!(fixture.paths().len(), 1, "nothing else is asked: {error}");
    assert!(
        std::fs::read_dir(fixture.folder.path()).unwrap().next().is_none(),
        "nothing is written"
    );
}

#[test]
fn a_listing_that_is_none_is_refused() {
    check_listing("expected value", Reply::new(200, "<html>Log in to the network</html>"));
    check_listing("EOF", Reply::new(200, "{\"sha\": "));
    check_listing("missing field", Reply::new(200, "{}"));
    check_listing("invalid type", Reply::new(200, "{\"sha\": 7, \"siblings\": []}"));
    check_listing(
        "recursion",
        Reply::new(200, format!("{{\"cardData\": {}", "[".repeat(100_000))),
    );
    check_listing("EOF", Reply::new(200, ""));
    check_listing("bytes", Reply::new(200, vec![b' '; (8 << 20) + 1]).sent(Way::Chunked));
    check_listing("bytes", Reply::new(200, vec![b' '; (8 << 20) + 1]));
    check_listing("not HTTP", Reply::new(0, "SSH-2.0-OpenSSH\r\n\r\n").sent(Way::Raw));
    check_listing("too long", Reply::new(200, "").with("x", "y".repeat(200_000)));
}

#[test]
fn a_file_outside_of_its_folder_is_refused() {
    for name in ["../x", "a/../../x", "/x", "..\\x", "C:\\x", "model.safetensors/../../x"] {
        let sibling = json!({"rfilename": name, "size": 1});
        let hub = Hub::model(10).saying(json!({"siblings": [sibling]}));
        let fixture = Fixture::new(hub);
        let error = fixture.fetch().unwrap_err();
        assert_eq!(error.code(), "hub_answer_invalid", "{error}");
        assert!(error.to_string().contains("outside"), "{error}");
        assert_eq!(fixture.paths().len(), 1);
    }
}

#[test]
fn sizes_are_bounded_before_anything_is_asked_for() {
    let fixture = Fixture::new(Hub::model(5000));
    let options = HubOptions {
        max_bytes: 5000,
        ..fixture.options()
    };
    assert_eq!(fixture.fetch_with(&options).unwrap_err().code(), "hub_model_too_large");
    let huge = |name: &str| json!({"rfilename": name, "size": u64::MAX});
    let listing = json!([huge("config.json"), huge("tokenizer.json"), huge(WEIGHTS)]);
    let overflow = Fixture::new(Hub::model(10).saying(json!({"siblings": listing})));
    let options = HubOptions {
        max_bytes: u64::MAX - 1,
        ..overflow.options()
    };
    assert_eq!(overflow.fetch_with(&options).unwrap_err().code(), "hub_model_too_large");
    assert_eq!((fixture.paths().len(), overflow.paths().len()), (1, 1));
}
