//! What no file of the project may say: it is read far from where it was written.

/// Folders of one machine. A path below them means nothing elsewhere.
const MACHINE_FOLDERS: &[&str] = &["home", "Users", "root", "work", "tmp"];

/// The name that examples use for a reader's own folder.
const READER: &str = "you";

/// Endings of host names that only one network knows.
const PRIVATE_HOSTS: &[&str] = &[".internal", ".intranet", ".corp", ".lan", ".local"];

/// Phrases of unfinished or borrowed text. Each is cut in two so that this file passes too.
const PHRASES: &[&str] = &[
    concat!("under ", "construction"),
    concat!("coming ", "soon"),
    concat!("lorem ", "ipsum"),
    concat!("placeholder ", "implementation"),
    concat!("not yet ", "implemented"),
    concat!("as an ai ", "language model"),
    concat!("in this ", "pull request"),
    concat!("this ", "ticket"),
];

/// The only place that locked dependencies come from.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Returns what is wrong with a text file.
pub fn text_problems(path: &str, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let mut add = |what: String| problems.push(format!("{path}:{}: {what}", index + 1));
        if let Some(found) = machine_path(line) {
            add(format!("names a folder of one machine: {found}"));
        }
        if let Some(host) = private_host(line) {
            add(format!("names a host of one network: {host}"));
        }
        let lower = line.to_lowercase();
        for phrase in PHRASES.iter().filter(|phrase| lower.contains(**phrase)) {
            add(format!("says \"{phrase}\""));
        }
    }
    problems
}

/// Returns an absolute path below a machine's folder.
fn machine_path(line: &str) -> Option<String> {
    for folder in MACHINE_FOLDERS {
        let needle = format!("/{folder}/");
        for (at, _) in line.match_indices(&needle) {
            let before = line[..at].chars().next_back();
            let inside = before.is_some_and(|letter| letter.is_alphanumeric() || "/.-_~$}*>)".contains(letter));
            let rest = &line[at + needle.len()..];
            let name: String = rest
                .chars()
                .take_while(|letter| letter.is_alphanumeric() || "-_.".contains(*letter))
                .collect();
            if !inside && !name.is_empty() && name != READER {
                return Some(format!("{needle}{name}"));
            }
        }
    }
    None
}

/// Returns the host of an address that only one network knows.
fn private_host(line: &str) -> Option<String> {
    let hosts = line.split("://").skip(1).map(|rest| {
        let end = rest.find(|letter: char| !(letter.is_ascii_alphanumeric() || ".-".contains(letter)));
        &rest[..end.unwrap_or(rest.len())]
    });
    let private = |host: &&str| {
        PRIVATE_HOSTS.iter().any(|ending| host.ends_with(ending))
            || host.starts_with("10.")
            || host.starts_with("192.168.")
    };
    hosts.into_iter().find(private).map(str::to_owned)
}

/// Returns every source in `Cargo.lock` that is not the public registry.
pub fn lock_problems(lock: &str) -> Vec<String> {
    let sources = lock.lines().filter_map(|line| line.strip_prefix("source = "));
    let foreign = sources.filter(|source| source.trim_matches('"') != REGISTRY);
    foreign
        .map(|source| format!("Cargo.lock: foreign source {source}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, problems: usize) {
        assert_eq!(text_problems("a.md", line).len(), problems, "{line}");
    }

    #[test]
    fn a_path_of_one_machine_is_named() {
        for folder in MACHINE_FOLDERS {
            check(&format!("see `/{folder}/someone/notes.md`"), 1);
            check(&format!("see `/{folder}/{READER}/notes.md`"), 0);
            check(&format!("https://example.org/{folder}/page"), 0);
            check(&format!("src/{folder}/file.rs"), 0);
        }
    }

    #[test]
    fn a_host_of_one_network_is_named() {
        check(&format!("https://mirror{}/simple", PRIVATE_HOSTS[0]), 1);
        check(&["http://1", "0.0.0.1:8080"].concat(), 1);
        check("http://127.0.0.1:8080 https://docs.rs/insta", 0);
    }

    #[test]
    fn unfinished_text_is_named() {
        for phrase in PHRASES {
            check(&phrase.to_uppercase(), 1);
        }
        check("The bridge was being built.", 0);
    }

    #[test]
    fn a_foreign_source_is_named() {
        let line = |source: &str| format!("source = \"{source}\"\n");
        assert!(lock_problems(&line(REGISTRY)).is_empty());
        assert_eq!(lock_problems(&line("registry+https://mirror.example/index")).len(), 1);
    }
}
