//! How fast a real pack runs, beside candle's operations in the order of its stock BERT: set `CASEBOOK_BENCH_PACK` to a pack's
//! folder, with its `pack.json`, and `RAYON_NUM_THREADS=1`, which candle reads.
//!
//! Times are processor time of all threads, so that a busy machine changes them little; ratios within one run count.
//! `tools/reference/bench_peers.py` times onnxruntime and PyTorch on the same texts.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

#[path = "transformer/stock.rs"]
mod stock;
#[path = "transformer/texts.rs"]
mod texts;

use std::fs;
use std::hint::black_box;
use std::path::Path;

use casebook_encoder::{
    Architecture, PackManifest, PackTask, TransformerEncoder, TransformerOptions, WeightPrecision, embedded_table,
};
use casebook_index::{Passage, TextEncoder as _};

use self::stock::StockBert;
use self::texts::{QUERIES, documents};

/// Rounds of which the fastest counts.
const ROUNDS: usize = 7;
/// Documents in a round.
const DOCUMENTS: usize = 16;
const VARIABLE: &str = "CASEBOOK_BENCH_PACK";

/// Returns the processor time of all threads in seconds.
fn processor_time() -> f64 {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let nanoseconds = tasks.filter_map(|task| {
        let times = fs::read_to_string(task.path().join("schedstat")).ok()?;
        times.split(' ').next()?.parse::<f64>().ok()
    });
    nanoseconds.sum::<f64>() / 1e9
}

/// Returns the seconds of the fastest round.
fn fastest(mut round: impl FnMut()) -> f64 {
    round();
    let seconds = (0..ROUNDS).map(|_| {
        let start = processor_time();
        round();
        processor_time() - start
    });
    seconds.fold(f64::INFINITY, f64::min)
}

fn resident() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = line.and_then(|line| line.trim().split(' ').next()?.parse::<f64>().ok());
    kibibytes.unwrap_or(f64::NAN) / 1024.0
}

fn main() {
    // `cargo test` and `cargo bench` pass flags of the standard harness.
    let Some(folder) = std::env::var_os(VARIABLE) else {
        println!("transformer: nothing measured, {VARIABLE} names no pack's folder");
        return;
    };
    let folder = Path::new(&folder);
    let manifest = fs::read(folder.join("pack.json")).expect("the folder holds a pack.json");
    let manifest: PackManifest = serde_json::from_slice(&manifest).expect("pack.json is a manifest");
    assert_eq!(manifest.task, PackTask::Embed, "the pack is a reranker");
    let texts = documents(DOCUMENTS);
    let mut vectors = Vec::new();
    for precision in [WeightPrecision::Half, WeightPrecision::Full] {
        vectors.push(measure(folder, &manifest, precision, &texts));
    }
    let [half, full] = &vectors[..] else {
        unreachable!("two precisions")
    };
    let cosines = half.iter().zip(full).map(|(left, right)| cosine(left, right));
    println!(
        "half and full precision: least cosine {:.7}",
        cosines.fold(f32::INFINITY, f32::min)
    );
    tokenizers(folder, &manifest, &texts);
    if manifest.architecture == Architecture::Bert && folder.join("model.safetensors").exists() {
        stock(folder, &manifest, &texts, &vectors[1]);
    }
}

fn cosine(left: &[f32], right: &[f32]) -> f32 {
    let dot = |left: &[f32], right: &[f32]| left.iter().zip(right).map(|(left, right)| left * right).sum::<f32>();
    dot(left, right) / (dot(left, left) * dot(right, right)).sqrt()
}

/// Measures the engine and returns the vectors of queries and texts.
fn measure(folder: &Path, manifest: &PackManifest, precision: WeightPrecision, texts: &[String]) -> Vec<Vec<f32>> {
    let options = TransformerOptions { threads: 1, precision };
    let (before, start) = (resident(), processor_time());
    let encoder = TransformerEncoder::open_with(folder, manifest, &options).expect("the pack can be opened");
    let load = processor_time() - start;
    println!(
        "{} {precision:?}: load {load:.2} s, resident {:+.0} MiB, weights {:.0} MiB",
        manifest.name,
        resident() - before,
        encoder.weight_bytes() as f64 / f64::from(1 << 20)
    );
    for query in QUERIES {
        let seconds = fastest(|| {
            for _ in 0..5 {
                black_box(encoder.encode_query(query).expect("a query has a vector"));
            }
        });
        let tokens = encoder.count_tokens(query).expect("a query has tokens");
        println!("  query of {tokens} tokens: {:.2} ms", seconds * 200.0);
    }
    let passages = passages(texts);
    let seconds = fastest(|| {
        black_box(encoder.encode_passages(&passages, &()).expect("texts have vectors"));
    });
    let tokens: usize = texts
        .iter()
        .map(|text| encoder.count_tokens(text).expect("a text has tokens"))
        .sum();
    println!(
        "  documents of {} tokens: {:.2} each second, {:.0} tokens each second",
        tokens / texts.len(),
        texts.len() as f64 / seconds,
        tokens as f64 / seconds
    );
    let queries = QUERIES
        .iter()
        .map(|query| encoder.encode_query(query).expect("a query has a vector"));
    let encoded = encoder.encode_passages(&passages, &()).expect("texts have vectors");
    queries
        .chain(encoded.into_iter().map(|passage| passage.vector))
        .collect()
}

fn passages(texts: &[String]) -> Vec<Passage<'_>> {
    let passage = |text| Passage {
        path: "",
        heading_path: &[],
        text,
    };
    texts.iter().map(|text| passage(text.as_str())).collect()
}

fn tokenizers(folder: &Path, manifest: &PackManifest, texts: &[String]) {
    let encoder = TransformerEncoder::open(folder, manifest).expect("the pack can be opened");
    let count = |text: &String| encoder.count_tokens(text).expect("a text has tokens");
    let tokens: usize = texts.iter().map(count).sum();
    let seconds = fastest(|| {
        black_box(texts.iter().map(count).sum::<usize>());
    });
    println!(
        "tokenizer of the pack: {:.0} tokens each second",
        tokens as f64 / seconds
    );
    let table = embedded_table();
    let tokens: usize = texts.iter().map(|text| table.tokens(text).len()).sum();
    let seconds = fastest(|| texts.iter().for_each(|text| drop(black_box(table.tokens(text)))));
    println!(
        "tokenizer of the static table: {:.0} tokens each second",
        tokens as f64 / seconds
    );
}

fn stock(folder: &Path, manifest: &PackManifest, texts: &[String], expected: &[Vec<f32>]) {
    let bert = StockBert::open(folder).expect("candle can open the pack");
    let vector = |prefix: &str, text: &str| {
        bert.vector(&format!("{prefix}{text}"))
            .expect("candle can run the pack")
    };
    for (query, expected) in QUERIES.iter().zip(expected) {
        let seconds = fastest(|| drop(black_box(vector(&manifest.query_prefix, query))));
        let same = cosine(&vector(&manifest.query_prefix, query), expected);
        println!("candle's operations, query: {:.2} ms, cosine {same:.7}", seconds * 1e3);
    }
    let seconds = fastest(|| {
        for text in texts {
            black_box(vector(&manifest.passage_prefix, text));
        }
    });
    println!(
        "candle's operations, documents one by one: {:.2} each second",
        texts.len() as f64 / seconds
    );
}
