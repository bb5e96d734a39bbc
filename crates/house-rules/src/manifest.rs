//! What every manifest has in common.

use toml::{Table, Value};

const INHERITED: &[&str] = &["version", "edition", "rust-version", "license", "publish"];
const DEPENDENCY_TABLES: &[&str] = &["dependencies", "dev-dependencies", "build-dependencies"];

/// Returns what is wrong with a member's `Cargo.toml`: the shared fields, lints and dependencies come from the
/// workspace, so that each is decided in one place.
pub fn manifest_problems(text: &str) -> Vec<String> {
    let manifest: Table = match text.parse() {
        Ok(manifest) => manifest,
        Err(error) => return vec![format!("cannot be read: {error}")],
    };
    let mut problems = Vec::new();
    let package = manifest.get("package");
    for field in INHERITED {
        if !package.and_then(|package| package.get(field)).is_some_and(inherits) {
            problems.push(format!("`{field}` is not inherited from the workspace"));
        }
    }
    if package.and_then(|package| package.get("description")).is_none() {
        problems.push("has no description".into());
    }
    if !manifest.get("lints").is_some_and(inherits) {
        problems.push("has no `[lints] workspace = true`".into());
    }
    let tables = DEPENDENCY_TABLES
        .iter()
        .filter_map(|name| manifest.get(*name)?.as_table());
    for (name, value) in tables.flatten() {
        if !inherits(value) {
            problems.push(format!("`{name}` is not a dependency of the workspace"));
        }
    }
    problems
}

fn inherits(value: &Value) -> bool {
    value.get("workspace").and_then(Value::as_bool) == Some(true)
}

/// Returns what a crate's own `clippy.toml` forgot of the root's, which it replaces as a whole.
pub fn clippy_gaps(root: &str, own: &str) -> Vec<String> {
    let (Ok(root), Ok(own)) = (root.parse::<Table>(), own.parse::<Table>()) else {
        return vec!["cannot be read".into()];
    };
    let mut gaps = Vec::new();
    for (key, value) in &root {
        match (value.as_array(), own.get(key).and_then(Value::as_array)) {
            (Some(needed), Some(present)) => {
                let missing = needed.iter().filter(|entry| !present.contains(entry));
                gaps.extend(missing.map(|entry| format!("`{key}` lacks {entry}")));
            }
            _ if own.get(key) == Some(value) => {}
            _ => gaps.push(format!("`{key}` differs")),
        }
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
        [package]
        name = "x"
        description = "what it does"
        version.workspace = true
        edition.workspace = true
        rust-version.workspace = true
        license.workspace = true
        publish.workspace = true
        [lints]
        workspace = true
        [dependencies]
        serde.workspace = true
        insta = { workspace = true, features = ["json"] }
    "#;

    fn check(from: &str, to: &str, expected: &[&str]) {
        assert!(GOOD.contains(from));
        assert_eq!(manifest_problems(&GOOD.replace(from, to)), expected);
    }

    #[test]
    fn everything_shared_is_inherited() {
        check("", "", &[]);
        check("[lints]\n", "[other]\n", &["has no `[lints] workspace = true`"]);
        check(
            "publish.workspace = true",
            "publish = true",
            &["`publish` is not inherited from the workspace"],
        );
        check("description = \"what it does\"", "", &["has no description"]);
        check(
            "serde.workspace = true",
            "serde = \"1\"",
            &["`serde` is not a dependency of the workspace"],
        );
    }

    #[test]
    fn a_crates_own_clippy_file_repeats_the_roots() {
        let root = r#"
            allow-unwrap-in-tests = true
            disallowed-methods = [{ path = "a", reason = "x" }]
        "#;
        assert_eq!(clippy_gaps(root, root), Vec::<String>::new());
        assert_eq!(clippy_gaps(root, "allow-unwrap-in-tests = true").len(), 1);
        assert_eq!(
            clippy_gaps(root, "allow-unwrap-in-tests = true\ndisallowed-methods = []").len(),
            1
        );
        assert_eq!(
            clippy_gaps(root, &root.replace("true", "false")),
            ["`allow-unwrap-in-tests` differs"]
        );
    }
}
