//! Markdown text becomes a resource.

use unicode_normalization::UnicodeNormalization;

use crate::front_matter::{self, FrontMatterError};
use crate::stated::Named;
use crate::{BodySpan, Resource, ResourceId, SourceDecl};

/// Characters of a title that is taken from a heading: it is a label, and a heading may be a whole page on one line.
const MAX_TITLE_CHARS: usize = 200;

impl Resource {
    /// Reads a Markdown text that lies at `path`, which is relative to the project root and written with `/`.
    ///
    /// What the front matter does not say comes from `defaults`; the id is then the path in Unicode NFC, with its
    /// extension. A byte order mark is no part of the body.
    ///
    /// # Errors
    /// The front matter cannot be understood.
    ///
    /// ```
    /// use casebook_corpus::{Resource, SourceDecl};
    ///
    /// let resource = Resource::from_markdown("notes/部署.md", "# 部署手册\n先备份。\n", &SourceDecl::default())?;
    /// assert_eq!(resource.meta.title, "部署手册");
    /// assert_eq!(resource.meta.id.as_str(), "notes/部署.md");
    /// # Ok::<(), casebook_corpus::FrontMatterError>(())
    /// ```
    pub fn from_markdown(path: &str, text: &str, defaults: &SourceDecl) -> Result<Self, FrontMatterError> {
        Self::read_markdown(path, text, defaults).map(|(resource, _)| resource)
    }

    /// Like [`Self::from_markdown`], and returns what is odd about the front matter beside the resource.
    pub(crate) fn read_markdown(
        path: &str,
        text: &str,
        defaults: &SourceDecl,
    ) -> Result<(Self, Vec<String>), FrontMatterError> {
        let marked = text.strip_prefix('\u{feff}').unwrap_or(text);
        let (front, front_bytes) = front_matter::split(marked)?;
        let byte_offset = text.len() - marked.len() + front_bytes;
        let body = &text[byte_offset..];
        let normal: String = path.nfc().collect();
        let named = Named {
            id: front.id.unwrap_or_else(|| ResourceId::new(normal.as_str())),
            disk_path: (normal != path).then(|| path.to_owned()),
            title: title_of(body, &normal),
            path: normal,
            body_span: BodySpan {
                byte_offset,
                first_line: 1 + text[..byte_offset].matches('\n').count(),
            },
        };
        let resource = front.stated.into_resource(named, body.to_owned(), defaults);
        Ok((resource, front.near_misses))
    }
}

/// Returns the title of a memory that states none: its first heading, else the stem of its path.
pub(crate) fn title_of(body: &str, path: &str) -> String {
    first_heading(body).unwrap_or_else(|| stem(path).to_owned())
}

/// Returns the file name without its extension.
fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => name,
    }
}

/// Returns the text of the first heading of level one outside fenced code.
fn first_heading(body: &str) -> Option<String> {
    let mut fence: Option<&str> = None;
    let mut paragraph: Option<&str> = None;
    for line in body.lines() {
        let inner = line.trim_start_matches(' ');
        let indented = line.len() - inner.len() > 3 || inner.starts_with('\t');
        let marker = if indented { "" } else { fence_marker(inner) };
        if let Some(open) = fence {
            let closes = marker.starts_with(open) && inner[marker.len()..].trim().is_empty();
            fence = if closes { None } else { Some(open) };
            continue;
        }
        let heading = match inner.strip_prefix('#') {
            _ if indented => None,
            Some(title) if title.is_empty() || title.starts_with([' ', '\t']) => Some(without_closing_marks(title)),
            _ if is_underline(inner) => paragraph,
            _ => None,
        };
        if let Some(title) = heading.map(plain).filter(|title| !title.is_empty()) {
            return Some(title);
        }
        fence = Some(marker).filter(|marker| !marker.is_empty());
        let is_text = !inner.trim().is_empty() && !indented && fence.is_none() && !inner.starts_with(['#', '>', '|']);
        paragraph = is_text.then_some(inner);
    }
    None
}

/// Returns the run of three or more backticks or tildes that the line starts with, or nothing.
fn fence_marker(line: &str) -> &str {
    let rest = line.trim_start_matches(|c| line.starts_with(['`', '~']) && line.starts_with(c));
    let marker = &line[..line.len() - rest.len()];
    let inline = marker.starts_with('`') && rest.contains('`');
    if marker.len() < 3 || inline { "" } else { marker }
}

fn is_underline(line: &str) -> bool {
    let line = line.trim_end();
    !line.is_empty() && line.bytes().all(|byte| byte == b'=')
}

/// Takes off the `#`s that may close a heading.
fn without_closing_marks(title: &str) -> &str {
    let title = title.trim();
    let open = title.trim_end_matches('#');
    if open.is_empty() || open.ends_with([' ', '\t']) {
        open
    } else {
        title
    }
}

/// Takes off the marks of code, strong text and links, and the targets of links.
fn plain(title: &str) -> String {
    let mut text = String::with_capacity(title.len());
    let mut rest = title.trim();
    while let Some(at) = rest.find(['`', '*', '[', '!']) {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let link = rest
            .strip_prefix('!')
            .unwrap_or(rest)
            .strip_prefix('[')
            .and_then(|link| {
                let (label, target) = link.split_once("](")?;
                Some((label, target.split_once(')')?.1))
            });
        match link {
            Some((label, after)) if !label.contains('[') => {
                text.push_str(&label.replace(['`', '*'], ""));
                rest = after;
            }
            _ => {
                text.extend(rest.chars().next().filter(|c| !['`', '*'].contains(c)));
                rest = &rest[1..];
            }
        }
    }
    text.push_str(rest);
    text.trim().chars().take(MAX_TITLE_CHARS).collect()
}

#[cfg(test)]
mod tests;
