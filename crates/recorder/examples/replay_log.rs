//! Lists the Runs of a history folder: `cargo run -p casebook-recorder --example replay_log -- DIR`.

use std::sync::Arc;

use casebook_corpus::{Clock, Timestamp};
use casebook_recorder::{Recorder, RunFilter};

/// A program that records needs a real clock; one that reads does not.
struct NoClock;

impl Clock for NoClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_unix_millis(0)
    }

    fn monotonic_micros(&self) -> u64 {
        0
    }
}

#[expect(clippy::print_stdout, reason = "showing the list is what the example is for")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dir = std::env::args().nth(1).ok_or("usage: replay_log DIR")?;
    let recorder = Recorder::open(dir.as_ref(), "replay-log".into(), Arc::new(NoClock))?;
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
