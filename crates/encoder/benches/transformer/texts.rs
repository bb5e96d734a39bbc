//! What is encoded: the same texts as in `tools/reference/bench_peers.py`.

/// Queries in English and Chinese.
pub(crate) const QUERIES: [&str; 2] = ["what happens while the index rebuilds", "索引重建期间查询会怎样"];

/// Characters that a document has at least, about 200 tokens.
const LENGTH: usize = 400;

/// Makes documents in both languages from the lines of the static table's golden file, one line after another.
pub(crate) fn documents(count: usize) -> Vec<String> {
    let lines = include_str!("../../assets/golden.jsonl").lines().map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).expect("a golden line is JSON");
        line["text"].as_str().expect("a golden line has a text").to_owned()
    });
    let mut lines = lines.collect::<Vec<_>>().into_iter().cycle();
    let document = |_| {
        let mut document = String::new();
        while document.chars().count() < LENGTH {
            document += &lines.next().expect("the lines come round again");
            document.push('\n');
        }
        document
    };
    (0..count).map(document).collect()
}
