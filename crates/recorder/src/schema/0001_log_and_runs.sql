-- The log. `seq` has no gaps: a missing number is a missing event. The payload lies apart, so that it can be erased for
-- good while the envelope and its hashes stay and the chain still holds.
CREATE TABLE events (
    seq            INTEGER PRIMARY KEY,
    stream         TEXT    NOT NULL,
    stream_version INTEGER NOT NULL CHECK (stream_version > 0),
    kind           TEXT    NOT NULL,
    kind_version   INTEGER NOT NULL,
    recorded_at    INTEGER NOT NULL,
    payload_hash   BLOB    NOT NULL CHECK (length(payload_hash) = 32),
    previous_hash  BLOB    NOT NULL CHECK (length(previous_hash) = 32),
    hash           BLOB    NOT NULL CHECK (length(hash) = 32),
    UNIQUE (stream, stream_version)
) STRICT;

CREATE TABLE event_payloads (
    seq     INTEGER PRIMARY KEY REFERENCES events (seq),
    payload BLOB    NOT NULL
) STRICT;

CREATE TRIGGER events_are_never_updated BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'an event is never updated'); END;

CREATE TRIGGER events_are_never_deleted BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'an event is never deleted'); END;

-- INSERT OR REPLACE deletes without asking the trigger above.
CREATE TRIGGER events_are_never_replaced BEFORE INSERT ON events
WHEN EXISTS (SELECT 1 FROM events WHERE seq = NEW.seq OR (stream = NEW.stream AND stream_version = NEW.stream_version))
BEGIN SELECT RAISE(ABORT, 'an event is never replaced'); END;

CREATE TRIGGER payloads_are_never_updated BEFORE UPDATE ON event_payloads
BEGIN SELECT RAISE(ABORT, 'a payload is never updated'); END;

CREATE TRIGGER payloads_are_never_deleted BEFORE DELETE ON event_payloads
BEGIN SELECT RAISE(ABORT, 'a payload is never deleted'); END;

CREATE TRIGGER payloads_are_never_replaced BEFORE INSERT ON event_payloads
WHEN EXISTS (SELECT 1 FROM event_payloads WHERE seq = NEW.seq)
BEGIN SELECT RAISE(ABORT, 'a payload is never replaced'); END;

-- The last event. It tells a log whose end was cut off from a shorter log.
CREATE TABLE log_head (
    id   INTEGER PRIMARY KEY CHECK (id = 1),
    seq  INTEGER NOT NULL,
    hash BLOB    NOT NULL CHECK (length(hash) = 32)
) STRICT;
INSERT INTO log_head (id, seq, hash) VALUES (1, 0, zeroblob(32));

-- From here on projections: derived from the log in the appending transaction, and at any time again.

CREATE TABLE retrieval_runs (
    started_seq     INTEGER PRIMARY KEY,
    run_id          TEXT    NOT NULL UNIQUE,
    project         TEXT    NOT NULL,
    instance        TEXT    NOT NULL,
    query           TEXT    NOT NULL,
    profile         TEXT    NOT NULL,
    status          TEXT    NOT NULL CHECK (status IN ('running', 'succeeded', 'failed')),
    started_at      INTEGER NOT NULL,
    finished_at     INTEGER,
    revision        TEXT,
    effective_hash  BLOB,
    candidates      INTEGER NOT NULL DEFAULT 0,
    fragments       INTEGER NOT NULL DEFAULT 0,
    latency_micros  INTEGER,
    failure_stage   TEXT,
    failure_code    TEXT,
    failure_summary TEXT
) STRICT;
CREATE INDEX retrieval_runs_by_project ON retrieval_runs (project, started_seq);
CREATE INDEX retrieval_runs_running ON retrieval_runs (started_seq) WHERE status = 'running';

CREATE TABLE retrieval_run_candidates (
    started_seq     INTEGER NOT NULL,
    ordinal         INTEGER NOT NULL,
    unit_key        TEXT    NOT NULL,
    resource_id     TEXT    NOT NULL,
    content_hash    BLOB    NOT NULL,
    resource_hash   BLOB    NOT NULL,
    token_count     INTEGER NOT NULL,
    disposition     TEXT    NOT NULL,
    action          TEXT,
    redirected_from TEXT,
    redirect        TEXT,
    pair_score      REAL,
    exact_rank      INTEGER, exact_score    REAL,
    lexical_rank    INTEGER, lexical_score  REAL,
    fts5_rank       INTEGER, fts5_score     REAL,
    tantivy_rank    INTEGER, tantivy_score  REAL,
    dense_rank      INTEGER, dense_score    REAL,
    sparse_rank     INTEGER, sparse_score   REAL,
    rrf_rank        INTEGER, rrf_score      REAL,
    fused_rank      INTEGER, fused_score    REAL,
    reranker_rank   INTEGER, reranker_score REAL,
    final_rank      INTEGER, final_score    REAL,
    PRIMARY KEY (started_seq, ordinal)
) STRICT, WITHOUT ROWID;

-- The manifest that a Run searched: once per effective hash, however many Runs searched it.
CREATE TABLE retrieval_run_resources (
    effective_hash BLOB    NOT NULL,
    ordinal        INTEGER NOT NULL,
    scope          TEXT    NOT NULL,
    resource_id    TEXT    NOT NULL,
    content_hash   BLOB    NOT NULL,
    PRIMARY KEY (effective_hash, ordinal)
) STRICT, WITHOUT ROWID;

-- Texts that some Run showed, stored as files named by their hash.
CREATE TABLE retrieval_corpus_blobs (
    content_hash BLOB    PRIMARY KEY,
    bytes        INTEGER NOT NULL,
    first_seq    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
