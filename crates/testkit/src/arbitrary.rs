//! Arbitrary texts: words of both scripts, and Markdown with all that real files hold.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

const WORDS: &[&str] = &[
    "索引",
    "重建",
    "期间",
    "查询",
    "会",
    "怎样",
    "用户",
    "云",
    "记忆",
    "的",
    "，",
    "。",
    "index",
    "rebuild",
    "queries",
    "db",
    "multi-agent",
    "don't",
    "38.101",
    "TODO:",
    "fix",
    "head",
    "the",
    "重跑gen-itgc后",
    "𠮷野家",
    "naïve",
    "e\u{301}",
    "🙂",
    "👩‍👩‍👧",
    "`code`",
    "**bold**",
    "[link](a.md)",
    "C++",
    "…",
    "\u{200b}",
];

/// Generates running text of 1 to 40 words, Chinese and English mixed, on one line.
pub fn word_text() -> impl Strategy<Value = String> + Clone {
    words(1..40)
}

fn words(count: std::ops::Range<usize>) -> impl Strategy<Value = String> + Clone {
    vec((select(WORDS), select(&["", " ", " "][..])), count)
        .prop_map(|words| words.into_iter().flat_map(|(word, gap)| [word, gap]).collect())
}

/// Generates a Markdown file: headings of both kinds, closed and unclosed code, lists, tables, paragraphs up to some
/// thousand words, blank lines, LF or CRLF, emoji, NUL bytes, with and without a last line end.
pub fn markdown() -> impl Strategy<Value = String> + Clone {
    (vec(block(), 0..14), any::<bool>(), any::<bool>()).prop_map(|(blocks, crlf, open_end)| {
        let mut text = blocks.concat();
        if open_end {
            text.truncate(text.trim_end_matches('\n').len());
        }
        if crlf { text.replace('\n', "\r\n") } else { text }
    })
}

fn block() -> impl Strategy<Value = String> + Clone {
    prop_oneof![
        4 => (1..7_usize, words(1..6), select(&["", " #", " ###"][..]))
            .prop_map(|(level, title, tail)| format!("{} {title}{tail}\n", "#".repeat(level))),
        1 => (words(1..6), select(&["=", "---", "====="][..])).prop_map(|(title, line)| format!("{title}\n{line}\n")),
        4 => words(1..60).prop_map(|text| format!("{text}\n\n")),
        1 => (words(40..41), 1..40_usize).prop_map(|(text, times)| format!("{}\n\n", text.repeat(times))),
        2 => (select(&["```", "~~~~", "```rust"][..]), vec(words(0..8), 0..8), any::<bool>()).prop_map(code),
        2 => (select(&["- ", "* ", "1. ", "  - ", "- [ ] "][..]), vec(words(1..10), 1..6)).prop_map(list),
        1 => (1..5_usize, vec(words(1..3), 1..12)).prop_map(table),
        1 => words(1..8).prop_map(|text| format!("> {text}\n> {text}\n\n")),
        1 => words(1..8).prop_map(|text| format!("    {text}\n\n")),
        1 => select(&["\n", "\n\n\n", "---\n", "***\n", "<div>\n", "<!-- \n", "\0\n", "\t \n", "#\n", "[a]: b\n"][..])
            .prop_map(str::to_owned),
        1 => select(&["\u{85}", "\u{2028}", "\r", "\u{feff}", "~", "|", "\\", "&amp;"][..]).prop_map(str::to_owned),
    ]
}

fn code((fence, lines, closed): (&str, Vec<String>, bool)) -> String {
    let close: String = fence.chars().filter(|&c| c == '`' || c == '~').collect();
    let mut text = format!("{fence}\n{}\n", lines.join("\n"));
    if closed {
        text.push_str(&format!("{close}\n"));
    }
    text
}

fn list((marker, items): (&str, Vec<String>)) -> String {
    items.iter().map(|item| format!("{marker}{item}\n")).collect::<String>() + "\n"
}

fn table((columns, cells): (usize, Vec<String>)) -> String {
    let row = |cell: &str| format!("|{}\n", format!(" {cell} |").repeat(columns));
    let rows: String = cells.iter().skip(1).map(|cell| row(cell)).collect();
    format!("{}{}{rows}\n", row(&cells[0]), row("---"))
}

#[cfg(test)]
mod tests {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    use super::*;

    #[test]
    fn generated_markdown_holds_what_real_files_do() {
        let mut runner = TestRunner::deterministic();
        let all: String = (0..400)
            .map(|_| markdown().new_tree(&mut runner).unwrap().current())
            .collect();
        for part in [
            "\n# ", "\n=", "```", "\r\n", "\0", "🙂", "| --- |", "- [ ] ", "索引", "\n\n\n",
        ] {
            assert!(all.contains(part), "{part:?}");
        }
    }
}
