//! The lab: data sets with known answers, run through the real index and the real ranker.
//!
//! The one thing a newcomer gets wrong: an arm is the order of one stage of an activation's trace, with the limits that the
//! chain gives that stage, and not a search of its own. Arms of one fusion share one activation per query.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use casebook_corpus::{Clock, RecordSource, Scope, Timestamp};
use casebook_index::{
    BuildObserver, BuildRequest, BuildStage, Cancel, Index, IndexOptions, LexicalLane, LockWait, Snapshot, TextEncoder,
};
use casebook_ranker::{
    Activation, ActivationRequest, Candidate, Disposition, Fusion, Lanes, PairScorer, RankerConfig, SourceState, Tools,
    activate,
};
use serde::Serialize;

use crate::report::{ArmReport, LabReport, SetReport, Timings};
use crate::{Arm, DataSet, Judged, LabError, Project, Query};

/// What a query's scope means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScopeUse {
    /// A query with a scope searches that scope only.
    #[default]
    Honour,
    /// Every query searches all documents of its project.
    Ignore,
}

/// How far the lab is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabProgress<'a> {
    /// An index is being built.
    Building {
        /// The data set.
        set: &'a str,
        /// The stage of the build.
        stage: BuildStage,
        /// Pieces of work done.
        done: usize,
        /// Pieces there are, where known.
        total: Option<usize>,
    },
    /// Queries are being answered.
    Asking {
        /// The data set.
        set: &'a str,
        /// Queries of the set that are done.
        done: usize,
        /// Queries of the set.
        total: usize,
    },
}

/// What to run.
#[derive(Clone, Copy)]
pub struct LabRequest<'a> {
    /// The data sets, by distinct names.
    pub sets: &'a [DataSet],
    /// The arms to report.
    pub arms: &'a [Arm],
    /// What a query's scope means.
    pub scopes: ScopeUse,
    /// How the memory is cut, and the word lanes of the chain. Where an arm is of another lane, that lane is built as well,
    /// and is in the list of that arm alone.
    pub index: &'a IndexOptions,
    /// Where results are written, and indexes are kept so that a second run encodes only what changed.
    pub out: &'a Path,
    /// Makes vectors.
    pub encoder: &'a dyn TextEncoder,
    /// Scores pairs.
    pub scorer: &'a dyn PairScorer,
    /// The ranking profile; its deadline is not used.
    pub config: &'a RankerConfig,
    /// Tells times; results do not depend on it.
    pub clock: &'a dyn Clock,
    /// Told how far it is; called often.
    pub progress: &'a (dyn Fn(LabProgress<'_>) + Sync),
}

/// Runs data sets and writes, below `out`, `<set>.<arm>.trec` for each, `results.json` (the same bytes for the same data
/// and code) and `timings.json`.
///
/// # Errors
/// When an index cannot be built or read, a query cannot be answered, or a result cannot be written.
pub fn run_lab(request: &LabRequest<'_>) -> Result<LabReport, LabError> {
    create_folder(request.out)?;
    let mut report = LabReport {
        encoder: request.encoder.revision().to_string(),
        scorer: request.scorer.revision().to_owned(),
        profile: request.config.profile.clone(),
        sets: Vec::new(),
    };
    for set in request.sets {
        report.sets.push(SetRun::new(request, set).run()?);
    }
    write_json(&request.out.join("results.json"), &report)?;
    let timings: BTreeMap<_, _> = report.sets.iter().map(|set| (&set.set, set.timings)).collect();
    write_json(&request.out.join("timings.json"), &timings)?;
    Ok(report)
}

/// One data set under way.
struct SetRun<'a> {
    request: &'a LabRequest<'a>,
    set: &'a DataSet,
    config: RankerConfig,
    /// By arm: each query with its ranking.
    rankings: Vec<Vec<(&'a Query, Vec<String>)>>,
    degradations: BTreeMap<String, usize>,
    build_ms: u64,
    query_micros: Vec<u64>,
    units: u64,
}

impl<'a> SetRun<'a> {
    fn new(request: &'a LabRequest<'a>, set: &'a DataSet) -> Self {
        Self {
            request,
            set,
            // Results must not depend on how fast the machine is.
            config: RankerConfig {
                deadline_ms: u64::MAX,
                ..request.config.clone()
            },
            rankings: vec![Vec::new(); request.arms.len()],
            degradations: BTreeMap::new(),
            build_ms: 0,
            query_micros: Vec::new(),
            units: 0,
        }
    }

    fn run(mut self) -> Result<SetReport, LabError> {
        for project in &self.set.projects {
            let snapshot = self.build(project)?;
            for query in &project.queries {
                self.ask(&snapshot, query)?;
            }
        }
        let arms = self.request.arms.iter().zip(&self.rankings);
        let arms = arms
            .map(|(arm, rankings)| self.finish_arm(*arm, rankings))
            .collect::<Result<_, _>>()?;
        Ok(SetReport {
            set: self.set.name.clone(),
            projects: self.set.projects.len(),
            documents: self.set.projects.iter().map(|project| project.documents.len()).sum(),
            units: self.units,
            queries: self.query_count(),
            degradations: self.degradations,
            arms,
            timings: Timings::new(self.build_ms, self.query_micros),
        })
    }

    fn query_count(&self) -> usize {
        self.set.projects.iter().map(|project| project.queries.len()).sum()
    }

    fn build(&mut self, project: &Project) -> Result<Snapshot, LabError> {
        let set = || self.set.name.clone();
        let folder = self.request.out.join("index").join(&self.set.name).join(&project.name);
        create_folder(&folder)?;
        let index =
            Index::open_with(&folder, self.options()).map_err(|source| LabError::Open { set: set(), source })?;
        let source = RecordSource::new(
            project
                .documents
                .iter()
                .map(|document| document.to_resource())
                .collect(),
        );
        let built = index.build(&BuildRequest {
            source: &source,
            encoder: Some(self.request.encoder),
            clock: self.request.clock,
            observer: &Observer {
                set: &self.set.name,
                progress: self.request.progress,
            },
            full: false,
            wait: LockWait::UntilFree,
        });
        let built = built.map_err(|source| LabError::Build { set: set(), source })?;
        let snapshot = index
            .snapshot()
            .map_err(|source| LabError::Read { set: set(), source })?;
        let snapshot = snapshot.ok_or_else(|| LabError::Vanished { set: set() })?;
        self.build_ms += built.elapsed_ms;
        self.units += built.units;
        Ok(snapshot)
    }

    /// Returns the options of the index: those asked for, and every lane that an arm is of.
    fn options(&self) -> IndexOptions {
        let mut options = self.request.index.clone();
        for lane in self.request.arms.iter().filter_map(|arm| arm.word_lane()) {
            options.impact |= lane == "impact";
            options.fts5 |= lane == "fts5";
            options.tantivy |= lane == "tantivy";
        }
        options
    }

    /// Returns whether the arm is of a lane that the chain does without.
    fn is_apart(&self, arm: Arm) -> bool {
        arm.word_lane().is_some_and(|lane| !self.request.index.has_lane(lane))
    }

    fn ask(&mut self, snapshot: &Snapshot, query: &'a Query) -> Result<(), LabError> {
        let start = self.request.clock.monotonic_micros();
        let own = |lane: &&dyn LexicalLane| self.request.index.has_lane(lane.name());
        let lanes: Vec<_> = snapshot.lexical().into_iter().filter(own).collect();
        let activation = self.activate(snapshot, &lanes, query, self.config.fusion)?;
        self.query_micros
            .push(self.request.clock.monotonic_micros().saturating_sub(start));
        for degradation in &activation.degradations {
            *self.degradations.entry(degradation.code.to_string()).or_default() += 1;
        }
        let (mut other_fusion, mut other_lanes) = (None, None);
        for (place, arm) in self.request.arms.iter().enumerate() {
            let fusion = arm.fusion().filter(|fusion| *fusion != self.config.fusion);
            let ranked = if self.is_apart(*arm) {
                let made = match other_lanes.take() {
                    Some(made) => made,
                    None => self.activate(snapshot, &snapshot.lexical(), query, self.config.fusion)?,
                };
                documents(other_lanes.insert(made), *arm)
            } else if let Some(fusion) = fusion {
                let made = match other_fusion.take() {
                    Some(made) => made,
                    None => self.activate(snapshot, &lanes, query, fusion)?,
                };
                documents(other_fusion.insert(made), *arm)
            } else {
                documents(&activation, *arm)
            };
            self.rankings[place].push((query, ranked));
        }
        (self.request.progress)(LabProgress::Asking {
            set: &self.set.name,
            done: self.query_micros.len(),
            total: self.query_count(),
        });
        Ok(())
    }

    fn activate(
        &self,
        snapshot: &Snapshot,
        lexical: &[&dyn LexicalLane],
        query: &Query,
        fusion: Fusion,
    ) -> Result<Activation, LabError> {
        let config = RankerConfig {
            fusion,
            ..self.config.clone()
        };
        let scope = query
            .scope
            .as_deref()
            .filter(|_| self.request.scopes == ScopeUse::Honour);
        let activation_request = ActivationRequest {
            query: query.text.clone(),
            as_of: Some(Timestamp::from_unix_millis(0)),
            scopes: scope.map(Scope::new).into_iter().collect(),
            ..ActivationRequest::default()
        };
        let lanes = Lanes {
            lexical: lexical.to_vec(),
            encoder: Some(self.request.encoder),
            ..Lanes::from(snapshot)
        };
        let tools = Tools {
            scorer: Some(self.request.scorer),
            clock: self.request.clock,
            freshness: &|_| SourceState::Present,
        };
        activate(&activation_request, &lanes, &config, &tools).map_err(|source| LabError::Query {
            set: self.set.name.clone(),
            query: query.id.clone(),
            source,
        })
    }

    fn finish_arm(&self, arm: Arm, rankings: &[(&'a Query, Vec<String>)]) -> Result<ArmReport, LabError> {
        let path = self.request.out.join(format!("{}.{arm}.trec", self.set.name));
        write_file(&path, &trec(arm, rankings))?;
        let judged = rankings
            .iter()
            .map(|(query, ranked)| (*query, Judged::new(ranked, &query.relevant)));
        Ok(ArmReport::new(arm, &judged.collect::<Vec<_>>()))
    }
}

/// Returns the documents in an arm's order: each where its best unit is.
fn documents(activation: &Activation, arm: Arm) -> Vec<String> {
    let allowed = |candidate: &&Candidate| candidate.disposition != Disposition::OutOfScope;
    let candidates = activation.candidates.iter().filter(allowed);
    let mut placed: Vec<_> = candidates
        .filter_map(|candidate| Some((arm.place(candidate)?, candidate)))
        .collect();
    // Stable: candidates without any rank stay in order of the trace.
    placed.sort_by_key(|(place, _)| *place);
    let mut seen = HashSet::new();
    let ids = placed.into_iter().map(|(_, candidate)| candidate.resource_id.as_str());
    ids.filter(|id| seen.insert(*id)).map(str::to_owned).collect()
}

/// Scores fall strictly by rank: tools that read the file order by score and break ties by id.
fn trec(arm: Arm, rankings: &[(&Query, Vec<String>)]) -> String {
    let mut text = String::new();
    for (query, ranked) in rankings {
        for (index, document) in ranked.iter().enumerate() {
            let (rank, score) = (index + 1, ranked.len() - index);
            writeln!(text, "{} Q0 {document} {rank} {score} {arm}", query.id).expect("a string takes any text");
        }
    }
    text
}

struct Observer<'a> {
    set: &'a str,
    progress: &'a (dyn Fn(LabProgress<'_>) + Sync),
}

impl Cancel for Observer<'_> {
    fn cancelled(&self) -> bool {
        false
    }
}

impl BuildObserver for Observer<'_> {
    fn progress(&self, stage: BuildStage, done: usize, total: Option<usize>) {
        let set = self.set;
        (self.progress)(LabProgress::Building {
            set,
            stage,
            done,
            total,
        });
    }
}

fn create_folder(path: &Path) -> Result<(), LabError> {
    std::fs::create_dir_all(path).map_err(write_error(path))
}

fn write_file(path: &Path, text: &str) -> Result<(), LabError> {
    std::fs::write(path, text).map_err(write_error(path))
}

fn write_json(path: &Path, value: &impl Serialize) -> Result<(), LabError> {
    let text = serde_json::to_string_pretty(value).map_err(|error| write_error(path)(error.into()))?;
    write_file(path, &(text + "\n"))
}

fn write_error(path: &Path) -> impl FnOnce(std::io::Error) -> LabError {
    let path = PathBuf::from(path);
    |source| LabError::Write { path, source }
}
