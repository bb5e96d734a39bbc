//! What every id and every label must be, whoever wrote it.

/// Bytes of an id, a scope, a kind or another label at most.
const MAX_LABEL_BYTES: usize = 512;

/// A text is no id and no label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LabelError {
    /// Nothing but white space.
    #[error("must not be empty")]
    Empty,
    /// Longer than any label.
    #[error("is longer than {MAX_LABEL_BYTES} bytes")]
    TooLong,
    /// A line end, an escape or the like.
    #[error("must not hold control characters")]
    Control,
}

/// Checks an id or a label.
///
/// # Errors
/// It is empty, too long or has control characters.
pub fn check_label(label: &str) -> Result<(), LabelError> {
    match () {
        () if label.trim().is_empty() => Err(LabelError::Empty),
        () if label.len() > MAX_LABEL_BYTES => Err(LabelError::TooLong),
        () if label.chars().any(char::is_control) => Err(LabelError::Control),
        () => Ok(()),
    }
}
