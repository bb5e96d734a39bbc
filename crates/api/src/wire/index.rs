//! What a build did, on the wire.

use casebook_index::BuildReport;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Degradation;

/// The index after a build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IndexResponse {
    /// The head revision.
    pub revision: String,
    /// SHA-256 of the manifest of the memory that it holds.
    pub effective_hash: String,
    /// Live resources.
    pub resources: u64,
    /// Units of live resources.
    pub units: u64,
    /// Resources that came.
    pub added: u64,
    /// Resources that changed.
    pub changed: u64,
    /// Resources that left.
    pub removed: u64,
    /// Units encoded; those whose vectors were known are not counted.
    pub encoded: u64,
    /// Calls of the encoder.
    pub encoder_calls: u64,
    /// Units written.
    pub units_written: u64,
    /// Rows inserted, updated or deleted in the index.
    pub rows_written: u64,
    /// Vectors deleted from the cache because it was above its bound; none of them is of the head.
    pub evicted: u64,
    /// Vectors written to files beside the database, earlier ones that were merged with them included.
    pub segment_rows: u64,
    /// Bytes of those files.
    pub segment_bytes: u64,
    /// Files that were touched and hold what they held; so much was noted of them.
    pub stamps_renewed: u64,
    /// Bytes of files read.
    pub bytes_read: u64,
    /// Bytes of the bodies of all live resources.
    pub body_bytes: u64,
    /// What did not work.
    pub degradations: Vec<Degradation>,
    /// Milliseconds.
    pub elapsed_ms: u64,
}

impl From<&BuildReport> for IndexResponse {
    fn from(report: &BuildReport) -> Self {
        Self {
            revision: report.revision.to_string(),
            effective_hash: report.effective_hash.to_string(),
            resources: report.resources,
            units: report.units,
            added: report.added,
            changed: report.changed,
            removed: report.removed,
            encoded: report.encoded,
            encoder_calls: report.encoder_calls,
            units_written: report.units_written,
            rows_written: report.rows_written,
            evicted: report.evicted,
            segment_rows: report.segment_rows,
            segment_bytes: report.segment_bytes,
            stamps_renewed: report.stamps_renewed,
            bytes_read: report.bytes_read,
            body_bytes: report.body_bytes,
            degradations: report.degradations.iter().map(Into::into).collect(),
            elapsed_ms: report.elapsed_ms,
        }
    }
}
