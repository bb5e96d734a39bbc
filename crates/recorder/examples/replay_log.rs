//! Lists the Runs of a history folder: `cargo run -p casebook-recorder --example replay_log -- DIR`.

use std::sync::Arc;
use std::time::UNIX_EPOCH;

use casebook_corpus::Timestamp;
use casebook_recorder::{Recorder, RunFilter};

#[expect(clippy::print_stdout, reason = "showing the list is what the example is for")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dir = std::env::args().nth(1).ok_or("usage: replay_log DIR")?;
    // Opening closes Runs that a crash interrupted, so the clock must not be far off.
    let changed = std::fs::metadata(&dir)?.modified()?.duration_since(UNIX_EPOCH)?;
    let clock = Timestamp::from_unix_millis(changed.as_millis().try_into()?);
    let recorder = Recorder::open(dir.as_ref(), "replay-log".into(), Arc::new(clock))?;
    println!("{:?}", recorder.verify()?);
    for run in recorder.runs(None, &RunFilter::default())? {
        println!("{} {} {} {:?}", run.started_at, run.status, run.id, run.query);
        let record = recorder.run(&run.id)?;
        for candidate in record
            .and_then(|record| record.activation)
            .iter()
            .flat_map(|found| &found.candidates)
        {
            println!("  {} {}", candidate.disposition, candidate.unit_key);
        }
    }
    Ok(())
}
