//! The store against a model that keeps everything in memory, over any order of calls, with reopenings between.

use std::collections::BTreeMap;

use casebook_corpus::{Found, RecordChange};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::records::{Pushed, begin, gone, page, scan, upsert};

#[derive(Clone, Debug)]
enum Step {
    Begin {
        base: u8,
        replace: bool,
    },
    Stage {
        number: u32,
        changes: BTreeMap<u8, Option<u8>>,
    },
    Commit {
        pages: u32,
        version: u8,
    },
    Abort,
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let changes = proptest::collection::btree_map(0..6_u8, proptest::option::of(0..3_u8), 0..4);
    prop_oneof![
        3 => (0..4_u8, any::<bool>()).prop_map(|(base, replace)| Step::Begin { base, replace }),
        6 => (0..4_u32, changes).prop_map(|(number, changes)| Step::Stage { number, changes }),
        4 => (0..4_u32, 1..4_u8).prop_map(|(pages, version)| Step::Commit { pages, version }),
        1 => Just(Step::Abort),
        1 => Just(Step::Reopen),
    ]
}

type Changes = BTreeMap<u8, Option<u8>>;

/// What the documents say.
#[derive(Default)]
struct Model {
    records: BTreeMap<u8, u8>,
    /// 0 is none.
    version: u8,
    open: Option<(String, Vec<Changes>)>,
    last: Option<(String, u8)>,
    /// Ids given to syncs.
    fresh: u32,
}

impl Model {
    fn begin(&mut self, base: u8, replace: bool, fresh: &str) -> bool {
        if base != self.version {
            return false;
        }
        if replace || self.open.is_none() {
            self.open = Some((fresh.to_owned(), Vec::new()));
        }
        true
    }

    fn stage(&mut self, sync: &str, number: u32, changes: &Changes) -> bool {
        let Some((_, pages)) = self.open.as_mut().filter(|(open, _)| open == sync) else {
            return false;
        };
        match pages.get((number as usize).wrapping_sub(1)) {
            Some(staged) => staged == changes,
            None if number as usize == pages.len() + 1 => {
                pages.push(changes.clone());
                true
            }
            None => false,
        }
    }

    fn commit(&mut self, sync: &str, count: u32, version: u8) -> bool {
        if self.last.as_ref() == Some(&(sync.to_owned(), version)) {
            return true;
        }
        let may = |(open, pages): &(String, Vec<Changes>)| open == sync && pages.len() == count as usize;
        if version == self.version || !self.open.as_ref().is_some_and(may) {
            return false;
        }
        for (id, body) in self.open.take().into_iter().flat_map(|(_, pages)| pages).flatten() {
            match body {
                Some(body) => self.records.insert(id, body),
                None => self.records.remove(&id),
            };
        }
        self.version = version;
        self.last = Some((sync.to_owned(), version));
        true
    }
}

fn name(version: u8) -> Option<String> {
    (version > 0).then(|| format!("v{version}"))
}

fn changes(changes: &Changes) -> Vec<RecordChange> {
    let change = |(id, body): (&u8, &Option<u8>)| match body {
        Some(body) => upsert(&id.to_string(), &body.to_string()),
        None => gone(&id.to_string()),
    };
    changes.iter().map(change).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_store_does_what_the_model_does(steps in vec(step(), 1..24)) {
        let pushed = Pushed::new();
        let mut store = pushed.reopened();
        let mut model = Model::default();
        let mut sync = "none".to_owned();
        for step in steps {
            match &step {
                Step::Begin { base, replace } => {
                    model.fresh += 1;
                    let fresh = format!("sync {}", model.fresh);
                    let begun = begin(&store, name(*base).as_deref(), &fresh, *replace);
                    prop_assert_eq!(begun.is_ok(), model.begin(*base, *replace, &fresh), "{:?}", step);
                    if let Ok(begun) = begun {
                        let open = model.open.as_ref().map(|(open, pages)| (open.as_str(), pages.len()));
                        prop_assert_eq!(Some((begun.sync.id.as_str(), begun.sync.pages.len())), open);
                        sync = begun.sync.id.to_string();
                    }
                }
                Step::Stage { number, changes: new } => {
                    let staged = store.stage(&sync.as_str().into(), *number, &page(changes(new)));
                    prop_assert_eq!(staged.is_ok(), model.stage(&sync, *number, new), "{:?}", step);
                }
                Step::Commit { pages, version } => {
                    let version_name = name(*version).unwrap();
                    let now = casebook_corpus::Timestamp::from_unix_millis(0);
                    let done = store.commit(&sync.as_str().into(), *pages, &version_name.as_str().into(), now);
                    prop_assert_eq!(done.is_ok(), model.commit(&sync, *pages, *version), "{:?}", step);
                    if let Ok(done) = done {
                        prop_assert_eq!(done.records, model.records.len() as u64);
                    }
                }
                Step::Abort => {
                    let aborted = store.abort(&sync.as_str().into());
                    let expected = model.open.as_ref().is_some_and(|(open, _)| *open == sync);
                    prop_assert_eq!(aborted.is_ok(), expected);
                    if expected {
                        model.open = None;
                    }
                }
                Step::Reopen => store = pushed.reopened(),
            }
            let records: BTreeMap<u8, u8> = scan(&store, &())
                .items
                .into_iter()
                .map(|item| match item.found {
                    Found::Resource(resource) => {
                        (resource.meta.id.as_str().parse().unwrap(), resource.body.parse().unwrap())
                    }
                    other => panic!("{other:?}"),
                })
                .collect();
            prop_assert_eq!(&records, &model.records, "{:?}", step);
        }
    }
}
