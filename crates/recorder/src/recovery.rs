//! Closes the Runs whose process ended before they were done.
//!
//! A `running` Run is not a sign of a crash: other processes are recording right now. Only a Run whose instance is gone
//! is closed, and several processes that find it at once append one event: the expected version lets the first through.

use std::collections::HashMap;

use casebook_corpus::Clock;
use rusqlite::Connection;

use crate::instance::Instances;
use crate::log::append_one;
use crate::stored::{Event, RunFailed};
use crate::{InstanceId, OpenError, RETRIEVAL_INTERRUPTED, RecordError, RunFailure};

/// Closes what is left over. `own` is the instance that opens: it has not started anything yet, so what runs under its
/// id is left over too.
pub(crate) fn close_interrupted(
    db: &mut Connection,
    instances: &Instances,
    own: &InstanceId,
    clock: &dyn Clock,
) -> Result<(), OpenError> {
    let mut alive = HashMap::from([(own.clone(), false)]);
    for (run, instance) in running(db).map_err(|error| OpenError::Recovery(error.into()))? {
        let alive = match alive.get(&instance) {
            Some(alive) => *alive,
            None => {
                let found = instances.is_alive(&instance)?;
                alive.insert(instance, found);
                found
            }
        };
        if !alive {
            close(db, &run, clock).map_err(OpenError::Recovery)?;
        }
    }
    Ok(())
}

fn running(db: &Connection) -> rusqlite::Result<Vec<(String, InstanceId)>> {
    db.prepare_cached("SELECT run_id, instance FROM retrieval_runs WHERE status = 'running' ORDER BY started_seq")?
        .query_map([], |row| Ok((row.get(0)?, InstanceId::new(row.get::<_, String>(1)?))))?
        .collect()
}

fn close(db: &mut Connection, run: &str, clock: &dyn Clock) -> Result<(), RecordError> {
    let failure = RunFailure {
        code: RETRIEVAL_INTERRUPTED.to_owned(),
        summary: "the process ended before the retrieval did".to_owned(),
        ..RunFailure::default()
    };
    let event = Event::RunFailed(RunFailed::from_runtime(&failure));
    match append_one(db, &format!("run/{run}"), 1, clock, &event) {
        // It ended after all, or another process was faster.
        Err(RecordError::Conflict { .. }) => Ok(()),
        other => other,
    }
}
