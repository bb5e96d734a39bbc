//! A service over a temporary project, with an encoder and a reranker that cost nothing.

use std::path::Path;
use std::sync::Arc;

use casebook_api::{ApiError, ErrorKind, Parts, Project, Service};
use casebook_corpus::{Clock, FilesConfig};
use casebook_index::{Cancel, IndexOptions, Passage, TextEncoder};
use casebook_ranker::{PairScore, PairScorer, RankerConfig, ScoreError};
use casebook_recorder::RunId;
use casebook_testkit::{FakeEncoder, FakePack};

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

pub(crate) fn service(root: &Path, pack: Option<Arc<FakePack>>, clock: Arc<dyn Clock>) -> Service {
    let root = root.to_owned();
    let parts = Parts {
        encoder: Arc::new(FakeEncoder::default()),
        preferred: pack.map(|pack| pack as Arc<dyn TextEncoder>),
        scorer: Arc::new(Alike),
        clock,
        run_ids: Arc::new(|| RunId::new("run")),
        problems: Vec::new(),
    };
    let project = Project {
        id: Project::derived_id(&root),
        index_dirs: vec![root.join(".casebook")],
        records: root.join("records.db"),
        files: FilesConfig::default(),
        index: IndexOptions::default(),
        ranker: RankerConfig::default(),
        audiences: Vec::new(),
        root,
    };
    let unwanted = ApiError::new("history_unavailable", ErrorKind::Internal, "not wanted");
    Service::open(project, Err(unwanted), parts).unwrap()
}
