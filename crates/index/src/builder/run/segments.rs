//! Vectors that the database has go into segments as well, before the head moves: whoever reads the new head finds them.

use crate::builder::failure::Step;
use crate::builder::run::Run;
use crate::builder::step;
use crate::degradation::VECTOR_SEGMENTS_UNWRITTEN;
use crate::error::chain;
use crate::vector::{CoverError, Segments};
use crate::{BuildError, BuildStage, EncoderRevision, TextEncoder, store};
use casebook_corpus::Degradation;

impl Run<'_> {
    /// Notes that vectors are about to be made, so that a build that is killed in between is made good by the next one.
    pub(super) fn note_behind(&self, encoder: &dyn TextEncoder, is_behind: bool) {
        if is_behind {
            self.segments(encoder.revision(), encoder.dimension()).note_behind();
        }
    }

    fn segments(&self, encoder: &EncoderRevision, dimension: usize) -> Segments {
        Segments::of(&self.shared.files().vectors, encoder, dimension)
    }

    /// Returns the encoders that may be asked: that of the builds and the chosen one.
    fn asked(&self) -> rusqlite::Result<Vec<(EncoderRevision, usize)>> {
        let base = self.request.encoder;
        let base = base.map(|encoder| (encoder.revision().clone(), encoder.dimension()));
        let others = store::encoders(&self.db)?.into_iter().filter(|stored| stored.chosen);
        let others = others.map(|stored| (stored.revision, stored.dimension));
        let others = others.filter(|(revision, _)| base.as_ref().is_none_or(|(base, _)| base != revision));
        let others: Vec<_> = others.collect();
        Ok(base.into_iter().chain(others).collect())
    }

    /// Returns whether nothing speaks against the segments.
    pub(super) fn has_whole_segments(&self) -> rusqlite::Result<bool> {
        let mut asked = self.asked()?.into_iter();
        Ok(asked.all(|(encoder, dimension)| self.segments(&encoder, dimension).is_whole()))
    }

    /// Writes what no segment has, and what was found damaged or missing. `is_made` where the encoder of the build made
    /// vectors. A full build looks at all of them, since a folder that could not be written has no sign of it. Segments that cannot be written are no reason to fail: the database has everything.
    pub(super) fn cover(&mut self, is_made: bool) -> Step<()> {
        for (number, (encoder, dimension)) in self.asked()?.into_iter().enumerate() {
            let segments = self.segments(&encoder, dimension);
            let is_made = is_made && number == 0 && self.request.encoder.is_some();
            if !is_made && !self.request.full && segments.is_whole() {
                continue;
            }
            let observer = self.request.observer;
            let go_on = |done, total| step(observer, BuildStage::Vectors, done, Some(total)).is_ok();
            match segments.cover(&self.db, &encoder, &go_on) {
                Ok(covered) => {
                    self.counts.segments.rows += covered.rows;
                    self.counts.segments.bytes += covered.bytes;
                }
                Err(CoverError::Database(error)) => return Err(error.into()),
                Err(CoverError::Cancelled) => return Err(BuildError::Cancelled.into()),
                Err(error) => {
                    let detail = format!("vectors of {encoder} are read from the database: {}", chain(&error));
                    let told = Degradation::new(VECTOR_SEGMENTS_UNWRITTEN, detail);
                    self.counts.degradations.push(told);
                }
            }
        }
        Ok(())
    }
}
