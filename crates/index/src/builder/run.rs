//! The order of a build.

mod evict;
mod look;
mod publish;
mod segments;

use std::collections::HashSet;
use std::time::Duration;

use casebook_corpus::{Degradation, Scan, Timestamp};
use casebook_storage::{FileLock, OpenOptions, Waited};
use rusqlite::Connection;

use self::look::{Look, Looked, look};
use crate::builder::apply::{Scope, UnitChange, unit_changes};
use crate::builder::cut::{CutResource, cut};
use crate::builder::encode::{Encoded, Input, Missing, add_stored, encode};
use crate::builder::failure::{Failure, Step};
use crate::builder::known::Known;
use crate::builder::plan::{Difference, Plan, plan, scan_degradations};
use crate::builder::{BuildReport, BuildRequest, BuildStage, LockWait, step, word_index};
use crate::degradation::INDEX_REBUILT;
use crate::index::{Lent, Shared};
use crate::store::{self, Encoding, Head};
use crate::vector::Covered;
use crate::{BuildError, EncoderRevision, Passage, Revision, TextEncoder};

/// Builds what changed. A broken index is made anew, once. Who finds nothing to do takes no lock, so that many may look
/// at once, and nobody waits for a build who has no part in it.
pub(crate) fn build(shared: &Shared, request: &BuildRequest<'_>) -> Result<BuildReport, BuildError> {
    let started = request.clock.monotonic_micros();
    let mut looked = match look(shared, request, started) {
        Some(Look::Current(report)) => return Ok(*report),
        Some(Look::Changed(looked)) => Some(looked),
        None => None,
    };
    let _lock = lock(shared, request)?;
    let mut full = request.full;
    if shared.is_suspect() {
        shared
            .replace_database()
            .map_err(|error| Failure::from(error).into_error())?;
        full = true;
    }
    let mut outcome = Run::start(shared, request, started).and_then(|mut run| run.go(full, looked.take()));
    if let Some(error) = outcome.as_ref().err().and_then(Failure::broken_full_text) {
        shared.note(error);
        outcome = Run::start(shared, request, started).and_then(|mut run| run.go(full, None));
    }
    if outcome.as_ref().is_err_and(Failure::is_broken_index) {
        let replaced = shared.replace_database().map_err(Failure::from);
        outcome = replaced.and_then(|()| Run::start(shared, request, started)?.go(true, None));
    }
    outcome.map_err(Failure::into_error)
}

fn lock(shared: &Shared, request: &BuildRequest<'_>) -> Result<FileLock, BuildError> {
    let limit = match request.wait {
        LockWait::UntilFree => None,
        LockWait::Millis(millis) => Some(Duration::from_millis(millis)),
    };
    let mut go_on = || {
        request.observer.progress(BuildStage::Waiting, 0, None);
        !request.observer.cancelled()
    };
    match FileLock::wait(&shared.files().lock, limit, &mut go_on) {
        Ok(Waited::Acquired(lock)) => Ok(lock),
        Ok(Waited::TimedOut) => Err(BuildError::Busy),
        Ok(Waited::GivenUp) => Err(BuildError::Cancelled),
        Err(error) => Err(BuildError::Write(Box::new(error))),
    }
}

/// One build on its way.
struct Run<'a> {
    shared: &'a Shared,
    request: &'a BuildRequest<'a>,
    db: Lent<'a>,
    started: u64,
    started_at: Timestamp,
    head: Option<Head>,
    /// The revision in the making, once it has a number.
    building: Option<i64>,
    counts: Counts,
}

/// What the report counts.
#[derive(Debug, Default)]
struct Counts {
    units_written: u64,
    encoded: Encoded,
    rows: u64,
    stamps_renewed: u64,
    bytes_read: u64,
    evicted: u64,
    segments: Covered,
    degradations: Vec<Degradation>,
}

impl<'a> Run<'a> {
    /// Opens the database and writes nothing.
    fn open(shared: &'a Shared, request: &'a BuildRequest<'a>, started: u64) -> Step<Self> {
        // Who does not wait for another builder does not wait for another writer of the file either.
        let busy_timeout = match request.wait {
            LockWait::UntilFree => OpenOptions::BUSY_TIMEOUT,
            LockWait::Millis(millis) => Duration::from_millis(millis),
        };
        let db = Lent::take(shared.pool(), shared.files(), busy_timeout)?;
        Ok(Self {
            shared,
            request,
            started,
            started_at: request.clock.now(),
            head: store::head(&db)?,
            db,
            building: None,
            counts: Counts::default(),
        })
    }

    /// Starts a build. Only for who holds the lock.
    fn start(shared: &'a Shared, request: &'a BuildRequest<'a>, started: u64) -> Step<Self> {
        let run = Self::open(shared, request, started)?;
        store::abandon(&run.db, run.started_at)?;
        Ok(run)
    }

    /// Builds; a failure that is not the index's own is written down.
    fn go(&mut self, full: bool, looked: Option<Looked>) -> Step<BuildReport> {
        let outcome = self.build(full, looked);
        if let Err(failure) = &outcome
            && !failure.is_broken_index()
        {
            // The failure itself is what the caller has to hear of; a record that cannot be made is the lesser one.
            let _ = self.record(failure);
        }
        outcome
    }

    fn build(&mut self, full: bool, looked: Option<Looked>) -> Step<BuildReport> {
        let head = self.head.as_ref().map(|head| &head.revision.id);
        let (known, scan) = match looked.filter(|looked| !full && looked.head.as_ref() == head) {
            Some(looked) => (looked.known, looked.scan),
            None => {
                let known = if full { Known::default() } else { Known::load(&self.db)? };
                let scan = self.scan(&known)?;
                (known, scan)
            }
        };
        self.counts.bytes_read = scan.bytes_read;
        if !full && known.is_unchanged(&scan) && self.is_current()? {
            self.counts.degradations = scan_degradations(&known, &scan);
            self.counts.stamps_renewed = known.renew_stamps(&mut self.db, &scan)?;
            self.cover(false)?;
            return self.unchanged();
        }
        let stored = if full { Vec::new() } else { store::resources(&self.db)? };
        let before = store::manifest(&self.db)?;
        let plan = plan(scan, &known, stored, &before)?;
        self.rebuild(plan, full)
    }

    fn scan(&self, known: &Known) -> Step<Scan> {
        let observer = self.request.observer;
        let found = |count| step(observer, BuildStage::Scanning, count, None).is_ok();
        Ok(self.request.source.scan(known, self.request.clock, &found)?)
    }

    fn encoder_revision(&self) -> Option<&'a EncoderRevision> {
        self.request.encoder.map(TextEncoder::revision)
    }

    /// Returns whether the head was made by what would make the next one, and lacks nothing. Vectors are counted: what
    /// the head says of them may not be so any more.
    fn is_current(&self) -> rusqlite::Result<bool> {
        let Some(head) = &self.head else {
            return Ok(false);
        };
        let revision = &head.revision;
        let is_same = revision.chunker_revision == self.shared.options().chunker.revision()
            && revision.lexical_revision == self.shared.lexical_revision()
            && revision.encoder_revision.as_ref() == self.encoder_revision()
            && !self.shared.is_full_text_suspect()
            && head.degradations.is_some()
            && head.vectors_missing == 0;
        match self.request.encoder {
            Some(encoder) if is_same && !self.is_surely_whole()? => {
                Ok(store::count_lacking(&self.db, Encoding::dense(encoder))? == (0, head.vectors_refused))
            }
            _ => Ok(is_same),
        }
    }

    /// Returns whether the head lacks no vector that it may still get, as far as that can be told without looking at every
    /// unit.
    fn is_surely_whole(&self) -> rusqlite::Result<bool> {
        match (&self.head, self.request.encoder) {
            (Some(head), Some(encoder)) => head.is_surely_whole(&self.db, encoder),
            _ => Ok(false),
        }
    }

    /// Ends a build that found nothing to do, but for a word index left behind by one that was killed.
    fn unchanged(&mut self) -> Step<BuildReport> {
        let head = self.head.take().expect("only a head can be current");
        self.counts
            .degradations
            .extend(head.degradations.iter().flatten().cloned());
        let word_index = word_index::repair(self.shared, &self.db, &head.revision.id, self.request.observer)?;
        self.counts.degradations.extend(word_index);
        self.finished(head, false, Difference::default())
    }

    /// Makes a new revision the head.
    fn rebuild(&mut self, mut plan: Plan, full: bool) -> Step<BuildReport> {
        let (seq, id) = self.begin(plan.effective_hash)?;
        let chunker = &self.shared.options().chunker;
        let was = |same: &dyn Fn(&Revision) -> bool| self.head.as_ref().is_some_and(|head| same(&head.revision));
        let chunker_changed = full || !was(&|revision| revision.chunker_revision == chunker.revision());
        let is_suspect = self.shared.is_full_text_suspect();
        let lexical_changed =
            full || is_suspect || !was(&|revision| revision.lexical_revision == self.shared.lexical_revision());
        let cut = cut(
            &self.db,
            &mut plan.targets,
            chunker,
            chunker_changed,
            self.request.observer,
        )?;
        let total = Some(cut.len());
        let mut changes: Vec<Vec<UnitChange>> = Vec::with_capacity(cut.len());
        for (done, cut) in cut.iter().enumerate() {
            step(self.request.observer, BuildStage::Comparing, done, total)?;
            changes.push(unit_changes(&self.db, &plan.targets[cut.target], cut)?);
        }
        self.encode(&plan, &cut, &changes, full)?;
        let scope = Scope {
            full,
            full_text: lexical_changed,
            fts5: self.shared.options().fts5,
            impact: self.shared.options().impact,
        };
        let (head, written, word_index) = self.publish(seq, id, &plan, &cut, &changes, scope)?;
        self.counts.rows += written.rows;
        self.counts.units_written = written.units;
        if is_suspect && self.shared.files().trust_full_text().is_ok() {
            let detail = "the tables of words and substrings were broken and have been written anew";
            self.counts.degradations.push(Degradation::new(INDEX_REBUILT, detail));
        }
        self.counts.degradations.extend(plan.left_out);
        self.counts.degradations.extend(plan.bent);
        self.counts.degradations.extend(word_index);
        self.finished(head, true, plan.difference)
    }

    /// Fills the vector cache with what the new revision needs.
    fn encode(&mut self, plan: &Plan, cut: &[CutResource], changes: &[Vec<UnitChange>], full: bool) -> Step<()> {
        let Some(encoder) = self.request.encoder else {
            return Ok(());
        };
        let mut missing = Missing::new();
        let total = Some(cut.len());
        for (done, cut) in cut.iter().enumerate() {
            step(self.request.observer, BuildStage::Comparing, done, total)?;
            let path = &plan.targets[cut.target].member.meta.path;
            for (unit, hash) in &cut.units {
                if !missing.contains_key(hash) && !store::is_cached(&self.db, encoder, hash)? {
                    let passage = Passage {
                        path,
                        heading_path: &unit.heading_path,
                        text: &unit.text,
                    };
                    missing.insert(*hash, Input::Cut(passage));
                }
            }
        }
        if !full && !self.is_surely_whole()? {
            let leaving = leaving(&self.db, plan, changes)?;
            add_stored(&self.db, encoder, &leaving, &mut missing)?;
        }
        self.note_behind(encoder, !missing.is_empty());
        self.counts.encoded = encode(&mut self.db, encoder, &missing, self.request.observer)?;
        self.counts.rows += self.counts.encoded.rows;
        self.cover(!missing.is_empty())
    }

    fn elapsed_ms(&self) -> u64 {
        self.request.clock.monotonic_micros().saturating_sub(self.started) / 1000
    }

    fn finished(&mut self, head: Head, head_moved: bool, difference: Difference) -> Step<BuildReport> {
        let counts = std::mem::take(&mut self.counts);
        let mut degradations = counts.degradations;
        degradations.extend(head.vector_degradation());
        degradations.extend(self.shared.rebuilt().take());
        Ok(BuildReport {
            revision: head.revision.id,
            effective_hash: head.revision.effective_hash,
            head_moved,
            resources: head.revision.resources,
            units: head.revision.units,
            added: difference.added,
            changed: difference.changed,
            removed: difference.removed,
            units_written: counts.units_written,
            encoded: counts.encoded.effort.inputs,
            encoder_calls: counts.encoded.effort.calls,
            rows_written: counts.rows,
            evicted: counts.evicted,
            segment_rows: counts.segments.rows,
            segment_bytes: counts.segments.bytes,
            stamps_renewed: counts.stamps_renewed,
            bytes_read: counts.bytes_read,
            body_bytes: store::totals(&self.db)?.body_bytes,
            degradations,
            elapsed_ms: self.elapsed_ms(),
        })
    }
}

/// Returns the rows of stored units that the new revision will not have as they are.
fn leaving(db: &Connection, plan: &Plan, changes: &[Vec<UnitChange>]) -> rusqlite::Result<HashSet<i64>> {
    let changed = changes.iter().flatten().filter_map(|change| match change {
        UnitChange::Update { rowid, .. } | UnitChange::Remove { rowid, .. } => Some(*rowid),
        UnitChange::Insert { .. } => None,
    });
    let mut leaving: HashSet<i64> = changed.collect();
    let overlaid = plan
        .targets
        .iter()
        .filter(|target| target.is_overlaid())
        .map(|target| target.location());
    for location in plan.gone.iter().map(String::as_str).chain(overlaid) {
        leaving.extend(store::units_at(db, location)?.into_iter().map(|unit| unit.rowid));
    }
    Ok(leaving)
}
