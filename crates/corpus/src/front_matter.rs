//! The YAML block at the start of a Markdown file.
//!
//! It is cut here, at byte 0, and not by a Markdown parser: parsers take a `---` block in the middle of a text for
//! metadata too. Whatever cannot be understood is an error and not an empty block, because it may say who must not see
//! the file.

mod near;
mod yaml;

use crate::{ResourceId, StatedMeta};

/// A block that is not closed within this many bytes is no front matter.
const MAX_BYTES: usize = 64 * 1024;

/// The front matter of a file cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("front matter, line {line}{}: {problem}", field.as_ref().map(|field| format!(", {field}")).unwrap_or_default())]
pub struct FrontMatterError {
    /// 1-based line of the file.
    pub line: usize,
    /// The field, where the trouble is with one.
    pub field: Option<String>,
    /// What is wrong.
    pub problem: String,
}

/// What a front matter says.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct FrontMatter {
    pub(crate) id: Option<ResourceId>,
    pub(crate) stated: StatedMeta,
    /// What is wrong with keys that were passed over, in order.
    pub(crate) near_misses: Vec<String>,
}

/// Reads the front matter of a text without byte order mark. Returns it with the bytes it takes up, delimiters
/// included: 0 where the text has none.
pub(crate) fn split(text: &str) -> Result<(FrontMatter, usize), FrontMatterError> {
    if let Some((block, length)) = cut(text)
        && let Some(front_matter) = yaml::parse(block)?
    {
        return Ok((front_matter, length));
    }
    match hidden_restriction(text) {
        None => Ok((FrontMatter::default(), 0)),
        Some(line) => Err(FrontMatterError {
            line,
            field: None,
            problem: "says who may see the file, in a block that is none: it must start at the first byte with a line \
                      `---`, end with one, and hold keys"
                .to_owned(),
        }),
    }
}

/// Returns the line that restricts who may see a text, where it is meant for a front matter that is not one: left open,
/// too long, after a blank line, with lines that end in carriage returns alone, a list. To take it for text would show
/// the file to everyone.
fn hidden_restriction(text: &str) -> Option<usize> {
    let head = text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    if !head.starts_with("---") {
        return None;
    }
    let restricts = |line: &str| {
        let line = line.trim_start_matches([' ', '\t', '-', '"', '\'']).to_lowercase();
        let key = line.split(':').next().filter(|key| key.len() < line.len());
        key.is_some_and(|key| near::restricts(key.trim_end_matches([' ', '\t', '"', '\''])))
    };
    let lines = text.split(['\n', '\r']).scan(0, |bytes, line| {
        *bytes += line.len() + 1;
        (*bytes <= 2 * MAX_BYTES).then_some(line)
    });
    lines
        .enumerate()
        .find(|(_, line)| restricts(line))
        .map(|(line, _)| line + 1)
}

/// Returns the text between the delimiters, and the bytes up to the end of the closing line.
fn cut(text: &str) -> Option<(&str, usize)> {
    let mut lines = text.split_inclusive('\n');
    let start = lines.next().filter(|line| delimits(line, &["---"]))?.len();
    let mut end = start;
    for line in lines {
        let after = end + line.len();
        if after > MAX_BYTES {
            return None;
        }
        if delimits(line, &["---", "..."]) {
            return Some((&text[start..end], after));
        }
        end = after;
    }
    None
}

fn delimits(line: &str, delimiters: &[&str]) -> bool {
    let line = line.strip_suffix('\n').unwrap_or(line);
    delimiters.contains(&line.strip_suffix('\r').unwrap_or(line))
}

#[cfg(test)]
mod tests;
