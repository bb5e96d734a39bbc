//! A GGUF file's metadata become the `config.json` and the `tokenizer.json` that every pack has.
//!
//! The one thing a newcomer gets wrong: XLM-RoBERTa in GGUF is called `bert`, and its unused first positions have been cut
//! away. So it is BERT here, too, with a vocabulary of another kind.

use serde_json::{Map, Value, json};

use super::PackError;
use super::gguf::{GgufHeader, GgufValue};
use super::tokenizer_files::{BytePairs, Unigram, WordPieces, byte_pairs, unigram, word_pieces};

/// Types of pieces that text never yields: unknown, control, unused.
const NEVER_TEXT: &[i64] = &[2, 3, 5];
/// The type of pieces that are found whole before anything is cut.
const WHOLE: i64 = 4;

/// What a GGUF file is, in the form of a Hugging Face folder.
pub(crate) struct GgufModel {
    pub(crate) config: Value,
    pub(crate) tokenizer: Value,
    /// As llama.cpp numbers it: 1 mean, 2 first token, 3 last token, 4 a score.
    pub(crate) pooling: Option<u64>,
    /// The name in the file.
    pub(crate) name: Option<String>,
    /// The licence in the file.
    pub(crate) licence: Option<String>,
}

/// Reads a GGUF file's metadata.
pub(crate) fn gguf_model(file: &str, header: &GgufHeader) -> Result<GgufModel, PackError> {
    let meta = Meta { file, header };
    let architecture = meta.text("general.architecture").unwrap_or("not named");
    let config = match architecture {
        "bert" => meta.bert()?,
        "qwen3" => meta.qwen3()?,
        other => {
            return Err(PackError::ArchitectureUnknown {
                found: format!("{other} (in GGUF)"),
            });
        }
    };
    Ok(GgufModel {
        config: Value::Object(config),
        tokenizer: meta.tokenizer()?,
        pooling: meta.unsigned(&format!("{architecture}.pooling_type")),
        name: meta.text("general.name").map(ToOwned::to_owned),
        licence: meta.text("general.license").map(ToOwned::to_owned),
    })
}

struct Meta<'a> {
    file: &'a str,
    header: &'a GgufHeader,
}

impl Meta<'_> {
    fn wrong(&self, key: &str) -> PackError {
        PackError::description(self.file, format!("its {key} is missing or is of no use"))
    }

    fn get(&self, key: &str) -> Option<&GgufValue> {
        self.header.metadata.get(key)
    }

    fn text(&self, key: &str) -> Option<&str> {
        match self.get(key)? {
            GgufValue::Text(text) => Some(text),
            _ => None,
        }
    }

    fn unsigned(&self, key: &str) -> Option<u64> {
        self.get(key)?.unsigned()
    }

    fn needed(&self, key: &str) -> Result<u64, PackError> {
        self.unsigned(key).ok_or_else(|| self.wrong(key))
    }

    fn float(&self, key: &str) -> Result<f64, PackError> {
        match self.get(key) {
            Some(GgufValue::Float(number)) if number.is_finite() => Ok(*number),
            _ => Err(self.wrong(key)),
        }
    }

    fn flag(&self, key: &str) -> Option<bool> {
        match self.get(key)? {
            GgufValue::Bool(yes) => Some(*yes),
            _ => None,
        }
    }

    fn rows(&self, tensor: &str) -> Result<u64, PackError> {
        let rows = self.header.tensor(tensor).and_then(|tensor| tensor.shape.first());
        rows.copied()
            .ok_or_else(|| PackError::weights(self.file, format!("they have no {tensor}")))
    }

    /// What both networks are called alike.
    fn common(&self, name: &str) -> Result<Map<String, Value>, PackError> {
        let mut config = Map::new();
        for (key, from) in [
            ("hidden_size", "embedding_length"),
            ("intermediate_size", "feed_forward_length"),
            ("max_position_embeddings", "context_length"),
            ("num_attention_heads", "attention.head_count"),
            ("num_hidden_layers", "block_count"),
        ] {
            config.insert(key.to_owned(), self.needed(&format!("{name}.{from}"))?.into());
        }
        config.insert("model_type".to_owned(), name.into());
        config.insert("vocab_size".to_owned(), self.rows("token_embd.weight")?.into());
        Ok(config)
    }

    fn bert(&self) -> Result<Map<String, Value>, PackError> {
        let mut config = self.common("bert")?;
        let positions = self.rows("position_embd.weight")?;
        let ranks = self.unsigned("bert.pooling_type") == Some(4);
        let class = if ranks {
            "BertForSequenceClassification"
        } else {
            "BertModel"
        };
        let more = json!({
            "architectures": [class],
            "hidden_act": "gelu",
            "layer_norm_eps": self.float("bert.attention.layer_norm_epsilon")?,
            "max_position_embeddings": positions,
            "pad_token_id": self.unsigned("tokenizer.ggml.padding_token_id").unwrap_or(0),
            "position_embedding_type": "absolute",
            "type_vocab_size": self.rows("token_types.weight").unwrap_or(0),
        });
        config.extend(more.as_object().cloned().unwrap_or_default());
        if ranks {
            config.insert("id2label".to_owned(), json!({ "0": "LABEL_0" }));
        }
        Ok(config)
    }

    fn qwen3(&self) -> Result<Map<String, Value>, PackError> {
        let mut config = self.common("qwen3")?;
        let more = json!({
            "architectures": ["Qwen3ForCausalLM"],
            "attention_bias": false,
            "head_dim": self.needed("qwen3.attention.key_length")?,
            "hidden_act": "silu",
            "num_key_value_heads": self.needed("qwen3.attention.head_count_kv")?,
            "rms_norm_eps": self.float("qwen3.attention.layer_norm_rms_epsilon")?,
            "rope_scaling": null,
            "rope_theta": self.float("qwen3.rope.freq_base")?,
            "tie_word_embeddings": self.header.tensor("output.weight").is_none(),
        });
        config.extend(more.as_object().cloned().unwrap_or_default());
        Ok(config)
    }

    fn id(&self, key: &str) -> Option<u32> {
        let id = self.unsigned(&format!("tokenizer.ggml.{key}_token_id"))?;
        u32::try_from(id).ok()
    }

    fn tokenizer(&self) -> Result<Value, PackError> {
        let Some(GgufValue::Texts(pieces)) = self.get("tokenizer.ggml.tokens") else {
            return Err(self.wrong("tokenizer.ggml.tokens"));
        };
        let kinds = match self.get("tokenizer.ggml.token_type") {
            Some(GgufValue::Ints(kinds)) if kinds.len() == pieces.len() => kinds.clone(),
            None => vec![1; pieces.len()],
            _ => return Err(self.wrong("tokenizer.ggml.token_type")),
        };
        let of_kind = |wanted: &dyn Fn(i64) -> bool| -> Vec<u32> {
            let ids = (0_u32..).zip(&kinds).filter(|(_, kind)| wanted(**kind));
            ids.map(|(id, _)| id).collect()
        };
        let specials = of_kind(&|kind| NEVER_TEXT.contains(&kind));
        match self.text("tokenizer.ggml.model") {
            Some("t5") => self.unigram(pieces, specials),
            Some("bert") => self.word_pieces(pieces, &kinds, specials),
            Some("gpt2") => self.byte_pairs(pieces, of_kind(&|kind| NEVER_TEXT.contains(&kind) || kind == WHOLE)),
            other => Err(PackError::unsupported(format!(
                "its vocabulary is {}; t5 (Unigram), bert (WordPiece) and gpt2 (byte pairs) can be read",
                other.unwrap_or("not named")
            ))),
        }
    }

    fn unigram(&self, pieces: &[String], specials: Vec<u32>) -> Result<Value, PackError> {
        let scores = match self.get("tokenizer.ggml.scores") {
            Some(GgufValue::Floats(scores)) if scores.len() == pieces.len() => scores,
            _ => return Err(self.wrong("tokenizer.ggml.scores")),
        };
        let charsmap = match self.get("tokenizer.ggml.precompiled_charsmap") {
            Some(GgufValue::Bytes(map)) => Some(map.clone()),
            None => None,
            _ => return Err(self.wrong("tokenizer.ggml.precompiled_charsmap")),
        };
        let bos = self.id("bos").or_else(|| self.id("cls"));
        let eos = self.id("eos").or_else(|| self.id("seperator"));
        Ok(unigram(&Unigram {
            pieces: pieces.iter().cloned().zip(scores.iter().copied()).collect(),
            unknown: self
                .id("unknown")
                .ok_or_else(|| self.wrong("tokenizer.ggml.unknown_token_id"))?,
            specials,
            before: bos.filter(|_| self.flag("tokenizer.ggml.add_bos_token") != Some(false)),
            after: eos.filter(|_| self.flag("tokenizer.ggml.add_eos_token") != Some(false)),
            charsmap,
            byte_fallback: false,
        }))
    }

    /// llama.cpp writes the pieces of BERT with U+2581 before a word and nothing within one; this is turned back.
    fn word_pieces(&self, pieces: &[String], kinds: &[i64], specials: Vec<u32>) -> Result<Value, PackError> {
        let turned = pieces
            .iter()
            .zip(kinds)
            .map(|(piece, kind)| match piece.strip_prefix('\u{2581}') {
                Some(word) => word.to_owned(),
                None if *kind != 1 || (piece.starts_with('[') && piece.ends_with(']')) => piece.clone(),
                None => format!("##{piece}"),
            });
        let turned: Vec<_> = turned.collect();
        let lower = !turned
            .iter()
            .any(|piece| piece.chars().any(|c| c.is_ascii_uppercase()) && !piece.starts_with('['));
        Ok(word_pieces(&WordPieces {
            pieces: turned,
            specials,
            unknown: self
                .id("unknown")
                .ok_or_else(|| self.wrong("tokenizer.ggml.unknown_token_id"))?,
            before: self.id("cls").or_else(|| self.id("bos")),
            after: self.id("seperator").or_else(|| self.id("eos")),
            lower,
        }))
    }

    fn byte_pairs(&self, pieces: &[String], specials: Vec<u32>) -> Result<Value, PackError> {
        match self.text("tokenizer.ggml.pre") {
            Some("qwen2") => {}
            other => {
                return Err(PackError::unsupported(format!(
                    "its text is cut as {} does; qwen2 can be read",
                    other.unwrap_or("nobody says who")
                )));
            }
        }
        let Some(GgufValue::Texts(merges)) = self.get("tokenizer.ggml.merges") else {
            return Err(self.wrong("tokenizer.ggml.merges"));
        };
        let adds_end = self.flag("tokenizer.ggml.add_eos_token") == Some(true);
        Ok(byte_pairs(&BytePairs {
            pieces: pieces.to_vec(),
            specials,
            merges: merges.clone(),
            after: self.id("eos").filter(|_| adds_end),
        }))
    }
}
