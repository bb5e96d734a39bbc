//! Bytes that outlive a release: one golden per event kind and version, with the envelope's hash.

use crate::support::{History, activation, manifest};
use casebook_recorder::RunFailure;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn stored_bytes_never_change() {
    let history = History::new();
    history.start("golden-1");
    history.clock.advance_millis(250);
    history
        .recorder
        .finish_run(&"golden-1".into(), &activation(1), &|| Some(manifest(1)))
        .unwrap();
    history.start("golden-2");
    let failure = RunFailure {
        stage: Some("dense".to_owned()),
        code: "deadline_exceeded".to_owned(),
        summary: "60 s were over 超时".to_owned(),
        revision: Some("3-abc".into()),
        effective_hash: Some(manifest(1).effective_hash()),
    };
    history.recorder.fail_run(&"golden-2".into(), &failure).unwrap();

    let db = history.sql();
    let mut statement = db
        .prepare(
            "SELECT kind, kind_version, seq, stream, stream_version, recorded_at, hash, payload
             FROM events JOIN event_payloads USING (seq) ORDER BY seq",
        )
        .unwrap();
    let events = statement.query_map([], |row| {
        let (kind, version): (String, u32) = (row.get(0)?, row.get(1)?);
        let (seq, stream, at): (i64, String, i64) = (row.get(2)?, row.get(3)?, row.get(5)?);
        let (stream_version, hash, payload): (i64, [u8; 32], Vec<u8>) = (row.get(4)?, row.get(6)?, row.get(7)?);
        let (hash, payload) = (hex(&hash), hex(&payload));
        Ok(format!(
            "{kind} v{version}: {seq} {stream} {stream_version} at {at}\nhash {hash}\n{payload}\n"
        ))
    });
    let events: Vec<String> = events.unwrap().map(Result::unwrap).collect();
    insta::assert_snapshot!(events.join("\n"));
}
