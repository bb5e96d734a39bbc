//! What the chunker makes.

use std::ops::Range;

use casebook_corpus::{ContentHash, ResourceId, string_id};

string_id! {
    /// Identity of a unit: resource id, heading identity, occurrence among equal headings, part index, in a readable,
    /// escaped form (`docs/formats.md`). It does not depend on row ids, other resources or edits in other sections.
    UnitKey
}

/// What a unit is a part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UnitKind {
    /// The resource's description.
    Description,
    /// A whole short body.
    Root,
    /// Whole blocks of a heading section.
    Section,
    /// A window over a block that was too long.
    Window,
}

impl UnitKind {
    /// Returns the stored text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Description => "description",
            Self::Root => "root",
            Self::Section => "section",
            Self::Window => "window",
        }
    }
}

impl std::str::FromStr for UnitKind {
    type Err = String;

    /// Reads the stored text; gives it back where it is none.
    fn from_str(text: &str) -> Result<Self, String> {
        [Self::Description, Self::Root, Self::Section, Self::Window]
            .into_iter()
            .find(|kind| kind.as_str() == text)
            .ok_or_else(|| text.to_owned())
    }
}

/// Where a unit is in its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locator {
    /// Byte range in the file.
    pub bytes: Range<usize>,
    /// First line, 1-based; 0 for a record that has no file.
    pub first_line: usize,
    /// Last line, 1-based, inclusive.
    pub last_line: usize,
}

/// A retrieval unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Stable identity.
    pub unit_key: UnitKey,
    /// The resource it is a part of.
    pub resource_id: ResourceId,
    /// What it is a part of.
    pub kind: UnitKind,
    /// Texts of the headings above it, outermost first.
    pub heading_path: Vec<String>,
    /// Where it is in the file. For a description: the file's front matter.
    pub locator: Locator,
    /// The text: for all but a description exactly the bytes that the locator names.
    pub text: String,
    /// Length of `text` in tokens of the chunker's counter.
    pub token_count: usize,
    /// SHA-256 of `text`.
    pub content_hash: ContentHash,
}
