//! Errors, one enum per family of operations.

use std::path::PathBuf;

use casebook_corpus::ParseTimestampError;
use casebook_index::{BuildError, OpenError, ReadError};
use casebook_ranker::ActivateError;

/// A data set cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataSetError {
    /// A file or folder cannot be read.
    #[error("{path:?} cannot be read")]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A line is not what its file is made of.
    #[error("{path:?} line {line} cannot be used")]
    Line {
        /// The file.
        path: PathBuf,
        /// Its number, from 1.
        line: usize,
        /// Why.
        #[source]
        source: LineError,
    },
    /// Neither the folder nor a folder in it has a `corpus.jsonl`.
    #[error("{path:?} holds no data set")]
    Empty {
        /// The folder.
        path: PathBuf,
    },
    /// A folder was given twice.
    #[error("{path:?} was given twice")]
    GivenTwice {
        /// The folder.
        path: PathBuf,
    },
    /// Two projects of one set have a query of one id, so that a run file could not tell them apart.
    #[error("query {query:?} of project {project:?} is in another project of the set too")]
    SharedQuery {
        /// The later project.
        project: String,
        /// The id.
        query: String,
    },
}

/// A line of a data set cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    /// It is not the JSON object expected.
    #[error("not the object expected")]
    Json(#[source] serde_json::Error),
    /// A time is none.
    #[error("field {field} is no time")]
    Time {
        /// The field.
        field: &'static str,
        /// Why.
        #[source]
        source: ParseTimestampError,
    },
    /// An id has blanks or nothing at all in it; the files of TREC could not hold it.
    #[error("id {id:?} is empty or has blanks")]
    Id {
        /// The id.
        id: String,
    },
    /// An earlier line has the same id.
    #[error("id {id:?} is there before")]
    Repeated {
        /// The id.
        id: String,
    },
    /// A judgement is not four fields with a number at the end.
    #[error("expected query, 0, document and relevance, found {found:?}")]
    Judgement {
        /// The line.
        found: String,
    },
    /// A judgement is about a query or document that the set lacks.
    #[error("{what} {id:?} is not in the set")]
    Unknown {
        /// `query` or `document`.
        what: &'static str,
        /// The id.
        id: String,
    },
}

/// The lab cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    /// A result cannot be written.
    #[error("{path:?} cannot be written")]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// An index cannot be opened.
    #[error("index of {set} cannot be opened")]
    Open {
        /// The data set.
        set: String,
        /// Why.
        #[source]
        source: OpenError,
    },
    /// An index cannot be built.
    #[error("index of {set} cannot be built")]
    Build {
        /// The data set.
        set: String,
        /// Why.
        #[source]
        source: BuildError,
    },
    /// An index cannot be read.
    #[error("index of {set} cannot be read")]
    Read {
        /// The data set.
        set: String,
        /// Why.
        #[source]
        source: ReadError,
    },
    /// An index that was just built has no head: someone else is at work in the folder.
    #[error("index of {set} vanished after it was built")]
    Vanished {
        /// The data set.
        set: String,
    },
    /// A query cannot be answered.
    #[error("query {query:?} of {set} cannot be answered")]
    Query {
        /// The data set.
        set: String,
        /// Its id.
        query: String,
        /// Why.
        #[source]
        source: ActivateError,
    },
}
