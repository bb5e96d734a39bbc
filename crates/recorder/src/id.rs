//! Identifiers of history. All are injected; nothing here makes one up.

use casebook_corpus::string_id;

string_id! {
    /// Identity of one retrieval's record.
    RunId
}
string_id! {
    /// Identity of one process that records. Used as a file name: letters, digits, `-` and `_`, at most 64 of them.
    InstanceId
}

/// Position of an event in the log, from 1, without gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventSeq(pub(crate) i64);

impl EventSeq {
    /// Returns the number.
    pub const fn get(self) -> i64 {
        self.0
    }
}

impl std::fmt::Display for EventSeq {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}
