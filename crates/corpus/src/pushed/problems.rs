//! What keeps a page from being taken.

use std::collections::HashMap;

use super::{PushedRecord, RecordChange};
use crate::check_label;

/// Bytes of a path at most.
const MAX_PATH_BYTES: usize = 1024;

/// A page cannot be taken; nothing of it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("page has {} problem(s): {}", problems.len(), problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
pub struct RecordPageError {
    /// Every problem, in order of the changes.
    pub problems: Vec<RecordProblem>,
}

/// One problem of a page.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("change {position}, {id:?}: {field} {problem}")]
pub struct RecordProblem {
    /// Which change of the page, from 1.
    pub position: usize,
    /// The id as it was sent, or its start.
    pub id: String,
    /// The field.
    pub field: &'static str,
    /// What is wrong with it.
    pub problem: String,
}

impl RecordProblem {
    /// Names a problem of the change at a position, counted from 1. Of a long id the start is kept.
    pub fn new(position: usize, id: &str, field: &'static str, problem: impl ToString) -> Self {
        Self {
            position,
            id: id.chars().take(80).collect(),
            field,
            problem: problem.to_string(),
        }
    }
}

/// Returns what is wrong with the changes.
pub(super) fn problems(changes: &[RecordChange]) -> Vec<RecordProblem> {
    let mut first: HashMap<&str, usize> = HashMap::new();
    let mut found = Vec::new();
    for (position, change) in (1..).zip(changes) {
        let id = change.id().as_str();
        let mut note = |field, problem: String| found.push(RecordProblem::new(position, id, field, problem));
        label("id", id, &mut note);
        let before = *first.entry(id).or_insert(position);
        if before != position {
            note("id", format!("is that of change {before}, too"));
        }
        if let RecordChange::Upsert(record) = change {
            record_problems(record, &mut note);
        }
    }
    found
}

type Note<'a> = dyn FnMut(&'static str, String) + 'a;

fn label(field: &'static str, text: &str, note: &mut Note<'_>) {
    if let Err(error) = check_label(text) {
        note(field, error.to_string());
    }
}

fn record_problems(record: &PushedRecord, note: &mut Note<'_>) {
    let stated = &record.stated;
    if let Some(problem) = record.path.as_deref().and_then(path_problem) {
        note("path", problem.to_owned());
    }
    let scope = stated.scope.as_ref().map(|scope| scope.as_str());
    let one = [
        ("scope", scope),
        ("kind", stated.kind.as_deref()),
        ("sensitivity", stated.sensitivity.as_deref()),
    ];
    for (field, text) in one {
        text.into_iter().for_each(|text| label(field, text, note));
    }
    let lists = [
        ("topics", &stated.topics),
        ("entities", &stated.entities),
        ("audience", &stated.audience),
    ];
    for (field, texts) in lists {
        texts.iter().for_each(|text| label(field, text, note));
    }
    for (field, ids) in [("supersedes", &stated.supersedes), ("retracts", &stated.retracts)] {
        for id in ids {
            label(field, id.as_str(), note);
            if *id == record.id {
                note(field, "names the record itself".to_owned());
            }
        }
    }
    if stated
        .importance
        .is_some_and(|importance| !(0.0..=1.0).contains(&importance))
    {
        note("importance", "expected a number from 0 to 1".to_owned());
    }
}

/// Returns why a text can be no path: a reader may take it for one, so it must not lead anywhere else than into the project.
pub(super) fn path_problem(path: &str) -> Option<&'static str> {
    let parts = || path.split('/');
    match () {
        () if path.trim().is_empty() => Some("must not be empty"),
        () if path.len() > MAX_PATH_BYTES => Some("is longer than 1024 bytes"),
        () if path.chars().any(|c| c.is_control() || c == '\\') => {
            Some("must not hold control characters or backslashes")
        }
        () if path.as_bytes().get(1) == Some(&b':') => Some("must not begin with a drive"),
        () if parts().any(|part| matches!(part, "" | "." | "..")) => {
            Some("must be relative, and without empty parts, `.` and `..`")
        }
        () => None,
    }
}
