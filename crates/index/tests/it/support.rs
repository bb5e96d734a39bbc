//! What the tests share: a memory that can be edited, an encoder that counts, an index in a temporary folder.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use casebook_corpus::{
    Clock, Degradation, Found, KnownItems, KnownState, MemorySource, Resource, Scan, ScanItem, SourceError, Stamp,
};
use casebook_index::{
    BuildError, BuildObserver, BuildReport, BuildRequest, Cancel, EncodeError, EncoderRevision, FillReport,
    FillRequest, Index, IndexOptions, LockWait, OpenError, Passage, PassageVector, Snapshot, TextEncoder, UnitSource,
};
use casebook_testkit::{FakePack, FixedClock, resource};

/// Items by location, each with the rank of its source.
#[derive(Default)]
pub(crate) struct Memory {
    items: Mutex<BTreeMap<String, (u32, Found)>>,
    /// Told with every scan: an item that was only touched has another stamp.
    pub(crate) touched: AtomicU64,
}

impl Memory {
    pub(crate) fn with(items: &[(&str, &str)]) -> Self {
        let memory = Self::default();
        for (path, body) in items {
            memory.write(path, body);
        }
        memory
    }

    pub(crate) fn write(&self, path: &str, body: &str) {
        self.put(path, 0, resource(path, body).build());
    }

    pub(crate) fn put(&self, location: &str, rank: u32, resource: Resource) {
        let found = Found::Resource(Box::new(resource));
        self.items.lock().unwrap().insert(location.to_owned(), (rank, found));
    }

    pub(crate) fn skip(&self, location: &str) {
        let found = Found::Skipped(Degradation::at("file_unreadable", "cannot be read", location));
        self.items.lock().unwrap().insert(location.to_owned(), (0, found));
    }

    pub(crate) fn remove(&self, location: &str) {
        self.items.lock().unwrap().remove(location).unwrap();
    }

    pub(crate) fn locations(&self) -> Vec<String> {
        self.items.lock().unwrap().keys().cloned().collect()
    }
}

impl MemorySource for Memory {
    fn scan(&self, known: &dyn KnownItems, _: &dyn Clock, found: &dyn Fn(usize) -> bool) -> Result<Scan, SourceError> {
        let mut scan = Scan::default();
        for (location, (rank, now)) in &*self.items.lock().unwrap() {
            let known = known.get(location);
            let same = match (now, known.as_ref().map(|known| &known.state)) {
                (Found::Resource(now), Some(KnownState::Resource { id, content_hash })) => {
                    *id == now.meta.id && *content_hash == now.meta.content_hash
                }
                _ => false,
            };
            if let Found::Resource(now) = now
                && !same
            {
                scan.bytes_read += now.body.len() as u64;
            }
            scan.items.push(ScanItem {
                location: location.clone(),
                rank: *rank,
                stamp: Some(Stamp::new([self.touched.load(Ordering::Relaxed), 0, 0, 0])),
                found: if same { Found::Unchanged } else { now.clone() },
            });
            if !found(scan.items.len()) {
                return Err(SourceError::Stopped);
            }
        }
        Ok(scan)
    }
}

/// A vector of letter counts: deterministic, and texts that share letters are near each other.
pub(crate) struct Letters {
    revision: EncoderRevision,
    pub(crate) inputs: AtomicU64,
    pub(crate) broken: AtomicBool,
    /// Inputs after which it breaks.
    pub(crate) breaks_after: AtomicU64,
}

pub(crate) const DIMENSION: usize = 16;

impl Letters {
    pub(crate) fn new(revision: &str) -> Self {
        Self {
            revision: revision.into(),
            inputs: AtomicU64::new(0),
            broken: AtomicBool::new(false),
            breaks_after: AtomicU64::new(u64::MAX),
        }
    }

    pub(crate) fn vector(text: &str) -> Vec<f32> {
        let mut vector = [0.0_f32; DIMENSION];
        for letter in text.chars().filter(|c| c.is_alphanumeric()) {
            vector[letter as usize % DIMENSION] += 1.0;
        }
        let norm = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
        vector
            .iter()
            .map(|number| if norm > 0.0 { number / norm } else { 0.0 })
            .collect()
    }
}

impl TextEncoder for Letters {
    fn revision(&self) -> &EncoderRevision {
        &self.revision
    }

    fn dimension(&self) -> usize {
        DIMENSION
    }

    fn max_input_tokens(&self) -> usize {
        512
    }

    fn encode_query(&self, query: &str) -> Result<Vec<f32>, EncodeError> {
        Ok(Self::vector(query))
    }

    fn encode_passages(&self, passages: &[Passage<'_>], _: &dyn Cancel) -> Result<Vec<PassageVector>, EncodeError> {
        if self.broken.load(Ordering::Relaxed)
            || self.inputs.load(Ordering::Relaxed) >= self.breaks_after.load(Ordering::Relaxed)
        {
            return Err(EncodeError::Other("the model is gone".into()));
        }
        if let Some(index) = passages.iter().position(|passage| passage.text.contains("REFUSE")) {
            let reason = "told to".to_owned();
            return Err(EncodeError::Input { index, reason });
        }
        self.inputs.fetch_add(passages.len() as u64, Ordering::Relaxed);
        let vectors = passages.iter().map(|passage| PassageVector {
            vector: Self::vector(passage.text),
            input_windows: 1,
        });
        Ok(vectors.collect())
    }
}

/// An observer that stops a build at its n-th question.
pub(crate) struct StopAfter(pub(crate) AtomicU64);

impl Cancel for StopAfter {
    fn cancelled(&self) -> bool {
        let before = self.0.load(Ordering::Relaxed);
        self.0.store(before.saturating_sub(1), Ordering::Relaxed);
        before == 0
    }
}

impl BuildObserver for StopAfter {
    fn progress(&self, _: casebook_index::BuildStage, _: usize, _: Option<usize>) {}
}

/// An index in a folder that is gone when the test is.
pub(crate) struct Fixture {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) index: Index,
    pub(crate) encoder: Letters,
}

static CLOCK: FixedClock = FixedClock::new(casebook_corpus::Timestamp::from_unix_millis(1000));

/// Opens an index that has every lane.
pub(crate) fn every_lane(dir: &Path) -> Result<Index, OpenError> {
    Index::open_with(dir, IndexOptions::with_every_lane())
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            index: every_lane(&folder.path().join("index")).unwrap(),
            folder,
            encoder: Letters::new("letters.1"),
        }
    }

    pub(crate) fn dir(&self) -> std::path::PathBuf {
        self.folder.path().join("index")
    }

    pub(crate) fn build(&self, memory: &Memory) -> BuildReport {
        self.try_build(memory).unwrap()
    }

    pub(crate) fn try_build(&self, memory: &Memory) -> Result<BuildReport, BuildError> {
        self.index.build(&request(memory, Some(&self.encoder)))
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        self.index.snapshot().unwrap().unwrap()
    }

    pub(crate) fn reopen(&mut self) {
        self.index = every_lane(&self.dir()).unwrap();
    }
}

pub(crate) fn request<'a>(memory: &'a dyn MemorySource, encoder: Option<&'a Letters>) -> BuildRequest<'a> {
    BuildRequest {
        source: memory,
        encoder: encoder.map(|encoder| encoder as &dyn TextEncoder),
        clock: &CLOCK,
        observer: &(),
        full: false,
        wait: LockWait::UntilFree,
    }
}

/// Fills the pack in as far as it goes.
pub(crate) fn fill(index: &Index, pack: &FakePack) -> FillReport {
    index.fill(&FillRequest::new(pack, &CLOCK)).unwrap()
}

/// Returns a request that fills the pack in with batches of this size.
pub(crate) fn fill_by(pack: &FakePack, batch: usize) -> FillRequest<'_> {
    FillRequest {
        batch,
        ..FillRequest::new(pack, &CLOCK)
    }
}

/// Returns what the pack's dense lane says: every unit by key with its score, and the codes of degradations.
pub(crate) fn lane_of(snapshot: &Snapshot, pack: &FakePack, query: &str) -> (Vec<(String, f32)>, Vec<String>) {
    let lanes = snapshot.lanes_of(pack.revision()).unwrap();
    let answer = lanes.dense().search(&FakePack::vector(query), 999).unwrap();
    let hits = answer.hits.into_iter().map(|hit| (hit.unit_key.to_string(), hit.score));
    let told = answer.degradations.into_iter().map(|told| told.detail);
    (hits.collect(), told.collect())
}

/// Returns the texts of the units that a lane of this name finds, best first.
pub(crate) fn search(snapshot: &Snapshot, lane: &str, query: &str) -> Vec<String> {
    let found = match lane {
        "identity" => snapshot.identity().search(query, 60),
        "dense" => snapshot.dense().unwrap().search(&Letters::vector(query), 60),
        _ => {
            let lexical = snapshot.lexical();
            let found = lexical.iter().find(|found| found.name() == lane);
            found.unwrap_or_else(|| panic!("no lane {lane}")).search(query, 60)
        }
    };
    let keys: Vec<_> = found.unwrap().hits.into_iter().map(|hit| hit.unit_key).collect();
    snapshot
        .units(&keys)
        .unwrap()
        .into_iter()
        .map(|record| record.unit.text)
        .collect()
}

/// A body of many sections, each a unit of its own.
pub(crate) fn sections(count: usize, text: impl Fn(usize) -> String) -> String {
    let filler = "记忆 retrieval fills a section with words. ".repeat(25);
    (0..count)
        .map(|n| format!("# Section {n}\n\n{}\n\n{filler}\n\n", text(n)))
        .collect()
}

pub(crate) fn codes(degradations: &[Degradation]) -> Vec<&str> {
    degradations
        .iter()
        .map(|degradation| degradation.code.as_ref())
        .collect()
}
