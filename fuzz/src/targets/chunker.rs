//! The chunker over any text.

use std::collections::HashSet;

use casebook_chunker::{Chunker, Strategy, UnitKind};
use casebook_corpus::{BodySpan, Resource, SourceDecl};

/// Cuts the bytes as a body, by every strategy: unique keys, exact texts, every visible byte covered, budgets kept.
pub(crate) fn chunker(data: &[u8]) {
    let body = String::from_utf8_lossy(data).into_owned();
    let mut resource = Resource::from_markdown("fuzz.md", "", &SourceDecl::default()).expect("an empty file is valid");
    resource.meta.body_span = BodySpan {
        byte_offset: 0,
        first_line: 1,
    };
    resource.body = body;
    for strategy in Strategy::ALL {
        check(strategy, &resource);
    }
}

fn check(strategy: Strategy, resource: &Resource) {
    let body = resource.body.as_str();
    let units = Chunker::new(strategy).chunk(resource);
    let keys: HashSet<_> = units.iter().map(|unit| &unit.unit_key).collect();
    assert_eq!(keys.len(), units.len(), "keys are unique");
    let mut covered = 0;
    for unit in &units {
        let span = unit.locator.bytes.clone();
        assert_eq!(unit.text, body[span.clone()], "the locator names the text");
        assert!((1..=1024).contains(&unit.token_count), "{} tokens", unit.token_count);
        if covered > span.start {
            assert_eq!(unit.kind, UnitKind::Window, "only windows overlap");
        } else {
            assert_eq!(body[covered..span.start].trim(), "", "every visible byte is covered");
        }
        covered = covered.max(span.end);
    }
    assert_eq!(body[covered..].trim(), "", "every visible byte is covered");
}
