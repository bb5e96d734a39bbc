//! Prints the vectors of a pack: `vectors FOLDER` reads lines `{"side": "query" or "passage", "text": "…"}` and prints a JSON
//! array for each. `tools/reference/compare.py` compares them with other implementations.

#![expect(clippy::print_stdout, reason = "the vectors are the output")]

use std::error::Error;
use std::io::BufRead as _;
use std::path::PathBuf;

use casebook_encoder::TransformerEncoder;
use casebook_index::{Passage, TextEncoder as _};

#[derive(serde::Deserialize)]
struct Line {
    side: String,
    text: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args_os().nth(1).ok_or("usage: vectors FOLDER")?);
    let manifest = serde_json::from_slice(&std::fs::read(folder.join("pack.json"))?)?;
    let encoder = TransformerEncoder::open(&folder, &manifest)?;
    for line in std::io::stdin().lock().lines() {
        let line: Line = serde_json::from_str(&line?)?;
        let vector = if line.side == "query" {
            encoder.encode_query(&line.text)?
        } else {
            let passage = Passage {
                path: "",
                heading_path: &[],
                text: &line.text,
            };
            let encoded = encoder.encode_passages(&[passage], &())?;
            encoded.into_iter().next().ok_or("no vector")?.vector
        };
        println!("{}", serde_json::to_string(&vector)?);
    }
    Ok(())
}
