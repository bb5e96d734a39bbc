//! How a model is used, from the files that sentence-transformers writes beside it, and from what is known of families.

use serde_json::Value;

use super::bundle::Bundle;
use super::{Architecture, ImportLimits, PackError, PackTask, Pooling};

/// What the files beside a model say; `None` where they do not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sentence {
    pub(crate) pooling: Option<Pooling>,
    pub(crate) normalise: Option<bool>,
    pub(crate) tokens: Option<u64>,
    pub(crate) query_prefix: Option<String>,
    pub(crate) passage_prefix: Option<String>,
    /// A part that cannot be run, and a pooling that cannot; of no meaning for a reranker, which uses none of this.
    pub(crate) part_problem: Option<String>,
    pub(crate) pooling_problem: Option<String>,
}

impl Sentence {
    /// Reads `modules.json`, the pooling's `config.json`, `sentence_bert_config.json`, `config_sentence_transformers.json` and
    /// `tokenizer_config.json` of a folder (empty, or with a slash at its end).
    pub(crate) fn read(bundle: &mut Bundle, folder: &str, limits: &ImportLimits) -> Result<Self, PackError> {
        let mut json = |name: &str| -> Result<Option<Value>, PackError> {
            let path = format!("{folder}{name}");
            let Some(bytes) = bundle.read(&path, limits)? else {
                return Ok(None);
            };
            let value = serde_json::from_slice(&bytes).map_err(|error| PackError::description(&path, error))?;
            Ok(Some(value))
        };
        let mut found = Self::default();
        let mut pooling_folder = "1_Pooling".to_owned();
        if let Some(modules) = json("modules.json")? {
            match modules_of(&modules) {
                Ok(parts) => {
                    found.normalise = Some(parts.normalise);
                    pooling_folder = parts.pooling.unwrap_or(pooling_folder);
                }
                Err(problem) => found.part_problem = Some(problem),
            }
        }
        if let Some(config) = json(&format!("{pooling_folder}/config.json"))? {
            match pooling_of(&config) {
                Ok(pooling) => found.pooling = Some(pooling),
                Err(problem) => found.pooling_problem = Some(problem),
            }
        }
        let lengths = [
            ("sentence_bert_config.json", "max_seq_length"),
            ("tokenizer_config.json", "model_max_length"),
        ];
        for (file, key) in lengths {
            let length = json(file)?.and_then(|config| config.get(key)?.as_u64());
            found.tokens = found.tokens.or(length.filter(|length| *length > 0));
        }
        if let Some(config) = json("config_sentence_transformers.json")? {
            let prompt = |names: &[&str]| {
                let prompts = config.get("prompts")?;
                let named = names.iter().find_map(|name| prompts.get(name));
                let default = || prompts.get(config.get("default_prompt_name")?.as_str()?);
                named.or_else(default)?.as_str().map(ToOwned::to_owned)
            };
            found.query_prefix = prompt(&["query"]);
            found.passage_prefix = prompt(&["passage", "document"]);
        }
        Ok(found)
    }
}

struct Modules {
    normalise: bool,
    pooling: Option<String>,
}

fn modules_of(modules: &Value) -> Result<Modules, String> {
    let mut found = Modules {
        normalise: false,
        pooling: None,
    };
    for module in modules.as_array().into_iter().flatten() {
        let text = |key: &str| module.get(key).and_then(Value::as_str).unwrap_or_default();
        match text("type").rsplit('.').next().unwrap_or_default() {
            "Transformer" => {}
            "Pooling" => found.pooling = Some(text("path").to_owned()),
            "Normalize" => found.normalise = true,
            other => {
                return Err(format!(
                    "modules.json has a part {other:?}; Transformer, Pooling and Normalize can be run"
                ));
            }
        }
    }
    Ok(found)
}

fn pooling_of(config: &Value) -> Result<Pooling, String> {
    let set = |key: &str| config.get(key) == Some(&Value::Bool(true));
    // Newer files name the mode; older ones have a switch for each.
    let named = config.get("pooling_mode").and_then(Value::as_str).into_iter();
    let switches = [
        ("pooling_mode_mean_tokens", "mean"),
        ("pooling_mode_cls_token", "cls"),
        ("pooling_mode_lasttoken", "lasttoken"),
        ("pooling_mode_max_tokens", "max"),
        ("pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len"),
        ("pooling_mode_weightedmean_tokens", "weightedmean"),
    ];
    let modes: Vec<_> = named
        .chain(switches.iter().filter(|(key, _)| set(key)).map(|(_, mode)| *mode))
        .collect();
    let mut different = modes.clone();
    different.sort_unstable();
    different.dedup();
    let pooling = match different[..] {
        ["mean"] => Pooling::Mean,
        ["cls"] => Pooling::Cls,
        ["lasttoken"] => Pooling::Last,
        _ => {
            return Err(format!(
                "the pooling is {:?}; one of mean, cls and lasttoken can be run",
                modes.join("+")
            ));
        }
    };
    if config.get("include_prompt") == Some(&Value::Bool(false)) {
        return Err("the pooling leaves the prefix out (include_prompt); that cannot be run".to_owned());
    }
    Ok(pooling)
}

/// What is known of a family of models and is not in its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Family {
    pub(crate) task: PackTask,
    pub(crate) pooling: Pooling,
    pub(crate) query_prefix: &'static str,
    pub(crate) passage_prefix: &'static str,
}

/// Finds the family by the names that a model goes under.
pub(crate) fn family(names: &[&str], architecture: Architecture) -> Option<Family> {
    let names: Vec<_> = names.iter().map(|name| name.to_lowercase().replace('_', "-")).collect();
    let has = |part: &str| names.iter().any(|name| name.contains(part));
    let embed = |pooling, query_prefix, passage_prefix| {
        Some(Family {
            task: PackTask::Embed,
            pooling,
            query_prefix,
            passage_prefix,
        })
    };
    let encoder = architecture != Architecture::Qwen3;
    if has("qwen3-reranker") {
        return Some(Family {
            task: PackTask::Rerank,
            pooling: Pooling::Last,
            query_prefix: "",
            passage_prefix: "",
        });
    }
    if has("qwen3-embedding") {
        let query = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:";
        return embed(Pooling::Last, query, "");
    }
    if has("reranker") || has("cross-encoder") {
        return None;
    }
    if encoder && has("e5-") && has("instruct") {
        let query = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: ";
        return embed(Pooling::Mean, query, "");
    }
    if encoder && ["e5-small", "e5-base", "e5-large"].iter().any(|part| has(part)) {
        return embed(Pooling::Mean, "query: ", "passage: ");
    }
    if encoder && has("bge-m3") {
        return embed(Pooling::Cls, "", "");
    }
    if encoder && has("bge-") && has("-zh") {
        return embed(Pooling::Cls, "为这个句子生成表示以用于检索相关文章：", "");
    }
    if encoder && has("bge-") && has("-en") {
        return embed(
            Pooling::Cls,
            "Represent this sentence for searching relevant passages: ",
            "",
        );
    }
    if encoder && has("minilm-l") {
        return embed(Pooling::Mean, "", "");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_known_by_any_of_their_names() {
        let prefixes = |names: &[&str]| family(names, Architecture::Bert).map(|family| family.query_prefix);
        assert_eq!(prefixes(&["x", "intfloat/multilingual-e5-small"]), Some("query: "));
        assert_eq!(
            prefixes(&["BAAI/bge-small-zh-v1.5"]),
            Some("为这个句子生成表示以用于检索相关文章：")
        );
        let english = Some("Represent this sentence for searching relevant passages: ");
        assert_eq!(prefixes(&["bge_small-en"]), english);
        assert_eq!(prefixes(&["BAAI/bge-m3"]), Some(""));
        assert_eq!(
            prefixes(&["multilingual-e5-large-instruct"]).map(|text| &text[..9]),
            Some("Instruct:")
        );
        assert_eq!(prefixes(&["BAAI/bge-reranker-v2-m3"]), None);
        assert_eq!(prefixes(&["something"]), None);
        let qwen = |name: &str| family(&[name], Architecture::Qwen3).map(|family| family.task);
        assert_eq!(qwen("Qwen/Qwen3-Embedding-0.6B"), Some(PackTask::Embed));
        assert_eq!(qwen("Qwen/Qwen3-Reranker-0.6B"), Some(PackTask::Rerank));
        assert_eq!(qwen("Qwen/Qwen3-0.6B"), None);
    }

    #[test]
    fn pooling_is_read_in_both_forms() {
        let pooling = |json: &str| pooling_of(&serde_json::from_str(json).unwrap());
        assert_eq!(
            pooling(r#"{"pooling_mode_mean_tokens":true,"pooling_mode_cls_token":false}"#),
            Ok(Pooling::Mean)
        );
        assert_eq!(
            pooling(r#"{"pooling_mode_lasttoken":true,"include_prompt":true}"#),
            Ok(Pooling::Last)
        );
        assert_eq!(pooling(r#"{"pooling_mode":"cls"}"#), Ok(Pooling::Cls));
        for (json, part) in [
            (r#"{"pooling_mode_max_tokens":true}"#, "max"),
            (
                r#"{"pooling_mode_mean_tokens":true,"pooling_mode_max_tokens":true}"#,
                "mean+max",
            ),
            (r#"{}"#, "\"\""),
            (
                r#"{"pooling_mode_mean_tokens":true,"include_prompt":false}"#,
                "include_prompt",
            ),
        ] {
            assert!(pooling(json).unwrap_err().contains(part), "{json}");
        }
    }

    #[test]
    fn parts_that_cannot_be_run_are_refused() {
        let modules = |parts: &str| modules_of(&serde_json::from_str(parts).unwrap());
        let dense =
            r#"[{"type":"sentence_transformers.models.Transformer","path":""},{"type":"x.Dense","path":"2_Dense"}]"#;
        assert!(modules(dense).is_err_and(|error| error.contains("Dense")));
        let fine = r#"[{"type":"a.Transformer"},{"type":"a.Pooling","path":"1_P"},{"type":"a.Normalize"}]"#;
        let found = modules(fine).unwrap();
        assert!(found.normalise && found.pooling.as_deref() == Some("1_P"));
    }
}
