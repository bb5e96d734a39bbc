//! The further encoder of a service: its vectors are filled in beside those of the builds.
//!
//! The one thing a newcomer gets wrong: after an edit nobody runs `casebook models fill`. A refresh that leaves a few
//! units without makes their vectors itself, so that a pack that was complete stays so.

use casebook_corpus::{Clock, Degradation};
use casebook_index::degradation::VECTOR_PARTIAL;
use casebook_index::{
    BuildObserver, Cancel, Coverage, EncoderStatus, FillError, FillObserver, FillReport, FillRequest, FillStatus,
    TextEncoder,
};
use casebook_ranker::CHOSEN_ENCODER_FAILED;

use super::Service;
use crate::error::chain;
use crate::{ApiError, ErrorKind};

/// Units that a refresh makes vectors of by itself.
const FEW_UNITS: u64 = 16;

/// Inputs that a refresh has encoded at once; after each batch it looks at the clock.
const TOP_UP_BATCH: usize = 4;

/// Microseconds after which a refresh leaves the rest to a fill: somebody waits for an answer.
const TOP_UP_MICROS: u64 = 10_000_000;

impl Service {
    /// Returns the encoder that is preferred to that of the builds, unless the two are one.
    pub fn preferred(&self) -> Option<&dyn TextEncoder> {
        let preferred = self.parts.preferred.as_deref();
        preferred.filter(|preferred| preferred.revision() != self.parts.encoder.revision())
    }

    /// Makes vectors of the preferred encoder for units that have none, newest first, until all have one, it is paused or
    /// the observer stops it.
    ///
    /// # Errors
    /// When no encoder is preferred, another process fills already, there is no index, or the encoder or the index fails.
    pub fn fill(&self, observer: &dyn FillObserver) -> Result<FillReport, ApiError> {
        let encoder = self.preferred().ok_or_else(not_chosen)?;
        Ok(self.index.fill(&FillRequest {
            observer,
            ..FillRequest::new(encoder, &*self.parts.clock)
        })?)
    }

    /// Looks whether a fill could begin now.
    ///
    /// # Errors
    /// When no encoder is preferred, filling is paused, or another process fills already.
    pub fn check_can_fill(&self) -> Result<(), ApiError> {
        self.preferred().ok_or_else(not_chosen)?;
        let status = self.index.fill_status()?;
        if status.paused {
            return Err(ApiError::new(
                "fill_paused",
                ErrorKind::Conflict,
                "filling is paused; `casebook models resume` allows it again",
            ));
        }
        if status.filling {
            return Err(FillError::Busy.into());
        }
        Ok(())
    }

    /// Keeps everyone from filling until [`resume_fill`](Self::resume_fill), also after a restart.
    ///
    /// # Errors
    /// When the index's folder cannot be written.
    pub fn pause_fill(&self) -> Result<(), ApiError> {
        Ok(self.index.pause_fill()?)
    }

    /// Lets fills go on.
    ///
    /// # Errors
    /// When the index's folder cannot be written.
    pub fn resume_fill(&self) -> Result<(), ApiError> {
        Ok(self.index.resume_fill()?)
    }

    /// Returns whether filling is paused.
    pub fn is_fill_paused(&self) -> bool {
        self.index.is_fill_paused()
    }

    /// Returns how the encoders stand. The preferred one is the chosen one, and listed even where it has no vectors yet.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn fill_status(&self) -> Result<FillStatus, ApiError> {
        let mut status = self.index.fill_status()?;
        let preferred = self.preferred();
        for encoder in &mut status.encoders {
            encoder.chosen = preferred.is_some_and(|preferred| *preferred.revision() == encoder.revision);
        }
        let is_listed = status.encoders.iter().any(|encoder| encoder.chosen);
        if let Some(preferred) = preferred.filter(|_| !is_listed) {
            status.encoders.push(EncoderStatus {
                revision: preferred.revision().clone(),
                dimension: Some(preferred.dimension()),
                base: false,
                chosen: true,
                sparse: false,
                coverage: self.coverage_of(preferred)?.unwrap_or_default(),
            });
        }
        Ok(status)
    }

    /// Returns how many units the encoder has vectors of; `None` before the first build.
    fn coverage_of(&self, encoder: &dyn TextEncoder) -> Result<Option<Coverage>, ApiError> {
        let Some(snapshot) = self.index.snapshot()? else {
            return Ok(None);
        };
        Ok(Some(snapshot.lanes_of(encoder.revision())?.coverage()))
    }

    /// Tells, where an index was asked for, what the preferred encoder lacks.
    pub(super) fn awaited_vectors(&self) -> Option<Degradation> {
        let encoder = self.preferred()?;
        let coverage = self.coverage_of(encoder).ok().flatten()?;
        let (vectors, total) = (coverage.vectors(), coverage.total);
        let detail = format!(
            "{vectors} of {total} units have vectors of {}; `casebook models fill` makes the others",
            encoder.revision()
        );
        (!coverage.is_complete()).then(|| Degradation::new(VECTOR_PARTIAL, detail))
    }

    /// Makes the preferred encoder's vectors of the few units that an edit left without, or an earlier refresh while filling
    /// was paused. More are left to a fill, and what a slow encoder has not done in ten seconds to the next refresh. What goes wrong is told and ends nothing: the embedded encoder finds those units.
    pub(super) fn top_up(&self, head_moved: bool, observer: &dyn BuildObserver) -> Option<Degradation> {
        let encoder = self.preferred()?;
        let coverage = self.coverage_of(encoder).ok().flatten()?;
        // At a head that did not move there is only what a pause, or a lack of time, left.
        let is_due = head_moved || coverage.missing > 0;
        if !is_due || coverage.missing > FEW_UNITS || self.is_fill_paused() {
            return None;
        }
        let clock = &*self.parts.clock;
        let watching = Watching {
            observer,
            clock,
            until: clock.monotonic_micros().saturating_add(TOP_UP_MICROS),
        };
        let topped_up = self.index.top_up(&FillRequest {
            observer: &watching,
            batch: TOP_UP_BATCH,
            ..FillRequest::new(encoder, clock)
        });
        match topped_up {
            // Who fills already follows the head.
            Ok(_) | Err(FillError::Busy | FillError::Cancelled) => None,
            Err(error) => {
                let causes = chain(&error).join(": ");
                let detail = format!(
                    "{}: {causes}; the units that changed wait for `casebook models fill`",
                    encoder.revision()
                );
                Some(Degradation::new(CHOSEN_ENCODER_FAILED, detail))
            }
        }
    }
}

fn not_chosen() -> ApiError {
    ApiError::new(
        "model_not_chosen",
        ErrorKind::Input,
        "no model pack is chosen, and the embedded encoder needs no filling; choose one with `casebook models use NAME`",
    )
}

/// Lets whoever cancels a build cancel what follows it, and ends that in time.
struct Watching<'a> {
    observer: &'a dyn BuildObserver,
    clock: &'a dyn Clock,
    until: u64,
}

impl Cancel for Watching<'_> {
    fn cancelled(&self) -> bool {
        self.observer.cancelled()
    }
}

impl FillObserver for Watching<'_> {
    fn go_on(&self) -> bool {
        self.clock.monotonic_micros() < self.until
    }
}
