//! The order of a fill: look, load, encode, keep, and again, until nothing is lacking.

use std::panic::{AssertUnwindSafe, catch_unwind};

use casebook_storage::FileLock;
use rusqlite::{Connection, ErrorCode, TransactionBehavior};

use crate::batch::{Effort, LoadedInput, Made, encode_batch, keep};
use crate::fill::order::Order;
use crate::index::Shared;
use crate::store::{self, Encoding};
use crate::vector::{CoverError, Segments};
use crate::{Coverage, EncodeError, FillEnd, FillError, FillProgress, FillReport, FillRequest, TextEncoder, TextSide};

/// Rows of another encoder that one transaction deletes, so that no build waits for long.
const DROPPED_AT_ONCE: u32 = 2_000;

/// Fills vectors in and makes the encoder the chosen one. Once nothing is missing, and where it is still wanted, what is
/// kept of encoders that are neither chosen nor used by builds goes.
pub(crate) fn fill(shared: &Shared, request: &FillRequest<'_>) -> Result<FillReport, FillError> {
    let mut run = Run::new(shared, request);
    let _lock = lock(shared)?;
    let end = run.fill(true).and_then(|end| {
        if end == FillEnd::Complete {
            run.drop_others()?;
        }
        Ok(end)
    });
    run.cover(end)
}

/// Fills vectors in without a change of which encoder is chosen, unless none was yet. Nothing goes.
pub(crate) fn top_up(shared: &Shared, request: &FillRequest<'_>) -> Result<FillReport, FillError> {
    let mut run = Run::new(shared, request);
    let _lock = lock(shared)?;
    let end = run.fill(false);
    run.cover(end)
}

fn lock(shared: &Shared) -> Result<FileLock, FillError> {
    let lock = FileLock::try_acquire(&shared.files().fill_lock).map_err(|error| FillError::Write(Box::new(error)))?;
    lock.ok_or(FillError::Busy)
}

/// One fill on its way.
struct Run<'a> {
    shared: &'a Shared,
    request: &'a FillRequest<'a>,
    started: u64,
    /// Whether term weights are made as well.
    sparse: bool,
    effort: Effort,
    refused: u64,
    unweighed: u64,
    rows: u64,
    dropped: u64,
    segment_rows: u64,
}

/// What a look found to do.
enum Look {
    /// These inputs, the next ones of the order.
    Batch(Vec<LoadedInput>),
    /// Nothing is lacking.
    Nothing,
}

impl<'a> Run<'a> {
    fn new(shared: &'a Shared, request: &'a FillRequest<'a>) -> Self {
        Self {
            shared,
            request,
            started: request.clock.monotonic_micros(),
            sparse: false,
            effort: Effort::default(),
            refused: 0,
            unweighed: 0,
            rows: 0,
            dropped: 0,
            segment_rows: 0,
        }
    }

    fn encoder(&self) -> &'a dyn TextEncoder {
        self.request.encoder
    }

    fn encoding(&self) -> Encoding<'a> {
        Encoding {
            sparse: self.sparse,
            ..Encoding::dense(self.encoder())
        }
    }

    fn fill(&mut self, choose: bool) -> Result<FillEnd, FillError> {
        let head = self.read(store::head)?.ok_or(FillError::NoHead)?;
        if head.revision.encoder_revision.as_ref() == Some(self.encoder().revision()) {
            // Builds make its vectors.
            return Ok(FillEnd::Complete);
        }
        if self.is_paused() {
            return Ok(FillEnd::Paused);
        }
        self.register(choose)?;
        let mut order = None;
        loop {
            let encoded = self.effort.inputs + self.refused;
            let left = self.request.most.map(|most| most.saturating_sub(encoded));
            let size = left.map_or(usize::MAX, |left| usize::try_from(left).unwrap_or(usize::MAX));
            let size = size.min(self.request.batch.max(1));
            match self.look(&mut order, size)? {
                Look::Nothing if self.complete()? => return Ok(FillEnd::Complete),
                // The head moved between the two.
                Look::Nothing => order = None,
                Look::Batch(_) if size == 0 => return Ok(FillEnd::Enough),
                Look::Batch(batch) => {
                    if let Some(end) = self.held_up()? {
                        return Ok(end);
                    }
                    self.encode(&batch)?;
                    if let Some(order) = &mut order {
                        order.cross_off(batch.len());
                        self.tell(order);
                    }
                }
            }
        }
    }

    fn is_paused(&self) -> bool {
        self.shared.files().is_fill_paused()
    }

    /// Asks everyone who may stop a fill.
    fn held_up(&self) -> Result<Option<FillEnd>, FillError> {
        let goes_on = self.request.observer.go_on();
        if self.request.observer.cancelled() {
            return Err(FillError::Cancelled);
        }
        if self.is_paused() {
            return Ok(Some(FillEnd::Paused));
        }
        if !self.request.observer.is_wanted() {
            return Ok(Some(FillEnd::NotWanted));
        }
        Ok((!goes_on).then_some(FillEnd::Held))
    }

    fn tell(&self, order: &Order) {
        self.request.observer.progress(FillProgress {
            done: order.done,
            total: order.total,
            encoded: self.effort.inputs,
        });
    }

    /// Writes the encoder down. Whether it offers term weights is found out by asking for some; a head that refuses the word
    /// is a head, and what it refuses later is counted.
    fn register(&mut self, choose: bool) -> Result<(), FillError> {
        let encoder = self.encoder();
        let probe = || encoder.sparse_weights("term", TextSide::Passage);
        let offers = match catch_unwind(AssertUnwindSafe(probe)) {
            Ok(Ok(weights)) => Some(weights.is_some()),
            Ok(Err(EncodeError::Input { .. } | EncodeError::Panicked { .. })) => Some(true),
            _ => None,
        };
        let stored = self.read(|db| store::encoder(db, encoder.revision()))?;
        let is_known = stored.as_ref().is_some_and(|stored| {
            let is_same =
                stored.dimension == encoder.dimension() && offers.is_none_or(|offers| offers == stored.sparse);
            is_same && (stored.chosen || !choose)
        });
        self.sparse = offers.unwrap_or_else(|| stored.is_some_and(|stored| stored.sparse));
        if !is_known {
            self.rows += self.write(|tx| {
                let rows = store::register(tx, encoder, offers)?;
                Ok(rows + store::choose(tx, encoder.revision(), !choose)?)
            })?;
        }
        Ok(())
    }

    /// Loads the next inputs of the order, which is made anew where the head has moved. Both in one moment: where a unit
    /// lies is true of one head only.
    fn look(&self, order: &mut Option<Order>, size: usize) -> Result<Look, FillError> {
        let (look, is_new) = self.read(|db| {
            let head = store::head(db)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
            let known = order.take().filter(|order| order.seq == head.seq);
            let is_new = known.is_none();
            let known = order.insert(match known {
                Some(known) => known,
                None => Order::read(db, &head, self.encoding())?,
            });
            if known.left.is_empty() {
                return Ok((Look::Nothing, is_new));
            }
            let batch = known.next(size).map(|wanted| {
                debug_assert!(wanted.units > 0);
                LoadedInput::stored(db, wanted.rowid)
            });
            Ok((Look::Batch(batch.collect::<rusqlite::Result<_>>()?), is_new))
        })?;
        if let Some(order) = order.as_ref().filter(|_| is_new) {
            self.tell(order);
        }
        Ok(look)
    }

    fn encode(&mut self, batch: &[LoadedInput]) -> Result<(), FillError> {
        let made = match self.ask(batch) {
            Err(EncodeError::Panicked { .. }) => self.ask_each(batch),
            other => other,
        };
        let made = made.map_err(|error| match error {
            EncodeError::Cancelled => FillError::Cancelled,
            other => FillError::Encode(other),
        })?;
        self.refused += made.iter().filter(|made| made.is_none()).count() as u64;
        self.unweighed += made.iter().flatten().filter(|made| made.is_unweighed()).count() as u64;
        let revision = self.encoder().revision();
        self.rows += self.write(|tx| {
            let rows = keep(tx, revision, batch, &made)?;
            store::touch(tx, revision)?;
            Ok(rows)
        })?;
        Ok(())
    }

    fn ask(&mut self, batch: &[LoadedInput]) -> Result<Vec<Option<Made>>, EncodeError> {
        encode_batch(
            self.encoder(),
            batch,
            self.sparse,
            self.request.observer,
            &mut self.effort,
        )
    }

    /// Finds out which input makes the encoder panic, and counts it as refused: it would at every try. An encoder that
    /// panics at a plain word as well is broken itself.
    fn ask_each(&mut self, batch: &[LoadedInput]) -> Result<Vec<Option<Made>>, EncodeError> {
        let mut made = Vec::with_capacity(batch.len());
        for input in batch {
            match self.ask(std::slice::from_ref(input)) {
                Ok(alone) => made.extend(alone),
                Err(EncodeError::Panicked { .. }) if self.answers_a_plain_word() => made.push(None),
                Err(other) => return Err(other),
            }
        }
        Ok(made)
    }

    fn answers_a_plain_word(&self) -> bool {
        let ask = || self.encoder().encode_query("word");
        catch_unwind(AssertUnwindSafe(ask)).is_ok_and(|answer| answer.is_ok())
    }

    /// Writes down that nothing is lacking, unless the head has moved and something is.
    fn complete(&mut self) -> Result<bool, FillError> {
        let encoding = self.encoding();
        let is_noted = self.read(|db| {
            let head = store::head(db)?.map(|head| head.seq);
            let stored = store::encoder(db, encoding.encoder)?.and_then(|stored| stored.complete_seq);
            Ok(stored.is_some() && stored == head)
        })?;
        if is_noted {
            return Ok(true);
        }
        let (is_complete, rows) = self.write(|tx| {
            let head = store::head(tx)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
            match store::count_lacking(tx, encoding)? {
                (0, refused) => Ok((true, store::complete(tx, encoding.encoder, head.seq, refused)?)),
                _ => Ok((false, 0)),
            }
        })?;
        self.rows += rows;
        Ok(is_complete)
    }

    /// Deletes what is kept of encoders that are neither this one nor that of the builds, as long as this one is wanted. A head that was built without
    /// an encoder does not say which that is, so nothing goes.
    fn drop_others(&mut self) -> Result<(), FillError> {
        let ours = self.encoder().revision();
        let others = self.read(|db| {
            let base = store::head(db)?.and_then(|head| head.revision.encoder_revision);
            let base = base.filter(|base| base != ours);
            base.map_or(Ok(Vec::new()), |base| store::kept_beside(db, &[&base, ours]))
        })?;
        for other in others {
            loop {
                if self.request.observer.cancelled() {
                    return Err(FillError::Cancelled);
                }
                if !self.request.observer.is_wanted() {
                    return Ok(());
                }
                let rows = self.write(|tx| store::forget_some(tx, &other, DROPPED_AT_ONCE))?;
                self.dropped += rows;
                if rows == 0 {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Writes what was made to segments, also where the fill failed in the end, and reports. Segments that cannot be written
    /// are no reason to fail: the database has everything, and whoever asks is told.
    fn cover(mut self, end: Result<FillEnd, FillError>) -> Result<FillReport, FillError> {
        let segments = Segments::of(
            &self.shared.files().vectors,
            self.encoder().revision(),
            self.encoder().dimension(),
        );
        let has_head = !matches!(end, Err(FillError::NoHead));
        if has_head && (self.rows > 0 || !segments.is_whole()) {
            let pooled = self.take()?;
            // Whoever stopped it waits for no writing of files either; who asks next has them written.
            let go_on = |_, _| !self.request.observer.cancelled();
            let covered = segments.cover(&pooled.db, self.encoder().revision(), &go_on);
            self.shared.give_back(pooled);
            match covered {
                Ok(covered) => self.segment_rows = covered.rows,
                Err(CoverError::Database(error)) => return Err(self.failed(error)),
                Err(CoverError::Cancelled) => segments.note_behind(),
                Err(_) => {}
            }
        }
        self.finished(end?)
    }

    fn finished(self, end: FillEnd) -> Result<FillReport, FillError> {
        let revision = self.encoder().revision();
        let coverage = self.read(|db| {
            let head = store::head(db)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
            if head.revision.encoder_revision.as_ref() == Some(revision) {
                return Ok(Coverage {
                    total: head.units_searched,
                    missing: head.vectors_missing,
                    refused: head.vectors_refused,
                    was_complete: head.vectors_missing == 0,
                });
            }
            let stored = store::encoder(db, revision)?;
            Coverage::count(db, stored.as_ref(), head.seq, head.units_searched)
        })?;
        Ok(FillReport {
            end,
            coverage,
            encoded: self.effort.inputs,
            refused: self.refused,
            unweighed: self.unweighed,
            encoder_calls: self.effort.calls,
            rows_written: self.rows,
            segment_rows: self.segment_rows,
            rows_dropped: self.dropped,
            elapsed_ms: self.request.clock.monotonic_micros().saturating_sub(self.started) / 1000,
        })
    }

    /// Reads within one moment. The connection is taken anew each time: the database may have been made anew.
    fn read<T>(&self, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, FillError> {
        let pooled = self.take()?;
        let outcome = pooled.db.unchecked_transaction().and_then(|moment| read(&moment));
        self.shared.give_back(pooled);
        outcome.map_err(|error| self.failed(error))
    }

    /// Writes in one short transaction. A build may hold the database for long while it publishes; a fill waits.
    fn write<T>(&self, write: impl Fn(&Connection) -> rusqlite::Result<T>) -> Result<T, FillError> {
        loop {
            let mut pooled = self.take()?;
            let outcome = pooled
                .db
                .transaction_with_behavior(TransactionBehavior::Immediate)
                .and_then(|tx| {
                    let value = write(&tx)?;
                    tx.commit()?;
                    Ok(value)
                });
            self.shared.give_back(pooled);
            match outcome {
                Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                    if self.request.observer.cancelled() {
                        return Err(FillError::Cancelled);
                    }
                }
                other => return other.map_err(|error| self.failed(error)),
            }
        }
    }

    fn take(&self) -> Result<crate::index::Pooled, FillError> {
        let pooled = self.shared.pool().take(self.shared.files());
        pooled.map_err(|error| FillError::Write(Box::new(error)))
    }

    fn failed(&self, error: rusqlite::Error) -> FillError {
        self.shared.note(&error);
        FillError::Write(Box::new(error))
    }
}
