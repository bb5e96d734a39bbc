//! One memory with its metadata.

use crate::{ContentHash, ResourceId, Scope, Timestamp};

/// A label outside its fixed set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown {field} {found:?}; expected one of {expected}")]
pub struct ParseLabelError {
    field: &'static str,
    found: String,
    expected: &'static str,
}

/// Declares a closed set of labels with its stored text.
macro_rules! labels {
    ($(#[$doc:meta])* $name:ident, $field:literal { $($(#[$vdoc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$vdoc])* #[serde(rename = $text)] $variant,)+
        }

        impl $name {
            /// Returns the stored text.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = ParseLabelError;

            fn from_str(text: &str) -> Result<Self, ParseLabelError> {
                match text {
                    $($text => Ok(Self::$variant),)+
                    _ => Err(ParseLabelError {
                        field: $field,
                        found: text.chars().take(80).collect(),
                        expected: concat!($($text, " ",)+),
                    }),
                }
            }
        }
    };
}

labels! {
    /// Whether a memory may be edited. A correction of an immutable one is a resource of its own.
    Layer, "layer" {
        /// Journals, transcripts: append only.
        Immutable = "immutable",
        /// Notes, profiles: current understanding, edited freely.
        Mutable = "mutable",
    }
}

labels! {
    /// How close to the original words a text is, strongest first.
    Fidelity, "fidelity" {
        /// Direct dialogue as it was seen.
        VisibleTranscript = "visible_transcript",
        /// A kept export of a dialogue.
        TranscriptSnapshot = "transcript_snapshot",
        /// Source and curation mixed.
        HybridRecord = "hybrid_record",
        /// Written to locate and recover; the default for a note.
        StructuredSummary = "structured_summary",
        /// A locator made by a machine, never a source.
        DerivedProjection = "derived_projection",
    }
}

impl Fidelity {
    /// Returns whether the text may be quoted as verbatim.
    pub const fn quotable(self) -> bool {
        matches!(self, Self::VisibleTranscript | Self::TranscriptSnapshot)
    }
}

/// Where a body starts in its file, so that a unit's locator can point into the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct BodySpan {
    /// Bytes of the file before the body (byte order mark and front matter).
    pub byte_offset: usize,
    /// 1-based line of the file on which the body starts; 0 for a record that has no file.
    pub first_line: usize,
}

/// Everything about a memory but its body.
///
/// Times mean what their names say; an unknown end stays `None` and is never guessed.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ResourceMeta {
    /// Stable identity.
    pub id: ResourceId,
    /// Whose memory it is.
    pub scope: Scope,
    /// `note`, `decision`, `state`, `session`, `profile`, `knowledge`, `journal`, or the project's own word.
    pub kind: String,
    /// Whether it may be edited.
    pub layer: Layer,
    /// Path relative to the project root, with `/`, in Unicode NFC.
    pub path: String,
    /// The file's name on disk where that differs from `path` (not in NFC), else `None`.
    pub disk_path: Option<String>,
    /// Front matter title, else the first H1, else the file stem.
    pub title: String,
    /// Front matter description; empty when there is none.
    pub description: String,
    /// Topics it is filed under.
    pub topics: Vec<String>,
    /// Canonical ids of the entities it is about.
    pub entities: Vec<String>,
    /// How close to the original words it is.
    pub fidelity: Fidelity,
    /// 0 (trivial) to 1 (vital); 0.5 where not said.
    pub importance: f32,
    /// Sensitivity label; `None` is visible to everyone who sees the project.
    pub sensitivity: Option<String>,
    /// Audiences that may see it; empty means everyone, unless `sensitivity` is set.
    pub audience: Vec<String>,
    /// Provenance links.
    pub sources: Vec<String>,
    /// Ids of the resources that this one replaces.
    pub supersedes: Vec<ResourceId>,
    /// Ids of the resources that this one declares wrong.
    pub retracts: Vec<ResourceId>,
    /// When the observation was made.
    pub observed_at: Option<Timestamp>,
    /// Start of the interval in which it is known to hold.
    pub valid_from: Option<Timestamp>,
    /// End of that interval, where known.
    pub valid_to: Option<Timestamp>,
    /// Last explicit confirmation of the same state.
    pub last_confirmed_at: Option<Timestamp>,
    /// Last review of the collection; not a confirmation of the fact.
    pub reviewed_at: Option<Timestamp>,
    /// When a result or a re-check was expected.
    pub expected_resolution_at: Option<Timestamp>,
    /// Where the body starts in its file.
    pub body_span: BodySpan,
    /// SHA-256 over the canonical full resource, metadata included; see `docs/formats.md`.
    pub content_hash: ContentHash,
}

/// One memory: a Markdown file or a pushed record.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// Everything but the body.
    pub meta: ResourceMeta,
    /// The text after front matter, byte for byte as stored (line ends kept).
    pub body: String,
}
