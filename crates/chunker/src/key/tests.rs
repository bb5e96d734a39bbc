use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(headings: &[&str], occurrence: usize, part: usize, expected: &str) {
    let path = headings.iter().map(|text| heading_piece(text)).collect::<Vec<_>>();
    let place = Place::Headings {
        path: path.join("/"),
        occurrence,
    };
    let key = unit_key(&resource_piece("notes/a b.md"), &place, part);
    assert_eq!(key.as_str(), expected);
}

#[test]
fn ordinary_headings_stay_readable() {
    check(&["Storage", "Why SQLite?"], 1, 1, "notes/a+b.md#Storage/Why+SQLite?");
    check(
        &["索引重建", "期间的查询"],
        2,
        3,
        "notes/a+b.md#索引重建/期间的查询~2:3",
    );
}

#[test]
fn marks_of_the_form_are_escaped() {
    check(
        &["a/b", "#1: 50% ~ +"],
        1,
        1,
        "notes/a+b.md#a%2Fb/%231%3A+50%25+%7E+%2B",
    );
    check(
        &["a\u{3000}b\u{7}\u{200d}"],
        1,
        1,
        "notes/a+b.md#a%E3%80%80b%07%E2%80%8D",
    );
    check(&[":root"], 1, 1, "notes/a+b.md#%3Aroot");
    check(&[""], 1, 1, "notes/a+b.md#");
    assert_eq!(resource_piece("c#/x:~y+z%"), "c%23/x:~y%2Bz%25");
}

#[test]
fn a_long_heading_ends_in_its_digest() {
    let (first, second) = ("记".repeat(500), "记".repeat(501));
    let piece = heading_piece(&first);
    assert!(piece.len() <= PIECE_LIMIT);
    assert!(piece.starts_with("记记"));
    assert_ne!(piece, heading_piece(&second));
}

#[test]
fn a_long_heading_is_not_cut_within_an_escape() {
    for pad in 0..4 {
        let piece = heading_piece(&format!("{}{}", "x".repeat(pad), "/".repeat(300)));
        let (kept, digest) = piece.split_once("%~").unwrap();
        assert!(kept.trim_start_matches('x').split("%2F").all(str::is_empty), "{kept}");
        assert_eq!(digest.len(), DIGEST);
    }
}

proptest! {
    #[test]
    fn different_paths_are_written_differently(
        left in prop::collection::vec("[a#/~:%+ 记\u{3000}\n]{0,4}", 1..4),
        right in prop::collection::vec("[a#/~:%+ 记\u{3000}\n]{0,4}", 1..4),
    ) {
        let write = |path: &[String]| path.iter().map(|text| heading_piece(text)).collect::<Vec<_>>().join("/");
        prop_assert_eq!(left == right, write(&left) == write(&right));
    }
}
