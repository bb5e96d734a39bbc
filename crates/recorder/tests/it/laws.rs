//! Laws: what is read is what was recorded, and a replay gives the rows that living through it gave.

use std::collections::BTreeMap;

use casebook_ranker::Activation;
use casebook_recorder::{RecordError, RunFailure, RunFilter, RunId, RunStatus, Verification};
use proptest::prelude::*;
use proptest::sample::select;

use crate::arbitrary;
use crate::support::{History, manifest, projections};

/// Something that happens to a Run.
#[derive(Clone, Debug)]
enum Act {
    Start,
    Finish(Box<Activation>, Option<u32>),
    Fail(RunFailure),
}

fn act() -> impl Strategy<Value = Act> {
    let finish = (arbitrary::activation(), proptest::option::of(0..2_u32));
    prop_oneof![
        3 => Just(Act::Start),
        3 => finish.prop_map(|(activation, memory)| Act::Finish(Box::new(in_memory(activation, memory)), memory)),
        1 => arbitrary::failure().prop_map(Act::Fail),
    ]
}

/// Lets some Runs search the same memory.
fn in_memory(mut activation: Activation, memory: Option<u32>) -> Activation {
    if let Some(n) = memory {
        activation.effective_hash = manifest(n).effective_hash();
    }
    activation
}

fn intact(history: &History) -> bool {
    matches!(history.recorder.verify().unwrap(), Verification::Intact { .. })
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Performs the act and returns where the Run stands then, as a plain model would have it.
fn perform(history: &History, run: &RunId, act: &Act, before: Option<RunStatus>) -> (bool, Option<RunStatus>) {
    let (outcome, expected, after) = match act {
        Act::Start => (
            history
                .recorder
                .start_run(run, &"p".into(), &Default::default(), &Default::default()),
            None,
            RunStatus::Running,
        ),
        Act::Finish(activation, memory) => (
            history.recorder.finish_run(run, activation, &|| memory.map(manifest)),
            Some(RunStatus::Running),
            RunStatus::Succeeded,
        ),
        Act::Fail(failure) => (
            history.recorder.fail_run(run, failure),
            Some(RunStatus::Running),
            RunStatus::Failed,
        ),
    };
    match outcome {
        Ok(()) => (before == expected, Some(after)),
        Err(RecordError::Conflict { .. }) => (before != expected, before),
        Err(other) => panic!("{other}"),
    }
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn an_answer_is_read_as_it_was_recorded(
        request in arbitrary::request(), config in arbitrary::config(), activation in arbitrary::activation(),
    ) {
        let history = History::new();
        let run = RunId::from("r");
        history.recorder.start_run(&run, &"p".into(), &request, &config).unwrap();
        history.recorder.finish_run(&run, &activation, &|| None).unwrap();
        let record = history.recorder.run(&run).unwrap().unwrap();
        prop_assert_eq!(record.degradations, vec![]);
        prop_assert_eq!(record.request, request);
        prop_assert_eq!(record.config, config);
        prop_assert_eq!(record.activation, Some(activation));
    }

    #[test]
    fn a_failure_is_read_as_it_was_recorded(failure in arbitrary::failure()) {
        let history = History::new();
        history.start("r");
        history.recorder.fail_run(&"r".into(), &failure).unwrap();
        let record = history.recorder.run(&"r".into()).unwrap().unwrap();
        prop_assert_eq!(record.summary.failure_code.as_ref(), Some(&failure.code));
        prop_assert_eq!(record.failure, Some(failure));
    }
}

proptest! {
    #![proptest_config(cases(32))]

    #[test]
    fn a_replay_gives_the_rows_that_living_through_it_gave(
        acts in proptest::collection::vec((select(&["a", "b", "c"][..]), act()), 1..12),
    ) {
        let history = History::new();
        let mut model: BTreeMap<&str, RunStatus> = BTreeMap::new();
        for (run, act) in &acts {
            let (fits, after) = perform(&history, &RunId::from(*run), act, model.get(run).copied());
            prop_assert!(fits, "{run} {act:?} {model:?}");
            if let Some(status) = after {
                model.insert(*run, status);
            }
        }
        let lived = projections(&history.sql());
        history.recorder.rebuild().unwrap();
        prop_assert_eq!(projections(&history.sql()), lived);
        prop_assert!(intact(&history));
        let listed = history.recorder.runs(None, &RunFilter::default()).unwrap();
        let listed: BTreeMap<_, _> = listed.into_iter().map(|run| (run.id.to_string(), run.status)).collect();
        let expected: BTreeMap<_, _> = model.into_iter().map(|(run, status)| (run.to_owned(), status)).collect();
        prop_assert_eq!(listed, expected);
    }
}

#[test]
fn rebuild_mends_damaged_projections() {
    let history = History::new();
    history.start("r");
    history
        .recorder
        .finish_run(&"r".into(), &crate::support::activation(1), &|| Some(manifest(1)))
        .unwrap();
    let whole = projections(&history.sql());
    history
        .sql()
        .execute_batch(
            "UPDATE retrieval_runs SET query = 'x', status = 'failed'; DELETE FROM retrieval_run_candidates;
             DELETE FROM retrieval_run_resources; UPDATE retrieval_corpus_blobs SET bytes = 0;",
        )
        .unwrap();
    assert_ne!(projections(&history.sql()), whole);
    history.recorder.rebuild().unwrap();
    assert_eq!(projections(&history.sql()), whole);
}
