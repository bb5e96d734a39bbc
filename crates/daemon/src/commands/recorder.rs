//! `casebook recorder`

use crate::cli::{Common, RecorderCommand};
use crate::failure::Failure;
use crate::output;
use crate::wire::Setup;

pub(crate) fn run(common: &Common, command: &RecorderCommand) -> Result<(), Failure> {
    let history = Setup::new(common)?.history()?;
    match command {
        RecorderCommand::Verify => {
            let events = history.verify()?;
            report(common, events, "events verified; the chain holds")
        }
        RecorderCommand::Rebuild => {
            history.rebuild()?;
            report(
                common,
                history.verify()?,
                "events replayed into the tables beside the log",
            )
        }
    }
}

fn report(common: &Common, events: u64, words: &str) -> Result<(), Failure> {
    if common.json {
        return output::json(&serde_json::json!({ "events": events }));
    }
    output::line(format!("{events} {words}"))
}
