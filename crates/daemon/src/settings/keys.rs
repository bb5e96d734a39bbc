//! Every setting there is.

/// What a setting holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `true` or `false`.
    Flag,
    /// A whole number from 0.
    Unsigned,
    /// A number.
    Number,
    /// Text.
    Text,
    /// A list of texts.
    Texts,
    /// A list of tables; only in files.
    Tables,
}

impl Kind {
    /// What a person is told to write.
    pub(crate) const fn expected(self) -> &'static str {
        match self {
            Self::Flag => "true or false",
            Self::Unsigned => "a whole number from 0",
            Self::Number => "a number",
            Self::Text => "text",
            Self::Texts => "a list of texts",
            Self::Tables => "a list of tables",
        }
    }
}

/// One setting.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    /// Its dotted name.
    pub(crate) name: &'static str,
    /// What it holds.
    pub(crate) kind: Kind,
    /// What it is for.
    pub(crate) help: &'static str,
}

const fn key(name: &'static str, kind: Kind, help: &'static str) -> Key {
    Key { name, kind, help }
}

/// Every setting there is, in order of display.
pub(crate) const KEYS: &[Key] = &[
    key("id", Kind::Text, "identity of the project in the history"),
    key(
        "audiences",
        Kind::Texts,
        "audiences that callers on this machine speak for",
    ),
    key(
        "sources",
        Kind::Tables,
        "folders with memory, later ones above earlier ones; none: every Markdown file",
    ),
    key("files.max_bytes", Kind::Unsigned, "files larger than this are skipped"),
    key(
        "files.follow_links",
        Kind::Flag,
        "follow symbolic links that stay inside the project",
    ),
    key(
        "files.control_plane",
        Kind::Texts,
        "files that are never memory: what instructs the assistant, raw sources",
    ),
    key(
        "index.location",
        Kind::Text,
        "\"project\" (.casebook in the folder) or \"central\" (the data folder)",
    ),
    key("index.strategy", Kind::Text, "how documents are cut into units"),
    key("index.impact", Kind::Flag, "the word lane, in the index's own tables"),
    key("index.fts5", Kind::Flag, "the substring lane, by SQLite's FTS5"),
    key("index.tantivy", Kind::Flag, "a second word lane, by Tantivy"),
    key(
        "index.cache_bytes",
        Kind::Unsigned,
        "bytes of vectors kept for what may come back; 0: as many as the memory's own take, and at least 64 MiB",
    ),
    key(
        "ranker.profile",
        Kind::Text,
        "\"v3\" (weighted fusion that knows languages) or \"v2\" (reciprocal rank fusion)",
    ),
    key(
        "ranker.dense_share",
        Kind::Number,
        "share of the dense list in weighted fusion; the lexical list has the rest",
    ),
    key(
        "ranker.contextual_dense_share",
        Kind::Number,
        "the same where a model pack's vectors answer",
    ),
    key(
        "ranker.foreign_dense",
        Kind::Number,
        "weight of the dense list for a text in another language than the question",
    ),
    key(
        "ranker.foreign_lexical",
        Kind::Number,
        "weight of the lexical list for a text in another language than the question",
    ),
    key(
        "encoder.model",
        Kind::Text,
        "\"embedded\", or a model pack (`casebook models list`)",
    ),
    key(
        "encoder.reranker",
        Kind::Text,
        "\"embedded\", or a model pack that reranks",
    ),
    key(
        "encoder.threads",
        Kind::Unsigned,
        "threads that a model pack computes on; 0, or more than there are cores: one for each core",
    ),
    key(
        "ranker.lexical_limit",
        Kind::Unsigned,
        "units that the lexical list holds at most",
    ),
    key(
        "ranker.dense_limit",
        Kind::Unsigned,
        "units that the dense list holds at most",
    ),
    key("ranker.rrf_k", Kind::Number, "the k of reciprocal rank fusion"),
    key(
        "ranker.impact_weight",
        Kind::Number,
        "weight of the word lane in the lexical list",
    ),
    key(
        "ranker.fts5_weight",
        Kind::Number,
        "weight of the substring lane in the lexical list",
    ),
    key(
        "ranker.tantivy_weight",
        Kind::Number,
        "weight of Tantivy's word lane in the lexical list",
    ),
    key("ranker.fused_keep", Kind::Unsigned, "candidates that fusion keeps"),
    key(
        "ranker.rerank_depth",
        Kind::Unsigned,
        "candidates that the reranker sees",
    ),
    key(
        "ranker.rerank_weight",
        Kind::Number,
        "weight of the reranker beside fusion",
    ),
    key(
        "ranker.phrase_bonus",
        Kind::Number,
        "added where a text holds the question's words in their order",
    ),
    key(
        "ranker.relevance_share",
        Kind::Number,
        "share of the best relevance below which a candidate is left out",
    ),
    key(
        "ranker.min_relevance",
        Kind::Number,
        "relevance (pair score) below which a candidate is left out",
    ),
    key(
        "ranker.max_overlap",
        Kind::Number,
        "share of text that two fragments of a file may have in common",
    ),
    key(
        "ranker.per_resource",
        Kind::Unsigned,
        "fragments of one resource at most",
    ),
    key("ranker.token_budget", Kind::Unsigned, "tokens of all fragments at most"),
    key("ranker.fragment_limit", Kind::Unsigned, "fragments at most"),
    key(
        "ranker.history",
        Kind::Text,
        "\"off\", or \"attach\": a replaced memory may follow its successor",
    ),
    key("ranker.deadline_ms", Kind::Unsigned, "time for one answer"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_also_in_the_environment() {
        let mut names: Vec<_> = KEYS.iter().map(|key| key.name.replace('.', "_")).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), KEYS.len());
    }
}
