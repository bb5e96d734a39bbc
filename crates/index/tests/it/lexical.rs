//! The lane of substrings, and queries that break other systems.

use crate::support::{Fixture, Memory, search};

fn memory() -> Memory {
    Memory::with(&[
        ("itgc.md", "run itgc again"),
        ("gen.md", "先跑 gen-itgc 再说"),
        ("index.md", "索引重建期间，查询仍然看到旧的版本。"),
        (
            "agents.md",
            "a multi-agent system; don't panic; see 38.101 and snake_case",
        ),
        ("todo.md", "TODO: fix the ＦＵＬＬ width"),
        ("near.md", "NEAR the \"quoted\" (paren) * star ^ caret"),
    ])
}

#[test]
fn substrings_and_identifiers_are_found() {
    let fixture = Fixture::new();
    fixture.build(&memory());
    let snapshot = fixture.snapshot();
    let check = |query: &str, expected: &[&str]| {
        let mut found = search(&snapshot, "fts5", query);
        for text in &mut found {
            text.truncate(text.char_indices().nth(8).map_or(text.len(), |(at, _)| at));
        }
        assert_eq!(found, expected, "{query:?}");
    };
    check("重跑gen-itgc后", &["先跑 gen-i", "run itgc", "a multi-"]);
    check("索引重建期间查询会怎样？", &["索引重建期间，查"]);
    check("multi-agent", &["a multi-"]);
    check("ulti-age", &["a multi-"]);
    check("don't", &["a multi-"]);
    check("38.101", &["a multi-"]);
    check("SNAKE_case", &["a multi-"]);
    check("todo: FIX", &["TODO: fi"]);
    check("full", &["TODO: fi"]);
    check("NEAR", &["NEAR the"]);
    check("\"quoted\"", &["NEAR the"]);
    for query in [
        "", "\"", "(", "*", "db", "云", "用户", "\0", "a:b", "- -", "{}", "🦀", "NOT", "^", "path:",
    ] {
        if !matches!(query, "path:" | "NOT") {
            check(query, &[]);
        }
        search(&snapshot, "fts5", query);
    }
}

#[test]
fn a_long_question_is_no_conjunction() {
    let fixture = Fixture::new();
    fixture.build(&memory());
    let question = format!(
        "{} itgc",
        "what would happen if somebody were asking unrelated things ".repeat(5)
    );
    assert_eq!(search(&fixture.snapshot(), "fts5", &question)[0], "run itgc again");
}

#[test]
fn ties_go_by_resource_and_order() {
    let fixture = Fixture::new();
    let memory = Memory::default();
    for path in ["c.md", "a.md", "d.md", "b.md"] {
        let same = casebook_testkit::resource(path, "the same words 同样的话").with(|meta| {
            meta.path = "same.md".into();
            meta.title = "same".into();
        });
        memory.put(path, 0, same.build());
    }
    fixture.build(&memory);
    let snapshot = fixture.snapshot();
    for limit in [2, 4] {
        let hits = snapshot.lexical()[0].search("same words", limit).unwrap().hits;
        let keys: Vec<_> = hits
            .iter()
            .map(|hit| hit.unit_key.as_str().chars().next().unwrap())
            .collect();
        assert_eq!(keys, ['a', 'b', 'c', 'd'][..limit]);
    }
}
