//! The revision in the making: from its first row to the head, or to its failure.

use casebook_corpus::{Degradation, EffectiveHash};
use rusqlite::TransactionBehavior;

use crate::builder::apply::{Scope, UnitChange, Written, apply};
use crate::builder::cut::CutResource;
use crate::builder::failure::{Failure, Step};
use crate::builder::plan::Plan;
use crate::builder::run::Run;
use crate::builder::run::evict::{Turnover, evict};
use crate::builder::word_index;
use crate::error::chain;
use crate::store::{self, Encoding, Head, RevisionDraft};
use crate::{BuildError, Revision, RevisionId, TextEncoder};

impl Run<'_> {
    /// Writes down that a revision is in the making.
    pub(super) fn begin(&mut self, effective_hash: EffectiveHash) -> Step<(i64, RevisionId)> {
        let (seq, id) = store::begin(&self.db, &self.draft(Some(effective_hash)))?;
        self.building = Some(seq);
        self.counts.rows += 1;
        Ok((seq, id))
    }

    fn draft(&self, effective_hash: Option<EffectiveHash>) -> RevisionDraft<'_> {
        RevisionDraft {
            parent: self.head.as_ref().map(|head| &head.revision.id),
            effective_hash,
            chunker_revision: self.shared.options().chunker.revision(),
            encoder_revision: self.encoder_revision(),
            lexical_revision: self.shared.lexical_revision(),
            started_at: self.started_at,
        }
    }

    /// Applies the difference and moves the head, in one transaction. What the word index had to do without is told.
    pub(super) fn publish(
        &mut self,
        seq: i64,
        id: RevisionId,
        plan: &Plan,
        cut: &[CutResource],
        changes: &[Vec<UnitChange>],
        scope: Scope,
    ) -> Step<(Head, Written, Option<Degradation>)> {
        let encoder = self.request.encoder;
        let trouble = self.counts.encoded.trouble.as_ref().map(|error| chain(error));
        let elapsed_ms = self.elapsed_ms();
        let (cache_bytes, made) = (self.shared.options().cache_bytes, self.counts.encoded.rows);
        let parent = self.head.as_ref().filter(|_| !scope.full);
        let tx = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Only what was cut anew can lack what no unit of the parent lacked.
        let is_whole_beside = match (parent, encoder) {
            (Some(head), Some(encoder)) => head.lacking() == 0 && head.is_surely_whole(&tx, encoder)?,
            _ => false,
        };
        let mut written = apply(&tx, plan, cut, changes, scope, self.request.observer)?;
        if scope.full {
            written.rows += store::forget_vectors(&tx)?;
        }
        let left = written.units + written.lexical.removed.len() as u64;
        let has_encoder = |head: &Head| head.revision.encoder_revision.as_ref() == encoder.map(TextEncoder::revision);
        let left = parent.is_some_and(has_encoder).then_some(left);
        let evicted = evict(&tx, cache_bytes, encoder, &Turnover { made, left })?;
        written.rows += evicted;
        let totals = store::totals(&tx)?;
        let (vectors_missing, vectors_refused) = match encoder {
            Some(encoder) if is_whole_beside => {
                let inputs = cut.iter().flat_map(|cut| cut.units.iter().map(|(_, input)| input));
                store::count_lacking_among(&tx, Encoding::dense(encoder), inputs)?
            }
            Some(encoder) => store::count_lacking(&tx, Encoding::dense(encoder))?,
            None => (0, 0),
        };
        let head = Head {
            seq,
            revision: Revision {
                id,
                parent: self.head.as_ref().map(|head| head.revision.id.clone()),
                effective_hash: plan.effective_hash,
                chunker_revision: self.shared.options().chunker.revision().to_owned(),
                encoder_revision: encoder.map(|encoder| encoder.revision().clone()),
                lexical_revision: self.shared.lexical_revision().to_owned(),
                resources: totals.resources,
                units: totals.units,
                ready_at: self.request.clock.now(),
            },
            units_searched: totals.units_searched,
            vectors_missing,
            vectors_refused,
            vectors_lost: Some(store::vectors_lost(&tx)?),
            trouble,
            dimension: encoder.map(TextEncoder::dimension),
            degradations: Some(plan.bent.clone()),
        };
        written.rows += store::finish(&tx, &head, elapsed_ms)?;
        written.rows += store::prune(&tx)?;
        let parent = self.head.as_ref().map(|head| &head.revision.id);
        let revisions = (parent, &head.revision.id);
        let observer = self.request.observer;
        let mut commit = || {
            // The last moment at which it can be stopped.
            if observer.cancelled() {
                return Err(BuildError::Cancelled.into());
            }
            Ok(tx.execute_batch("COMMIT")?)
        };
        let word_index = word_index::follow(self.shared, &tx, revisions, &written.lexical, observer, &mut commit)?;
        drop(tx);
        self.counts.evicted = evicted;
        self.building = None;
        Ok((head, written, word_index))
    }

    /// Writes down why there is no new revision. The same failure again is not news.
    pub(super) fn record(&mut self, failure: &Failure) -> rusqlite::Result<()> {
        let cancelled = matches!(failure, Failure::Build(BuildError::Cancelled));
        let reason = failure.reason();
        let at = self.request.clock.now();
        if self.building.is_none() {
            let last = store::last_failure(&self.db)?;
            if cancelled || last.is_some_and(|last| last.reason == reason) {
                return Ok(());
            }
        }
        let seq = match self.building.take() {
            Some(seq) => seq,
            None => store::begin(&self.db, &self.draft(None))?.0,
        };
        store::fail(&self.db, seq, &reason, at)?;
        store::prune(&self.db).map(drop)
    }
}
