//! How the parts of a passage are looked at: its context shortened from the front, its text sentence by sentence.

use casebook_index::Passage;

/// How much the headings count beside the text.
pub(crate) const HEADING_SHARE: f32 = 0.35;
/// How much the path counts beside the text.
pub(crate) const PATH_SHARE: f32 = 0.2;
/// Bytes of the headings that are looked at, from the end: the innermost say most.
const HEADING_BYTES: usize = 512;
/// Bytes of the path that are looked at, from the end.
const PATH_BYTES: usize = 256;
/// Bytes of path and headings that are looked at together, from the end.
const CONTEXT_BYTES: usize = 768;

/// Returns the innermost headings.
pub(crate) fn headings(passage: &Passage<'_>) -> String {
    tail(&passage.heading_path.join("\n"), HEADING_BYTES).to_owned()
}

/// Returns the end of the path.
pub(crate) fn path<'a>(passage: &Passage<'a>) -> &'a str {
    tail(passage.path, PATH_BYTES)
}

/// Returns the innermost of path and headings, with a line end after it.
pub(crate) fn context(passage: &Passage<'_>) -> String {
    let mut context = passage.path.to_owned();
    for heading in passage.heading_path {
        context.push('\n');
        context.push_str(heading);
    }
    format!("{}\n", tail(&context, CONTEXT_BYTES))
}

/// Cuts a text after each end of a sentence or line.
pub(crate) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut before = ' ';
    text.split_inclusive(move |character: char| {
        let ends = matches!(character, '\n' | '。' | '！' | '？' | '；')
            || (character.is_whitespace() && matches!(before, '.' | '!' | '?' | ';'));
        before = character;
        ends
    })
    .filter(|sentence| !sentence.trim().is_empty())
}

/// Returns at most the last `bytes` bytes, from the start of a character.
fn tail(text: &str, bytes: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(bytes))..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_in_both_languages_and_lose_nothing() {
        let text = "One. Two v1.2 here!  三。四？\n五";
        let found: Vec<&str> = sentences(text).collect();
        assert_eq!(found, ["One. ", "Two v1.2 here! ", " 三。", "四？", "五"].map(|s| s));
    }
}
