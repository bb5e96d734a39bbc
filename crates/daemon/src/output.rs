//! Standard output. A closed pipe (`| head`) ends a command quietly: who writes more learns that nobody reads it.

use std::io::{ErrorKind, Write};

use serde::Serialize;

use crate::failure::Failure;

/// Whether someone took what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// It was written.
    Done,
    /// The reader is gone.
    NobodyReads,
}

/// Writes text and a line end.
pub(crate) fn line(text: impl AsRef<str>) -> Result<(), Failure> {
    deliver(text).map(drop)
}

/// Writes text and a line end, and tells whether someone took it.
pub(crate) fn deliver(text: impl AsRef<str>) -> Result<Delivery, Failure> {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{}", text.as_ref()).and_then(|()| out.flush()) {
        Ok(()) => Ok(Delivery::Done),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Delivery::NobodyReads),
        Err(error) => Err(Failure::internal(
            "output_failed",
            "cannot write to standard output",
            &error,
        )),
    }
}

/// Writes a document as indented JSON.
pub(crate) fn json(document: &impl Serialize) -> Result<(), Failure> {
    line(to_json(document, true)?)
}

/// Returns a document as JSON.
pub(crate) fn to_json(document: &impl Serialize, indented: bool) -> Result<String, Failure> {
    let text = if indented {
        serde_json::to_string_pretty(document)
    } else {
        serde_json::to_string(document)
    };
    text.map_err(|error| Failure::internal("output_failed", "cannot write JSON", &error))
}

/// Tells a person something beside the output.
pub(crate) fn note(text: impl AsRef<str>) {
    // Nobody listens: nothing to do about it.
    let _ = writeln!(std::io::stderr(), "{}", text.as_ref());
}
