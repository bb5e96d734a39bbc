//! What Rust files may hold. The compiler's lints do the rest.

/// Past this a file surely holds two ideas.
const MAX_LINES: usize = 700;

/// Text that no Rust file may hold, and why. The entries are cut in two so that this file passes too.
const FORBIDDEN: &[(&str, &str)] = &[
    (concat!("#[", "ignore"), "a test that does not run tests nothing"),
    (concat!("```", "ignore"), "an example that does not compile drifts"),
    (concat!("should", "_panic"), "assert on the error instead"),
    (concat!("#[", "allow("), "use #[expect(lint, reason = \"...\")]"),
    (concat!("#![", "allow("), "use #[expect(lint, reason = \"...\")]"),
];

/// What opens a connection to another machine, and the only place that may name it. The entries are cut in two so that this
/// file passes too.
const OUTWARD: &[&str] = &[
    concat!("ur", "eq"),
    concat!("Tcp", "Stream"),
    concat!("Udp", "Socket"),
    concat!("To", "SocketAddrs"),
];
const DOWNLOADER: &str = "crates/daemon/src/hub";
/// The rules name what they forbid.
const RULES: &str = "crates/house-rules/src/layering.rs";

/// Returns what is wrong with a Rust file.
pub fn rust_problems(path: &str, source: &str) -> Vec<String> {
    let mut problems = Vec::new();
    for (text, why) in FORBIDDEN {
        if source.contains(text) {
            problems.push(format!("{path}: holds `{text}`: {why}"));
        }
    }
    if !path.starts_with(DOWNLOADER) && path != RULES {
        for text in OUTWARD.iter().filter(|text| source.contains(**text)) {
            problems.push(format!(
                "{path}: holds `{text}`: only {DOWNLOADER} speaks to other machines"
            ));
        }
    }
    let lines = source.lines().count();
    if lines > MAX_LINES {
        problems.push(format!("{path}: has {lines} lines; {MAX_LINES} at most"));
    }
    if path.ends_with("/mod.rs") {
        problems.push(format!("{path}: a nested module is `name.rs` beside `name/`"));
    }
    if path.ends_with("src/lib.rs") && source.lines().any(is_logic) {
        problems.push(format!("{path}: lib.rs is a table of contents and holds no logic"));
    }
    problems
}

fn is_logic(line: &str) -> bool {
    ["fn ", "pub fn ", "pub(crate) fn ", "impl ", "impl<"]
        .iter()
        .any(|start| line.starts_with(start))
}

/// Returns the modules in the folder of an integration test that its `main.rs` does not list: they would silently not
/// run. `files` are the names beside `main.rs`; a folder counts through its `name.rs`.
pub fn unlisted_tests(main: &str, files: &[&str]) -> Vec<String> {
    let listed = |name: &str| main.lines().any(|line| line.trim() == format!("mod {name};"));
    let modules = files
        .iter()
        .filter_map(|file| file.strip_suffix(".rs"))
        .filter(|name| *name != "main");
    modules.filter(|name| !listed(name)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, source: &str, problems: usize) {
        assert_eq!(rust_problems(path, source).len(), problems, "{path}: {source}");
    }

    #[test]
    fn forbidden_text_is_named() {
        check("src/a.rs", "#[expect(dead_code, reason = \"because\")]\nfn a() {}", 0);
        for (text, _) in FORBIDDEN {
            check("src/a.rs", text, 1);
        }
    }

    #[test]
    fn only_the_downloader_speaks_to_other_machines() {
        for text in OUTWARD {
            check("crates/daemon/src/hub/client.rs", text, 0);
            check("crates/daemon/src/commands/index.rs", text, 1);
            check("crates/encoder/src/packs.rs", text, 1);
        }
    }

    #[test]
    fn a_giant_is_named() {
        check("src/a.rs", &"\n".repeat(MAX_LINES), 0);
        check("src/a.rs", &"\n".repeat(MAX_LINES + 1), 1);
    }

    #[test]
    fn lib_and_mod_files_keep_their_shape() {
        check("crates/a/src/lib.rs", "//! A.\nmod b;\npub use b::C;\n", 0);
        check("crates/a/src/lib.rs", "//! A.\npub fn b() {}\n", 1);
        check("crates/a/src/b/mod.rs", "", 1);
    }

    #[test]
    fn a_test_file_that_is_not_listed_is_named() {
        assert_eq!(unlisted_tests("mod a;\n", &["main.rs", "a.rs", "b.rs", "data"]), ["b"]);
    }
}
