//! The weights again, with fewer rows of the word table.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::packs::files::{self, Meter};
use crate::packs::gguf::{GgufHeader, GgufValue, NewTensor, write_header};
use crate::packs::safetensors::safetensors_header;
use crate::packs::staging::{GGUF, SAFETENSORS};
use crate::packs::tensors::TensorEntry;
use crate::packs::{ImportStage, OnProgress, PackError};

/// What a word table may be called.
const TABLES: &[&str] = &[
    "embeddings.word_embeddings.weight",
    "embed_tokens.weight",
    "token_embd.weight",
];

/// Writes the staged weights anew with these rows of the word table, in this order.
pub(super) fn keep_rows(stage: &Path, kept: &[u64], on_progress: OnProgress<'_>) -> Result<(), PackError> {
    let is_gguf = stage.join(GGUF).exists();
    let name = if is_gguf { GGUF } else { SAFETENSORS };
    let (path, old) = (stage.join(name), stage.join("weights.part"));
    std::fs::rename(&path, &old).map_err(PackError::writing(&old))?;
    let broken = |why: String| PackError::weights(name, why);
    let mut from = File::open(&old).map_err(PackError::reading(&old))?;
    let total = from.metadata().map_err(PackError::reading(&old))?.len();
    let (tensors, metadata) = if is_gguf {
        let header = GgufHeader::read(BufReader::new(&from), total).map_err(broken)?;
        // The vocabulary in the metadata is the old one; ours is in tokenizer.json.
        let plain = |(key, value): &(String, GgufValue)| {
            let scalar = matches!(
                value,
                GgufValue::Int(_) | GgufValue::Float(_) | GgufValue::Bool(_) | GgufValue::Text(_)
            );
            scalar && !key.starts_with("tokenizer.") && key != "general.alignment"
        };
        (header.tensors, header.metadata.into_iter().filter(plain).collect())
    } else {
        let tensors = safetensors_header(BufReader::new(&from), total).map_err(broken)?;
        (tensors, Vec::new())
    };
    let table = |tensor: &TensorEntry| TABLES.iter().any(|table| tensor.name.ends_with(table));
    let plans = tensors.iter().map(|tensor| plan(tensor, table(tensor).then_some(kept)));
    let plans = plans.collect::<Result<Vec<_>, _>>().map_err(broken)?;
    let new: Vec<_> = plans.iter().map(|plan| plan.tensor.clone()).collect();
    let mut out = BufWriter::new(files::create(&path)?);
    let alignment = if is_gguf {
        write_header(&mut out, &metadata, &new)
    } else {
        write_safetensors_header(&mut out, &new).map(|()| 1)
    };
    let alignment = alignment.map_err(PackError::writing(&path))?;
    let bytes = new.iter().map(|tensor| tensor.bytes).sum();
    let mut meter = Meter::new(ImportStage::Converting, bytes, on_progress);
    for plan in &plans {
        for (start, bytes) in &plan.runs {
            from.seek(SeekFrom::Start(*start)).map_err(PackError::reading(&old))?;
            let mut run = (&mut from).take(*bytes);
            files::copy(&mut run, PackError::reading(&old), &mut out, &path, &mut meter)?;
        }
        let padding = plan.tensor.bytes.next_multiple_of(alignment) - plan.tensor.bytes;
        out.write_all(&vec![0; padding as usize])
            .map_err(PackError::writing(&path))?;
    }
    let file = out
        .into_inner()
        .map_err(|error| PackError::writing(&path)(error.into_error()))?;
    file.sync_all().map_err(PackError::writing(&path))?;
    std::fs::remove_file(&old).map_err(PackError::writing(&old))
}

/// A new tensor, and the runs of bytes in the old file that it is made of.
struct Plan {
    tensor: NewTensor,
    runs: Vec<(u64, u64)>,
}

fn plan(tensor: &TensorEntry, kept: Option<&[u64]>) -> Result<Plan, String> {
    let mut new = NewTensor {
        name: tensor.name.clone(),
        kind: tensor.kind.clone(),
        shape: tensor.shape.clone(),
        bytes: tensor.bytes,
    };
    let Some(kept) = kept else {
        return Ok(Plan {
            tensor: new,
            runs: vec![(tensor.start, tensor.bytes)],
        });
    };
    let rows = tensor.shape.first().copied().unwrap_or(0);
    if rows == 0 || kept.last().is_some_and(|last| *last >= rows) {
        return Err(format!("{} has only {rows} rows", tensor.name));
    }
    let row = tensor.bytes / rows;
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for id in kept {
        let start = tensor.start + id * row;
        match runs.last_mut() {
            Some((from, bytes)) if *from + *bytes == start => *bytes += row,
            _ => runs.push((start, row)),
        }
    }
    new.shape[0] = kept.len() as u64;
    new.bytes = kept.len() as u64 * row;
    Ok(Plan { tensor: new, runs })
}

fn write_safetensors_header(out: &mut dyn Write, tensors: &[NewTensor]) -> std::io::Result<()> {
    let mut header = Map::new();
    let mut at = 0;
    for tensor in tensors {
        let value = json!({
            "dtype": tensor.kind.to_string(), "shape": tensor.shape, "data_offsets": [at, at + tensor.bytes]
        });
        header.insert(tensor.name.clone(), value);
        at += tensor.bytes;
    }
    let mut text = Value::Object(header).to_string().into_bytes();
    text.resize(text.len().next_multiple_of(8), b' ');
    out.write_all(&(text.len() as u64).to_le_bytes())?;
    out.write_all(&text)
}
