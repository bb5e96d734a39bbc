//! Keys that are nearly known ones. Other tools have keys of their own, so one is only named where it is likely a slip.

/// Every key with a meaning.
const KNOWN: [&str; 21] = [
    "id",
    "scope",
    "kind",
    "layer",
    "title",
    "description",
    "topics",
    "entities",
    "fidelity",
    "importance",
    "sensitivity",
    "audience",
    "sources",
    "supersedes",
    "retracts",
    "observed_at",
    "valid_from",
    "valid_to",
    "last_confirmed_at",
    "reviewed_at",
    "expected_resolution_at",
];

/// Keys that well-known tools read, however near they come.
const FOREIGN: [&str; 11] = [
    "tags",
    "sidebar_label",
    "keywords",
    "date",
    "author",
    "slug",
    "status",
    "link",
    "file",
    "time",
    "site",
];

/// Characters of the shortest key that can be a slip: short words are near too many others.
const MIN_CHARS: usize = 4;
/// Characters typed wrong, left out, put in or swapped with the next.
const MAX_SLIPS: usize = 2;

/// Returns the known key that an unknown one was likely meant to be.
pub(super) fn meant(key: &str) -> Option<&'static str> {
    let written = key.to_lowercase().replace(['-', ' '], "_");
    let chars = written.chars().count();
    if FOREIGN.contains(&written.as_str()) {
        return None;
    }
    let slips = |known: &str| match () {
        () if written == known || singular(&written) == singular(known) => 0,
        // As far apart as their lengths at least; a key may be as long as the block.
        () if chars < MIN_CHARS || chars.abs_diff(known.len()) > MAX_SLIPS => usize::MAX,
        () => strsim::osa_distance(&written, known),
    };
    let nearest = KNOWN.into_iter().min_by_key(|known| slips(known))?;
    (slips(nearest) <= MAX_SLIPS).then_some(nearest)
}

/// Returns whether a key says who may see the file, or was likely meant to.
pub(super) fn restricts(key: &str) -> bool {
    matches!(key, "audience" | "sensitivity") || matches!(meant(key), Some("audience" | "sensitivity"))
}

fn singular(word: &str) -> String {
    match word.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None => word.strip_suffix('s').unwrap_or(word).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front_matter::split;

    #[test]
    fn slips_are_told_from_other_words() {
        let check = |key: &str, expected: Option<&str>| assert_eq!(meant(key), expected, "{key}");
        for (key, expected) in [
            ("topic", "topics"),
            ("entity", "entities"),
            ("source", "sources"),
            ("audiences", "audience"),
            ("sensitivities", "sensitivity"),
            ("superseeds", "supersedes"),
            ("superseded", "supersedes"),
            ("supercedes", "supersedes"),
            ("retract", "retracts"),
            ("Titel", "title"),
            ("ID", "id"),
            ("ids", "id"),
            ("Valid-From", "valid_from"),
            ("valid_form", "valid_from"),
        ] {
            check(key, Some(expected));
        }
        for key in FOREIGN.into_iter().chain([
            "",
            "x",
            "layout",
            "lang",
            "type",
            "category",
            "aliases",
            "draft",
            "weight",
            "image",
            "version",
            "标题",
            "标题标题",
        ]) {
            check(key, None);
        }
        check(&"supersedes".repeat(1000), None);
    }

    #[test]
    fn every_known_key_is_read_and_no_other() {
        for key in KNOWN {
            // A list in a list is refused wherever a key is looked at.
            assert!(split(&format!("---\n{key}: [[x]]\n---\n")).is_err(), "{key}");
        }
        let (fields, _) = split("---\nsuperseeds: [[x]]\n---\n").unwrap();
        assert_eq!(
            fields.near_misses,
            ["key \"superseeds\" is unknown: did you mean supersedes?"]
        );
    }
}
