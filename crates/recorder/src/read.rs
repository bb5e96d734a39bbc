//! Reading Runs back.

use casebook_corpus::{ContentHash, Degradation, EffectiveHash, Manifest, ProjectId, Timestamp};
use casebook_ranker::UnitKey;
use rusqlite::{OptionalExtension, Row, params};

use crate::log::Events;
use crate::recorder::{corpus_stream, run_stream};
use crate::stored::{Event, RunStarted};
use crate::{
    FRAGMENT_TEXT_UNAVAILABLE, PayloadError, ReadError, Recorder, RunFilter, RunId, RunMatch, RunRecord, RunStatus,
    RunSummary, log,
};

const COLUMNS: &str = "run_id, project, query, status, started_at, finished_at, revision, effective_hash, candidates, \
                       fragments, failure_code";

/// How many ids an ambiguous prefix names.
const AMBIGUOUS_LIMIT: usize = 10;

impl Recorder {
    /// Returns the Runs of one project, or of all, newest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn runs(&self, project: Option<&ProjectId>, filter: &RunFilter) -> Result<Vec<RunSummary>, ReadError> {
        let whose = if project.is_some() {
            "project = ?1"
        } else {
            "?1 IS NULL"
        };
        let sql = format!(
            "SELECT {COLUMNS} FROM retrieval_runs WHERE {whose} AND (?2 IS NULL OR status = ?2)
             ORDER BY started_seq DESC LIMIT ?3"
        );
        let db = self.db();
        let mut statement = db.prepare_cached(&sql)?;
        let limit = i64::try_from(filter.limit).unwrap_or(i64::MAX);
        let mut rows = statement.query(params![
            project.map(ProjectId::as_str),
            filter.status.map(RunStatus::as_str),
            limit
        ])?;
        let mut runs = Vec::new();
        while let Some(row) = rows.next()? {
            runs.push(summary(row)?);
        }
        Ok(runs)
    }

    /// Returns everything recorded of a Run; `None` where there is none of this id. A fragment whose text cannot be read
    /// back has an empty one, and a degradation says so.
    ///
    /// # Errors
    /// When the database or an event cannot be read.
    pub fn run(&self, run: &RunId) -> Result<Option<RunRecord>, ReadError> {
        let Some((summary, events)) = self.load(run)? else {
            return Ok(None);
        };
        let mut events = events.into_iter();
        let Some((seq, Event::RunStarted(started))) = events.next() else {
            return Err(ReadError::Projection {
                column: "run_id",
                found: run.to_string(),
            });
        };
        let mut record = begin(summary, started).map_err(|source| ReadError::Payload { seq, source })?;
        for (seq, event) in events {
            self.complete(&mut record, event)
                .map_err(|source| ReadError::Payload { seq, source })?;
        }
        Ok(Some(record))
    }

    /// Returns the Run that an id, or the beginning or the end of one, means. Ids that begin with the time differ at
    /// their end.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn find_run(&self, part: &str) -> Result<RunMatch, ReadError> {
        let db = self.db();
        let mut statement = db.prepare_cached(
            "SELECT run_id FROM retrieval_runs
             WHERE substr(run_id, 1, length(?1)) = ?1 OR substr(run_id, -length(?1)) = ?1
             ORDER BY run_id != ?1, run_id LIMIT ?2",
        )?;
        let limit = i64::try_from(AMBIGUOUS_LIMIT).unwrap_or(i64::MAX);
        let found = statement.query_map(params![part, limit], |row| row.get::<_, String>(0))?;
        let found: Vec<RunId> = found.map(|id| id.map(RunId::new)).collect::<Result<_, _>>()?;
        Ok(match &found[..] {
            [] => RunMatch::None,
            [run] => RunMatch::Unique(run.clone()),
            [run, ..] if run.as_str() == part => RunMatch::Unique(run.clone()),
            _ => RunMatch::Ambiguous(found),
        })
    }

    /// Returns the manifest of a memory that some Run searched, where it was recorded.
    ///
    /// # Errors
    /// When the database or the event cannot be read.
    pub fn manifest(&self, memory: EffectiveHash) -> Result<Option<Manifest>, ReadError> {
        let events = log::stream(&self.db(), &corpus_stream(memory))?;
        Ok(events.into_iter().find_map(|(_, event)| match event {
            Event::CorpusFrozen(frozen) => Some(frozen.into_runtime()),
            _ => None,
        }))
    }

    fn load(&self, run: &RunId) -> Result<Option<(RunSummary, Events)>, ReadError> {
        let db = self.db();
        // One transaction, so that the line and the events are of one moment.
        let snapshot = db.unchecked_transaction()?;
        let found = snapshot
            .prepare_cached(&format!("SELECT {COLUMNS} FROM retrieval_runs WHERE run_id = ?1"))?
            .query_row([run.as_str()], |row| Ok(summary(row)))
            .optional()?;
        match found {
            None => Ok(None),
            Some(summary) => Ok(Some((summary?, log::stream(&snapshot, &run_stream(run))?))),
        }
    }

    fn complete(&self, record: &mut RunRecord, event: Event) -> Result<(), PayloadError> {
        match event {
            Event::RunSucceeded(event) => {
                let text_of = |unit: &UnitKey, hash: ContentHash| {
                    self.blobs.get(hash).unwrap_or_else(|| {
                        let detail = format!("text of {unit} is missing or differs from its hash");
                        record
                            .degradations
                            .push(Degradation::new(FRAGMENT_TEXT_UNAVAILABLE, detail));
                        String::new()
                    })
                };
                record.activation = Some(event.into_runtime(text_of)?);
            }
            Event::RunFailed(event) => record.failure = Some(event.into_runtime()),
            Event::RunStarted(_) | Event::CorpusFrozen(_) => {}
        }
        Ok(())
    }
}

fn begin(summary: RunSummary, started: RunStarted) -> Result<RunRecord, PayloadError> {
    Ok(RunRecord {
        summary,
        instance: started.instance,
        request: started.request.into_runtime(),
        config: started.config.into_runtime()?,
        activation: None,
        failure: None,
        degradations: Vec::new(),
    })
}

fn summary(row: &Row<'_>) -> Result<RunSummary, ReadError> {
    let status: String = row.get("status")?;
    let text = |column| row.get::<_, Option<String>>(column);
    Ok(RunSummary {
        id: RunId::new(row.get::<_, String>("run_id")?),
        project: ProjectId::new(row.get::<_, String>("project")?),
        query: row.get("query")?,
        status: RunStatus::from_str_opt(&status).ok_or(ReadError::Projection {
            column: "status",
            found: status,
        })?,
        started_at: Timestamp::from_unix_millis(row.get("started_at")?),
        finished_at: row
            .get::<_, Option<i64>>("finished_at")?
            .map(Timestamp::from_unix_millis),
        revision: text("revision")?.map(|revision| revision.as_str().into()),
        effective_hash: row
            .get::<_, Option<[u8; 32]>>("effective_hash")?
            .map(EffectiveHash::from_bytes),
        candidates: row.get::<_, i64>("candidates")?.unsigned_abs(),
        fragments: row.get::<_, i64>("fragments")?.unsigned_abs(),
        failure_code: text("failure_code")?,
    })
}
