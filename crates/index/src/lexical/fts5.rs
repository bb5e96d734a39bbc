//! Recalls units by substrings: SQLite's FTS5 with trigrams.
//!
//! The one thing a newcomer gets wrong: the time goes into ranking what matches, not into finding it. So the lane counts
//! the matches of each term first and leaves the frequent ones to the word lane.

mod terms;

use std::sync::Arc;

use casebook_corpus::Degradation;
use rusqlite::Connection;

use self::terms::{Term, terms};
use super::best::best;
use crate::degradation::LEXICAL_TERMS_SKIPPED;
use crate::snapshot::Reader;
use crate::{LaneAnswer, LaneError, LaneHit, LexicalLane, Revision, RevisionId};

/// What the lane finds is determined by this.
pub(crate) const REVISION: &str = "fts5-trigram-nfkc1";

/// Matches of terms that one query may rank; a corpus of so many units is never bounded. Ranking takes about two
/// microseconds a match (the `lexical` benchmark), so that this is about what the word lane takes.
const RANKED: usize = 1_000;

/// How far a term is counted at first, and how many times farther then.
const FIRST_COUNTED: usize = 128;
const COUNTED_STEP: usize = 4;

/// Weights: path 8, title 6, heading 4, body 1. Smaller is better in FTS5.
const SEARCH: &str = "SELECT rowid, bm25(search_units_fts, 8.0, 6.0, 4.0, 1.0) FROM search_units_fts
                      WHERE search_units_fts MATCH ?1";

const COUNT: &str = "SELECT count(*) FROM (
                         SELECT 1 FROM search_units_fts WHERE search_units_fts MATCH ?1 LIMIT ?2)";

/// Finds substrings of three characters and more, identifiers, words inside words.
pub(crate) struct Fts5Lane {
    reader: Arc<Reader>,
    revision: RevisionId,
    units: u64,
}

impl Fts5Lane {
    pub(crate) fn new(reader: Arc<Reader>, revision: RevisionId, units: u64) -> Self {
        Self {
            reader,
            revision,
            units,
        }
    }

    /// Returns whether the revision's table of substrings is what this lane searches.
    pub(crate) fn is_served_by(revision: &Revision) -> bool {
        revision.lexical_revision.split(' ').any(|lane| lane == REVISION)
    }

    fn find(&self, db: &Connection, query: &str, limit: usize) -> rusqlite::Result<LaneAnswer> {
        let mut asked = terms(query);
        let mut degradations = Vec::new();
        if self.units > RANKED as u64 {
            let skipped = bound(db, &mut asked, RANKED, FIRST_COUNTED)?;
            degradations.extend(skipped_terms(&skipped));
        }
        let hits = match expression(&asked) {
            Some(expression) => ranked(db, &expression, limit)?,
            None => Vec::new(),
        };
        Ok(LaneAnswer { hits, degradations })
    }
}

impl LexicalLane for Fts5Lane {
    fn name(&self) -> &'static str {
        "fts5"
    }

    fn revision(&self) -> &RevisionId {
        &self.revision
    }

    fn search(&self, query: &str, limit: usize) -> Result<LaneAnswer, LaneError> {
        if limit == 0 {
            return Ok(LaneAnswer::default());
        }
        self.reader
            .read(|db| self.find(db, query, limit))
            .map_err(|error| LaneError::Other {
                lane: self.name(),
                source: Box::new(error),
            })
    }
}

/// Joins the terms by OR; each is quoted, so nothing in it is syntax. `None` where there is no term.
fn expression(terms: &[Term]) -> Option<String> {
    let quoted: Vec<String> = terms.iter().map(Term::quoted).collect();
    (!quoted.is_empty()).then(|| quoted.join(" OR "))
}

/// Leaves out the most frequent terms until what is left matches at most `ranked` units, counted term by term; the
/// rarest term always stays. Returns what was left out.
///
/// Terms are counted a little at first and further only while one more could still find room: counting the most frequent
/// ones to the end would cost more than ranking the rare ones.
fn bound(db: &Connection, asked: &mut Vec<Term>, ranked: usize, first_counted: usize) -> rusqlite::Result<Vec<Term>> {
    let mut statement = db.prepare_cached(COUNT)?;
    let mut uncounted = std::mem::take(asked);
    let (mut sum, mut most) = (0, first_counted.min(ranked));
    loop {
        let mut counted = Vec::with_capacity(uncounted.len());
        for term in uncounted.drain(..) {
            let matches: usize = statement.query_row((term.quoted(), most + 1), |row| row.get(0))?;
            counted.push((matches, term));
        }
        // Stable: terms of one frequency stay in the order asked. A longer one is rarer where both counts hit the bound.
        counted.sort_by_key(|(matches, term)| (*matches, std::cmp::Reverse(term.len())));
        let fits = |(matches, _): &&(usize, Term)| {
            let fits = *matches <= most && sum + matches <= ranked;
            sum += if fits { *matches } else { 0 };
            fits
        };
        let fitting = counted.iter().take_while(fits).count();
        uncounted.extend(counted.split_off(fitting).into_iter().map(|(_, term)| term));
        asked.extend(counted.into_iter().map(|(_, term)| term));
        // Every term that was not counted to its end has more matches than this.
        if uncounted.is_empty() || most >= ranked || sum + most >= ranked {
            break;
        }
        most = (most * COUNTED_STEP).min(ranked);
    }
    if asked.is_empty() && !uncounted.is_empty() {
        asked.push(uncounted.remove(0));
    }
    Ok(uncounted)
}

fn skipped_terms(skipped: &[Term]) -> Option<Degradation> {
    let names: Vec<&str> = skipped.iter().map(Term::as_str).collect();
    let detail = format!("fts5 left out frequent terms: {}", names.join(", "));
    (!names.is_empty()).then(|| Degradation::new(LEXICAL_TERMS_SKIPPED, detail))
}

/// Returns the best units.
fn ranked(db: &Connection, expression: &str, limit: usize) -> rusqlite::Result<Vec<LaneHit>> {
    let mut statement = db.prepare_cached(SEARCH)?;
    let scored = statement.query_map([expression], |row| Ok((row.get(0)?, -row.get::<_, f64>(1)? as f32)))?;
    best(db, scored.collect::<rusqlite::Result<_>>()?, limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table in which the n-th unit of a hundred holds every word whose number divides n.
    fn table(words: &[(&str, usize)]) -> Connection {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch("CREATE VIRTUAL TABLE search_units_fts USING fts5 (body, tokenize = 'trigram')")
            .unwrap();
        for unit in 1..=100 {
            let held = words
                .iter()
                .filter(|(_, every)| unit % every == 0)
                .map(|(word, _)| *word);
            let body = held.collect::<Vec<_>>().join(" ");
            db.execute("INSERT INTO search_units_fts (body) VALUES (?1)", [body])
                .unwrap();
        }
        db
    }

    /// Counting begins small here, so that some terms are counted once and others several times.
    fn check(words: &[(&str, usize)], ranked: usize, kept: &str, skipped: &str) {
        let db = table(words);
        let query: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        for first_counted in [1, 3, 1000] {
            let mut asked = terms(&query.join(" "));
            let left_out = bound(&db, &mut asked, ranked, first_counted).unwrap();
            let names = |terms: &[Term]| terms.iter().map(Term::as_str).collect::<Vec<_>>().join(" ");
            let found = (names(&asked), names(&left_out));
            assert_eq!((found.0.as_str(), found.1.as_str()), (kept, skipped), "{first_counted}");
        }
    }

    #[test]
    fn frequent_terms_are_left_out_and_the_rarest_stays() {
        let words = [("often", 1), ("rare", 50), ("索引表", 4), ("unknown", 1000)];
        check(&words, 1000, "unknown rare 索引表 often", "");
        check(&words, 30, "unknown rare 索引表", "often");
        check(&words, 10, "unknown rare", "索引表 often");
        check(
            &[("often", 1), ("every2", 2), ("every5", 5), ("every9", 9)],
            31,
            "every9 every5",
            "every2 often",
        );
        check(&[("often", 1), ("everywhere", 1)], 10, "everywhere", "often");
        check(&[("often", 1)], 10, "often", "");
        check(&[], 10, "", "");
    }

    #[test]
    fn what_is_left_out_is_told() {
        let told = skipped_terms(&terms("the 索引表")).unwrap();
        assert_eq!(
            told.to_string(),
            "lexical_terms_skipped: fts5 left out frequent terms: the, 索引表"
        );
        assert_eq!(skipped_terms(&[]), None);
    }
}
