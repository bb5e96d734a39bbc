//! Model packs.

use casebook_encoder::{Architecture, PackManifest, PackTask, Pooling};

use super::{safe, table};

/// One line of `models list`.
pub(crate) struct ModelRow {
    pub(crate) pack: PackManifest,
    /// What this project uses it for.
    pub(crate) uses: Vec<&'static str>,
}

impl ModelRow {
    fn bytes(&self) -> u64 {
        self.pack.files.iter().map(|file| file.bytes).sum()
    }

    /// Returns the row for scripts.
    pub(crate) fn json(&self) -> serde_json::Value {
        let pack = &self.pack;
        serde_json::json!({
            "name": pack.name, "task": task(pack.task), "architecture": architecture(pack.architecture),
            "dimension": pack.dimension, "max_tokens": pack.max_tokens, "bytes": self.bytes(),
            "term_weights": pack.sparse, "licence": pack.licence, "revision": pack.revision, "source": pack.source, "in_use": self.uses
        })
    }
}

/// What a project uses for a task.
pub(crate) struct InUse<'a> {
    /// What is compiled in.
    pub(crate) embedded: &'a str,
    /// The pack that was chosen, and whether it can be used.
    pub(crate) pack: Option<(&'a str, bool)>,
}

impl InUse<'_> {
    fn words(&self) -> String {
        match self.pack {
            None => self.embedded.to_owned(),
            Some((name, true)) => safe(name),
            Some((name, false)) => format!("{}, which cannot be used ({} stands in)", safe(name), self.embedded),
        }
    }
}

/// Renders what encodes and what reranks.
pub(crate) fn models_in_use([encode, rerank]: &[InUse<'_>; 2]) -> String {
    format!(
        "This project encodes with {} and reranks with {}.",
        encode.words(),
        rerank.words()
    )
}

/// Renders the models.
pub(crate) fn models(rows: &[ModelRow]) -> String {
    if rows.is_empty() {
        return "No models were added; `casebook models add` takes one.".to_owned();
    }
    let mut table = table([
        "name",
        "task",
        "network",
        "dimension",
        "size",
        "licence",
        "revision",
        "in use",
    ]);
    for row in rows {
        let pack = &row.pack;
        let numbers = match pack.task {
            PackTask::Embed => pack.dimension.to_string(),
            PackTask::Rerank => "-".to_owned(),
        };
        table.add_row([
            pack.name.clone(),
            with_terms(pack),
            architecture(pack.architecture).to_owned(),
            numbers,
            size(row.bytes()),
            safe(&pack.licence),
            safe(&pack.revision).chars().take(12).collect(),
            row.uses.join(", "),
        ]);
    }
    format!("{}\n", table.trim_fmt())
}

/// Renders what was added.
pub(crate) fn added_model(pack: &PackManifest) -> String {
    let bytes = pack.files.iter().map(|file| file.bytes).sum();
    let shown = |text: &str| format!("{:?}", safe(text));
    let how = match pack.task {
        PackTask::Embed => format!(
            "{} numbers, {} pooling, query prefix {}, passage prefix {}",
            pack.dimension,
            match pack.pooling {
                Pooling::Mean => "mean",
                Pooling::Cls => "first-token",
                Pooling::Last => "last-token",
            },
            shown(&pack.query_prefix),
            shown(&pack.passage_prefix)
        ),
        PackTask::Rerank => "a reranker".to_owned(),
    };
    let next = match pack.task {
        PackTask::Embed => format!("casebook models use {}", pack.name),
        PackTask::Rerank => format!("casebook models use --reranker {}", pack.name),
    };
    format!(
        "Added {} ({}, {}, {}) from {}\n{}: {how}; {} tokens at most\nNext: {next}",
        pack.name,
        architecture(pack.architecture),
        size(bytes),
        safe(&pack.licence),
        safe(&pack.source),
        with_terms(pack),
        pack.max_tokens
    )
}

/// Returns a size for people.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{} kB", bytes.div_ceil(1000)),
        _ => format!("{} MB", bytes.div_ceil(1_000_000)),
    }
}

/// What a pack does, and whether it weighs terms beside.
fn with_terms(pack: &PackManifest) -> String {
    let terms = if pack.sparse { " + term weights" } else { "" };
    format!("{}{terms}", task(pack.task))
}

fn task(task: PackTask) -> &'static str {
    match task {
        PackTask::Embed => "embed",
        PackTask::Rerank => "rerank",
    }
}

fn architecture(architecture: Architecture) -> &'static str {
    match architecture {
        Architecture::Bert => "bert",
        Architecture::XlmRoberta => "xlm-roberta",
        Architecture::Qwen3 => "qwen3",
    }
}
