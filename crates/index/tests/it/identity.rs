//! The lane of names.

use casebook_testkit::resource;

use crate::support::{Fixture, Memory, search, sections};

#[test]
fn exact_ids_then_exact_names_then_prefixes() {
    let fixture = Fixture::new();
    let memory = Memory::default();
    memory.put(
        "docs/setup.md",
        0,
        resource("docs/setup.md", "setup").title("Set Up 安装").build(),
    );
    memory.put(
        "docs/setup-ci.md",
        0,
        resource("docs/setup-ci.md", "setup ci").title("CI").build(),
    );
    memory.put(
        "notes/x.md",
        0,
        resource("notes/x.md", "x").id("docs/setup").title("ＣＩ 说明").build(),
    );
    fixture.build(&memory);
    let snapshot = fixture.snapshot();
    let check = |query: &str, expected: &[&str]| {
        assert_eq!(search(&snapshot, "identity", query), expected, "{query:?}");
    };
    check("docs/setup", &["x", "setup", "setup ci"]);
    check("DOCS/Setup.MD", &["setup"]);
    check("set up 安装", &["setup"]);
    check("ci", &["setup ci", "x"]);
    check("ＣＩ", &["setup ci", "x"]);
    check("docs/", &["x", "setup ci", "setup"]);
    check("d", &[]);
    check("", &[]);
    check("  notes/x.md ", &["x"]);
    check("docs/%", &[]);
    check("nothing of that name", &[]);
    check(&"x".repeat(1 << 20), &[]);
}

#[test]
fn a_resource_gives_its_first_units() {
    let fixture = Fixture::new();
    let memory = Memory::with(&[("long.md", &sections(9, |n| format!("text {n}")))]);
    fixture.build(&memory);
    let snapshot = fixture.snapshot();
    let found = search(&snapshot, "identity", "long.md");
    assert_eq!(found.len(), 4);
    assert!(found[0].contains("text 0") && found[3].contains("text 3"));
    assert_eq!(snapshot.identity().search("long.md", 2).unwrap().hits.len(), 2);
}
