//! The append-only log: envelopes in a hash chain, payloads beside them.
//!
//! An append names the version that its stream must have, and is checked, chained and projected in one immediate
//! transaction. What was acknowledged survives the end of the process; [`Recorder`](crate::Recorder) tells what a loss of
//! power does.

use casebook_corpus::{Clock, Timestamp};
use rusqlite::{Connection, Transaction, TransactionBehavior, params};
use sha2::{Digest as _, Sha256};

use crate::projection::Place;
use crate::stored::Event;
use crate::{EventSeq, PayloadError, ReadError, RecordError, projection};

/// The previous hash of the first event.
const GENESIS: [u8; 32] = [0; 32];

/// What the walk along the chain found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verification {
    /// Every event holds.
    Intact {
        /// How many there are.
        events: u64,
    },
    /// The first event that does not hold.
    Broken {
        /// The event.
        seq: EventSeq,
        /// What is wrong with it.
        fault: ChainFault,
    },
}

/// Why an event does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChainFault {
    /// It is not there, though later events or the log's head know of it.
    Missing,
    /// Its payload is not there.
    PayloadMissing,
    /// Its payload is not the one that was recorded.
    PayloadHash,
    /// It does not follow the event before it.
    Link,
    /// Its envelope is not the one that was recorded.
    Envelope,
    /// It is the last one, and the log's head does not say so.
    Head,
}

impl std::fmt::Display for ChainFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Missing => "the event is missing",
            Self::PayloadMissing => "the payload is missing",
            Self::PayloadHash => "the payload differs from its hash",
            Self::Link => "the event does not follow the one before it",
            Self::Envelope => "the envelope differs from its hash",
            Self::Head => "the log's head does not name the last event",
        })
    }
}

/// An event ready to be appended.
pub(crate) struct Pending<'a> {
    pub(crate) stream: &'a str,
    /// The version that the stream must have; 0 for a new one.
    pub(crate) expected: u64,
    pub(crate) recorded_at: Timestamp,
    pub(crate) event: &'a Event,
    /// The encoded event; made before the transaction, which holds the write lock of all processes.
    pub(crate) payload: &'a [u8],
}

/// Appends one event and updates the projections. The caller commits.
pub(crate) fn append(tx: &Transaction<'_>, pending: &Pending<'_>) -> Result<(), RecordError> {
    let found = stream_version(tx, pending.stream)?;
    if found != pending.expected {
        return Err(RecordError::Conflict {
            stream: pending.stream.to_owned(),
            expected: pending.expected,
            found,
        });
    }
    let (last, previous_hash) = head(tx)?;
    let (kind, kind_version) = pending.event.kind();
    let envelope = Envelope {
        seq: last + 1,
        stream: pending.stream.to_owned(),
        stream_version: found.cast_signed() + 1,
        kind: kind.to_owned(),
        kind_version,
        recorded_at: pending.recorded_at.unix_millis(),
        payload_hash: Sha256::digest(pending.payload).into(),
        previous_hash,
    };
    let hash = envelope.hash();
    insert(tx, &envelope, &hash, pending.payload)?;
    let place = Place {
        seq: EventSeq(envelope.seq),
        stream: pending.stream,
        recorded_at: pending.recorded_at,
    };
    projection::apply(tx, &place, pending.event)?;
    Ok(())
}

/// Appends one event in a transaction of its own.
pub(crate) fn append_one(
    db: &mut Connection,
    stream: &str,
    expected: u64,
    clock: &dyn Clock,
    event: &Event,
) -> Result<(), RecordError> {
    let payload = event.encode()?;
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let recorded_at = clock.now();
    append(
        &tx,
        &Pending {
            stream,
            expected,
            recorded_at,
            event,
            payload: &payload,
        },
    )?;
    Ok(tx.commit()?)
}

fn insert(tx: &Transaction<'_>, envelope: &Envelope, hash: &[u8; 32], payload: &[u8]) -> rusqlite::Result<()> {
    tx.prepare_cached(
        "INSERT INTO events (seq, stream, stream_version, kind, kind_version, recorded_at, payload_hash, previous_hash, hash)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?
    .execute(params![
        envelope.seq,
        envelope.stream,
        envelope.stream_version,
        envelope.kind,
        envelope.kind_version,
        envelope.recorded_at,
        envelope.payload_hash,
        envelope.previous_hash,
        hash,
    ])?;
    tx.prepare_cached("INSERT INTO event_payloads (seq, payload) VALUES (?1, ?2)")?
        .execute(params![envelope.seq, payload])?;
    tx.prepare_cached("UPDATE log_head SET seq = ?1, hash = ?2")?
        .execute(params![envelope.seq, hash])?;
    Ok(())
}

/// Returns the version of a stream: the number of its events.
pub(crate) fn stream_version(connection: &Connection, stream: &str) -> rusqlite::Result<u64> {
    let version: Option<i64> = connection
        .prepare_cached("SELECT max(stream_version) FROM events WHERE stream = ?1")?
        .query_row([stream], |row| row.get(0))?;
    Ok(version.unwrap_or(0).unsigned_abs())
}

/// Returns what the next event follows. Not read from the events: were their end cut off, the gap would close unseen.
fn head(connection: &Connection) -> rusqlite::Result<(i64, [u8; 32])> {
    connection
        .prepare_cached("SELECT seq, hash FROM log_head")?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// The events of a stream, in order.
pub(crate) type Events = Vec<(EventSeq, Event)>;

/// Returns the events of one stream.
pub(crate) fn stream(connection: &Connection, stream: &str) -> Result<Events, ReadError> {
    let mut statement = connection.prepare_cached(
        "SELECT e.seq, e.kind, e.kind_version, p.payload FROM events e LEFT JOIN event_payloads p USING (seq)
         WHERE e.stream = ?1 ORDER BY e.stream_version",
    )?;
    let mut rows = statement.query([stream])?;
    let mut events = Vec::new();
    while let Some(row) = rows.next()? {
        let seq = EventSeq(row.get(0)?);
        let payload: Option<Vec<u8>> = row.get(3)?;
        let event = decode(seq, &row.get::<_, String>(1)?, row.get(2)?, payload.as_deref())?;
        events.push((seq, event));
    }
    Ok(events)
}

fn decode(seq: EventSeq, kind: &str, version: u32, payload: Option<&[u8]>) -> Result<Event, ReadError> {
    payload
        .ok_or(PayloadError::Missing)
        .and_then(|payload| Event::decode(kind, version, payload))
        .map_err(|source| ReadError::Payload { seq, source })
}

/// Projects every event again, in order, into projections that are empty.
pub(crate) fn replay(tx: &Transaction<'_>) -> Result<(), ReadError> {
    let mut statement = tx.prepare(
        "SELECT e.seq, e.stream, e.kind, e.kind_version, e.recorded_at, p.payload
         FROM events e LEFT JOIN event_payloads p USING (seq) ORDER BY e.seq",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let seq = EventSeq(row.get(0)?);
        let payload: Option<Vec<u8>> = row.get(5)?;
        let event = decode(seq, &row.get::<_, String>(2)?, row.get(3)?, payload.as_deref())?;
        let stream: String = row.get(1)?;
        let place = Place {
            seq,
            stream: &stream,
            recorded_at: Timestamp::from_unix_millis(row.get(4)?),
        };
        projection::apply(tx, &place, &event)?;
    }
    Ok(())
}

/// Walks the chain from its start and returns the first event that does not hold.
pub(crate) fn verify(connection: &Connection) -> Result<Verification, ReadError> {
    // One transaction, so that events and head are of one moment.
    let snapshot = connection.unchecked_transaction()?;
    let mut statement = snapshot.prepare(
        "SELECT e.seq, e.stream, e.stream_version, e.kind, e.kind_version, e.recorded_at, e.payload_hash,
                e.previous_hash, e.hash, p.payload
         FROM events e LEFT JOIN event_payloads p USING (seq) ORDER BY e.seq",
    )?;
    let mut rows = statement.query([])?;
    let (mut last, mut previous) = (0, GENESIS);
    while let Some(row) = rows.next()? {
        let envelope = Envelope::read(row)?;
        let hash = row.get(8)?;
        let payload: Option<Vec<u8>> = row.get(9)?;
        if envelope.seq != last + 1 {
            return Ok(broken(last + 1, ChainFault::Missing));
        }
        if let Some(fault) = envelope.fault(&previous, &hash, payload.as_deref()) {
            return Ok(broken(envelope.seq, fault));
        }
        (last, previous) = (envelope.seq, hash);
    }
    let (known, hash) = head(&snapshot)?;
    if known > last {
        return Ok(broken(last + 1, ChainFault::Missing));
    }
    if (known, hash) != (last, previous) {
        return Ok(broken(last, ChainFault::Head));
    }
    Ok(Verification::Intact {
        events: last.unsigned_abs(),
    })
}

fn broken(seq: i64, fault: ChainFault) -> Verification {
    Verification::Broken {
        seq: EventSeq(seq),
        fault,
    }
}

struct Envelope {
    seq: i64,
    stream: String,
    stream_version: i64,
    kind: String,
    kind_version: u32,
    recorded_at: i64,
    payload_hash: [u8; 32],
    previous_hash: [u8; 32],
}

impl Envelope {
    fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            seq: row.get(0)?,
            stream: row.get(1)?,
            stream_version: row.get(2)?,
            kind: row.get(3)?,
            kind_version: row.get(4)?,
            recorded_at: row.get(5)?,
            payload_hash: row.get(6)?,
            previous_hash: row.get(7)?,
        })
    }

    /// Returns the SHA-256 of the canonical form: numbers little-endian, texts after their u64 length, hashes raw.
    fn hash(&self) -> [u8; 32] {
        let mut hasher = Sha256::new();
        let text = |text: &str, hasher: &mut Sha256| {
            hasher.update((text.len() as u64).to_le_bytes());
            hasher.update(text);
        };
        hasher.update(self.seq.to_le_bytes());
        text(&self.stream, &mut hasher);
        hasher.update(self.stream_version.to_le_bytes());
        text(&self.kind, &mut hasher);
        hasher.update(self.kind_version.to_le_bytes());
        hasher.update(self.recorded_at.to_le_bytes());
        hasher.update(self.payload_hash);
        hasher.update(self.previous_hash);
        hasher.finalize().into()
    }

    fn fault(&self, previous: &[u8; 32], hash: &[u8; 32], payload: Option<&[u8]>) -> Option<ChainFault> {
        if self.previous_hash != *previous {
            return Some(ChainFault::Link);
        }
        if self.hash() != *hash {
            return Some(ChainFault::Envelope);
        }
        match payload {
            None => Some(ChainFault::PayloadMissing),
            Some(payload) if Sha256::digest(payload)[..] != self.payload_hash => Some(ChainFault::PayloadHash),
            Some(_) => None,
        }
    }
}
