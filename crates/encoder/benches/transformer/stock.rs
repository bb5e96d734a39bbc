//! BERT from candle's tensor operations, one after another as candle-transformers' `BertModel` runs them: three separate
//! projections, a fresh tensor for each result. (That crate itself takes minutes to compile, too long for a benchmark.)

use std::collections::HashMap;
use std::path::Path;

use candle_core::{D, DType, Device, Error, Result, Tensor};
use tokenizers::Tokenizer;

pub(crate) struct StockBert {
    tensors: HashMap<String, Tensor>,
    tokenizer: Tokenizer,
    layers: usize,
    heads: usize,
    epsilon: f64,
}

impl StockBert {
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let config = std::fs::read(folder.join("config.json"))?;
        let config: serde_json::Value = serde_json::from_slice(&config).map_err(Error::wrap)?;
        let number = |key: &str| config[key].as_u64().unwrap_or_default() as usize;
        let tensors = candle_core::safetensors::load(folder.join("model.safetensors"), &Device::Cpu)?;
        let tensors = tensors.into_iter().map(|(name, tensor)| {
            let name = name.strip_prefix("bert.").unwrap_or(&name).to_owned();
            Ok((name, tensor.to_dtype(DType::F32)?))
        });
        let mut tokenizer = Tokenizer::from_file(folder.join("tokenizer.json")).map_err(Error::msg)?;
        tokenizer.with_truncation(None).map_err(Error::msg)?;
        tokenizer.with_padding(None);
        Ok(Self {
            tensors: tensors.collect::<Result<_>>()?,
            tokenizer,
            layers: number("num_hidden_layers"),
            heads: number("num_attention_heads"),
            epsilon: config["layer_norm_eps"].as_f64().unwrap_or(1e-12),
        })
    }

    fn tensor(&self, name: &str) -> Result<&Tensor> {
        self.tensors
            .get(name)
            .ok_or_else(|| Error::msg(format!("no tensor {name}")))
    }

    fn linear(&self, name: &str, rows: &Tensor) -> Result<Tensor> {
        let weight = self.tensor(&format!("{name}.weight"))?;
        rows.matmul(&weight.t()?)?
            .broadcast_add(self.tensor(&format!("{name}.bias"))?)
    }

    fn norm(&self, name: &str, rows: &Tensor) -> Result<Tensor> {
        let rows = rows.broadcast_sub(&rows.mean_keepdim(D::Minus1)?)?;
        let variance = rows.sqr()?.mean_keepdim(D::Minus1)?;
        let rows = rows.broadcast_div(&(variance + self.epsilon)?.sqrt()?)?;
        let rows = rows.broadcast_mul(self.tensor(&format!("{name}.weight"))?)?;
        rows.broadcast_add(self.tensor(&format!("{name}.bias"))?)
    }

    fn softmax(scores: &Tensor) -> Result<Tensor> {
        let powers = scores.broadcast_sub(&scores.max_keepdim(D::Minus1)?)?.exp()?;
        powers.broadcast_div(&powers.sum_keepdim(D::Minus1)?)
    }

    /// Returns a text's mean vector of norm 1.
    pub(crate) fn vector(&self, text: &str) -> Result<Vec<f32>> {
        let encoding = self.tokenizer.encode_fast(text, true).map_err(Error::msg)?;
        let count = encoding.len();
        let tokens = Tensor::new(encoding.get_ids(), &Device::Cpu)?;
        let words = self
            .tensor("embeddings.word_embeddings.weight")?
            .index_select(&tokens, 0)?;
        let positions = self
            .tensor("embeddings.position_embeddings.weight")?
            .narrow(0, 0, count)?;
        let types = self
            .tensor("embeddings.token_type_embeddings.weight")?
            .narrow(0, 0, 1)?;
        let rows = words.add(&positions)?.broadcast_add(&types)?;
        let mut rows = self.norm("embeddings.LayerNorm", &rows)?;
        let hidden = rows.dim(1)?;
        for layer in 0..self.layers {
            let name = |part: &str| format!("encoder.layer.{layer}.{part}");
            let part = |part: &str| -> Result<Tensor> {
                let rows = self.linear(&name(&format!("attention.self.{part}")), &rows)?;
                rows.reshape((count, self.heads, hidden / self.heads))?
                    .transpose(0, 1)?
                    .contiguous()
            };
            let (queries, keys, values) = (part("query")?, part("key")?, part("value")?);
            let scale = ((hidden / self.heads) as f64).sqrt();
            let scores = (queries.matmul(&keys.transpose(1, 2)?.contiguous()?)? / scale)?;
            let seen = Self::softmax(&scores)?.matmul(&values)?;
            let seen = seen.transpose(0, 1)?.contiguous()?.reshape((count, hidden))?;
            let seen = self.linear(&name("attention.output.dense"), &seen)?;
            rows = self.norm(&name("attention.output.LayerNorm"), &rows.add(&seen)?)?;
            let inner = self.linear(&name("intermediate.dense"), &rows)?.gelu_erf()?;
            let inner = self.linear(&name("output.dense"), &inner)?;
            rows = self.norm(&name("output.LayerNorm"), &rows.add(&inner)?)?;
        }
        let mean = rows.mean(0)?;
        let norm = mean.sqr()?.sum_all()?.sqrt()?;
        mean.broadcast_div(&norm)?.to_vec1()
    }
}
