//! What an edit may change: the keys and hashes of its own section, nothing else.

use casebook_chunker::{Chunker, Unit};
use casebook_testkit::{resource, word_text};
use proptest::prelude::*;

/// A section: its level (2 or 3), its heading, its blocks.
type Part = (usize, String, Vec<String>);

fn block() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => word_text(),
        1 => word_text().prop_map(|text| text.repeat(40)),
        1 => word_text().prop_map(|text| format!("- {text}\n- {text}")),
        1 => word_text().prop_map(|text| format!("```\n# {text}\n```")),
        1 => word_text().prop_map(|text| format!("> {text}\n>\n> # no section")),
    ]
}

fn parts() -> impl Strategy<Value = Vec<Part>> {
    let heading = prop::sample::select(vec!["Setup", "安装", "Notes", "[link]", "a/b", ""]);
    let part = (
        2..4_usize,
        heading.prop_map(str::to_owned),
        prop::collection::vec(block(), 0..4),
    );
    prop::collection::vec(part, 1..6)
}

/// Writes the document; a first section of more than 384 tokens keeps it from ever being one root unit.
fn document(parts: &[Part]) -> String {
    let mut text = format!("# Top\n\n{}\n\n", "always here ".repeat(200));
    for (level, heading, blocks) in parts {
        text.push_str(&format!(
            "{} {heading}\n\n{}\n\n",
            "#".repeat(*level),
            blocks.join("\n\n")
        ));
    }
    text
}

fn units(text: &str) -> Vec<Unit> {
    Chunker::default().chunk(&resource("a.md", text).build())
}

/// Key and hash of each unit outside the given headings' sections.
fn outside(units: &[Unit], heading: &str) -> Vec<(String, String)> {
    let kept = units
        .iter()
        .filter(|unit| unit.heading_path.last().is_none_or(|last| last != heading));
    kept.map(|unit| (unit.unit_key.to_string(), unit.content_hash.to_string()))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn an_edit_stays_in_its_section(
        mut parts in parts(),
        at in any::<prop::sample::Index>(),
        blocks in prop::collection::vec(block(), 0..4),
    ) {
        let at = at.index(parts.len());
        parts[at].1 = "Edited".to_owned();
        let before = units(&document(&parts));
        parts[at].2 = blocks;
        let after = units(&document(&parts));
        prop_assert_eq!(outside(&before, "Edited"), outside(&after, "Edited"));
    }

    #[test]
    fn a_new_section_changes_no_other_key(
        mut parts in parts(),
        at in any::<prop::sample::Index>(),
        blocks in prop::collection::vec(block(), 0..4),
    ) {
        let before = units(&document(&parts));
        let at = at.index(parts.len() + 1);
        // A sibling of what follows it, so that it becomes nobody's parent.
        let level = parts.get(at).map_or(2, |part| part.0);
        parts.insert(at, (level, "Fresh".to_owned(), blocks));
        let after = units(&document(&parts));
        prop_assert_eq!(outside(&before, "Fresh"), outside(&after, "Fresh"));
        prop_assert!(after.iter().any(|unit| unit.heading_path.last().is_some_and(|last| last == "Fresh")));
    }
}

#[test]
fn a_section_that_grows_keeps_the_key_of_its_first_part() {
    let short = document(&[(2, "Log".to_owned(), vec!["word ".repeat(300)])]);
    let long = document(&[(2, "Log".to_owned(), vec!["word ".repeat(300), "more ".repeat(300)])]);
    let keys = |text: &str| {
        units(text)
            .into_iter()
            .skip(1)
            .map(|unit| unit.unit_key.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(keys(&short), ["a.md#Top/Log"]);
    assert_eq!(keys(&long), ["a.md#Top/Log", "a.md#Top/Log:2"]);
}

#[test]
fn a_heading_does_not_depend_on_link_definitions_elsewhere() {
    let parts = [(2, "The [ranker]".to_owned(), vec!["text".to_owned()])];
    let plain = document(&parts);
    let defined = format!("{plain}## Links\n\n[ranker]: https://example.invalid\n");
    assert_eq!(outside(&units(&plain), "Links"), outside(&units(&defined), "Links"));
}
