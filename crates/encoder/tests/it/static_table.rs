//! Reading artefacts, and cutting texts into pieces.

use casebook_encoder::{StaticTable, StaticTableError};
use proptest::prelude::*;

use crate::artefact::{Artefact, DIMENSION, FOLDS, HEADER, PIECES, naive_tokens, read, table};

fn check_error(change: impl FnOnce(&mut Artefact), expected: &StaticTableError) {
    let mut artefact = Artefact::small();
    change(&mut artefact);
    assert_eq!(artefact.read().err().as_ref(), Some(expected));
}

#[test]
fn what_cannot_be_is_refused() {
    let piece = |index, problem| StaticTableError::Piece { index, problem };
    let fold = |index, problem| StaticTableError::Fold { index, problem };
    check_error(
        |it| it.version = 2,
        &StaticTableError::Version { found: 2, expected: 1 },
    );
    let pieces = PIECES.len() as u32;
    for dimension in [0, 48, 1 << 20] {
        check_error(
            |it| it.dimension = dimension,
            &StaticTableError::Shape { pieces, dimension },
        );
    }
    let mut bytes = Artefact::small().bytes();
    bytes[16..20].copy_from_slice(&131_071_u32.to_le_bytes());
    let dimension = DIMENSION as u32;
    let shape = StaticTableError::Shape {
        pieces: 131_071,
        dimension,
    };
    assert_eq!(read(bytes).err(), Some(shape));
    check_error(|it| it.scales[3] = 0x7C00, &StaticTableError::Scale { index: 3 });
    check_error(|it| it.scales[4] = 0x8001, &StaticTableError::Scale { index: 4 });
    check_error(|it| it.pieces[5].0 = it.pieces[2].0.clone(), &piece(5, "there twice"));
    check_error(|it| it.pieces[5].0 = "Upper".to_owned(), &piece(5, "not in lower case"));
    check_error(|it| it.pieces[5].0.clear(), &piece(5, "empty or too long"));
    check_error(|it| it.pieces[5].0 = "x".repeat(25), &piece(5, "empty or too long"));
    check_error(
        |it| it.folds[1].0 = 'x'.into(),
        &fold(1, "no character that can be folded"),
    );
    check_error(|it| it.folds[1].0 = 0xD800, &fold(1, "no character that can be folded"));
}

#[test]
fn bytes_that_are_cut_off_or_too_many_are_refused() {
    let bytes = Artefact::small().bytes();
    let expected = bytes.len() as u64;
    for length in (0..bytes.len()).step_by(7).chain([HEADER - 1, HEADER, bytes.len() - 1]) {
        let error = if length < HEADER {
            StaticTableError::Magic
        } else {
            StaticTableError::Length {
                found: length as u64,
                expected,
            }
        };
        assert_eq!(read(bytes[..length].to_vec()).err(), Some(error));
    }
    let longer = [bytes.as_slice(), b"\0"].concat();
    assert!(matches!(read(longer), Err(StaticTableError::Length { .. })));
    assert_eq!(read(vec![b'x'; 4_096]).err(), Some(StaticTableError::Magic));
}

#[test]
fn sections_out_of_place_are_refused() {
    for section in 0..9 {
        for (at, byte) in [(0, 1), (0, 64), (3, 0xFF), (4, 1), (7, 0xFF)] {
            let mut bytes = Artefact::small().bytes();
            bytes[24 + 8 * section + at] ^= byte;
            // A longer section of texts displaces the next.
            let index = if at >= 4 && [2, 5].contains(&section) {
                section + 1
            } else {
                section
            };
            let error = read(bytes).unwrap_err();
            let displaced = matches!(error, StaticTableError::Piece { .. } | StaticTableError::Fold { .. });
            assert!(displaced || error == StaticTableError::Section { index }, "{error:?}");
        }
    }
}

#[test]
fn characters_that_are_cut_are_refused() {
    let text_section = HEADER + 128;
    let bytes = Artefact::small().bytes();
    assert!(bytes[text_section + 64..].starts_with("索引".as_bytes()));
    for (at, byte) in [(text_section, 2), (text_section + 64, 0xFF), (text_section, 0)] {
        let mut bytes = bytes.clone();
        bytes[at] = byte;
        let error = read(bytes).unwrap_err();
        assert!(matches!(error, StaticTableError::Piece { .. }), "{error:?}");
    }
}

#[test]
fn folds_that_are_cut_are_refused() {
    let bytes = Artefact::small().bytes();
    let folds = FOLDS.len();
    let lengths = u32::from_le_bytes(bytes[24 + 8 * 4..][..4].try_into().unwrap()) as usize;
    for (at, length, index, problem) in [
        (folds - 1, 0, folds, "not counted"),
        (folds - 1, 2, folds - 1, "cut off"),
    ] {
        let mut bytes = bytes.clone();
        bytes[lengths + at] = length;
        let error = read(bytes).unwrap_err();
        assert_eq!(error, StaticTableError::Fold { index, problem });
    }
}

#[test]
fn a_changed_row_does_not_match_the_digest() {
    let bytes = Artefact::small().bytes().leak();
    let right = table().digest();
    assert_eq!(table().verify(), Ok(()));
    assert_eq!(StaticTable::read(bytes, right).unwrap().verify(), Ok(()));
    let mut changed = bytes.to_vec();
    *changed.last_mut().unwrap() ^= 1;
    let changed = StaticTable::read(changed.leak(), right).unwrap();
    assert_eq!(changed.verify(), Err(StaticTableError::Digest));
    for wrong in ["", "abc", &"A".repeat(64), &"é".repeat(64)] {
        let error = StaticTable::read(bytes, wrong.to_owned().leak()).err();
        assert_eq!(error, Some(StaticTableError::DigestFormat), "{wrong}");
    }
}

#[test]
fn means_are_read_by_language() {
    let numbers = |language| table().language_mean(language).map(|mean| [mean[0], mean[31]]);
    assert_eq!(numbers("zh"), Some([0.0, 31.0]));
    assert_eq!(numbers("en"), Some([32.0, 63.0]));
    assert_eq!(numbers("fr"), None);
    check_error(|it| it.means[3] = f32::NAN, &StaticTableError::Mean);
}

#[test]
fn a_table_may_be_empty() {
    let empty = Artefact {
        pieces: Vec::new(),
        scales: Vec::new(),
        numbers: Vec::new(),
        ..Artefact::small()
    };
    let table = empty.read().unwrap();
    assert!(table.is_empty());
    assert_eq!(table.tokens("索引 index HTTPServer 12"), []);
}

/// Checks the pieces of a text, each with the bytes of the text where these differ.
fn check(text: &str, expected: &str) {
    let found: Vec<String> = table()
        .tokens(text)
        .into_iter()
        .map(|token| {
            let piece = PIECES[token.row as usize].0;
            let place = &text[token.span];
            if place.eq_ignore_ascii_case(piece) {
                piece.to_owned()
            } else {
                format!("{piece}({place})")
            }
        })
        .collect();
    assert_eq!(found.join(" "), expected, "{text:?}");
}

#[test]
fn chinese_is_cut_the_cheapest_way() {
    check("重建索引后查询", "重建 索引 后 查询");
    check("研究生命的", "研究 生命 的");
    check("索未引", "索 引");
    check("\u{20000}索引", "\u{20000} 索引");
}

#[test]
fn words_are_split_as_identifiers_are_written() {
    check("readFile", "read file");
    check("HTTPServer", "http server");
    check("read_file.md", "read file md");
    check("REBUILD rebuild Rebuilding", "rebuild rebuild rebuild ing");
    check("rebuilds", "rebuild s");
    check("k8s K8S", "k8s k8s");
    check("12312 2024 20241 a1", "123 12 2024 a 1");
    check("#a@@", "# a @ @");
    check("重跑gen-itgc后", "重 gen itgc 后");
}

#[test]
fn of_equal_ways_the_longer_last_piece_is_taken() {
    let pieces = [("aab", 10), ("ab", 20), ("a", 10), ("b", 10), ("abb", 20), ("aa", 20)];
    let artefact = Artefact {
        pieces: pieces.map(|(text, cost)| (text.to_owned(), cost)).to_vec(),
        scales: vec![0; 6],
        numbers: vec![0; 6 * 32],
        ..Artefact::small()
    };
    let rows = |text| -> Vec<u32> {
        let tokens = artefact.read().unwrap().tokens(text);
        tokens.into_iter().map(|token| token.row).collect()
    };
    assert_eq!(rows("abab"), [1, 1]);
    assert_eq!(rows("aaxb"), [5, 3]);
    assert_eq!(rows("aabb"), [0, 3]);
}

#[test]
fn folded_characters_are_read_and_keep_their_place() {
    check("查詢後", "查询(查詢) 后(後)");
    check("ﬁle", "file(ﬁle)");
    check("re\u{AD}build\u{301}.", "rebuild(re\u{AD}build\u{301})");
    check("Ａａb", "aa(Ａａ) b");
    check("索\u{200B}引", "索引(索\u{200B}引)");
    check("½a", "1(½) 2(½) a");
    check("\u{301}a", "a");
    check("a½", "a 1(½) 2(½)");
}

#[test]
fn odd_texts_give_nothing_or_what_is_known() {
    let giant = "ab".repeat(1 << 19);
    assert_eq!(table().tokens(&giant).len(), 1 << 20);
    let giant = "研究生命".repeat(1 << 16);
    assert_eq!(table().tokens(&giant).len(), 1 << 17);
    for text in [
        "",
        " \n",
        "。，",
        "\0\u{1}\u{7F}",
        "🎉👩\u{200D}💻",
        "Память 한글 ꦧꦱ",
        "\u{301}\u{302}",
    ] {
        assert_eq!(table().tokens(text), [], "{text:?}");
    }
    check("\0a\u{1}b", "a b");
}

fn texts() -> impl Strategy<Value = String> {
    let known = prop::sample::select(PIECES).prop_map(|(piece, _)| piece.to_owned());
    let part = prop_oneof![
        4 => known,
        2 => "[abisAB129_ -]{1,6}",
        2 => "[索引重建查询的后研究生命未後詢\u{20000}\u{F900}]{1,8}",
        1 => "[\u{AD}½é\u{301}\u{200B}㏌ﬁＡａ。#]{1,3}",
        1 => any::<String>(),
    ];
    prop::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn it_agrees_with_the_definition(text in texts()) {
        let rows: Vec<u32> = table().tokens(&text).into_iter().map(|token| token.row).collect();
        prop_assert_eq!(rows, naive_tokens(&text));
    }

    #[test]
    fn places_are_in_order_and_between_characters(text in texts()) {
        let mut last = 0..0;
        for token in table().tokens(&text) {
            prop_assert!(!text[token.span.clone()].is_empty());
            prop_assert!(token.span.start >= last.end || token.span.start == last.start, "{:?} {:?}", last, token.span);
            last = token.span;
        }
    }

    #[test]
    fn changed_bytes_are_refused_or_harmless(at in any::<prop::sample::Index>(), byte in any::<u8>(), text in texts()) {
        let mut bytes = Artefact::small().bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(table) = read(bytes) {
            for token in table.tokens(&text) {
                prop_assert!((token.row as usize) < table.len());
            }
        }
    }
}
