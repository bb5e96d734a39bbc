use proptest::prelude::*;

use super::*;

fn fields(front: &str) -> FrontMatter {
    let text = format!("---\n{front}\n---\nbody");
    let (fields, length) = split(&text).unwrap();
    assert_eq!(&text[length..], "body");
    fields
}

fn refused(front: &str, expected: &str) {
    let error = split(&format!("---\n{front}\n---\nbody")).unwrap_err();
    assert!(error.to_string().starts_with(expected), "{front:?}: {error}");
}

#[test]
fn the_block_is_cut_at_the_first_byte_only() {
    let check = |text: &str, front: Option<&str>, body: &str| {
        let cut = cut(text);
        assert_eq!(cut.map(|(front, _)| front), front, "{text:?}");
        assert_eq!(&text[cut.map_or(0, |(_, length)| length)..], body, "{text:?}");
    };
    check("---\na: 1\n---\nbody", Some("a: 1\n"), "body");
    check("---\r\na: 1\r\n---\r\nbody", Some("a: 1\r\n"), "body");
    check("---\na: 1\n...\n---\n", Some("a: 1\n"), "---\n");
    check("---\n---", Some(""), "");
    check("---\na: 1\nbody", None, "---\na: 1\nbody");
    check("\n---\na: 1\n---\n", None, "\n---\na: 1\n---\n");
    check("--- \na: 1\n---\n", None, "--- \na: 1\n---\n");
    check("----\na: 1\n---\n", None, "----\na: 1\n---\n");
    check("---\na: 1\n --- \n", None, "---\na: 1\n --- \n");
    check("", None, "");
    let long = format!("---\n#{}\n---\n", "x".repeat(MAX_BYTES));
    check(&long, None, &long);
}

/// To take any of these for text would show the file to everyone.
#[test]
fn a_restriction_that_cannot_be_read_is_no_text() {
    let long = format!("---\n#{}\naudience: [board]\n---\nbody", "x".repeat(MAX_BYTES));
    for text in [
        "---\naudience: [board]\nbody",
        "--- \naudience: [board]\n---\nbody",
        "---\naudience: [board]\n---  \nbody",
        "---\raudience: [board]\r---\rbody",
        "\u{feff}---\naudience: [board]\n---\nbody",
        "\n---\naudience: [board]\n---\nbody",
        "---\n- audience: [board]\n---\nbody",
        "---\n\"audience\": [board]\nbody",
        "---\nAudience: [board]\n---\nbody",
        "---\naudiences: [board]\n---\nbody",
        "---\nsensitivty: secret\n---\nbody",
        &long,
    ] {
        assert!(split(text).is_err(), "{text:.60?}");
    }
    for text in [
        "---\nA rule above.\n---\nbody",
        "---\nopen",
        "Audience: everyone",
        "# Audience: all\n---\n",
    ] {
        assert_eq!(split(text).unwrap().1, 0, "{text:?}");
    }
}

#[test]
fn all_fields_are_read() {
    let front = "\
id: 部署-2
scope: team
kind: decision
layer: immutable
title: '部署: 手册'
description: >
  how we
  deploy
topics: [ops, 部署]
entities: alice
fidelity: visible_transcript
importance: 0.75
sensitivity: internal
audience:
  - ops
  - dev
sources: https://example.org/a#b
supersedes: [部署-1]
retracts: 部署-0
observed_at: 1970-01-02
valid_from: 1970-01-03T00:00:00Z
valid_to: 1970-01-04
last_confirmed_at: 1970-01-05 10:00
reviewed_at: '1970-01-06'
expected_resolution_at: 1970-01-07
tags: [not, topics]
nested: {a: [1, {b: c}]}";
    insta::assert_debug_snapshot!(fields(front));
}

#[test]
fn messages_are_for_a_person() {
    let fronts = [
        "a: 1\nb: [",
        "a: 1\na: 2",
        "title: {a: b}",
        "topics: [[a]]",
        "a: *b",
        "? [a]\n: b",
        "a: b: c",
        "\ta: 1",
        "importance: 2",
    ];
    let shown = fronts.map(|front| match split(&format!("---\n{front}\n---\n")) {
        Ok((fields, _)) => format!("{front:?}: {:?}\n", fields.stated.title),
        Err(error) => format!("{front:?}: {error}\n"),
    });
    insta::assert_snapshot!(shown.concat());
}

#[test]
fn texts_are_kept_as_written() {
    let check = |value: &str, expected: Option<&str>| {
        assert_eq!(
            fields(&format!("title: {value}")).stated.title.as_deref(),
            expected,
            "{value}"
        );
        let list: Vec<_> = expected.into_iter().map(str::to_owned).collect();
        assert_eq!(fields(&format!("topics: {value}")).stated.topics, list, "{value}");
        assert_eq!(fields(&format!("topics: [{value}]")).stated.topics, list, "{value}");
    };
    for text in [
        "no",
        "Yes",
        "on",
        "1.10",
        "007",
        "0x1F",
        "1e3",
        "2026-03-01",
        "1_000",
        "-1",
        ".5",
        "true",
        "NaN",
        ".inf",
        "1e999",
        "99999999999999999999999999999999999999999",
        "12:30",
        "重建",
    ] {
        check(text, Some(text));
    }
    check("", None);
    check("~", None);
    check("null", None);
    check("'null'", Some("null"));
    check("\" a b \"", Some("a b"));
}

#[test]
fn what_is_no_mapping_is_text() {
    for front in ["just words", "- a\n- b", "42", "no", "[a, b]"] {
        let text = format!("---\n{front}\n---\nbody");
        assert_eq!(split(&text).unwrap(), (FrontMatter::default(), 0), "{front}");
    }
    assert_eq!(fields(""), FrontMatter::default());
    assert_eq!(fields("# a comment"), FrontMatter::default());
}

#[test]
fn trouble_names_its_line_and_field() {
    refused("a: 1\nb: [", "front matter, line ");
    refused("a: 1\na: 2", "front matter, line 3: ");
    refused(
        "kind: note\nimportance: 1.5",
        "front matter, line 3, importance: expected a number from 0 to 1",
    );
    refused(
        "importance: .nan",
        "front matter, line 2, importance: expected a number from 0 to 1",
    );
    refused("importance: NaN", "front matter, line 2, importance: ");
    refused("importance: [1]", "front matter, line 2, importance: expected one text");
    refused(
        "x: y\n\nfidelity: hearsay",
        "front matter, line 4, fidelity: unknown fidelity \"hearsay\"",
    );
    refused("layer: 3", "front matter, line 2, layer: unknown layer \"3\"");
    refused(
        "observed_at: soon",
        "front matter, line 2, observed_at: expected a date like",
    );
    refused("id: ''", "front matter, line 2, id: must not be empty");
    refused(
        "id: \"a\\nb\"",
        "front matter, line 2, id: must not hold control characters",
    );
    refused(
        &format!("id: {}", "长".repeat(171)),
        "front matter, line 2, id: is longer than 512 bytes",
    );
    refused("title: {a: b}", "front matter, line 2, title: expected one text");
    refused("topics:\n  - [a]", "front matter, line ");
    refused(
        "audience: [ops, '']",
        "front matter, line 2, audience: must not be empty",
    );
    refused("audience: [~]", "front matter, line 2, audience: must not be empty");
    refused(
        "sensitivity: ''",
        "front matter, line 2, sensitivity: must not be empty",
    );
    refused(
        "supersedes: ['']",
        "front matter, line 2, supersedes: must not be empty",
    );
    assert_eq!(
        fields(&format!("id: {}", "长".repeat(170))).id.unwrap().as_str().len(),
        510
    );
}

#[test]
fn bombs_are_refused() {
    let aliases: String = (1..9)
        .map(|n| format!("a{n}: &a{n} [{}]\n", format!("*a{}, ", n - 1).repeat(9)))
        .collect();
    refused(&format!("a0: &a0 [x]\n{aliases}"), "front matter, line ");
    refused(&format!("a: {}", "[".repeat(1000)), "front matter, line ");
    let deep: String = (0..100).map(|n| format!("{}a:\n", " ".repeat(n))).collect();
    refused(&deep, "front matter, line ");
}

proptest! {
    #[test]
    fn no_byte_is_lost(front in "(---\n|---\r\n|)", text in "([a-z:\\-\n\r\\[\\]{}&*# 索]|---\n|\\.\\.\\.\n){0,40}") {
        let text = format!("{front}{text}");
        if let Ok((_, length)) = split(&text) {
            prop_assert!(text.is_char_boundary(length));
            prop_assert!(length == 0 || cut(&text).is_some_and(|(_, cut)| cut == length));
        }
        if let Some((block, length)) = cut(&text) {
            let delimiters = length - block.len();
            prop_assert!((6..=10).contains(&delimiters));
            prop_assert!(text[..length].contains(block));
        }
    }

    #[test]
    fn any_text_is_answered(text in any::<String>()) {
        let _ = split(&format!("---\n{text}\n---\n"));
    }
}
