//! Settings from five layers: defaults, the user's file, the project's file, the environment, flags. Later wins.
//!
//! The one thing a newcomer gets wrong: a key exists only in [`KEYS`]. A key in a file or in the environment that is not
//! there is an error with a suggestion, so that a typing error is never taken for a setting.

mod edit;
mod encoder;
mod keys;
mod layers;

pub(crate) use edit::write_setting;
pub(crate) use encoder::{ChosenPack, EMBEDDED, EncoderSettings, Role, chosen, encoder, store};
pub(crate) use keys::KEYS;
pub(crate) use layers::{Layers, Place};

use std::path::{Path, PathBuf};

use casebook_api::Project;
use casebook_chunker::{Chunker, Strategy};
use casebook_corpus::{FilesConfig, Layer, ProjectId, Scope, SourceDecl};
use casebook_index::IndexOptions;
use casebook_ranker::{Fusion, HistoryMode, RankerConfig};

use crate::failure::Failure;

/// Name of a project's file.
pub(crate) const PROJECT_FILE: &str = "casebook.toml";

/// Returns the project's folder, canonical: the one asked for, else the nearest above with a `casebook.toml`, else the
/// current one.
pub(crate) fn find_root(asked: Option<&Path>) -> Result<PathBuf, Failure> {
    let place = match asked {
        Some(root) => root.to_owned(),
        None => {
            let here = std::env::current_dir()
                .map_err(|error| Failure::internal("folder_unreadable", "the current folder is gone", &error))?;
            here.ancestors()
                .find(|folder| folder.join(PROJECT_FILE).is_file())
                .unwrap_or(&here)
                .to_owned()
        }
    };
    place
        .canonicalize()
        .ok()
        .filter(|root| root.is_dir())
        .ok_or_else(|| Failure::input("root_missing", format!("--root {} is not a folder", place.display())))
}

/// Turns the layers into a checked project.
pub(crate) fn project(root: PathBuf, data_dir: &Path, layers: &Layers) -> Result<Project, Failure> {
    let id = match layers.text("id")? {
        Some(id) if !id.trim().is_empty() => ProjectId::new(id),
        _ => Project::derived_id(&root),
    };
    let central = match layers.text("index.location")?.as_deref() {
        None | Some("project") => false,
        Some("central") => true,
        Some(other) => return Err(layers.wrong("index.location", "\"project\" or \"central\"", other)),
    };
    let index_dirs = Project::index_homes(&root, data_dir, &id, central);
    Ok(Project {
        files: files(layers)?,
        index: index(layers)?,
        ranker: ranker(layers)?,
        audiences: layers.texts("audiences")?.unwrap_or_default(),
        records: Project::records_file(data_dir, &id),
        id,
        root,
        index_dirs,
    })
}

fn files(layers: &Layers) -> Result<FilesConfig, Failure> {
    let mut config = FilesConfig::default();
    if let Some(sources) = layers.tables("sources")? {
        config.sources = sources
            .iter()
            .map(|table| source(layers, table))
            .collect::<Result<_, _>>()?;
    }
    if let Some(globs) = layers.texts("files.control_plane")? {
        config.control_plane = globs;
    }
    if let Some(bytes) = layers.unsigned("files.max_bytes")? {
        config.max_file_bytes = bytes;
    }
    if let Some(follow) = layers.flag("files.follow_links")? {
        config.follow_links = follow;
    }
    Ok(config)
}

fn source(layers: &Layers, table: &toml::Table) -> Result<SourceDecl, Failure> {
    let mut declared = SourceDecl::default();
    for (key, value) in table {
        let text = value
            .as_str()
            .ok_or_else(|| layers.wrong("sources", "text values", &value.to_string()))?;
        match key.as_str() {
            "path" => declared.path = text.to_owned(),
            "scope" => declared.scope = Scope::new(text),
            "kind" => declared.kind = text.to_owned(),
            "layer" => {
                declared.layer = text
                    .parse::<Layer>()
                    .map_err(|error| layers.wrong("sources.layer", &error.to_string(), text))?;
            }
            other => {
                return Err(layers::unknown_key(
                    other,
                    &["path", "scope", "layer", "kind"],
                    "[[sources]]",
                ));
            }
        }
    }
    if table.get("path").is_none() {
        return Err(layers.wrong("sources", "a `path` in every [[sources]]", "none"));
    }
    Ok(declared)
}

/// Turns the layers into how an index is built.
pub(crate) fn index(layers: &Layers) -> Result<IndexOptions, Failure> {
    let mut options = IndexOptions::default();
    if let Some(on) = layers.flag("index.impact")? {
        options.impact = on;
    }
    if let Some(on) = layers.flag("index.fts5")? {
        options.fts5 = on;
    }
    if let Some(on) = layers.flag("index.tantivy")? {
        options.tantivy = on;
    }
    options.cache_bytes = layers.unsigned("index.cache_bytes")?.filter(|bytes| *bytes > 0);
    if let Some(name) = layers.text("index.strategy")? {
        let strategy: Strategy = name
            .parse()
            .map_err(|_| layers.wrong("index.strategy", "a chunking strategy such as heading-384", &name))?;
        options.chunker = Chunker::new(strategy);
    }
    Ok(options)
}

/// Turns the layers into a ranking profile; its ranges are checked where it is used.
pub(crate) fn ranker(layers: &Layers) -> Result<RankerConfig, Failure> {
    let mut config = match layers.text("ranker.profile")?.as_deref() {
        None | Some("v3") => RankerConfig::v3(),
        Some("v2") => RankerConfig::v2(),
        Some(other) => return Err(layers.wrong("ranker.profile", "\"v2\" or \"v3\"", other)),
    };
    let counts: [(&str, &mut usize); 7] = [
        ("ranker.lexical_limit", &mut config.lexical_limit),
        ("ranker.dense_limit", &mut config.dense_limit),
        ("ranker.fused_keep", &mut config.fused_keep),
        ("ranker.rerank_depth", &mut config.rerank_depth),
        ("ranker.per_resource", &mut config.per_resource),
        ("ranker.token_budget", &mut config.token_budget),
        ("ranker.fragment_limit", &mut config.fragment_limit),
    ];
    for (key, field) in counts {
        if let Some(value) = layers.unsigned(key)? {
            *field = usize::try_from(value).map_err(|_| layers.wrong(key, "a smaller number", &value.to_string()))?;
        }
    }
    let numbers: [(&str, &mut f32); 13] = [
        ("ranker.dense_share", &mut config.fusion_weights.dense),
        (
            "ranker.contextual_dense_share",
            &mut config.fusion_weights.contextual_dense,
        ),
        ("ranker.foreign_dense", &mut config.fusion_weights.foreign_dense),
        ("ranker.foreign_lexical", &mut config.fusion_weights.foreign_lexical),
        ("ranker.impact_weight", &mut config.lexical_weights.impact),
        ("ranker.fts5_weight", &mut config.lexical_weights.fts5),
        ("ranker.tantivy_weight", &mut config.lexical_weights.tantivy),
        ("ranker.phrase_bonus", &mut config.phrase_bonus),
        ("ranker.rrf_k", &mut config.rrf_k),
        ("ranker.rerank_weight", &mut config.rerank_weight),
        ("ranker.min_relevance", &mut config.min_relevance),
        ("ranker.relevance_share", &mut config.relevance_share),
        ("ranker.max_overlap", &mut config.max_overlap),
    ];
    for (key, field) in numbers {
        if let Some(value) = layers.number(key)? {
            *field = value;
        }
    }
    if let Some(value) = layers.unsigned("ranker.deadline_ms")? {
        config.deadline_ms = value;
    }
    config.history = match layers.text("ranker.history")?.as_deref() {
        None | Some("off") => HistoryMode::Off,
        Some("attach") => HistoryMode::Attach,
        Some(other) => return Err(layers.wrong("ranker.history", "\"off\" or \"attach\"", other)),
    };
    Ok(config)
}

/// Returns the built-in value of a key.
pub(crate) fn default_of(name: &str, project: &Project) -> toml::Value {
    let (files, index, ranker) = (FilesConfig::default(), IndexOptions::default(), RankerConfig::default());
    match name {
        "id" => project.id.as_str().into(),
        "audiences" | "sources" => toml::Value::Array(Vec::new()),
        "files.max_bytes" => count(files.max_file_bytes),
        "files.follow_links" => files.follow_links.into(),
        "files.control_plane" => files.control_plane.into(),
        "index.location" => "project".into(),
        "index.strategy" => Strategy::default().to_string().into(),
        "index.impact" => index.impact.into(),
        "index.fts5" => index.fts5.into(),
        "index.tantivy" => index.tantivy.into(),
        "index.cache_bytes" => count(index.cache_bytes.unwrap_or_default()),
        "ranker.profile" => match ranker.fusion {
            Fusion::Rrf => "v2".into(),
            Fusion::Weighted => "v3".into(),
        },
        "ranker.dense_share" => number(ranker.fusion_weights.dense),
        "ranker.contextual_dense_share" => number(ranker.fusion_weights.contextual_dense),
        "ranker.foreign_dense" => number(ranker.fusion_weights.foreign_dense),
        "ranker.foreign_lexical" => number(ranker.fusion_weights.foreign_lexical),
        "encoder.model" | "encoder.reranker" => EMBEDDED.into(),
        "encoder.threads" => count(0),
        "ranker.lexical_limit" => count(ranker.lexical_limit),
        "ranker.dense_limit" => count(ranker.dense_limit),
        "ranker.rrf_k" => number(ranker.rrf_k),
        "ranker.impact_weight" => number(ranker.lexical_weights.impact),
        "ranker.fts5_weight" => number(ranker.lexical_weights.fts5),
        "ranker.tantivy_weight" => number(ranker.lexical_weights.tantivy),
        "ranker.phrase_bonus" => number(ranker.phrase_bonus),
        "ranker.fused_keep" => count(ranker.fused_keep),
        "ranker.rerank_depth" => count(ranker.rerank_depth),
        "ranker.rerank_weight" => number(ranker.rerank_weight),
        "ranker.relevance_share" => number(ranker.relevance_share),
        "ranker.min_relevance" => number(ranker.min_relevance),
        "ranker.max_overlap" => number(ranker.max_overlap),
        "ranker.per_resource" => count(ranker.per_resource),
        "ranker.token_budget" => count(ranker.token_budget),
        "ranker.fragment_limit" => count(ranker.fragment_limit),
        "ranker.history" => "off".into(),
        "ranker.deadline_ms" => count(ranker.deadline_ms),
        other => unreachable!("{other} is not in the table of keys"),
    }
}

fn count(value: impl TryInto<i64>) -> toml::Value {
    toml::Value::Integer(value.try_into().unwrap_or(i64::MAX))
}

/// Returns the number with the digits that a person would write, not those of its binary form.
fn number(value: f32) -> toml::Value {
    toml::Value::Float(value.to_string().parse().unwrap_or_else(|_| f64::from(value)))
}

#[cfg(test)]
mod tests;
