//! Keys and cuts of real documents, frozen. A change here changes evidence that names units: raise the strategy's
//! version with it.

use casebook_chunker::{Chunker, Strategy};
use casebook_corpus::{Resource, SourceDecl};

use crate::cuts::shown;

macro_rules! documents {
    ($($name:literal),+ $(,)?) => {
        [$(($name, include_str!(concat!("../../../../testdata/documents/", $name)))),+]
    };
}

const DOCUMENTS: [(&str, &str); 14] = documents![
    "code-heavy-cli.md",
    "crlf-bom.md",
    "decision-storage-en.md",
    "duplicate-headings.md",
    "front-matter.md",
    "links-and-html.md",
    "mixed-notes.md",
    "nested-lists.md",
    "no-headings-long.md",
    "one-huge-paragraph.md",
    "runbook-index-rebuild-zh.md",
    "setext-journal.md",
    "short-note.md",
    "tables-limits.md",
];

fn cut(strategy: Strategy, name: &str, text: &str) -> String {
    let resource = Resource::from_markdown(name, text, &SourceDecl::default()).expect("a document of ours");
    let units = Chunker::new(strategy).chunk(&resource);
    for unit in units.iter().skip_while(|unit| unit.text == resource.meta.description) {
        assert_eq!(unit.text, text[unit.locator.bytes.clone()]);
    }
    units.iter().map(|unit| shown(unit) + "\n").collect()
}

#[test]
fn keys_and_cuts_of_documents() {
    for (name, text) in DOCUMENTS {
        insta::assert_snapshot!(name, cut(Strategy::Heading384, name, text));
    }
}

#[test]
fn cuts_of_the_other_strategies() {
    for strategy in Strategy::ALL
        .into_iter()
        .filter(|&strategy| strategy != Strategy::Heading384)
    {
        let all: String = ["no-headings-long.md", "code-heavy-cli.md", "one-huge-paragraph.md"]
            .into_iter()
            .filter_map(|name| DOCUMENTS.into_iter().find(|(known, _)| *known == name))
            .map(|(name, text)| cut(strategy, name, text))
            .collect();
        insta::assert_snapshot!(strategy.as_str(), all);
    }
}
