//! One suite for every source of memory.

use std::cell::RefCell;
use std::collections::BTreeMap;

use casebook_corpus::{FilesConfig, Found, KnownItem, MemorySource, RecordSource, Resource, SourceDecl, SourceError};
use casebook_testkit::{FixedClock, TempProject};

use crate::{Held, files, scan, show};

/// A memory that can be written, and read as a source.
trait Memory {
    fn put(&self, path: &str, text: &str);
    fn remove(&self, path: &str);
    fn source(&self) -> Box<dyn MemorySource>;
}

impl Memory for TempProject {
    fn put(&self, path: &str, text: &str) {
        self.write(path, text);
    }

    fn remove(&self, path: &str) {
        self.remove(path);
    }

    fn source(&self) -> Box<dyn MemorySource> {
        Box::new(files(self.root(), FilesConfig::default()))
    }
}

/// Texts by path.
type Texts = RefCell<BTreeMap<String, String>>;

impl Memory for Texts {
    fn put(&self, path: &str, text: &str) {
        self.borrow_mut().insert(path.to_owned(), text.to_owned());
    }

    fn remove(&self, path: &str) {
        self.borrow_mut().remove(path);
    }

    fn source(&self) -> Box<dyn MemorySource> {
        let read = |(path, text): (&String, &String)| Resource::from_markdown(path, text, &SourceDecl::default());
        Box::new(RecordSource::new(
            self.borrow()
                .iter()
                .map(|one| read(one).expect("the cases hold good front matter"))
                .collect(),
        ))
    }
}

/// Runs every case on every kind of memory.
macro_rules! conformance {
    ($($name:ident: $memory:expr),+ $(,)?) => {$(
        mod $name {
            use super::*;

            #[test]
            fn only_what_differs_is_handed_out() {
                super::only_what_differs_is_handed_out(&$memory);
            }

            #[test]
            fn order_and_content_are_the_same_every_time() {
                super::order_and_content_are_the_same_every_time(&$memory);
            }

            #[test]
            fn equal_content_is_unchanged_without_a_stamp() {
                super::equal_content_is_unchanged_without_a_stamp(&$memory);
            }

            #[test]
            fn progress_counts_every_item() {
                super::progress_counts_every_item(&$memory);
            }

            #[test]
            fn whoever_is_told_may_stop_it() {
                super::whoever_is_told_may_stop_it(&$memory);
            }
        }
    )+};
}

conformance! {
    files_in_a_folder: TempProject::new(),
    records_in_memory: Texts::default(),
}

fn only_what_differs_is_handed_out(memory: &dyn Memory) {
    let mut held = Held::default();
    let mut check = |expected: &str| {
        let scan = scan(&*memory.source(), &held);
        assert_eq!(show(&scan), expected);
        assert_eq!(scan.bytes_read > 0, expected.contains('+'), "{expected}");
        held.update(&scan);
    };
    check("");
    memory.put("b.md", "# 索引\n");
    memory.put("a/c.md", "# Index\n");
    check("+a/c.md +b.md");
    check("=a/c.md =b.md");
    memory.put("b.md", "# 查询\n");
    check("=a/c.md +b.md");
    memory.remove("a/c.md");
    memory.put("d.md", "");
    memory.put("e.md", "text");
    check("=b.md +d.md +e.md");
    check("=b.md =d.md =e.md");
    memory.remove("b.md");
    check("=d.md =e.md");
}

fn order_and_content_are_the_same_every_time(memory: &dyn Memory) {
    for path in ["z.md", "a.md", "a/b.md", "a-b.md", "云.md", "A.md"] {
        memory.put(path, &format!("# {path}\n"));
    }
    let first = scan(&*memory.source(), &());
    assert_eq!(show(&first), "+A.md +a-b.md +a.md +a/b.md +z.md +云.md");
    assert_eq!(scan(&*memory.source(), &()), first);
    for item in &first.items {
        let Found::Resource(resource) = &item.found else {
            panic!("{item:?}")
        };
        assert_eq!(resource.meta.content_hash, resource.canonical_hash());
    }
}

fn equal_content_is_unchanged_without_a_stamp(memory: &dyn Memory) {
    memory.put("a.md", "# A\n");
    let mut held = Held::default();
    held.update(&scan(&*memory.source(), &held));
    let stamp = held.0["a.md"].stamp;
    assert!(stamp.is_some());
    held.0.values_mut().for_each(|item: &mut KnownItem| item.stamp = None);
    let again = scan(&*memory.source(), &held);
    assert_eq!(show(&again), "=a.md");
    assert_eq!(again.items[0].stamp, stamp);
}

fn progress_counts_every_item(memory: &dyn Memory) {
    for path in ["a.md", "b.md", "c.md"] {
        memory.put(path, "text");
    }
    let counts = RefCell::new(Vec::new());
    let clock = FixedClock::default();
    memory
        .source()
        .scan(&(), &clock, &|count| {
            counts.borrow_mut().push(count);
            true
        })
        .expect("the memory is there");
    let mut counts = counts.into_inner();
    counts.retain(|count| *count > 0);
    assert_eq!(counts, [1, 2, 3]);
}

fn whoever_is_told_may_stop_it(memory: &dyn Memory) {
    for path in ["a.md", "b.md", "c.md"] {
        memory.put(path, "text");
    }
    for last in 0..=3 {
        let told = std::cell::Cell::new(0);
        let found = |count| {
            told.set(count);
            count < last
        };
        let stopped = memory.source().scan(&(), &FixedClock::default(), &found);
        assert!(matches!(stopped, Err(SourceError::Stopped)), "{last}");
        assert!(told.get() <= last.max(1), "{last}");
    }
}
