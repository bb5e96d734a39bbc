//! How fast texts become vectors and candidates become scores, beside what any encoder has to do at least: fold a text
//! to its normal form and find its words.

use std::hint::black_box;
use std::sync::Arc;

use casebook_encoder::{LateInteraction, StaticEncoder, StaticLateInteraction, StaticTable, embedded_table};
use casebook_index::{Passage, TextEncoder as _};
use casebook_ranker::PairScorer as _;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use unicode_normalization::UnicodeNormalization as _;

const QUERY: &str = "索引重建期间查询会怎样 what happens to queries while the index rebuilds after a crash";

/// Makes texts of about 400 tokens in both languages; neighbours share most of their words.
fn texts(count: usize) -> Vec<String> {
    let english = [
        "index",
        "rebuild",
        "query",
        "revision",
        "snapshot",
        "candidate",
        "budget",
        "the",
        "of",
        "HTTPServer",
    ];
    let chinese = [
        "索引", "重建", "查询", "版本", "候选", "预算", "的", "记忆", "用户", "延迟",
    ];
    let word = |words: &[&str], number: usize| words[(number * 7 + number / 11) % words.len()].to_owned();
    (0..count)
        .map(|text| {
            let sentence = |at: usize| {
                format!(
                    "{} {}{text} {}。",
                    word(&english, at + text),
                    word(&english, at * 3),
                    word(&chinese, at)
                )
            };
            (0..100).map(sentence).collect()
        })
        .collect()
}

/// Makes texts of 400 tokens or a few more that share few words: sentences in both languages, one after another.
fn diverse_texts(count: usize) -> Vec<String> {
    let table = embedded_table();
    let lines = include_str!("../assets/golden.jsonl").lines().map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).expect("a golden line is JSON");
        line["text"].as_str().expect("a golden line has a text").to_owned()
    });
    let mut lines = lines.collect::<Vec<_>>().into_iter().cycle();
    let text = |_| {
        let mut text = String::new();
        while table.tokens(&text).len() < 400 {
            text += &lines.next().expect("the lines come round again");
            text.push('\n');
        }
        text
    };
    (0..count).map(text).collect()
}

fn passage(text: &String) -> Passage<'_> {
    Passage {
        path: "docs/known-limits.md",
        heading_path: &[],
        text,
    }
}

fn table(criterion: &mut Criterion) {
    let (bytes, digest) = (
        include_bytes!("../assets/static-zhen-256.bin"),
        include_str!("../assets/static-zhen-256.sha256"),
    );
    criterion.bench_function("table/read", |bench| {
        bench.iter(|| StaticTable::read(black_box(bytes), digest))
    });
    let table = embedded_table();
    let encoder = StaticEncoder::new(Arc::clone(&table));
    let texts = diverse_texts(24);
    let passages: Vec<_> = texts.iter().map(passage).collect();
    let tokens = |texts: &[String]| texts.iter().map(|text| table.tokens(text).len()).sum::<usize>();
    let mut group = criterion.benchmark_group("tokens");
    group.throughput(Throughput::Elements(tokens(&texts) as u64));
    group.bench_function("cut", |bench| bench.iter(|| tokens(black_box(&texts))));
    group.bench_function("encode", |bench| {
        bench.iter(|| encoder.encode_passages(black_box(&passages), &()))
    });
    group.finish();
}

fn encode(criterion: &mut Criterion) {
    let encoder = StaticEncoder::new(embedded_table());
    let texts = texts(24);
    let passages: Vec<_> = texts.iter().map(passage).collect();
    let bytes = texts.iter().map(String::len).sum::<usize>() as u64;
    let mut group = criterion.benchmark_group("encode");
    group.throughput(Throughput::Bytes(bytes));
    group.bench_function("passages", |bench| {
        bench.iter(|| encoder.encode_passages(black_box(&passages), &()))
    });
    group.bench_function("peer: NFKC and split at blanks", |bench| {
        bench.iter(|| {
            let words = |text: &String| {
                text.nfkc()
                    .collect::<String>()
                    .to_lowercase()
                    .split_whitespace()
                    .count()
            };
            black_box(&texts).iter().map(words).sum::<usize>()
        });
    });
    group.finish();
    criterion.bench_function("encode/query", |bench| {
        bench.iter(|| encoder.encode_query(black_box(QUERY)))
    });
}

fn rerank(criterion: &mut Criterion) {
    let scorer = StaticLateInteraction::new(embedded_table());
    let peer = LateInteraction::new(Arc::new(StaticEncoder::new(embedded_table())));
    for (kind, texts) in [("alike", texts(24)), ("diverse", diverse_texts(24))] {
        let passages: Vec<_> = texts.iter().map(passage).collect();
        let mut group = criterion.benchmark_group(format!("rerank 24 {kind} candidates"));
        group.bench_function("over the table", |bench| {
            bench.iter(|| scorer.score(black_box(QUERY), &passages, &()))
        });
        group.bench_function("peer: over token vectors of any encoder", |bench| {
            bench.iter(|| peer.score(black_box(QUERY), &passages, &()))
        });
        group.finish();
    }
}

criterion_group!(benches, table, encode, rerank);
criterion_main!(benches);
