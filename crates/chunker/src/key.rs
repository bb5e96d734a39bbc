//! The written form of a unit's identity.

use std::fmt::Write as _;

use casebook_corpus::ContentHash;

use crate::UnitKey;

/// Bytes of a key that one heading or the resource id may take.
const PIECE_LIMIT: usize = 192;
/// Hex digits that stand for what was left out of a long piece.
const DIGEST: usize = 32;

/// The part of a resource that a unit belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Description,
    /// A whole short body.
    Root,
    /// Body text under no heading, or the body of a strategy that sees none.
    Body,
    /// Text under a heading.
    Headings {
        /// Heading texts, outermost first, each written by [`heading_piece`], joined by `/`.
        path: String,
        /// 1 for the first section of this path in the resource.
        occurrence: usize,
    },
}

/// Writes the key of the `part`-th unit (from 1) of a place.
///
/// ```text
/// RESOURCE#:description
/// RESOURCE#:root                      a whole short body
/// RESOURCE#:body[:PART]               text before the first heading
/// RESOURCE#HEADING/HEADING[~N][:PART] text under a heading; all headings above it, outermost first
/// ```
///
/// `~N` counts sections with the same headings and is left out for the first; so is `:PART`, so a section that grows
/// from one part to two keeps the key of its first. In a heading, white space is one `+`; `#` `/` `~` `:` `%` `+` and
/// characters without a picture are percent-encoded as UTF-8 (`%2F`), all others stand as they are. In the resource id
/// the same holds, but `/`, `~` and `:` stand too: the first `#` ends it. A heading or id longer than 192 bytes in this
/// form is cut and ends in `%~` and the first 32 hex digits of the SHA-256 of its text, so a key has at most six
/// such headings and a resource id.
///
/// No two units share a key: a heading cannot hold a bare `:`, so none is taken for one of the words above.
pub(crate) fn unit_key(resource: &str, place: &Place, part: usize) -> UnitKey {
    let mut key = format!("{resource}#");
    match place {
        Place::Description => key.push_str(":description"),
        Place::Root => key.push_str(":root"),
        Place::Body => key.push_str(":body"),
        Place::Headings { path, occurrence } => {
            key.push_str(path);
            if *occurrence > 1 {
                key.push('~');
                key.push_str(&occurrence.to_string());
            }
        }
    }
    if part > 1 {
        key.push(':');
        key.push_str(&part.to_string());
    }
    UnitKey::new(key)
}

/// Writes a resource id as it stands in a key.
pub(crate) fn resource_piece(id: &str) -> String {
    bounded(id, escape(id, &['#', '%', '+']))
}

/// Writes a heading's text as it stands in a key.
pub(crate) fn heading_piece(text: &str) -> String {
    bounded(text, escape(text, &['#', '%', '+', '/', '~', ':']))
}

fn escape(text: &str, special: &[char]) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        if char == ' ' {
            escaped.push('+');
        } else if special.contains(&char) || is_unseen(char) {
            for byte in char.encode_utf8(&mut [0; 4]).bytes() {
                // Writing to a string cannot fail.
                let _ = write!(escaped, "%{byte:02X}");
            }
        } else {
            escaped.push(char);
        }
    }
    escaped
}

/// Control characters, white space, and the marks that reorder or join text without showing.
fn is_unseen(char: char) -> bool {
    char.is_control()
        || char.is_whitespace()
        || matches!(char, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

/// Replaces the end of a long piece by a digest of the whole text.
fn bounded(text: &str, mut escaped: String) -> String {
    if escaped.len() <= PIECE_LIMIT {
        return escaped;
    }
    let mut cut = escaped.floor_char_boundary(PIECE_LIMIT - DIGEST - "%~".len());
    // Not within a `%2F`; a character of several may lose some.
    if let Some(percent) = escaped[..cut].rfind('%').filter(|percent| cut - percent < 3) {
        cut = percent;
    }
    escaped.truncate(cut);
    escaped.push_str("%~");
    escaped.push_str(&ContentHash::of(text).to_string()[..DIGEST]);
    escaped
}

#[cfg(test)]
mod tests;
