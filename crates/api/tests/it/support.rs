//! What the tests share: a service over a folder, of parts that a test can replace.

use std::path::Path;
use std::sync::Arc;

use casebook_api::{ApiError, ErrorKind, Parts, Project, Service};
use casebook_corpus::FilesConfig;
use casebook_index::{Cancel, IndexOptions, Passage, TextEncoder};
use casebook_ranker::{PairScore, PairScorer, RankerConfig, ScoreError};
use casebook_recorder::RunId;
use casebook_testkit::FixedClock;

/// Scores everything alike.
struct Alike;

impl PairScorer for Alike {
    fn revision(&self) -> &str {
        "alike"
    }

    fn score(&self, _: &str, passages: &[Passage<'_>], _: &dyn Cancel) -> Result<Vec<PairScore>, ScoreError> {
        Ok(passages.iter().map(|_| PairScore::new(0.9)).collect())
    }
}

pub(crate) fn parts(encoder: Arc<dyn TextEncoder>) -> Parts {
    Parts {
        encoder,
        preferred: None,
        scorer: Arc::new(Alike),
        clock: Arc::new(FixedClock::default()),
        run_ids: Arc::new(|| RunId::new("run")),
        problems: Vec::new(),
    }
}

/// Opens the project of a folder, without a history. Its index has every lane; it is in `.casebook`, and in `elsewhere` where
/// that cannot be used.
pub(crate) fn service(root: &Path, parts: Parts) -> Result<Service, ApiError> {
    let project = Project {
        id: Project::derived_id(root),
        index_dirs: vec![root.join(".casebook"), root.join("elsewhere/index")],
        records: root.join("records.db"),
        files: FilesConfig::default(),
        index: IndexOptions::with_every_lane(),
        ranker: RankerConfig::default(),
        audiences: Vec::new(),
        root: root.to_owned(),
    };
    let unwanted = ApiError::new("history_unavailable", ErrorKind::Internal, "not wanted");
    Service::open(project, Err(unwanted), parts)
}
