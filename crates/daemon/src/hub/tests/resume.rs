//! Connections that break, and what is done with what came.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use casebook_index::Cancel;

use super::super::*;
use super::fixture::*;
use super::server::{Asked, Reply, Way};

/// A hub that answers otherwise about the weights alone.
fn weights(hub: Hub, change: impl Fn(&Asked, usize, Reply) -> Reply + Send + Sync + 'static) -> Fixture {
    Fixture::changed(hub, move |asked, nth, usual| {
        if asked.path.ends_with(WEIGHTS) {
            change(asked, nth, usual)
        } else {
            usual
        }
    })
}

fn ranges(fixture: &Fixture) -> Vec<Option<String>> {
    let asked = fixture.asked_for(WEIGHTS).into_iter();
    asked.map(|asked| asked.header("range").map(str::to_owned)).collect()
}

#[track_caller]
fn check_weights(fixture: &Fixture, hub: &Hub) {
    let model = fixture.fetch().unwrap();
    assert!(std::fs::read(model.dir.join(WEIGHTS)).unwrap() == hub.content(WEIGHTS));
}

#[test]
fn a_lost_connection_goes_on_where_it_ended() {
    let hub = Hub::model(5000);
    let fixture = weights(hub.clone(), |_, nth, usual| match nth {
        0 => usual.sent(Way::CutAfter(1000)),
        1 => usual.sent(Way::CutAfter(500)),
        _ => usual,
    });
    check_weights(&fixture, &hub);
    assert_eq!(
        ranges(&fixture),
        [None, Some("bytes=1000-".to_owned()), Some("bytes=1500-".to_owned())]
    );
    let asked = fixture.asked_for(WEIGHTS);
    let tag = hub.reply(&asked[0]).headers[0].1.clone();
    assert_eq!(asked[1].header("if-range"), Some(&*tag));
    assert_eq!(fixture.pauses(), [1, 2]);
}

#[test]
fn a_later_call_goes_on_where_the_last_ended() {
    let hub = Hub::model(5000);
    let open = std::sync::Arc::new(AtomicBool::new(false));
    let is_open = std::sync::Arc::clone(&open);
    let fixture = weights(hub.clone(), move |_, nth, usual| {
        if is_open.load(Ordering::SeqCst) {
            usual
        } else {
            usual.sent(Way::CutAfter(if nth == 0 { 1000 } else { 0 }))
        }
    });
    assert_eq!(fixture.code(), "hub_unreachable");
    assert_eq!(std::fs::read(fixture.part(WEIGHTS)).unwrap().len(), 1000);
    assert_eq!(fixture.pauses(), [1, 2, 4, 8]);
    open.store(true, Ordering::SeqCst);
    check_weights(&fixture, &hub);
    assert_eq!(ranges(&fixture).last().unwrap().as_deref(), Some("bytes=1000-"));
    assert!(!fixture.part(WEIGHTS).exists());
}

#[test]
fn patience_begins_anew_while_a_file_grows() {
    const MIB: usize = 1 << 20;
    let hub = Hub::model(8 * MIB);
    let fixture = weights(hub.clone(), |_, _, usual| usual.sent(Way::CutAfter(MIB)));
    check_weights(&fixture, &hub);
    assert_eq!(fixture.pauses(), [1; 7]);
}

#[test]
fn another_version_starts_over() {
    let hub = Hub::model(5000);
    let fixture = weights(hub.clone(), |asked, nth, usual| match nth {
        0 => usual.with("etag", "\"old\"").sent(Way::CutAfter(1000)),
        _ => {
            assert_eq!(asked.header("if-range"), Some("\"old\""));
            assert_eq!(usual.status, 200, "the tag has changed");
            usual
        }
    });
    check_weights(&fixture, &hub);
    assert_eq!(fixture.asked_for(WEIGHTS).len(), 2);
}

#[test]
fn a_server_that_ignores_the_tag_is_found_out() {
    let hub = Hub::model(5000);
    let fixture = weights(hub.clone(), |_, nth, usual| match nth {
        0 => usual.with("etag", "\"old\"").sent(Way::CutAfter(1000)),
        1 => Reply::new(206, noise(5000)[1000..].to_vec())
            .with("content-range", "bytes 1000-4999/5000")
            .with("etag", "\"new\""),
        _ => usual,
    });
    check_weights(&fixture, &hub);
    assert_eq!(ranges(&fixture), [None, Some("bytes=1000-".to_owned()), None]);
}

#[test]
fn without_a_tag_only_a_checksum_allows_to_go_on() {
    let hub = Hub::model(5000);
    let fixture = Fixture::changed(hub.clone(), |_, nth, usual| {
        let usual = usual.without("etag").with("etag", "W/\"weak\"");
        match usual.body.len() {
            length if nth == 0 && usual.status == 200 && length < 10_000 => usual.sent(Way::CutAfter(5)),
            _ => usual,
        }
    });
    check_weights(&fixture, &hub);
    assert_eq!(ranges(&fixture), [None, Some("bytes=5-".to_owned())]);
    assert_eq!(fixture.asked_for(WEIGHTS)[1].header("if-range"), None);
    let small = fixture.asked_for("tokenizer.json");
    assert_eq!((small.len(), small[1].header("range")), (2, None));
}

#[test]
fn a_part_that_is_too_long_or_whole_needs_no_range() {
    let hub = Hub::model(5000);
    let fixture = Fixture::new(hub.clone());
    fixture.fetch().unwrap().discard().unwrap();
    std::fs::create_dir_all(fixture.part(WEIGHTS).parent().unwrap()).unwrap();
    std::fs::write(fixture.part(WEIGHTS), hub.content(WEIGHTS)).unwrap();
    check_weights(&fixture, &hub);
    assert_eq!(fixture.asked_for(WEIGHTS).len(), 1, "a whole part is only checked");
    fixture.fetch().unwrap().discard().unwrap();
    std::fs::create_dir_all(fixture.part(WEIGHTS).parent().unwrap()).unwrap();
    std::fs::write(fixture.part(WEIGHTS), noise(6000)).unwrap();
    check_weights(&fixture, &hub);
    assert_eq!(ranges(&fixture), [None, None]);
}

#[test]
fn a_wrong_range_is_not_appended() {
    for wrong in [
        "bytes 999-4998/5000",
        "bytes 1000-4999/6000",
        "bytes 1000-4998/5000",
        "bytes 1000-4999/*",
        "items 1000-4999/5000",
        "",
    ] {
        let hub = Hub::model(5000);
        let fixture = weights(hub.clone(), move |_, nth, usual| match nth {
            0 => usual.sent(Way::CutAfter(1000)),
            1 => usual.with("content-range", wrong),
            _ => usual,
        });
        check_weights(&fixture, &hub);
        assert_eq!(
            ranges(&fixture),
            [None, Some("bytes=1000-".to_owned()), None],
            "{wrong}"
        );
    }
}

#[test]
fn a_server_without_such_bytes_is_asked_from_the_start() {
    let hub = Hub::model(5000);
    let fixture = weights(hub.clone(), |_, nth, usual| match nth {
        0 => usual.sent(Way::CutAfter(1000)),
        1 => Reply::new(416, ""),
        _ => usual,
    });
    check_weights(&fixture, &hub);
    assert_eq!(ranges(&fixture).len(), 3);
}

#[test]
fn a_server_that_knows_no_ranges_starts_over() {
    let hub = Hub::model(5000);
    let content = hub.content(WEIGHTS).to_owned();
    let fixture = weights(hub.clone(), move |_, nth, _| match nth {
        0 => Reply::new(200, &*content).sent(Way::CutAfter(1000)),
        _ => Reply::new(200, &*content),
    });
    check_weights(&fixture, &hub);
}

#[test]
fn a_signed_address_that_ran_out_is_asked_for_anew() {
    let hub = Hub::model(5000);
    let content = hub.content(WEIGHTS).to_owned();
    let storage = super::server::Server::start(move |asked, nth| match nth {
        0 => Reply::new(403, "expired"),
        _ => ranged(asked, &content),
    });
    let elsewhere = storage.address();
    let fixture = weights(hub.clone(), move |_, _, _| Reply::redirect(&elsewhere));
    check_weights(&fixture, &hub);
    assert_eq!((fixture.asked_for(WEIGHTS).len(), fixture.pauses()), (2, vec![1]));
}

/// Stops at the n-th question.
struct StopAt(AtomicUsize);

impl Cancel for StopAt {
    fn cancelled(&self) -> bool {
        self.0.fetch_sub(1, Ordering::SeqCst) == 0
    }
}

#[test]
fn a_stop_keeps_what_came() {
    let hub = Hub::model(300_000);
    let fixture = weights(hub.clone(), |_, nth, usual| match nth {
        0 => usual.sent(Way::HangAfter(100_000)),
        _ => usual,
    });
    // Both ends of a pause look, as does every piece that comes.
    let stop_when_here = |fixture: &Fixture| {
        let path = fixture.part(WEIGHTS);
        move || std::fs::metadata(&path).is_ok_and(|part| part.len() > 0)
    };
    struct When<F>(F);
    impl<F: Fn() -> bool + Sync> Cancel for When<F> {
        fn cancelled(&self) -> bool {
            (self.0)()
        }
    }
    let when = When(stop_when_here(&fixture));
    let options = HubOptions {
        cancel: &when,
        silence: Duration::from_millis(300),
        ..fixture.options()
    };
    assert_eq!(fixture.fetch_with(&options).unwrap_err().code(), "cancelled");
    assert!(fixture.part(WEIGHTS).metadata().unwrap().len() > 0);
    check_weights(&fixture, &hub);
    assert!(ranges(&fixture)[1].is_some());
}

#[test]
fn a_stop_ends_a_pause_and_every_stage() {
    let fixture = Fixture::changed(Hub::model(10), |_, _, _| Reply::new(503, ""));
    let options = HubOptions {
        cancel: &StopAt(AtomicUsize::new(1)),
        ..fixture.options()
    };
    assert_eq!(fixture.fetch_with(&options).unwrap_err().code(), "cancelled");
    assert_eq!(fixture.paths().len(), 1);
    let before = HubOptions {
        cancel: &StopAt(AtomicUsize::new(0)),
        ..fixture.options()
    };
    assert_eq!(fixture.fetch_with(&before).unwrap_err().code(), "cancelled");
    assert_eq!(fixture.paths().len(), 1, "nothing was asked");
}

#[test]
fn a_real_pause_ends_when_it_is_not_wanted() {
    // Without the look in between this would last for hours.
    RealSleeper.sleep(Duration::from_secs(10_000), &StopAt(AtomicUsize::new(2)));
}
