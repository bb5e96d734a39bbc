//! Builds an index and activates memory from it with a lane of one's own beside the index's lanes.

use casebook_corpus::{RecordSource, Resource, SourceDecl};
use casebook_index::{
    BuildRequest, Index, LaneAnswer, LaneError, LaneHit, LexicalLane, LockWait, RevisionId, UnitKey, UnitSource,
};
use casebook_ranker::{ActivationRequest, Lanes, RankerConfig, SourceState, Tools, activate};
use casebook_testkit::FixedClock; // stands in for a clock of the caller's

/// Always brings up one unit, whatever is asked.
struct Pinned(RevisionId, UnitKey);

#[rustfmt::skip]
impl LexicalLane for Pinned {
    fn name(&self) -> &'static str { "pinned" }
    fn revision(&self) -> &RevisionId { &self.0 }
    fn search(&self, _query: &str, _limit: usize) -> Result<LaneAnswer, LaneError> {
        Ok(LaneAnswer { hits: vec![LaneHit { unit_key: self.1.clone(), score: 1.0 }], ..LaneAnswer::default() })
    }
}

#[rustfmt::skip]
#[expect(clippy::print_stdout, reason = "an example shows its result")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let read = |path, text| Resource::from_markdown(path, text, &SourceDecl::default());
    let source = RecordSource::new(vec![read("lock.md", "A builder holds the lock.")?, read("rules.md", "Be kind.")?]);
    let (folder, clock) = (tempfile::tempdir()?, FixedClock::default());
    let index = Index::open(folder.path())?;
    let (encoder, wait) = (None, LockWait::UntilFree);
    index.build(&BuildRequest { source: &source, encoder, clock: &clock, observer: &(), full: false, wait })?;
    let snapshot = index.snapshot()?.ok_or("nothing was built")?;
    let rules = snapshot.units_of(&"rules.md".into())?.remove(0);
    let pinned = Pinned(snapshot.revision().id.clone(), rules.unit.unit_key);
    let mut lanes = Lanes::from(&snapshot);
    lanes.lexical.push(&pinned);
    let tools = Tools { scorer: None, clock: &clock, freshness: &|_| SourceState::Present };
    let answer = activate(&ActivationRequest::new("who holds the lock?"), &lanes, &RankerConfig::default(), &tools)?;
    answer.fragments.iter().for_each(|fragment| println!("{}: {}", fragment.path, fragment.text));
    Ok(())
}
