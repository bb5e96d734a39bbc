//! What the documents name must exist, and what exists must be documented.

/// Folders whose paths the documents may name.
const FOLDERS: &[&str] = &["crates/", "docs/", "testdata/", "schemas/", "fuzz/", "scripts/", ".ci/"];

/// Calls whose first argument is a code.
const CALLS: &[&str] = &[
    "Failure::input(",
    "Failure::internal(",
    "Degradation::new(",
    "Degradation::at(",
    " wrong(",
];

/// A link of a document to another place in the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The file, relative to the document; empty for a link within it.
    pub target: String,
    /// The heading, without `#`.
    pub anchor: Option<String>,
}

/// Returns the repository paths that a document names in backticks, up to the first wildcard. Code blocks are left out.
pub fn named_paths(markdown: &str) -> Vec<String> {
    let spans = prose(markdown).flat_map(|line| line.split('`').skip(1).step_by(2));
    let paths = spans.filter(|span| FOLDERS.iter().any(|folder| span.starts_with(folder)));
    paths
        .map(|path| {
            let end = path.find(['*', '<', '{', '…', ' ', '#', ':']).unwrap_or(path.len());
            let whole = end == path.len() || path[end..].starts_with([' ', '#', ':']);
            let cut = if whole {
                end
            } else {
                path[..end].rfind('/').unwrap_or(end)
            };
            path[..cut].trim_end_matches('/').to_owned()
        })
        .collect()
}

/// Returns the links of a document that stay within the project.
pub fn links(markdown: &str) -> Vec<Link> {
    let targets = prose(markdown).flat_map(|line| line.split("](").skip(1).filter_map(|rest| rest.split(')').next()));
    targets
        .filter(|target| !target.contains("://") && !target.starts_with("mailto:"))
        .map(|target| match target.split_once('#') {
            Some((target, anchor)) => Link {
                target: target.to_owned(),
                anchor: Some(anchor.to_owned()),
            },
            None => Link {
                target: target.to_owned(),
                anchor: None,
            },
        })
        .collect()
}

/// Returns the anchors of a document's headings, formed as code hosts form them.
pub fn anchors(markdown: &str) -> Vec<String> {
    let headings = prose(markdown).filter(|line| line.starts_with('#'));
    headings.map(|line| slug(line.trim_start_matches('#').trim())).collect()
}

fn slug(heading: &str) -> String {
    let kept = heading
        .chars()
        .filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// Returns a document's lines outside code blocks.
fn prose(markdown: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    markdown.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    })
}

/// Returns the stable codes that a Rust file declares, tests left out: the constants of a `codes` module or of a file
/// `codes.rs`, constants named like the end of their value, literals before an `ErrorKind` or first in a call that makes an error,
/// and the arms of a `fn code`.
pub fn codes(file_name: &str, source: &str) -> Vec<String> {
    let source = source.split("#[cfg(test)]").next().unwrap_or_default();
    let mut found = constants(source, |name, value| {
        value.contains('_') && value.ends_with(&name.to_lowercase())
    });
    if file_name == "codes.rs" {
        found.extend(constants(source, |_, _| true));
    }
    found.extend(constants(block(source, "mod codes {", "\n}"), |_, _| true));
    let arms = block(source, "fn code(", "\n    }").split("=> \"").skip(1);
    found.extend(arms.filter_map(|rest| rest.split('"').next()).map(str::to_owned));
    let mut before_kind: Vec<_> = source.split("ErrorKind::").collect();
    before_kind.pop();
    let literals = before_kind
        .into_iter()
        .filter_map(|before| before.trim_end().strip_suffix("\","));
    found.extend(
        literals
            .filter_map(|before| before.rsplit('"').next())
            .map(str::to_owned),
    );
    let calls = CALLS.iter().flat_map(|call| source.split(call).skip(1));
    found.extend(
        calls
            .filter_map(|rest| rest.trim_start().strip_prefix('"')?.split('"').next())
            .map(str::to_owned),
    );
    found.retain(|code| {
        !code.is_empty()
            && code
                .bytes()
                .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
    });
    found.sort();
    found.dedup();
    found
}

/// Returns the values of the string constants that pass.
fn constants(source: &str, pass: impl Fn(&str, &str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for (at, separator) in source.match_indices(": &str =") {
        let name = source[..at].rsplit(' ').next().unwrap_or_default();
        let value = source[at + separator.len()..].split('"').nth(1).unwrap_or_default();
        if pass(name, value) {
            found.push(value.to_owned());
        }
    }
    found
}

/// Returns the text between the first `start` and the next `end`; empty where there is no `start`.
fn block<'a>(source: &'a str, start: &str, end: &str) -> &'a str {
    let Some((_, rest)) = source.split_once(start) else {
        return "";
    };
    rest.split(end).next().unwrap_or_default()
}

/// Returns the names that a document does not hold in backticks.
pub fn undocumented<'a>(names: impl IntoIterator<Item = &'a str>, markdown: &str) -> Vec<String> {
    let missing = names
        .into_iter()
        .filter(|name| !markdown.contains(&format!("`{name}`")));
    missing.map(str::to_owned).collect()
}

/// Returns the names in backticks that begin the rows of a document's tables.
pub fn table_names(markdown: &str) -> Vec<String> {
    let rows = prose(markdown).filter_map(|line| line.strip_prefix("| `"));
    rows.filter_map(|rest| rest.split('`').next())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_backticks_are_found_and_cut_at_wildcards() {
        let markdown = "See `crates/index/src/lib.rs` and `crates/*/src`, `docs/x.md#part`, `serde`.\n\
            ```\n`crates/in/a/block`\n```\n`testdata/memory/`, `docs/decisions/000<n>.md`";
        let expected = [
            "crates/index/src/lib.rs",
            "crates",
            "docs/x.md",
            "testdata/memory",
            "docs/decisions",
        ];
        assert_eq!(named_paths(markdown), expected);
    }

    #[test]
    fn links_within_the_project_are_found() {
        let markdown = "[a](b.md) [c](https://example.org/x) [d](../e.md#a-b) [f](#g)";
        let link = |target: &str, anchor: Option<&str>| Link {
            target: target.into(),
            anchor: anchor.map(str::to_owned),
        };
        let expected = [link("b.md", None), link("../e.md", Some("a-b")), link("", Some("g"))];
        assert_eq!(links(markdown), expected);
    }

    #[test]
    fn anchors_are_those_of_code_hosts() {
        let markdown = "# Queries while the index rebuilds\n```sh\n# a comment\n```\n## What `index_stale` means?";
        assert_eq!(
            anchors(markdown),
            ["queries-while-the-index-rebuilds", "what-index_stale-means"]
        );
    }

    fn check_codes(file_name: &str, source: &str, expected: &[&str]) {
        assert_eq!(codes(file_name, source), expected, "{source}");
    }

    #[test]
    fn codes_are_read_from_a_module_of_either_form() {
        let inline = "const OTHER: &str = \"no\";\npub mod codes {\n    /// Doc.\n    pub const A: &str = \"a_b\";\n\
            \x20   pub const LONG: &str =\n        \"c_d\";\n}\nconst LATER: &str = \"no\";\n";
        check_codes("x.rs", inline, &["a_b", "c_d"]);
        check_codes("codes.rs", "pub(crate) const A: &str = \"a_b\";", &["a_b"]);
        check_codes("x.rs", "pub const A: &str = \"a_b\";", &[]);
    }

    #[test]
    fn codes_are_read_where_they_are_used() {
        check_codes(
            "x.rs",
            "pub const INDEX_STALE: &str = \"index_stale\";",
            &["index_stale"],
        );
        check_codes(
            "x.rs",
            "E::new(\"a_b\", ErrorKind::Input, m); E::new(\n\"c_d\",\n ErrorKind::Input)",
            &["a_b", "c_d"],
        );
        check_codes(
            "x.rs",
            "pub fn code(&self) {\n A => \"a_b\",\n B => \"c_d\",\n    }\n C => \"no\"",
            &["a_b", "c_d"],
        );
        check_codes("x.rs", "#[cfg(test)]\nmod tests {\n    const A_B: &str = \"a_b\";", &[]);
    }

    #[test]
    fn a_name_that_is_not_in_backticks_is_undocumented() {
        assert_eq!(undocumented(["a_b", "c_d"], "| `a_b` | c_d |"), ["c_d"]);
    }
    #[test]
    fn names_that_begin_rows_are_found() {
        assert_eq!(table_names("| code | x |\n|---|---|\n| `a_b` | `c_d` |\n"), ["a_b"]);
    }
}
