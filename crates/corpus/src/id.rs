//! Typed identifiers. All are non-empty strings of the caller's; none is parsed for structure.

/// Declares a string identifier; every layer's ids share its Display, conversions and serde form.
#[macro_export]
macro_rules! string_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash,
            $crate::reexport::serde::Serialize, $crate::reexport::serde::Deserialize,
        )]
        #[serde(transparent, crate = "casebook_corpus::reexport::serde")]
        pub struct $name(std::sync::Arc<str>);

        impl $name {
            /// Wraps the text as it is.
            pub fn new(text: impl Into<std::sync::Arc<str>>) -> Self {
                Self(text.into())
            }

            /// Returns the text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self::new(text)
            }
        }
    };
}

string_id! {
    /// The isolation boundary: a project never sees another project's resources.
    ProjectId
}
string_id! {
    /// One memory: stable across content edits. Front matter `id`, else derived from the relative path.
    ResourceId
}
string_id! {
    /// Whose memory it is: `project`, `user`, `team`, or a name of the project's own.
    Scope
}

impl Scope {
    /// The scope of a resource that names none.
    pub const DEFAULT: &str = "project";
}

impl Default for Scope {
    fn default() -> Self {
        Self::new(Self::DEFAULT)
    }
}
