//! The YAML block at the start of a Markdown file.
//!
//! It is cut here, at byte 0, and not by a Markdown parser: parsers take a `---` block in the middle of a text for
//! metadata too. Whatever cannot be understood is an error and not an empty block, because it may say who must not see
//! the file.

mod yaml;

use crate::{Fidelity, Layer, ResourceId, Scope, Timestamp};

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

/// What a front matter says; `None` or empty where it says nothing.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct FrontMatter {
    pub(crate) id: Option<ResourceId>,
    pub(crate) scope: Option<Scope>,
    pub(crate) kind: Option<String>,
    pub(crate) layer: Option<Layer>,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) topics: Vec<String>,
    pub(crate) entities: Vec<String>,
    pub(crate) fidelity: Option<Fidelity>,
    pub(crate) importance: Option<f32>,
    pub(crate) sensitivity: Option<String>,
    pub(crate) audience: Vec<String>,
    pub(crate) sources: Vec<String>,
    pub(crate) supersedes: Vec<ResourceId>,
    pub(crate) retracts: Vec<ResourceId>,
    pub(crate) observed_at: Option<Timestamp>,
    pub(crate) valid_from: Option<Timestamp>,
    pub(crate) valid_to: Option<Timestamp>,
    pub(crate) last_confirmed_at: Option<Timestamp>,
    pub(crate) reviewed_at: Option<Timestamp>,
    pub(crate) expected_resolution_at: Option<Timestamp>,
}

/// Reads the front matter of a text without byte order mark. Returns it with the bytes it takes up, delimiters
/// included: 0 where the text has none.
pub(crate) fn split(text: &str) -> Result<(FrontMatter, usize), FrontMatterError> {
    let Some((block, length)) = cut(text) else {
        return Ok((FrontMatter::default(), 0));
    };
    Ok(match yaml::parse(block)? {
        Some(front_matter) => (front_matter, length),
        None => (FrontMatter::default(), 0),
    })
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
