//! What the default counter sees, and the laws of a counter.

use casebook_chunker::{CasebookTokens, TokenCounter};
use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let found: Vec<&str> = CasebookTokens
        .token_spans(text)
        .into_iter()
        .map(|span| &text[span])
        .collect();
    assert_eq!(found, expected);
    check_laws(text);
}

#[track_caller]
fn check_laws(text: &str) {
    let spans = CasebookTokens.token_spans(text);
    let mut end = 0;
    for span in &spans {
        assert!(end <= span.start && span.start < span.end);
        assert_eq!(text[end..span.start].trim(), "");
        assert!(!text[span.clone()].contains(['\n', '\r']));
        end = span.end;
    }
    assert_eq!(text[end..].trim(), "");
    let boundaries: Vec<usize> = text
        .grapheme_indices(true)
        .map(|(at, _)| at)
        .chain([text.len()])
        .collect();
    for (number, span) in spans.iter().enumerate() {
        for cut in [span.start, span.end] {
            assert!(boundaries.binary_search(&cut).is_ok(), "{cut} in {text:?}");
        }
        let after = CasebookTokens.token_spans(&text[span.start..]);
        assert!(
            after
                .iter()
                .map(|token| token.start + span.start)
                .eq(spans[number..].iter().map(|token| token.start))
        );
        assert_eq!(CasebookTokens.token_spans(&text[..span.end]), spans[..=number]);
    }
}

#[test]
fn words_are_cut_every_six_letters_and_numbers_every_three_digits() {
    check(
        "the retrievals of 1234567",
        &["the", "retrie", "vals", "of", "123", "456", "7"],
    );
    check("don't_stop(2x)", &["don", "'", "t", "_", "stop", "(", "2", "x", ")"]);
    check(
        "naïveté Überraschung привет",
        &["naïvet", "é", "Überra", "schung", "привет"],
    );
    check("", &[]);
    check(" \r\n\t\u{3000}", &[]);
}

#[test]
fn characters_of_east_asian_scripts_are_tokens() {
    check(
        "索引rebuild，重建。",
        &["索", "引", "rebuil", "d", "，", "重", "建", "。"],
    );
    check(
        "カタカナ か\u{3099} 한국어",
        &["カ", "タ", "カ", "ナ", "か\u{3099}", "한", "국", "어"],
    );
    check("𠮷野家", &["𠮷", "野", "家"]);
}

#[test]
fn a_grapheme_is_never_parted() {
    check("e\u{301}e\u{301}a", &["e\u{301}e\u{301}a"]);
    check("👩‍👩‍👧🇨🇳🇨🇳!", &["👩‍👩‍👧", "🇨🇳", "🇨🇳", "!"]);
    check("a \u{301}b", &["a", " \u{301}", "b"]);
    check("\u{600} x\0", &["\u{600} ", "x", "\0"]);
}

proptest! {
    #[test]
    fn laws_hold_for_any_text(text in "\\PC{0,60}") {
        check_laws(&text);
    }

    #[test]
    fn laws_hold_where_graphemes_are_hard(
        chars in prop::collection::vec(prop::sample::select(vec![
            'a', '1', ' ', '\n', '\r', '\u{85}', '\u{a0}', '\u{ad}', '\u{301}', '\u{600}', '\u{903}', '\u{915}', '\u{94d}',
            '\u{937}', '\u{1100}', '\u{1161}', '\u{11a8}', '\u{ac00}', '\u{ac01}', '\u{200b}', '\u{200c}', '\u{200d}', '\u{2028}',
            '\u{302a}', '\u{3000}', '\u{304b}', '\u{3099}', '\u{4e00}', '\u{a9}', '\u{fe0f}', '\u{ff76}', '\u{ff9e}', '\u{1f1e8}',
            '\u{1f1f3}', '\u{1f468}', '\u{1f3fd}', '\u{20000}', '\u{e0100}', '\u{e33}', '\u{20e3}', '©', '#', '…', 'é', 'ж', 'Ω',
        ]), 0..40),
    ) {
        check_laws(&chars.into_iter().collect::<String>());
    }
}
