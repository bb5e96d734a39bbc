//! What a person reads. Memory is data: control characters of a memory never reach the terminal as such.

mod fill;
mod models;
mod sync;

pub(crate) use models::{InUse, ModelRow, added_model, models, models_in_use};

use std::collections::BTreeMap;
use std::fmt::Write;

use casebook_api::wire::{
    ActivateResponse, Candidate, Degradation, ErrorBody, Fragment, IndexResponse, RunListResponse, RunResponse,
    WatchEvent,
};
use casebook_archive::CatalogEntry;
use casebook_corpus::Timestamp;
use casebook_evaluation::LabReport;
use casebook_index::degradation::LEXICAL_TERMS_SKIPPED;
use comfy_table::{ContentArrangement, Table, presets};

pub(crate) use self::fill::{fill, fill_status};
pub(crate) use self::sync::{sync_begun, sync_committed, sync_pushed, sync_staged, sync_status};

/// Returns the text with control characters made visible, those too that turn the direction of writing.
pub(crate) fn safe(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\t' => c,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => char::REPLACEMENT_CHARACTER,
        c if c.is_control() => char::REPLACEMENT_CHARACTER,
        c => c,
    };
    text.replace("\r\n", "\n").chars().map(shown).collect()
}

/// Returns a number with its noun.
fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
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

fn degradations<'a>(text: &mut String, found: impl IntoIterator<Item = &'a Degradation>) {
    for degradation in found {
        let path = degradation.path.as_ref().map_or_else(String::new, |path| {
            format!("{}: ", safe(path).replace('\n', "\u{fffd}"))
        });
        push!(text, "! {} {path}{}", degradation.code, safe(&degradation.detail));
    }
}

/// Renders why there is no answer.
pub(crate) fn error(body: &ErrorBody) -> String {
    let details = body.details.iter().map(|detail| format!("\n  because: {detail}"));
    let details: String = details.collect();
    safe(&format!("error[{}]: {}{details}", body.code, body.message))
}

/// Renders what happened while a memory was watched; a head takes one line, and one more for each problem.
pub(crate) fn watch_event(event: &WatchEvent) -> String {
    let mut text = String::new();
    match event {
        WatchEvent::Watching { root } => push!(text, "watching {}; ctrl-c ends it", safe(root)),
        WatchEvent::Head(head) => {
            push!(
                text,
                "revision {}: {} added, {} changed, {} removed; {} resources, {} units; {} ms",
                head.revision,
                head.added,
                head.changed,
                head.removed,
                head.resources,
                head.units,
                head.elapsed_ms
            );
            degradations(&mut text, &head.degradations);
        }
        WatchEvent::Failed { error: body } => push!(text, "{}", error(body)),
        WatchEvent::Degraded { degradation } => degradations(&mut text, std::slice::from_ref(degradation)),
    }
    text.trim_end().to_owned()
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
        push!(text, "{}\n", why_nothing(&response.dispositions));
    }
    for key in &response.removed {
        push!(text, "- remove {}", safe(key));
    }
    if let Some(found) = &response.candidates {
        candidates(&mut text, found);
    }
    // That a lane bounds its work is part of how an answer came about, and nothing went wrong.
    let explained = response.candidates.is_some();
    let told = |told: &&Degradation| explained || told.code != LEXICAL_TERMS_SKIPPED;
    degradations(&mut text, response.degradations.iter().filter(told));
    if let (Some(_), Some(encoder)) = (&response.candidates, &response.encoder) {
        push!(text, "encoder {encoder}");
    }
    let run = response.run_id.as_deref().unwrap_or("not recorded");
    let budget = response.budget;
    push!(
        text,
        "{}, {} of {} tokens; revision {}; run {run}",
        counted(budget.fragments_used, "fragment"),
        budget.tokens_used,
        budget.token_budget,
        response.revision
    );
    text.trim_end().to_owned()
}

/// Says why an answer is empty: what was left out is not what was not there.
fn why_nothing(dispositions: &BTreeMap<String, usize>) -> String {
    let reasons = [
        ("token_cap", "found, but too long for the token budget (--max-tokens)"),
        ("out_of_scope", "found, but outside the scopes asked for"),
        ("source_deleted", "found, but their files or records are gone"),
        (
            "below_relevance",
            "looked at, but too faint to be an answer (--explain shows them)",
        ),
    ];
    let told = reasons
        .iter()
        .find_map(|(disposition, words)| Some((dispositions.get(*disposition)?, words)));
    match told {
        Some((count, words)) => format!("No fragments: {count} {words}."),
        None => "Nothing in this memory has a word of that.".into(),
    }
}

fn fragment(text: &mut String, position: usize, fragment: &Fragment) {
    let place = std::iter::once(fragment.path.as_str()).chain(fragment.heading_path.iter().map(String::as_str));
    let place = safe(&place.collect::<Vec<_>>().join(" › ")).replace('\n', " ");
    let lines = match fragment.lines {
        // A pushed record has no file.
        lines if lines.first == 0 => "record".to_owned(),
        lines => format!("lines {}-{}", lines.first, lines.last),
    };
    let mut notes = vec![fragment.action.clone(), format!("{} tokens", fragment.token_count)];
    if fragment.role != "evidence" {
        notes.push(fragment.role.clone());
    }
    notes.extend_from_slice(&fragment.time_labels);
    push!(text, "{position}. {place}  ({lines}; {})", notes.join(", "));
    match &fragment.text {
        Some(body) => safe(body)
            .lines()
            .for_each(|line| push!(text, "{}", format!("   {line}").trim_end())),
        None => push!(text, "   (already in context)"),
    }
    push!(text, "");
}

/// Renders the funnel: two lines for each candidate, what became of it first, so that any width will do.
fn candidates(text: &mut String, found: &[Candidate]) {
    let successors: BTreeMap<&str, &str> = found
        .iter()
        .filter_map(|candidate| Some((candidate.redirected_from.as_ref()?.resource_id.as_str(), candidate)))
        .map(|(from, candidate)| (from, candidate.resource_id.as_str()))
        .collect();
    push!(text, "{} candidates:", found.len());
    for candidate in found {
        let place = candidate
            .final_
            .map_or_else(String::new, |score| format!(" {}", score.rank));
        let way = match (
            &candidate.redirected_from,
            successors.get(candidate.resource_id.as_str()),
        ) {
            (Some(from), _) => format!("  in place of {}", from.resource_id),
            (None, Some(to)) => format!("  led to {to}"),
            _ => String::new(),
        };
        let became = format!("{}{place}", candidate.disposition);
        push!(text, "  {became:16} {}{}", safe(&candidate.unit_key), safe(&way));
        push!(text, "  {:16} {}", "", stages(candidate));
    }
    push!(text, "");
}

/// Returns a candidate's rank and score in each stage that had it.
fn stages(candidate: &Candidate) -> String {
    let named = [
        ("exact", candidate.exact),
        ("impact", candidate.impact),
        ("fts5", candidate.fts5),
        ("tantivy", candidate.tantivy),
        ("lexical", candidate.lexical),
        ("dense", candidate.dense),
        ("sparse", candidate.sparse),
        ("rrf", candidate.rrf),
        ("weighted", candidate.weighted),
        ("fused", candidate.fused),
        ("reranker", candidate.reranker),
    ];
    let others = candidate
        .other
        .iter()
        .map(|(name, score)| (name.as_str(), Some(*score)));
    let ranked = named
        .into_iter()
        .chain(others)
        .filter_map(|(name, score)| Some((name, score?)));
    let mut parts: Vec<String> = ranked
        .map(|(name, score)| format!("{name} {}/{:.3}", score.rank, score.score))
        .collect();
    parts.extend(candidate.pair_score.map(|score| format!("relevance {score:.3}")));
    parts.extend(candidate.contrast.map(|share| format!("contrast {share:.3}")));
    parts.join("  ")
}

/// Returns the end of an id, in which Runs of one day differ; `runs show` takes it.
fn short(id: &str) -> &str {
    let start = id.char_indices().rev().nth(11).map_or(0, |(start, _)| start);
    &id[start..]
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
            short(&run.run_id).to_owned(),
            run.started_at.split('.').next().unwrap_or_default().to_owned(),
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
        assert_eq!(safe("left\u{202e}thgir"), "left\u{fffd}thgir");
    }
}
