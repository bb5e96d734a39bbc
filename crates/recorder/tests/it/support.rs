//! A history in a temporary folder, one full sample of everything, and a look at the tables.

use std::path::Path;
use std::sync::Arc;

use casebook_corpus::{ContentHash, Degradation, EffectiveHash, Fidelity, Manifest, ManifestEntry, Timestamp};
use casebook_ranker::{
    Activation, ActivationRequest, ActivationState, BudgetUse, Candidate, DeltaAction, DenseSource, Disposition,
    EvidenceShape, Fragment, Fusion, FusionWeights, HeldFragment, HistoryMode, Language, LexicalWeights, Locator,
    RankedScore, RankerConfig, Redirect, Removed, Role, Stage, StageLatency, StageScores, TimeLabel, WordMatch,
};
use casebook_recorder::{Recorder, RunId};
use casebook_testkit::FixedClock;
use rusqlite::Connection;
use tempfile::TempDir;

/// A history that lives as long as the test.
pub(crate) struct History {
    pub(crate) recorder: Recorder,
    pub(crate) clock: Arc<FixedClock>,
    pub(crate) dir: TempDir,
}

impl History {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock = Arc::new(FixedClock::new(Timestamp::from_unix_millis(1_000)));
        let recorder = Recorder::open(dir.path(), "one".into(), clock.clone()).unwrap();
        Self { recorder, clock, dir }
    }

    pub(crate) fn start(&self, run: &str) {
        start(&self.recorder, run);
    }

    pub(crate) fn finish(&self, run: &str, activation: &Activation) {
        self.recorder.finish_run(&run.into(), activation, &|| None).unwrap();
    }

    /// A second connection, for looking and for tampering.
    pub(crate) fn sql(&self) -> Connection {
        sql(self.dir.path())
    }
}

pub(crate) fn sql(dir: &Path) -> Connection {
    Connection::open(dir.join("local.db")).unwrap()
}

pub(crate) fn open(dir: &Path, instance: &str) -> Recorder {
    Recorder::open(dir, instance.into(), Arc::new(FixedClock::default())).unwrap()
}

pub(crate) fn start(recorder: &Recorder, run: &str) {
    recorder
        .start_run(&RunId::from(run), &"project".into(), &request(), &config())
        .unwrap();
}

/// Constants of a profile, spelled out: the defaults may change, frozen bytes may not.
fn config() -> RankerConfig {
    RankerConfig {
        profile: "agent_activation.v2".to_owned(),
        lexical_limit: 61,
        lexical_weights: LexicalWeights {
            impact: 4.0,
            fts5: 1.0,
            tantivy: 2.0,
            other: 0.5,
        },
        dense_limit: 62,
        fusion: Fusion::Weighted,
        fusion_weights: FusionWeights {
            dense: 0.5,
            contextual_dense: 0.75,
            foreign_dense: 1.0,
            foreign_lexical: 0.0625,
        },
        rrf_k: 60.0,
        fused_keep: 40,
        rerank_depth: 24,
        rerank_weight: 3.0,
        phrase_bonus: 0.125,
        min_relevance: 0.0625,
        relevance_share: 0.375,
        max_overlap: 0.5,
        per_resource: 2,
        token_budget: 2400,
        fragment_limit: 12,
        history: HistoryMode::Attach,
        deadline_ms: 60_000,
    }
}

/// Every row of every projection as text.
pub(crate) fn projections(db: &Connection) -> String {
    let tables = [
        "retrieval_runs",
        "retrieval_run_candidates",
        "retrieval_run_resources",
        "retrieval_corpus_blobs",
    ];
    let mut text = String::new();
    for table in tables {
        let mut statement = db.prepare(&format!("SELECT * FROM {table} ORDER BY 1, 2")).unwrap();
        let columns = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let values: Vec<rusqlite::types::Value> = (0..columns).map(|index| row.get(index).unwrap()).collect();
            text.push_str(&format!("{table} {values:?}\n"));
        }
    }
    text
}

pub(crate) fn request() -> ActivationRequest {
    ActivationRequest {
        query: "索引重建期间 what happens to queries?".to_owned(),
        state: state(),
        as_of: Some(Timestamp::from_unix_millis(77)),
        scopes: vec!["project".into(), "团队".into()],
        topics: vec!["index".to_owned()],
        entities: vec!["云".to_owned()],
        audiences: vec!["dev".to_owned()],
    }
}

fn state() -> ActivationState {
    ActivationState {
        held: vec![HeldFragment {
            unit_key: "notes/old#0".into(),
            content_hash: ContentHash::of("old"),
        }],
    }
}

/// A manifest whose content depends on `n`.
pub(crate) fn manifest(n: u32) -> Manifest {
    Manifest::new(["notes/索引", "notes/head"].map(|id| ManifestEntry {
        scope: "project".into(),
        id: id.into(),
        content_hash: ContentHash::of(format!("{id} {n}")),
    }))
}

/// An answer with something in every field, whose texts depend on `n`.
pub(crate) fn activation(n: u32) -> Activation {
    Activation {
        query: request().query,
        query_language: Language::Zh,
        profile: "agent_activation.v2".to_owned(),
        revision: "3-abc".into(),
        effective_hash: manifest(n).effective_hash(),
        dense_source: Some(DenseSource {
            encoder: "e5".into(),
            is_contextual: true,
        }),
        as_of: Timestamp::from_unix_millis(77),
        fragments: vec![
            fragment(format!("旧的 head 仍然可查 {n}"), DeltaAction::Add, Role::Evidence),
            fragment(
                format!("before that, queries failed {n}"),
                DeltaAction::Replace,
                Role::History,
            ),
        ],
        removed: vec![Removed {
            unit_key: "notes/gone#1".into(),
        }],
        state: state(),
        candidates: vec![candidate(Disposition::Selected), candidate(Disposition::TokenCap)],
        degradations: vec![
            Degradation::new("index_stale", "the head is older than the files"),
            Degradation::at("file_too_large", "10 MB", "notes/大.md"),
        ],
        latencies: vec![
            StageLatency {
                stage: Stage::Lexical,
                micros: 412,
            },
            StageLatency {
                stage: Stage::Assembly,
                micros: 9,
            },
        ],
        budget: BudgetUse {
            token_budget: 2400,
            tokens_used: 300,
            fragment_limit: 12,
            fragments_used: 2,
        },
    }
}

fn fragment(text: String, action: DeltaAction, role: Role) -> Fragment {
    Fragment {
        unit_key: "notes/索引#rebuild/0".into(),
        content_hash: ContentHash::of(&text),
        resource_id: "notes/索引".into(),
        scope: "project".into(),
        kind: "decision".to_owned(),
        path: "notes/索引.md".to_owned(),
        heading_path: vec!["索引".to_owned(), "Rebuild".to_owned()],
        locator: Locator {
            bytes: 120..300,
            first_line: 9,
            last_line: 14,
        },
        title: "索引 and its head".to_owned(),
        fidelity: Fidelity::StructuredSummary,
        quotable: false,
        time_labels: vec![TimeLabel::NoLongerValid, TimeLabel::Stale],
        evidence_shape: EvidenceShape::ProvenanceSupported,
        role,
        token_count: 150,
        text,
        action,
    }
}

fn candidate(disposition: Disposition) -> Candidate {
    let ranked = |rank, score| Some(RankedScore { rank, score });
    Candidate {
        unit_key: "notes/索引#rebuild/0".into(),
        resource_id: "notes/索引".into(),
        content_hash: ContentHash::of("unit"),
        resource_hash: ContentHash::of("resource"),
        token_count: 150,
        language: Language::Zh,
        scores: StageScores {
            exact: ranked(1, 1.0),
            lexical: ranked(2, 8.5),
            impact: ranked(2, 7.75),
            fts5: ranked(3, -4.25),
            tantivy: ranked(1, 12.0),
            dense: ranked(4, 0.625),
            sparse: None,
            other: vec![("graph".to_owned(), RankedScore { rank: 5, score: 0.5 })],
            rrf: ranked(1, 0.03125),
            weighted: ranked(2, 0.875),
            fused: ranked(2, 0.875),
            reranker: ranked(2, 0.75),
            final_: (disposition == Disposition::Selected).then_some(RankedScore { rank: 1, score: 3.5 }),
        },
        pair_score: Some(0.875),
        contrast: Some(0.5),
        disposition,
        redirected_from: Some(("notes/旧".into(), Redirect::SupersededBy)),
        action: (disposition == Disposition::Selected).then_some(DeltaAction::Add),
        matches: vec![WordMatch {
            query: 0..6,
            text: 3..9,
            nearness: 0.75,
            share: 0.25,
        }],
    }
}

/// An effective hash that no manifest has.
pub(crate) fn unknown_memory() -> EffectiveHash {
    EffectiveHash::from_bytes([9; 32])
}
