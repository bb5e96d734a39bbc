//! Megabytes of Markdown a second on one core, beside a bare pass of the Markdown parser over the same bytes.

use std::hint::black_box;

use casebook_chunker::{CasebookTokens, Chunker, Strategy, TokenCounter};
use casebook_testkit::resource;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use pulldown_cmark::Parser;

const ENGLISH: &[&str] = &[
    include_str!("../../../testdata/documents/code-heavy-cli.md"),
    include_str!("../../../testdata/documents/decision-storage-en.md"),
    include_str!("../../../testdata/documents/no-headings-long.md"),
    include_str!("../../../testdata/documents/setext-journal.md"),
    include_str!("../../../testdata/documents/tables-limits.md"),
];
const CHINESE: &[&str] = &[
    include_str!("../../../testdata/documents/mixed-notes.md"),
    include_str!("../../../testdata/documents/runbook-index-rebuild-zh.md"),
];
const COPIES: usize = 20;

fn compare(criterion: &mut Criterion, name: &str, text: &str) {
    let document = resource("bench.md", text).build();
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("peer: bare pulldown-cmark", |bencher| {
        bencher.iter(|| Parser::new(black_box(text)).into_offset_iter().count());
    });
    group.bench_function("token counter alone", |bencher| {
        bencher.iter(|| CasebookTokens.token_spans(black_box(text)).len());
    });
    for strategy in [Strategy::Heading384, Strategy::Para512, Strategy::Fixed512] {
        let chunker = Chunker::new(strategy);
        group.bench_function(strategy.as_str(), |bencher| {
            bencher.iter(|| chunker.chunk(black_box(&document)).len());
        });
    }
    group.finish();
}

fn chunk(criterion: &mut Criterion) {
    compare(criterion, "english", &ENGLISH.concat().repeat(COPIES));
    compare(criterion, "chinese", &CHINESE.concat().repeat(COPIES));
    compare(criterion, "hostile: one line", &"word 记忆 ".repeat(50_000));
    compare(criterion, "hostile: headings", &"# h\n".repeat(100_000));
}

criterion_group!(benches, chunk);
criterion_main!(benches);
