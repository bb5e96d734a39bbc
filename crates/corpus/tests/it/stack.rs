//! Sources on top of each other.

use std::cell::RefCell;

use casebook_corpus::{
    EffectiveMemory, FilesConfig, Found, Member, MemorySource, PushedRecord, RecordSource, Stack, Standing,
};
use casebook_testkit::{FixedClock, TempProject, resource};

use crate::{Held, files, scan, show, source};

#[test]
fn a_stack_is_one_source() {
    let project = TempProject::with(&[("low/b.md", "低"), ("up/a.md", "up")]);
    let config = FilesConfig {
        sources: vec![source("low"), source("up")],
        ..FilesConfig::default()
    };
    let files = files(project.root(), config);
    let records = RecordSource::new(vec![resource("m.md", "记录").build()]);
    let stack = Stack::new(vec![&records, &files, &records]);
    assert_eq!(stack.ranks(), 4);
    let found = RefCell::new(Vec::new());
    let all = stack
        .scan(&(), &FixedClock::default(), &|count| {
            found.borrow_mut().push(count);
            true
        })
        .unwrap();
    let ranks: Vec<_> = all
        .items
        .iter()
        .map(|item| (item.location.as_str(), item.rank))
        .collect();
    assert_eq!(ranks, [("low/b.md", 1), ("m.md", 0), ("m.md", 3), ("up/a.md", 2)]);
    let mut found = found.into_inner();
    found.dedup();
    assert_eq!(found, [1, 2, 3, 4]);
    assert_eq!(all.bytes_read, "低up记录记录".len() as u64);

    let two = Stack::new(vec![&records, &files]);
    let mut held = Held::default();
    held.update(&scan(&two, &held));
    let again = scan(&two, &held);
    assert_eq!(
        (show(&again).as_str(), again.bytes_read),
        ("=low/b.md =m.md =up/a.md", 0)
    );
}

/// A record's path is what its host says. It must not cost a file its id, however the file's name is written.
#[test]
fn a_record_takes_no_files_id_away() {
    let project = TempProject::with(&[("cafe\u{301}.md", "a file 文件")]);
    let files = files(project.root(), FilesConfig::default());
    let mut record = PushedRecord::new("host-1", "a record 记录");
    record.path = Some("café.md".to_owned());
    let mut members = vec![Member {
        location: PushedRecord::location_of(&record.id),
        rank: 0,
        meta: record.into_resource().meta,
    }];
    for item in scan(&files, &()).items {
        let Found::Resource(resource) = item.found else {
            panic!("{}", item.location)
        };
        members.push(Member {
            location: item.location,
            rank: 1,
            meta: resource.meta,
        });
    }
    let memory = EffectiveMemory::resolve(members).unwrap();
    let ids: Vec<_> = memory
        .members
        .iter()
        .map(|(member, _)| member.meta.id.as_str())
        .collect();
    assert_eq!(ids, ["café.md", "host-1"]);
    assert!(memory.members.iter().all(|(_, standing)| *standing == Standing::Live));
    assert!(memory.degradations.is_empty(), "{:?}", memory.degradations);
}
