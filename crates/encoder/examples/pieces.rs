//! Prints the pieces of the embedded table: `pieces` reads lines of text and prints the row numbers of each as a JSON array.
//! `golden.py --lines` of `tools/distill` prints the same for the reference tokenizer: the outputs are to be equal.

#![expect(clippy::print_stdout, reason = "the row numbers are the output")]

use std::error::Error;
use std::io::Read as _;

use casebook_encoder::embedded_table;

fn main() -> Result<(), Box<dyn Error>> {
    let table = embedded_table();
    let mut text = String::new();
    std::io::stdin().lock().read_to_string(&mut text)?;
    for line in text.split_terminator('\n') {
        let rows: Vec<u32> = table.tokens(line).iter().map(|token| token.row).collect();
        println!("{}", serde_json::to_string(&rows)?);
    }
    Ok(())
}
