//! Standard output. A closed pipe (`| head`) ends a command quietly.

use std::io::{ErrorKind, Write};

use serde::Serialize;

use crate::failure::Failure;

/// Writes text and a line end.
pub(crate) fn line(text: impl AsRef<str>) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{}", text.as_ref()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::internal(
            "output_failed",
            "cannot write to standard output",
            &error,
        )),
        _ => Ok(()),
    }
}

/// Writes a document as indented JSON.
pub(crate) fn json(document: &impl Serialize) -> Result<(), Failure> {
    line(to_json(document, true)?)
}

/// Writes a document as one line of JSON.
pub(crate) fn json_line(document: &impl Serialize) -> Result<(), Failure> {
    line(to_json(document, false)?)
}

fn to_json(document: &impl Serialize, indented: bool) -> Result<String, Failure> {
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
