//! The tables derived from the log.
//!
//! One function applies an event, while it is appended and while the log is replayed: that is why both give the same rows.

use casebook_corpus::Timestamp;
use rusqlite::{Connection, Transaction, params, params_from_iter, types::Value};

use crate::EventSeq;
use crate::stored::{CorpusFrozen, Event, RunFailed, RunStarted, RunSucceeded, StoredCandidate, StoredRanked};

/// Where and when an event was recorded.
pub(crate) struct Place<'a> {
    pub(crate) seq: EventSeq,
    pub(crate) stream: &'a str,
    pub(crate) recorded_at: Timestamp,
}

/// Applies one event.
pub(crate) fn apply(tx: &Transaction<'_>, place: &Place<'_>, event: &Event) -> rusqlite::Result<()> {
    match event {
        Event::RunStarted(event) => run_started(tx, place, event),
        Event::RunSucceeded(event) => run_succeeded(tx, place, event),
        Event::RunFailed(event) => run_failed(tx, place, event),
        Event::CorpusFrozen(event) => corpus_frozen(tx, event),
    }
}

/// Empties every projection.
pub(crate) fn clear(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    tx.execute_batch(
        "DELETE FROM retrieval_runs; DELETE FROM retrieval_run_candidates;
         DELETE FROM retrieval_run_resources; DELETE FROM retrieval_corpus_blobs;",
    )
}

fn run_started(tx: &Transaction<'_>, place: &Place<'_>, event: &RunStarted) -> rusqlite::Result<()> {
    tx.prepare_cached(
        "INSERT INTO retrieval_runs (started_seq, run_id, project, instance, query, profile, status, started_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'running', ?7)",
    )?
    .execute(params![
        place.seq.get(),
        run_id(place),
        event.project.as_str(),
        event.instance.as_str(),
        event.request.query,
        event.config.profile,
        place.recorded_at.unix_millis(),
    ])?;
    Ok(())
}

fn run_succeeded(tx: &Transaction<'_>, place: &Place<'_>, event: &RunSucceeded) -> rusqlite::Result<()> {
    let micros = event
        .latencies
        .iter()
        .fold(0_u64, |sum, one| sum.saturating_add(one.micros));
    let started_seq: i64 = tx
        .prepare_cached(
            "UPDATE retrieval_runs SET status = 'succeeded', finished_at = ?2, revision = ?3, effective_hash = ?4,
                    candidates = ?5, fragments = ?6, latency_micros = ?7
             WHERE run_id = ?1 RETURNING started_seq",
        )?
        .query_row(
            params![
                run_id(place),
                place.recorded_at.unix_millis(),
                event.revision.as_str(),
                event.effective_hash.0,
                count(&event.candidates),
                count(&event.fragments),
                micros.cast_signed(),
            ],
            |row| row.get(0),
        )?;
    insert_candidates(tx, started_seq, &event.candidates)?;
    let mut insert = tx.prepare_cached(
        "INSERT OR IGNORE INTO retrieval_corpus_blobs (content_hash, bytes, first_seq) VALUES (?1, ?2, ?3)",
    )?;
    for fragment in &event.fragments {
        insert.execute(params![
            fragment.content_hash.0,
            fragment.text_bytes.cast_signed(),
            place.seq.get(),
        ])?;
    }
    Ok(())
}

fn insert_candidates(tx: &Connection, started_seq: i64, candidates: &[StoredCandidate]) -> rusqlite::Result<()> {
    let mut insert = tx.prepare_cached(
        "INSERT INTO retrieval_run_candidates (
             started_seq, ordinal, unit_key, resource_id, content_hash, resource_hash, token_count, disposition, action,
             redirected_from, redirect, pair_score, exact_rank, exact_score, lexical_rank, lexical_score, fts5_rank,
             fts5_score, tantivy_rank, tantivy_score, dense_rank, dense_score, sparse_rank, sparse_score, rrf_rank, rrf_score,
             fused_rank, fused_score, reranker_rank, reranker_score, final_rank, final_score, weighted_rank,
             weighted_score, impact_rank, impact_score)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )?;
    for (ordinal, candidate) in (0_i64..).zip(candidates) {
        insert.execute(params_from_iter(candidate_row(started_seq, ordinal, candidate)))?;
    }
    Ok(())
}

fn candidate_row(started_seq: i64, ordinal: i64, candidate: &StoredCandidate) -> impl Iterator<Item = Value> {
    let text = |text: &str| Value::Text(text.to_owned());
    let (redirected_from, redirect) = match &candidate.redirected_from {
        None => (Value::Null, Value::Null),
        Some((resource, reason)) => (text(resource.as_str()), text(reason)),
    };
    [
        Value::Integer(started_seq),
        Value::Integer(ordinal),
        text(candidate.unit_key.as_str()),
        text(candidate.resource_id.as_str()),
        Value::Blob(candidate.content_hash.0.to_vec()),
        Value::Blob(candidate.resource_hash.0.to_vec()),
        Value::Integer(candidate.token_count.cast_signed()),
        text(&candidate.disposition),
        candidate.action.as_deref().map_or(Value::Null, text),
        redirected_from,
        redirect,
        candidate
            .pair_score
            .map_or(Value::Null, |score| Value::Real(score.into())),
    ]
    .into_iter()
    .chain(candidate.scores.columns().into_iter().flat_map(stage_columns))
}

fn stage_columns(stage: Option<StoredRanked>) -> [Value; 2] {
    match stage {
        None => [Value::Null, Value::Null],
        Some(StoredRanked { rank, score }) => [Value::Integer(rank.into()), Value::Real(score.into())],
    }
}

fn run_failed(tx: &Transaction<'_>, place: &Place<'_>, event: &RunFailed) -> rusqlite::Result<()> {
    tx.prepare_cached(
        "UPDATE retrieval_runs SET status = 'failed', finished_at = ?2, revision = ?3, effective_hash = ?4,
                failure_stage = ?5, failure_code = ?6, failure_summary = ?7
         WHERE run_id = ?1",
    )?
    .execute(params![
        run_id(place),
        place.recorded_at.unix_millis(),
        event.revision.as_ref().map(AsRef::<str>::as_ref),
        event.effective_hash.map(|hash| hash.0),
        event.stage,
        event.code,
        event.summary,
    ])?;
    Ok(())
}

fn corpus_frozen(tx: &Transaction<'_>, event: &CorpusFrozen) -> rusqlite::Result<()> {
    let mut insert = tx.prepare_cached(
        "INSERT INTO retrieval_run_resources (effective_hash, ordinal, scope, resource_id, content_hash)
         VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    for (ordinal, entry) in (0_i64..).zip(&event.entries) {
        insert.execute(params![
            event.effective_hash.0,
            ordinal,
            entry.scope.as_str(),
            entry.id.as_str(),
            entry.content_hash.0,
        ])?;
    }
    Ok(())
}

/// Returns a length as SQLite has it; no list in memory is longer than that.
fn count<T>(list: &[T]) -> i64 {
    (list.len() as u64).cast_signed()
}

fn run_id<'a>(place: &Place<'a>) -> &'a str {
    place.stream.strip_prefix("run/").unwrap_or(place.stream)
}
