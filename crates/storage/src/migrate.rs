//! Forward migrations: position in the list = `user_version`.

use rusqlite::{Connection, TransactionBehavior};

use crate::DatabaseError;

/// One step of a schema. Never edited once released; a change is a further step.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    /// Statements that lead from the version before to this one.
    pub sql: &'static str,
}

/// Brings a database to the last version of the list. An up-to-date database is only read, so that many processes may
/// do this at once without waiting for each other.
///
/// # Errors
/// When the database is newer than the list, or a step fails; each step is applied whole or not at all.
pub fn migrate(db: &mut Connection, migrations: &[Migration]) -> Result<(), DatabaseError> {
    let known = migrations.len() as i64;
    match version(db)? {
        found if found == known => return Ok(()),
        // Before a transaction that a database without permission to write would refuse.
        found if found > known => return Err(DatabaseError::Newer { found, known }),
        _ => {}
    }
    loop {
        let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Read again: another process may have migrated while this one waited.
        let found = version(&tx)?;
        if found > known || found < 0 {
            return Err(DatabaseError::Newer { found, known });
        }
        let Some(step) = migrations.get(found as usize) else {
            return Ok(());
        };
        tx.execute_batch(step.sql)?;
        tx.pragma_update(None, "user_version", found + 1)?;
        tx.commit()?;
    }
}

fn version(db: &Connection) -> rusqlite::Result<i64> {
    db.pragma_query_value(None, "user_version", |row| row.get(0))
}
