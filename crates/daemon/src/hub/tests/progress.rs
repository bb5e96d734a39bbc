//! What a caller is told meanwhile.

use super::fixture::*;
use super::server::{Reply, Way};

/// What is told of one file, without repetitions.
fn of_file(told: &Told, file: &str) -> Vec<String> {
    let mut lines: Vec<_> = told.0.iter().filter(|line| line.contains(file)).cloned().collect();
    lines.dedup();
    lines
}

#[test]
fn progress_tells_each_file_and_the_whole() {
    let hub = Hub::model(200_000);
    let total: usize = hub
        .files
        .iter()
        .filter(|(name, _, _)| !name.ends_with(".bin"))
        .map(|(_, content, _)| content.len())
        .sum();
    let fixture = Fixture::new(hub);
    let mut told = Told::default();
    fixture.fetch_telling(&fixture.options(), &mut told).unwrap();
    assert_eq!(told.0[0], "asking");
    let before = total - 200_000;
    let weights = of_file(&told, WEIGHTS);
    assert_eq!(weights[0], format!("{WEIGHTS} 0/200000 {before}/{total}"));
    assert_eq!(weights[weights.len() - 2], format!("checking {WEIGHTS}"));
    assert_eq!(
        weights[weights.len() - 1],
        format!("{WEIGHTS} 200000/200000 {total}/{total}")
    );
    let mut again = Told::default();
    fixture.fetch_telling(&fixture.options(), &mut again).unwrap();
    assert_eq!(
        of_file(&again, WEIGHTS),
        [
            format!("checking {WEIGHTS}"),
            format!("{WEIGHTS} 200000/200000 {total}/{total}")
        ]
    );
}

#[test]
fn a_pause_is_told_with_its_reason() {
    let fixture = Fixture::changed(Hub::model(5000), |asked, nth, usual| match nth {
        0 if asked.path.ends_with(WEIGHTS) => usual.sent(Way::CutAfter(100)),
        0 if asked.path.starts_with("/api") => Reply::new(503, ""),
        _ => usual,
    });
    let mut told = Told::default();
    fixture.fetch_telling(&fixture.options(), &mut told).unwrap();
    let pauses: Vec<_> = told.0.iter().filter(|line| line.starts_with("waiting")).collect();
    assert_eq!(pauses, ["waiting 1s hub_failed", "waiting 1s hub_unreachable"]);
}
