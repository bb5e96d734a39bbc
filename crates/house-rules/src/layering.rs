//! Which crate may depend on which.

/// A member of the workspace.
#[derive(Clone, Debug)]
pub struct Member {
    /// The package's name.
    pub name: String,
    /// What its manifest names, of every kind.
    pub dependencies: Vec<Dependency>,
}

/// A dependency as a manifest names it.
#[derive(Clone, Debug)]
pub struct Dependency {
    /// The package's name.
    pub name: String,
    /// Whether only tests, examples and benches see it.
    pub dev: bool,
}

/// Allowed edges among our crates, development edges included. An edge that is not here is an architecture change.
const EDGES: &[(&str, &[&str])] = &[
    ("casebook-corpus", &[]),
    ("casebook-storage", &[]),
    ("casebook-chunker", &["casebook-corpus"]),
    (
        "casebook-index",
        &["casebook-corpus", "casebook-storage", "casebook-chunker"],
    ),
    ("casebook-ranker", &["casebook-corpus", "casebook-index"]),
    (
        "casebook-recorder",
        &["casebook-corpus", "casebook-storage", "casebook-ranker"],
    ),
    (
        "casebook-evaluation",
        &[
            "casebook-corpus",
            "casebook-chunker",
            "casebook-index",
            "casebook-ranker",
            "casebook-recorder",
            "casebook-storage",
        ],
    ),
    ("casebook-archive", &["casebook-corpus", "casebook-storage"]),
    ("casebook-encoder", &["casebook-index", "casebook-ranker"]),
    (
        "casebook-api",
        &[
            "casebook-archive",
            "casebook-chunker",
            "casebook-corpus",
            "casebook-evaluation",
            "casebook-index",
            "casebook-ranker",
            "casebook-recorder",
            "casebook-storage",
        ],
    ),
    (
        "casebook",
        &[
            "casebook-api",
            "casebook-archive",
            "casebook-chunker",
            "casebook-corpus",
            "casebook-encoder",
            "casebook-evaluation",
            "casebook-index",
            "casebook-ranker",
            "casebook-recorder",
            "casebook-storage",
        ],
    ),
];

/// Members for development: they may see everything, and nothing that ships may see them.
const DEVELOPMENT: &[&str] = &["casebook-testkit", "casebook-house-rules", "casebook-fuzz"];

/// Third-party crates that only some of ours may name. A trailing `*` stands for any ending.
const PINS: &[(&str, &[&str])] = &[
    (
        "rusqlite",
        &[
            "casebook-storage",
            "casebook-index",
            "casebook-recorder",
            "casebook-evaluation",
            // Damages databases.
            "casebook-testkit",
        ],
    ),
    ("tantivy*", &["casebook-index"]),
    ("notify*", &["casebook-corpus"]),
    ("candle*", &["casebook-encoder"]),
    ("tokenizers", &["casebook-encoder"]),
    ("tokio*", &["casebook-api", "casebook"]),
    ("axum*", &["casebook-api", "casebook"]),
    ("rmcp*", &["casebook-api", "casebook"]),
    ("hyper*", &["casebook-api", "casebook"]),
    // Nothing leaves the machine but a request for a model that was asked for.
    ("ureq*", &["casebook"]),
    ("reqwest", &[]),
    ("clap*", &["casebook"]),
];

/// Returns every edge that the table does not allow.
pub fn broken_edges(members: &[Member]) -> Vec<String> {
    let ours = |name: &str| members.iter().any(|member| member.name == name);
    let mut broken = Vec::new();
    for member in members
        .iter()
        .filter(|member| !DEVELOPMENT.contains(&member.name.as_str()))
    {
        let Some((_, allowed)) = EDGES.iter().find(|(name, _)| *name == member.name) else {
            broken.push(format!("{} has no row in the table of edges", member.name));
            continue;
        };
        for dependency in member.dependencies.iter().filter(|dependency| ours(&dependency.name)) {
            let name = dependency.name.as_str();
            let fine = allowed.contains(&name) || (name == "casebook-testkit" && dependency.dev);
            if !fine {
                broken.push(format!("{} -> {name}", member.name));
            }
        }
    }
    broken
}

/// Returns every use of a pinned third-party crate outside its place.
pub fn broken_pins(members: &[Member]) -> Vec<String> {
    let mut broken = Vec::new();
    for member in members {
        for dependency in &member.dependencies {
            let pin = PINS.iter().find(|(pattern, _)| matches(pattern, &dependency.name));
            if pin.is_some_and(|(_, allowed)| !allowed.contains(&member.name.as_str())) {
                broken.push(format!("{} uses {}", member.name, dependency.name));
            }
        }
    }
    broken
}

fn matches(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads `name: dependency dev:dependency`, one member a line.
    fn members(text: &str) -> Vec<Member> {
        text.lines()
            .map(|line| {
                let (name, dependencies) = line.trim().split_once(':').unwrap();
                let dependency = |word: &str| Dependency {
                    name: word.trim_start_matches("dev:").into(),
                    dev: word.starts_with("dev:"),
                };
                Member {
                    name: name.into(),
                    dependencies: dependencies.split_whitespace().map(dependency).collect(),
                }
            })
            .collect()
    }

    fn check_edges(text: &str, expected: &[&str]) {
        assert_eq!(broken_edges(&members(text)), expected, "{text}");
    }

    fn check_pins(text: &str, expected: &[&str]) {
        assert_eq!(broken_pins(&members(text)), expected, "{text}");
    }

    #[test]
    fn an_edge_outside_the_table_is_named() {
        check_edges("casebook-corpus:\ncasebook-chunker: casebook-corpus serde", &[]);
        check_edges(
            "casebook-corpus: casebook-index\ncasebook-index:",
            &["casebook-corpus -> casebook-index"],
        );
        check_edges(
            "casebook-storage: dev:casebook-corpus\ncasebook-corpus:",
            &["casebook-storage -> casebook-corpus"],
        );
    }

    #[test]
    fn development_crates_are_for_development() {
        check_edges(
            "casebook-corpus: dev:casebook-testkit\ncasebook-testkit: casebook-corpus",
            &[],
        );
        check_edges(
            "casebook-corpus: casebook-testkit\ncasebook-testkit:",
            &["casebook-corpus -> casebook-testkit"],
        );
        check_edges(
            "casebook-corpus: dev:casebook-fuzz\ncasebook-fuzz:",
            &["casebook-corpus -> casebook-fuzz"],
        );
    }

    #[test]
    fn a_new_crate_needs_a_row() {
        check_edges("casebook-extra:", &["casebook-extra has no row in the table of edges"]);
    }

    #[test]
    fn a_pinned_crate_stays_in_its_place() {
        check_pins("casebook-index: tantivy rusqlite\ncasebook: clap clap_complete", &[]);
        check_pins("casebook-ranker: rusqlite", &["casebook-ranker uses rusqlite"]);
        check_pins("casebook-api: dev:clap_complete", &["casebook-api uses clap_complete"]);
        check_pins("casebook-index: candle-core", &["casebook-index uses candle-core"]);
        check_pins("casebook: ureq\ncasebook-api: ureq", &["casebook-api uses ureq"]);
        check_pins("casebook: reqwest", &["casebook uses reqwest"]);
        check_pins("casebook-testkit: tokio", &["casebook-testkit uses tokio"]);
    }
}
