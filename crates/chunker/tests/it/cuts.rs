//! Where `heading-384` cuts, case by case.

use casebook_chunker::{Chunker, Unit};
use casebook_testkit::resource;

/// `key kind first-line-last-line tokens`, and how the text begins.
pub(crate) fn shown(unit: &Unit) -> String {
    let words: Vec<&str> = unit.text.split_whitespace().collect();
    let opening: String = words.join(" ").chars().take(48).collect();
    format!(
        "{}\n    {} {}-{}, {} tokens: {opening}",
        unit.unit_key,
        unit.kind.as_str(),
        unit.locator.first_line,
        unit.locator.last_line,
        unit.token_count,
    )
}

#[track_caller]
fn check(body: &str, expected: &[&str]) {
    let units = Chunker::default().chunk(&resource("a.md", body).build());
    let found: Vec<String> = units
        .iter()
        .map(|unit| format!("{} {} {}", unit.unit_key, unit.kind.as_str(), unit.token_count))
        .collect();
    assert_eq!(found, expected);
}

fn words(count: usize) -> String {
    "word ".repeat(count)
}

#[test]
fn a_body_of_384_tokens_is_one_unit_and_one_more_is_cut() {
    check(&format!("# A\n\n{}", words(382)), &["a.md#:root root 384"]);
    check(&format!("# A\n\n{}", words(383)), &["a.md#A section 385"]);
}

#[test]
fn a_span_of_480_tokens_stays_whole_and_one_more_becomes_windows() {
    check(&words(480), &["a.md#:body section 480"]);
    check(&words(481), &["a.md#:body window 384", "a.md#:body:2 window 145"]);
}

#[test]
fn blocks_are_packed_to_384_tokens() {
    let paragraphs = [words(200), words(184), words(100), words(450), words(20)].join("\n\n");
    check(
        &paragraphs,
        &[
            "a.md#:body section 384",
            "a.md#:body:2 section 100",
            "a.md#:body:3 section 450",
            "a.md#:body:4 section 20",
        ],
    );
}

#[test]
fn a_heading_is_not_parted_from_its_text() {
    check(
        &format!("# A\n\n{}\n\n{}", words(400), words(400)),
        &["a.md#A section 402", "a.md#A:2 section 400"],
    );
}

#[test]
fn text_before_the_first_heading_is_body() {
    check(
        &format!("before\n\n# A\n\n{}\n\nB\n-\n", words(400)),
        &["a.md#:body section 1", "a.md#A section 402", "a.md#A/B section 2"],
    );
}

#[test]
fn headings_of_equal_path_are_counted() {
    check(
        &format!("# A\n{}\n## B\n# A\n## B\n## B\n", words(400)),
        &[
            "a.md#A section 402",
            "a.md#A/B section 3",
            "a.md#A~2 section 2",
            "a.md#A/B~2 section 3",
            "a.md#A/B~3 section 3",
        ],
    );
}

#[test]
fn a_heading_named_like_a_place_is_not_that_place() {
    let units = Chunker::default().chunk(
        &resource(
            "a.md",
            &format!("text\n\n# :body\n\n# :description\n\n{}\n\n# \n", words(400)),
        )
        .description("about")
        .build(),
    );
    let keys: Vec<&str> = units.iter().map(|unit| unit.unit_key.as_str()).collect();
    assert_eq!(
        keys,
        [
            "a.md#:description",
            "a.md#:body",
            "a.md#%3Abody",
            "a.md#%3Adescription",
            "a.md#"
        ]
    );
}

#[test]
fn heading_texts_lose_their_markup() {
    #[track_caller]
    fn check(heading: &str, text: &str) {
        let body = format!("{heading}\n\n{}", words(400));
        let units = Chunker::default().chunk(&resource("a.md", &body).build());
        assert_eq!(units[0].heading_path, [text], "{heading:?}");
    }
    check("# *Why* `SQLite` [here](x)? ##", "Why SQLite here?");
    check("# 第一步 { #first-step }", "第一步");
    check("# GET /users/{id}", "GET /users/{id}");
    check("# a &amp; b <b>c</b>", "a & b c");
    check("Two\n  lines\n===", "Two lines");
    check("# ~~old~~ [ref] ![图](x.png)", "old [ref] 图");
    check(&format!("# {}", "长".repeat(300)), &format!("{}…", "长".repeat(84)));
}

#[test]
fn line_ends_of_every_kind_are_understood() {
    for end in ["\n", "\r\n"] {
        let body = format!("\n\n# A\n\n{}\n\n## B\n\ntext\n", words(400)).replace('\n', end);
        let units = Chunker::default().chunk(&resource("a.md", &body).build());
        let lines: Vec<_> = units
            .iter()
            .map(|unit| (unit.locator.first_line, unit.locator.last_line))
            .collect();
        assert_eq!(lines, [(3, 5), (7, 9)], "{end:?}");
    }
}

#[test]
fn an_indent_belongs_to_the_text_of_its_line() {
    let indented = "    let first = 1;\n";
    let units = Chunker::default().chunk(&resource("a.md", indented).build());
    assert_eq!(units[0].text, "    let first = 1;");
    let behind = format!("{}\n\n\n  {}", words(400), words(400));
    let units = Chunker::default().chunk(&resource("a.md", &behind).build());
    assert!(units[1].text.starts_with("  word"));
}

#[test]
fn a_description_without_front_matter_is_on_the_first_line() {
    let units = Chunker::default().chunk(&resource("a.md", "text").description("about").build());
    assert_eq!((units[0].locator.first_line, units[0].locator.last_line), (1, 1));
    assert_eq!(units[0].locator.bytes, 0..0);
}
