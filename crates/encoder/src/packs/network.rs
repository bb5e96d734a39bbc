//! Which network a `config.json` describes, and whether it can be run.

use serde_json::Value;

use super::tensors::Expected;
use super::{Architecture, PackError, PackTask};

/// Tokens of one input at most where a model would take more: attention costs their square.
const MOST_TOKENS: u64 = 8192;

/// What of a `config.json` an import needs to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Network {
    pub(crate) architecture: Architecture,
    /// What the classes named in `architectures` are for; `None` where they do not say.
    pub(crate) task: Option<PackTask>,
    pub(crate) hidden: u64,
    pub(crate) layers: u64,
    pub(crate) vocabulary: u64,
    /// Tokens that there are positions for, at most [`MOST_TOKENS`].
    pub(crate) tokens: u64,
    /// The name that the model was trained under, where it is told.
    pub(crate) name: Option<String>,
}

impl Network {
    /// Reads a `config.json`.
    pub(crate) fn read(file: &str, text: &[u8]) -> Result<Self, PackError> {
        let config: Value = serde_json::from_slice(text).map_err(|error| PackError::description(file, error))?;
        let config = Config { file, config };
        let architecture = config.architecture()?;
        config.check_parts(architecture)?;
        let positions = config.number("max_position_embeddings")?;
        let positions = match architecture {
            // The first positions of XLM-RoBERTa are those of padding and are never used.
            Architecture::XlmRoberta => {
                let unused = config.config.get("pad_token_id").and_then(Value::as_u64).unwrap_or(1) + 1;
                positions.saturating_sub(unused)
            }
            Architecture::Bert | Architecture::Qwen3 => positions,
        };
        if positions < 8 {
            return Err(PackError::description(file, format!("it has {positions} positions")));
        }
        Ok(Self {
            architecture,
            task: config.task()?,
            hidden: config.number("hidden_size")?,
            layers: config.number("num_hidden_layers")?,
            vocabulary: config.number("vocab_size")?,
            tokens: positions.min(MOST_TOKENS),
            name: config.text("_name_or_path").map(ToOwned::to_owned),
        })
    }

    /// What the tensors must be called in a safetensors file.
    pub(crate) fn expected(&self) -> Expected {
        let (embedding, layer, prefixes): (_, _, &[&str]) = match self.architecture {
            Architecture::Bert | Architecture::XlmRoberta => (
                "embeddings.word_embeddings.weight",
                "encoder.layer.{}.attention.self.query.weight",
                &["bert.", "roberta.", "model."],
            ),
            Architecture::Qwen3 => ("embed_tokens.weight", "layers.{}.self_attn.q_proj.weight", &["model."]),
        };
        Expected {
            vocabulary: self.vocabulary,
            hidden: self.hidden,
            layers: self.layers,
            embedding,
            layer,
            prefixes,
        }
    }

    /// What the tensors must be called in a GGUF file.
    pub(crate) fn expected_in_gguf(&self) -> Expected {
        Expected {
            embedding: "token_embd.weight",
            layer: "blk.{}.attn_q.weight",
            prefixes: &[],
            ..self.expected()
        }
    }
}

struct Config<'a> {
    file: &'a str,
    config: Value,
}

impl Config<'_> {
    fn text(&self, key: &str) -> Option<&str> {
        self.config.get(key).and_then(Value::as_str)
    }

    fn number(&self, key: &str) -> Result<u64, PackError> {
        let found = self.config.get(key).and_then(Value::as_u64);
        found
            .filter(|number| (1..1 << 32).contains(number))
            .ok_or_else(|| PackError::description(self.file, format!("{key} is missing or no number from 1")))
    }

    fn classes(&self) -> impl Iterator<Item = &str> {
        let classes = self.config.get("architectures").and_then(Value::as_array);
        classes.into_iter().flatten().filter_map(Value::as_str)
    }

    fn architecture(&self) -> Result<Architecture, PackError> {
        match self.text("model_type") {
            Some("bert") => Ok(Architecture::Bert),
            Some("xlm-roberta") => Ok(Architecture::XlmRoberta),
            Some("qwen3") => Ok(Architecture::Qwen3),
            found => {
                let classes = self.classes().collect::<Vec<_>>().join(", ");
                let found = found.unwrap_or("not named");
                Err(PackError::ArchitectureUnknown {
                    found: if classes.is_empty() {
                        found.to_owned()
                    } else {
                        format!("{found} ({classes})")
                    },
                })
            }
        }
    }

    /// Refuses variants of a network that would compute something else.
    fn check_parts(&self, architecture: Architecture) -> Result<(), PackError> {
        let activation = match architecture {
            Architecture::Bert | Architecture::XlmRoberta => "gelu",
            Architecture::Qwen3 => "silu",
        };
        let same = |key: &str, wanted: &str| match self.config.get(key) {
            None | Some(Value::Null) => Ok(()),
            Some(value) if value == wanted => Ok(()),
            Some(value) => Err(PackError::unsupported(format!(
                "{key} is {value}; {wanted:?} can be run"
            ))),
        };
        same("hidden_act", activation)?;
        same("position_embedding_type", "absolute")?;
        for key in ["is_decoder", "use_sliding_window", "add_cross_attention"] {
            if self.config.get(key) == Some(&Value::Bool(true)) {
                return Err(PackError::unsupported(format!("{key} is set; that cannot be run")));
            }
        }
        match self.config.get("rope_scaling") {
            None | Some(Value::Null) => Ok(()),
            Some(scaling) => Err(PackError::unsupported(format!(
                "rope_scaling is {scaling}; that cannot be run"
            ))),
        }
    }

    fn task(&self) -> Result<Option<PackTask>, PackError> {
        if !self.classes().any(|class| class.ends_with("ForSequenceClassification")) {
            // A language model may embed, judge or talk: its other files must say.
            let talks = self.classes().any(|class| class.ends_with("ForCausalLM"));
            return Ok((!talks).then_some(PackTask::Embed));
        }
        let count = |key: &str| self.config.get(key).and_then(Value::as_u64);
        let labels = self.config.get("id2label").and_then(Value::as_object);
        let labels = labels
            .map(|labels| labels.len() as u64)
            .or_else(|| count("num_labels"))
            .unwrap_or(2);
        if labels != 1 {
            return Err(PackError::unsupported(format!(
                "the model is a classifier with {labels} labels; a reranker has one"
            )));
        }
        Ok(Some(PackTask::Rerank))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str = r#""hidden_size":8,"num_hidden_layers":2,"vocab_size":30,"max_position_embeddings":514"#;

    fn read(rest: &str) -> Result<Network, PackError> {
        Network::read("config.json", format!("{{{PLAIN},{rest}}}").as_bytes())
    }

    #[test]
    fn networks_and_tasks_are_read() {
        for (rest, architecture, task, tokens) in [
            (
                r#""model_type":"bert","architectures":["BertModel"]"#,
                Architecture::Bert,
                Some(PackTask::Embed),
                514,
            ),
            (
                r#""model_type":"xlm-roberta","pad_token_id":1"#,
                Architecture::XlmRoberta,
                Some(PackTask::Embed),
                512,
            ),
            (
                r#""model_type":"xlm-roberta","architectures":["XLMRobertaForSequenceClassification"],"id2label":{"0":"LABEL_0"}"#,
                Architecture::XlmRoberta,
                Some(PackTask::Rerank),
                512,
            ),
            (
                r#""model_type":"qwen3","architectures":["Qwen3ForCausalLM"],"hidden_act":"silu","rope_scaling":null"#,
                Architecture::Qwen3,
                None,
                514,
            ),
        ] {
            let network = read(rest).unwrap();
            assert_eq!(
                (network.architecture, network.task, network.tokens),
                (architecture, task, tokens),
                "{rest}"
            );
        }
    }

    #[test]
    fn what_cannot_be_run_is_refused_with_what_was_found() {
        let check = |rest: &str, code: &str, text: &str| {
            let error = read(rest).unwrap_err();
            assert!(
                error.code() == code && error.to_string().contains(text),
                "{rest}: {error}"
            );
        };
        check(
            r#""model_type":"t5","architectures":["T5EncoderModel"]"#,
            "pack_architecture_unknown",
            "t5 (T5Enc",
        );
        check(r#""x":1"#, "pack_architecture_unknown", "not named");
        let bert = |rest: &str| format!(r#""model_type":"bert",{rest}"#);
        check(&bert(r#""hidden_act":"relu""#), "pack_unsupported", "relu");
        check(
            &bert(r#""position_embedding_type":"relative_key""#),
            "pack_unsupported",
            "relative_key",
        );
        check(&bert(r#""is_decoder":true"#), "pack_unsupported", "is_decoder");
        let classes = r#""architectures":["BertForSequenceClassification"]"#;
        check(&bert(classes), "pack_unsupported", "2 labels");
        check(
            &bert(&format!(r#"{classes},"id2label":{{"0":"a","1":"b","2":"c"}}"#)),
            "pack_unsupported",
            "3 labels",
        );
        check(
            r#""model_type":"qwen3","rope_scaling":{"type":"yarn"}"#,
            "pack_unsupported",
            "yarn",
        );
        let error = Network::read("config.json", br#"{"model_type":"bert"}"#).unwrap_err();
        assert_eq!(error.code(), "pack_description_invalid");
        assert_eq!(
            Network::read("config.json", b"{").unwrap_err().code(),
            "pack_description_invalid"
        );
    }
}
