//! Front matter of any file.

use casebook_chunker::Chunker;
use casebook_corpus::{Resource, SourceDecl};

/// Reads the bytes as a file: a typed error, or a resource whose body lies where it says and whose units do, too.
pub(crate) fn front_matter(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let read = || Resource::from_markdown("notes/模糊.md", &text, &SourceDecl::default());
    let Ok(resource) = read() else {
        return;
    };
    assert_eq!(
        read().ok().as_ref(),
        Some(&resource),
        "the same bytes give the same resource"
    );
    let span = resource.meta.body_span;
    assert_eq!(
        resource.body,
        text[span.byte_offset..],
        "the body is the end of the file"
    );
    assert!(span.first_line >= 1);
    assert!(resource.meta.importance.is_finite());
    for unit in Chunker::default().chunk(&resource) {
        let named = &text[unit.locator.bytes.clone()];
        assert!(
            unit.text == named || unit.text == resource.meta.description,
            "the locator names the text"
        );
        assert!(unit.locator.first_line <= unit.locator.last_line);
    }
}
