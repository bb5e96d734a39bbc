//! What goes over the wire: CLI `--json`, and every other surface.

mod activate;
mod error;
mod fill;
mod index;
mod runs;
mod sync;
mod watch;

pub use activate::{
    ActivateResponse, ActivationState, Budget, Candidate, Degradation, Fragment, HeldFragment, Lines, Redirected,
    Scored, StageTime,
};
pub use error::ErrorBody;
pub use fill::{EncoderRole, EncoderState, FillResponse, FillStartedResponse, FillStatusResponse};
pub use index::IndexResponse;
pub use runs::{RunFailure, RunListResponse, RunResponse, RunSummary, UnansweredRun};
pub use sync::{
    SyncAbortResponse, SyncBeginResponse, SyncChange, SyncCommitResponse, SyncPage, SyncPageResponse, SyncPushResponse,
    SyncRecord, SyncSession, SyncStagedPage, SyncStatusResponse,
};
pub use watch::WatchEvent;

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};

/// Returns every published schema with the name of its file in `schemas/`.
pub fn schemas() -> Vec<(&'static str, Schema)> {
    vec![
        ("activate-response", schema_of::<ActivateResponse>()),
        ("activation-state", schema_of::<ActivationState>()),
        ("error", schema_of::<ErrorBody>()),
        ("fill-response", schema_of::<FillResponse>()),
        ("fill-started-response", schema_of::<FillStartedResponse>()),
        ("fill-status-response", schema_of::<FillStatusResponse>()),
        ("index-response", schema_of::<IndexResponse>()),
        ("run-list-response", schema_of::<RunListResponse>()),
        ("run-response", schema_of::<RunResponse>()),
        ("sync-abort-response", schema_of::<SyncAbortResponse>()),
        ("sync-begin-response", schema_of::<SyncBeginResponse>()),
        ("sync-commit-response", schema_of::<SyncCommitResponse>()),
        ("sync-page", schema_of::<SyncPage>()),
        ("sync-page-response", schema_of::<SyncPageResponse>()),
        ("sync-push-response", schema_of::<SyncPushResponse>()),
        ("sync-status-response", schema_of::<SyncStatusResponse>()),
        ("watch-event", schema_of::<WatchEvent>()),
    ]
}

fn schema_of<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().with_transform(RecursiveTransform(strip_number_format));
    settings.into_generator().into_root_schema_for::<T>()
}

/// Takes `"format": "uint64"` and its like away: validators in other languages warn of every one.
fn strip_number_format(schema: &mut Schema) {
    let is_text = schema.get("type").is_some_and(|kind| kind == "string");
    if !is_text {
        schema.remove("format");
    }
}
