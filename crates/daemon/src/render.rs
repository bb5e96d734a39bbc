//! What a person reads. Memory is data: control characters of a memory never reach the terminal as such.

use std::fmt::Write;

use casebook_api::wire::{
    ActivateResponse, Candidate, Degradation, Fragment, IndexResponse, RunListResponse, RunResponse, Scored,
};
use casebook_archive::CatalogEntry;
use casebook_corpus::Timestamp;
use casebook_evaluation::LabReport;
use comfy_table::{ContentArrangement, Table, presets};

/// Returns the text with control characters made visible.
fn safe(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\t' => c,
        c if c.is_control() => char::REPLACEMENT_CHARACTER,
        c => c,
    };
    text.replace("\r\n", "\n").chars().map(shown).collect()
}

/// Appends a formatted line. Writing to a `String` cannot fail.
macro_rules! push {
    ($text:expr, $($format:tt)*) => {
        writeln!($text, $($format)*).expect("a String takes every write")
    };
}

fn table<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(header);
    table
}

fn degradations(text: &mut String, found: &[Degradation]) {
    for degradation in found {
        let path = degradation
            .path
            .as_ref()
            .map_or_else(String::new, |path| format!("{}: ", safe(path)));
        push!(text, "! {} {path}{}", degradation.code, safe(&degradation.detail));
    }
}

/// Renders the outcome of a build.
pub(crate) fn index(response: &IndexResponse) -> String {
    let mut text = String::new();
    push!(
        text,
        "{} resources, {} units at revision {}",
        response.resources,
        response.units,
        response.revision
    );
    push!(
        text,
        "{} added, {} changed, {} removed; {} units encoded, {} rows written in {} ms",
        response.added,
        response.changed,
        response.removed,
        response.encoded,
        response.rows_written,
        response.elapsed_ms
    );
    degradations(&mut text, &response.degradations);
    text.trim_end().to_owned()
}

/// Renders an answer, with its candidates where it carries them.
pub(crate) fn activation(response: &ActivateResponse) -> String {
    let mut text = String::new();
    for (position, found) in response.fragments.iter().enumerate() {
        fragment(&mut text, position + 1, found);
    }
    if response.fragments.is_empty() {
        push!(text, "Nothing in this memory answers that.\n");
    }
    for key in &response.removed {
        push!(text, "- remove {}", safe(key));
    }
    if let Some(found) = &response.candidates {
        push!(text, "{}\n", candidates(found));
    }
    degradations(&mut text, &response.degradations);
    let run = response.run_id.as_deref().unwrap_or("not recorded");
    let budget = response.budget;
    push!(
        text,
        "{} fragments, {} of {} tokens; revision {}; run {run}",
        budget.fragments_used,
        budget.tokens_used,
        budget.token_budget,
        response.revision
    );
    text.trim_end().to_owned()
}

fn fragment(text: &mut String, position: usize, fragment: &Fragment) {
    let place = std::iter::once(fragment.path.as_str()).chain(fragment.heading_path.iter().map(String::as_str));
    let place = safe(&place.collect::<Vec<_>>().join(" › ")).replace('\n', " ");
    let mut notes = vec![fragment.action.clone(), format!("{} tokens", fragment.token_count)];
    if fragment.role != "evidence" {
        notes.push(fragment.role.clone());
    }
    notes.extend_from_slice(&fragment.time_labels);
    let lines = fragment.lines;
    push!(
        text,
        "{position}. {place}  (lines {}-{}; {})",
        lines.first,
        lines.last,
        notes.join(", ")
    );
    match &fragment.text {
        Some(body) => safe(body).lines().for_each(|line| push!(text, "   {line}")),
        None => push!(text, "   (already in context)"),
    }
    push!(text, "");
}

fn candidates(found: &[Candidate]) -> String {
    let mut table = table([
        "unit",
        "exact",
        "fts5",
        "tantivy",
        "lexical",
        "dense",
        "rrf",
        "fused",
        "reranker",
        "final",
        "disposition",
    ]);
    for candidate in found {
        let disposition = match &candidate.redirected_from {
            Some(from) => format!("{} ({} {})", candidate.disposition, from.reason, from.resource_id),
            None => candidate.disposition.clone(),
        };
        table.add_row([
            safe(&candidate.unit_key),
            scored(candidate.exact),
            scored(candidate.fts5),
            scored(candidate.tantivy),
            scored(candidate.lexical),
            scored(candidate.dense),
            scored(candidate.rrf),
            scored(candidate.fused),
            scored(candidate.reranker),
            candidate
                .final_
                .map_or_else(String::new, |score| score.rank.to_string()),
            safe(&disposition),
        ]);
    }
    table.trim_fmt()
}

fn scored(score: Option<Scored>) -> String {
    score.map_or_else(String::new, |score| format!("{} ({:.3})", score.rank, score.score))
}

/// Renders a list of Runs.
pub(crate) fn runs(response: &RunListResponse) -> String {
    if response.runs.is_empty() {
        return "No Runs yet; `casebook activate \"…\"` makes one.".into();
    }
    let mut table = table(["run", "started", "status", "fragments", "question"]);
    for run in &response.runs {
        let status = match &run.failure_code {
            Some(code) => format!("{}/{code}", run.status),
            None => run.status.clone(),
        };
        table.add_row([
            run.run_id.clone(),
            run.started_at.clone(),
            status,
            run.fragments.to_string(),
            safe(&run.query).replace('\n', " "),
        ]);
    }
    table.trim_fmt()
}

/// Renders one Run.
pub(crate) fn run(response: &RunResponse) -> String {
    match response {
        RunResponse::Answered(answer) => format!("? {}\n\n{}", safe(&answer.query), activation(answer)),
        RunResponse::Unanswered(unanswered) => {
            let run = &unanswered.run;
            let mut text = String::new();
            push!(text, "? {}\n", safe(&run.query));
            push!(text, "{} since {}", run.status, run.started_at);
            if let Some(failure) = &unanswered.failure {
                let stage = failure.stage.as_deref().unwrap_or("an unknown stage");
                push!(text, "at {stage}: {} ({})", safe(&failure.summary), failure.code);
            }
            text.trim_end().to_owned()
        }
    }
}

/// Renders the raw sources of a catalog.
pub(crate) fn archive(entries: &[CatalogEntry]) -> String {
    if entries.is_empty() {
        return "No raw sources are archived.".into();
    }
    let mut table = table(["source", "type", "from", "to", "records", "bytes", "path"]);
    let time = |time: Option<Timestamp>| time.map_or_else(String::new, |time| time.to_string());
    for entry in entries {
        table.add_row([
            safe(entry.source_id.as_str()),
            safe(&entry.source_type),
            time(entry.from),
            time(entry.to),
            entry.record_count.to_string(),
            entry.size.to_string(),
            safe(&entry.path),
        ]);
    }
    table.trim_fmt()
}

/// Renders what the lab measured: a line per set, group of queries and arm.
pub(crate) fn lab(report: &LabReport) -> String {
    let mut table = table(["set", "queries", "arm", "n", "R@1", "R@5", "R@10", "MRR@10", "nDCG@10"]);
    for set in &report.sets {
        for arm in &set.arms {
            for group in &arm.groups {
                let metrics = &group.metrics;
                let figures = [
                    metrics.recall_1,
                    metrics.recall_5,
                    metrics.recall_10,
                    metrics.mrr_10,
                    metrics.ndcg_10,
                ];
                let mut row = vec![
                    set.set.clone(),
                    group.group.clone(),
                    arm.arm.to_string(),
                    metrics.queries.to_string(),
                ];
                row.extend(figures.map(|figure| format!("{figure:.4}")));
                table.add_row(row);
            }
        }
    }
    format!("encoder {}, profile {}\n{table}", report.encoder, report.profile)
}

/// One line of `config show`.
pub(crate) struct SettingRow {
    pub(crate) key: &'static str,
    pub(crate) value: toml::Value,
    pub(crate) place: String,
}

impl SettingRow {
    /// Returns the row for scripts.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::json!({ "key": self.key, "value": self.value, "from": self.place })
    }
}

/// Renders the settings.
pub(crate) fn settings(rows: &[SettingRow]) -> String {
    let mut table = table(["setting", "value", "from"]);
    for row in rows {
        table.add_row([row.key.to_owned(), safe(&row.value.to_string()), row.place.clone()]);
    }
    table.trim_fmt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_of_a_memory_do_not_reach_the_terminal() {
        assert_eq!(safe("a\u{1b}[31mred\r\n\tb\u{9b}"), "a\u{fffd}[31mred\n\tb\u{fffd}");
    }
}
