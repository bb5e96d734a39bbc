//! Activates memory from an index and shows that the recorded ranking follows from the recorded stages.

use casebook_corpus::{RecordSource, Resource, SourceDecl, Timestamp};
use casebook_evaluation::{Replay, replay};
use casebook_index::{BuildRequest, Index};
use casebook_ranker::{ActivationRequest, Lanes, RankerConfig, SourceState, Tools, activate};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (folder, clock) = (tempfile::tempdir()?, Timestamp::from_unix_millis(0));
    let note = |path, text| Resource::from_markdown(path, text, &SourceDecl::default());
    let lock = note("lock.md", "One builder holds the lock; a crash releases it.")?;
    let source = RecordSource::new(vec![lock, note("rules.md", "Be kind.")?]);
    let index = Index::open(folder.path())?;
    index.build(&BuildRequest::new(&source, None, &clock))?;
    let snapshot = index.snapshot()?.ok_or("nothing was built")?;

    let tools = Tools {
        scorer: None,
        clock: &clock,
        freshness: &|_| SourceState::Present,
    };
    let config = RankerConfig::default();
    let request = ActivationRequest::new("who holds the lock?");
    let mut trace = activate(&request, &Lanes::from(&snapshot), &config, &tools)?;
    assert_eq!(trace.fragments[0].path, "lock.md");
    assert_eq!(replay(&trace, &config), Replay::Same);

    // A rank that was touched later does not follow any more.
    trace.candidates[0].scores.rrf = None;
    assert!(matches!(replay(&trace, &config), Replay::Different(_)));
    Ok(())
}
