//! Input that was made to hurt: every body is cut, and in time linear in its length (or these tests take minutes).

use casebook_chunker::{Chunker, Strategy};
use casebook_testkit::resource;

/// Cuts by the two strategies that parse, and checks the ends.
#[track_caller]
fn check(body: &str) {
    let resource = resource("a.md", body).build();
    for strategy in [Strategy::Heading384, Strategy::Para512Overlap64] {
        let units = Chunker::new(strategy).chunk(&resource);
        assert_eq!(units[0].text.trim_start()[..1], body.trim_start()[..1]);
        assert!(body.trim_end().ends_with(&units[units.len() - 1].text));
    }
}

#[test]
fn deep_nesting() {
    check(&">".repeat(100_000));
    check(&"> ".repeat(20_000));
    check(&format!("{}x", "- ".repeat(20_000)));
    check(&format!("{}x", "1. ".repeat(20_000)));
    check(
        &(0..600)
            .map(|depth| format!("{}- x\n", "  ".repeat(depth)))
            .collect::<String>(),
    );
    check(&format!("{}x\n{}", "- ".repeat(2_000), "\n".repeat(2_000)));
}

#[test]
fn runs_of_one_mark() {
    for mark in [
        "[", "]", "*", "_", "`", "~", "<", "&", "\\", "|", "![", "[](", "*_", "a*", "\0", "\u{301}", "🇨🇳", "{", "<a ",
    ] {
        check(&format!("x{}", mark.repeat(30_000)));
    }
}

#[test]
fn one_long_line_and_many_headings() {
    check(&"word 记忆 ".repeat(60_000));
    check(&"# h\n".repeat(20_000));
    check(&format!("# {}\n{}", "long ".repeat(50_000), "## h\n".repeat(2_000)));
    check(&"h\n=\n".repeat(10_000));
    check(&"[a]: b\n".repeat(20_000));
    check(&"|a|b\n|-|-\n".repeat(10_000));
}
