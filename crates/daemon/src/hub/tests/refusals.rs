//! What a hub may well say no to, and what the caller is told to do.

use casebook_api::ErrorKind;
use serde_json::json;

use super::super::*;
use super::fixture::*;
use super::server::Reply;
use crate::failure::Failure;

/// What is said where the listing is refused, with a token and without.
#[track_caller]
fn check(reply: &Reply, has_token: bool, code: &str, words: &str) {
    let reply = reply.clone();
    let fixture = Fixture::changed(Hub::model(10), move |_, _, _| reply.clone());
    let mut options = fixture.options();
    if !has_token {
        options.token = None;
    }
    let error = fixture.fetch_with(&options).unwrap_err();
    assert_eq!(error.code(), code, "{error}");
    assert!(error.to_string().contains(words), "{error}");
    assert_eq!(fixture.paths().len(), 1, "asking again changes nothing");
}

fn refusal(status: u16, code: &str) -> Reply {
    Reply::new(status, "").with("x-error-code", code)
}

#[test]
fn a_missing_model_says_what_to_check() {
    check(
        &Reply::new(404, ""),
        true,
        "hub_not_found",
        "owner/model is not on the hub at revision \"main\"",
    );
    check(&Reply::new(401, ""), false, "hub_not_found", "set HF_TOKEN");
    check(&refusal(401, "RepoNotFound"), false, "hub_not_found", "set HF_TOKEN");
    check(
        &refusal(404, "RepoNotFound"),
        true,
        "hub_not_found",
        "the token needs access",
    );
    check(&refusal(404, "RevisionNotFound"), false, "hub_not_found", "revision");
}

#[test]
fn a_closed_model_says_how_to_open_it() {
    let gated = refusal(403, "GatedRepo").with("x-error-message", "Access is restricted.");
    check(&gated, false, "hub_access_denied", "then set HF_TOKEN");
    check(
        &gated,
        true,
        "hub_access_denied",
        "/owner/model with the account that the token belongs to",
    );
    check(
        &gated,
        true,
        "hub_access_denied",
        "(the hub says: Access is restricted.)",
    );
    check(
        &refusal(401, "GatedRepo"),
        false,
        "hub_access_denied",
        "accept its terms",
    );
    check(
        &Reply::new(401, ""),
        true,
        "hub_access_denied",
        "does not accept the token",
    );
    check(&Reply::new(403, ""), true, "hub_access_denied", "accept its terms");
    check(&refusal(403, "DisabledRepo"), true, "hub_access_denied", "closed");
    check(&Reply::new(418, ""), true, "hub_failed", "status 418");
    check(&Reply::new(304, ""), true, "hub_failed", "status 304");
}

#[test]
fn a_gated_model_needs_a_token_from_the_start() {
    for gated in [json!("auto"), json!("manual"), json!(true)] {
        let fixture = Fixture::new(Hub::model(10).saying(json!({"gated": gated})));
        let options = HubOptions {
            token: None,
            ..fixture.options()
        };
        let error = fixture.fetch_with(&options).unwrap_err();
        assert_eq!(error.code(), "hub_access_denied");
        assert!(error.to_string().contains("/owner/model, then set HF_TOKEN"), "{error}");
        assert_eq!(fixture.paths().len(), 1);
        fixture.fetch().unwrap();
    }
}

#[test]
fn a_refused_file_is_told_like_a_refused_model() {
    let fixture = Fixture::changed(Hub::model(10), |asked, _, usual| {
        if asked.path.ends_with(WEIGHTS) {
            refusal(403, "GatedRepo")
        } else {
            usual
        }
    });
    assert_eq!(fixture.code(), "hub_access_denied");
}

#[test]
fn a_pause_that_is_asked_for_is_made() {
    let check = |busy: Reply, pauses: &[u64]| {
        let fixture = Fixture::changed(Hub::model(10), move |_, nth, usual| match nth {
            0 => busy.clone(),
            _ => usual,
        });
        fixture.fetch().unwrap();
        assert_eq!(fixture.pauses()[..1], *pauses);
    };
    check(Reply::new(429, "").with("retry-after", "17"), &[17]);
    check(Reply::new(429, "").with("ratelimit", "\"api\";r=0;t=55"), &[55]);
    check(Reply::new(503, "").with("retry-after", "3"), &[3]);
    check(
        Reply::new(429, "").with("retry-after", "Fri, 01 Jan 2027 00:00:00 GMT"),
        &[1],
    );
    check(Reply::new(500, ""), &[1]);
}

#[test]
fn patience_ends() {
    let always = |reply: Reply| Fixture::changed(Hub::model(10), move |_, _, _| reply.clone());
    let failing = always(Reply::new(502, ""));
    assert_eq!((failing.code(), failing.pauses()), ("hub_failed", vec![1, 2, 4, 8]));
    let busy = always(Reply::new(429, "").with("retry-after", "2"));
    assert_eq!((busy.code(), busy.pauses()), ("hub_rate_limited", vec![2, 2, 2, 2]));
    let long = always(Reply::new(429, "").with("retry-after", "301"));
    let error = long.fetch().unwrap_err();
    assert_eq!((error.code(), long.pauses()), ("hub_rate_limited", vec![]));
    assert!(error.to_string().contains("in 301 s"), "{error}");
    let endless = always(Reply::new(429, "").with("retry-after", "18446744073709551615"));
    assert_eq!(endless.code(), "hub_rate_limited");
}

#[test]
fn a_model_that_cannot_be_a_pack_costs_one_request() {
    for hub in [
        Hub::model(10).without(WEIGHTS),
        Hub::model(10).without("config.json"),
        Hub::model(10).without("tokenizer.json"),
        Hub::model(10)
            .without(WEIGHTS)
            .with("model.safetensors.index.json", b"{}", false),
    ] {
        let fixture = Fixture::new(hub);
        assert_eq!(fixture.code(), "hub_model_unusable");
        assert_eq!(fixture.paths().len(), 1);
    }
}

#[test]
fn two_processes_do_not_write_one_download() {
    let fixture = Fixture::new(Hub::model(10));
    let held = fixture.fetch().unwrap();
    assert_eq!(fixture.code(), "hub_busy");
    drop(held);
    fixture.fetch().unwrap();
}

#[test]
fn a_disk_that_refuses_is_named() {
    let fixture = Fixture::new(Hub::model(10));
    std::fs::write(fixture.folder.path().join(".downloads"), "a file").unwrap();
    let error = fixture.fetch().unwrap_err();
    assert_eq!(error.code(), "hub_unwritable");
    let failure = Failure::from(error);
    assert!(failure.0.message.contains(".downloads"), "{failure:?}");
    assert!(!failure.0.details.is_empty(), "{failure:?}");
}

#[test]
fn every_failure_says_who_can_help() {
    let kind = |error: HubError| Failure::from(error).0.kind;
    assert_eq!(kind("hf:x".parse::<HubSpec>().unwrap_err()), ErrorKind::Input);
    assert_eq!(kind(HubError::Busy), ErrorKind::Conflict);
    assert_eq!(kind(HubError::Cancelled), ErrorKind::NotReady);
    let differs = HubError::Differs {
        file: "f".to_owned(),
        why: "w",
    };
    assert_eq!(kind(differs), ErrorKind::CheckFailed);
}

#[test]
fn a_listed_file_that_is_not_there_is_named() {
    let fixture = Fixture::changed(Hub::model(10), |asked, _, usual| {
        if asked.path.ends_with(WEIGHTS) {
            Reply::new(404, "").with("x-error-code", "EntryNotFound")
        } else {
            usual
        }
    });
    let error = fixture.fetch().unwrap_err();
    assert_eq!(error.code(), "hub_transfer_invalid");
    assert!(error.to_string().contains(WEIGHTS), "{error}");
}
