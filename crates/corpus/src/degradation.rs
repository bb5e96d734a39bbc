//! What did not work while the call still answered.

use std::borrow::Cow;

/// A named thing that did not work while the call still answered.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Degradation {
    /// Stable code, `snake_case`; the codes of each layer are constants beside the code that raises them.
    pub code: Cow<'static, str>,
    /// What happened, for a person.
    pub detail: String,
    /// The file it is about, relative to the project root, where there is one.
    pub path: Option<String>,
}

impl Degradation {
    /// Makes a degradation that is about no file in particular.
    pub fn new(code: &'static str, detail: impl Into<String>) -> Self {
        Self {
            code: Cow::Borrowed(code),
            detail: detail.into(),
            path: None,
        }
    }

    /// Makes a degradation about one file.
    pub fn at(code: &'static str, detail: impl Into<String>, path: impl Into<String>) -> Self {
        Self {
            path: Some(path.into()),
            ..Self::new(code, detail)
        }
    }
}

impl std::fmt::Display for Degradation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.path {
            Some(path) => write!(f, "{}: {} ({path})", self.code, self.detail),
            None => write!(f, "{}: {}", self.code, self.detail),
        }
    }
}
