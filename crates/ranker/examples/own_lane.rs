//! Activates memory from an index with a lane of one's own, which brings up one note whatever is asked.

use casebook_corpus::{RecordSource, Resource, SourceDecl, Timestamp};
use casebook_index::{BuildRequest, Index, LaneAnswer, LaneError, LaneHit, LexicalLane, RevisionId};
use casebook_ranker::{ActivationRequest, Lanes, RankerConfig, SourceState, Tools, activate};

struct Pinned(RevisionId);
impl LexicalLane for Pinned {
    fn name(&self) -> &'static str {
        "pinned"
    }
    fn revision(&self) -> &RevisionId {
        &self.0
    }
    fn search(&self, _query: &str, _limit: usize) -> Result<LaneAnswer, LaneError> {
        let (mut answer, unit_key) = (LaneAnswer::default(), "rules.md#:root".into());
        answer.hits.push(LaneHit { unit_key, score: 1.0 });
        Ok(answer)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (folder, clock) = (tempfile::tempdir()?, Timestamp::from_unix_millis(0));
    let note = Resource::from_markdown("rules.md", "Be kind.", &SourceDecl::default())?;
    let index = Index::open(folder.path())?;
    index.build(&BuildRequest::new(&RecordSource::new(vec![note]), None, &clock))?;
    let snapshot = index.snapshot()?.ok_or("nothing was built")?;
    let pinned = Pinned(snapshot.revision().id.clone());
    let mut lanes = Lanes::from(&snapshot);
    lanes.lexical.push(&pinned);
    let tools = Tools {
        scorer: None,
        clock: &clock,
        freshness: &|_| SourceState::Present,
    };
    let request = ActivationRequest::new("who holds the lock?");
    let answer = activate(&request, &lanes, &RankerConfig::default(), &tools)?;
    assert_eq!(answer.fragments[0].path, "rules.md");
    Ok(())
}
