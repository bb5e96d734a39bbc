//! The laws that hold for any resource and every strategy.

use std::collections::HashSet;
use std::ops::Range;

use casebook_chunker::{CasebookTokens, Chunker, Strategy, TokenCounter, Unit, UnitKind};
use casebook_corpus::{BodySpan, ContentHash, Resource};
use casebook_testkit::{markdown, resource};
use proptest::prelude::{Strategy as Generator, *};
use unicode_segmentation::UnicodeSegmentation;

/// A strategy's numbers as the documentation states them: root, whole, window, overlap.
fn budget(strategy: Strategy) -> (usize, usize, usize, usize) {
    match strategy {
        Strategy::Heading384 => (384, 480, 384, 48),
        Strategy::Fixed256 => (256, 256, 256, 0),
        Strategy::Fixed512 => (512, 512, 512, 0),
        Strategy::Fixed1024 => (1024, 1024, 1024, 0),
        Strategy::Para512 => (512, 512, 512, 0),
        Strategy::Para512Overlap64 => (512, 512, 512, 64),
    }
}

/// Cuts a body that lies in a file behind some front matter, by every strategy, and checks every law.
#[track_caller]
pub(crate) fn check(body: &str) {
    let front = "---\nid: x\n---\n";
    let file = format!("{front}{body}");
    let resource = resource("notes/记忆.md", body)
        .description("What it is about. 关于什么。")
        .with(|meta| {
            meta.body_span = BodySpan {
                byte_offset: front.len(),
                first_line: 4,
            };
        })
        .build();
    let boundaries: HashSet<usize> = body
        .grapheme_indices(true)
        .map(|(at, _)| at)
        .chain([body.len()])
        .collect();
    for strategy in Strategy::ALL {
        let chunker = Chunker::new(strategy);
        let units = chunker.chunk(&resource);
        assert_eq!(units, chunker.chunk(&resource), "the same input gives the same units");
        let (description, units) = units.split_first().expect("a description gives a unit");
        assert_eq!(description.kind, UnitKind::Description);
        assert_eq!(description.text, resource.meta.description);
        assert_eq!(description.locator.bytes, 0..front.len());
        assert_eq!((description.locator.first_line, description.locator.last_line), (1, 3));
        check_identity(units, description, &resource);
        check_spans(units, &file, front.len(), &boundaries);
        check_coverage(units, body, front.len());
        check_budgets(units, budget(strategy));
        check_overlaps(units, &file, budget(strategy).3);
    }
}

fn check_identity(units: &[Unit], description: &Unit, resource: &Resource) {
    let keys: HashSet<_> = units.iter().chain([description]).map(|unit| &unit.unit_key).collect();
    assert_eq!(keys.len(), units.len() + 1, "keys are unique in a resource");
    for unit in units {
        assert_eq!(unit.resource_id, resource.meta.id);
        assert!(
            unit.unit_key.as_str().starts_with("notes/记忆.md#"),
            "{}",
            unit.unit_key
        );
        assert!(unit.heading_path.len() <= 6);
    }
}

fn check_spans(units: &[Unit], file: &str, offset: usize, boundaries: &HashSet<usize>) {
    for unit in units {
        let span = unit.locator.bytes.clone();
        assert_eq!(unit.text, file[span.clone()], "the locator names the text");
        assert_eq!(unit.content_hash, ContentHash::of(&unit.text));
        assert_eq!(unit.token_count, CasebookTokens.token_spans(&unit.text).len());
        assert!(unit.token_count > 0);
        assert!(boundaries.contains(&(span.start - offset)) && boundaries.contains(&(span.end - offset)));
        assert_eq!(unit.locator.first_line, line_at(file, span.start));
        assert_eq!(unit.locator.last_line, line_at(file, span.end));
        let opens = unit.text.split(['\n', '\r']).next().unwrap_or_default();
        assert!(!opens.trim().is_empty(), "no blank first line: {:?}", unit.text);
    }
}

/// Counts by the definition: each line end before the byte, CR LF being one.
fn line_at(file: &str, at: usize) -> usize {
    let before = file[..at].replace("\r\n", "\n").replace('\r', "\n");
    1 + before.matches('\n').count()
}

fn check_coverage(units: &[Unit], body: &str, offset: usize) {
    let mut covered = 0;
    for unit in units {
        let span = unit.locator.bytes.start - offset..unit.locator.bytes.end - offset;
        if covered < span.start {
            assert_eq!(body[covered..span.start].trim(), "", "every visible byte is in a unit");
        }
        covered = covered.max(span.end);
    }
    assert_eq!(body[covered..].trim(), "", "every visible byte is in a unit");
}

fn check_budgets(units: &[Unit], (root, whole, window, _): (usize, usize, usize, usize)) {
    for unit in units {
        let most = match unit.kind {
            UnitKind::Root => root,
            UnitKind::Section => whole,
            UnitKind::Window => window,
            UnitKind::Description => panic!("one description only"),
        };
        assert!(
            unit.token_count <= most,
            "{:?} of {} tokens",
            unit.kind,
            unit.token_count
        );
    }
    let roots = units.iter().filter(|unit| unit.kind == UnitKind::Root).count();
    assert!(roots == 0 || units.len() == 1);
}

fn check_overlaps(units: &[Unit], file: &str, most: usize) {
    for pair in units.windows(2) {
        let shared: Range<usize> = pair[1].locator.bytes.start..pair[0].locator.bytes.end;
        assert!(pair[0].locator.bytes.start < pair[1].locator.bytes.start);
        if shared.is_empty() {
            continue;
        }
        assert!(
            pair.iter().all(|unit| unit.kind == UnitKind::Window),
            "only windows overlap"
        );
        assert_eq!(pair[0].heading_path, pair[1].heading_path);
        assert_eq!(CasebookTokens.token_spans(&file[shared]).len(), most);
    }
    for triple in units.windows(3) {
        assert!(triple[0].locator.bytes.end <= triple[2].locator.bytes.start);
    }
}

/// Any text, drawn from what is likely to break a cut.
fn hostile_text() -> impl Generator<Value = String> {
    let piece = prop::sample::select(vec![
        "#",
        "# ",
        "\n",
        "\r",
        "\r\n",
        "\n\n",
        "===\n",
        "---\n",
        "```\n",
        "> ",
        "- ",
        "  ",
        "    ",
        "\t",
        "|",
        "[a]: b\n",
        "<!--",
        "\0",
        "\u{feff}",
        "\u{301}",
        "\u{200d}",
        "\u{600}",
        "🇨🇳",
        "👩‍👩‍👧",
        "한",
        "\u{11a8}",
        "か\u{3099}",
        "क्षि",
        "ไทย",
        "記",
        "é",
        "word ",
        "12345",
        "\u{a0}",
        "\u{85}",
        "\u{2028}",
        "\u{3000}",
        "*",
        "`",
        "[",
        "]",
        "&amp;",
        "\\",
        "~~~\n",
    ]);
    prop::collection::vec((piece, 1..30_usize), 0..60)
        .prop_map(|pieces| pieces.into_iter().map(|(piece, times)| piece.repeat(times)).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn laws_hold_for_markdown(body in markdown()) {
        check(&body);
    }

    #[test]
    fn laws_hold_for_hostile_text(body in hostile_text()) {
        check(&body);
    }

    #[test]
    fn laws_hold_for_any_bytes_read_as_text(bytes in prop::collection::vec(any::<u8>(), 0..3000)) {
        check(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn laws_hold_for_any_text(body in "\\PC{0,1500}") {
        check(&body);
    }
}

#[test]
fn blank_bodies_give_no_unit() {
    for body in ["", " ", "\r\n\r\n", "\u{3000}\n\t"] {
        let empty = resource("a.md", body).description(" \n").build();
        for strategy in Strategy::ALL {
            assert_eq!(Chunker::new(strategy).chunk(&empty), [], "{body:?}");
        }
    }
}

#[test]
fn a_record_without_a_file_has_no_lines() {
    let record = resource("record", "one\ntwo\n")
        .description("about")
        .with(|meta| meta.body_span = BodySpan::default())
        .build();
    for unit in Chunker::default().chunk(&record) {
        assert_eq!((unit.locator.first_line, unit.locator.last_line), (0, 0));
    }
}

#[test]
fn strategies_and_revisions_have_names() {
    for strategy in Strategy::ALL {
        assert_eq!(strategy.to_string().parse(), Ok(strategy));
    }
    let error = "heading-385".parse::<Strategy>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown chunking strategy \"heading-385\"; expected one of heading-384, fixed-256, fixed-512, fixed-1024, \
         para-512, para-512-ov64"
    );
    assert_eq!(Chunker::default().revision(), "heading-384.1+cb-tokens.1");
    assert_eq!(
        Chunker::new(Strategy::Para512Overlap64).revision(),
        "para-512-ov64.1+cb-tokens.1"
    );
}
