//! Cuts a Markdown text into units and prints where each lies.

use casebook_chunker::Chunker;
use casebook_corpus::{Resource, SourceDecl};

#[expect(clippy::print_stdout, reason = "an example shows its result")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text =
        "---\ndescription: How the index is rebuilt.\n---\n# Rebuild\n\nQueries see the old head until it moves.\n";
    let resource = Resource::from_markdown("notes/rebuild.md", text, &SourceDecl::default())?;

    let chunker = Chunker::default();
    println!("cut by {}", chunker.revision());
    for unit in chunker.chunk(&resource) {
        println!(
            "{} ({}, lines {}-{}, {} tokens): {}",
            unit.unit_key,
            unit.kind.as_str(),
            unit.locator.first_line,
            unit.locator.last_line,
            unit.token_count,
            unit.text.lines().next().unwrap_or_default(),
        );
    }
    Ok(())
}
