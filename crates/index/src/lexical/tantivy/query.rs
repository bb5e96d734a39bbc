//! A question becomes a union of terms. Its text is never query syntax.

use casebook_corpus::Degradation;
use tantivy::{
    Searcher,
    query::{BooleanQuery, BoostQuery, Occur, Query, TermQuery},
    schema::IndexRecordOption,
};

use super::{analyzer, schema::Fields};
use crate::degradation::LEXICAL_TERMS_SKIPPED;

/// Most distinct terms of a question that are looked up at all.
const LOOKED_UP: usize = 1024;

/// Most terms that are searched; of more, the rarest.
const SEARCHED: usize = 64;

/// Most terms that the degradation names.
const NAMED: usize = 8;

/// What to search for.
pub(super) struct Question {
    /// `None` where no word of the question is in the index.
    pub(super) query: Option<BooleanQuery>,
    /// Words left out.
    pub(super) degradations: Vec<Degradation>,
}

/// Returns what to search for a question: each of its words once.
pub(super) fn question(text: &str, searcher: &Searcher, fields: Fields) -> tantivy::Result<Question> {
    let asked = analyzer::asked(text);
    let mut terms = Vec::new();
    for (order, text) in asked.iter().take(LOOKED_UP).enumerate() {
        let frequency = searcher.doc_freq(&fields.word_term(text))?;
        if frequency > 0 {
            terms.push((frequency, order));
        }
    }
    terms.sort_unstable();
    let frequent = terms.split_off(terms.len().min(SEARCHED));
    let mut skipped: Vec<usize> = frequent.into_iter().map(|(_, order)| order).collect();
    skipped.sort_unstable();
    skipped.extend(LOOKED_UP..asked.len());
    let skipped: Vec<&str> = skipped.into_iter().map(|order| asked[order].as_str()).collect();
    Ok(Question {
        query: union(terms.into_iter().map(|(_, order)| asked[order].as_str()), fields),
        degradations: degradation(&skipped).into_iter().collect(),
    })
}

/// Returns a union of nothing but boosted term queries, which Tantivy can prune; `None` of no word.
fn union<'a>(words: impl Iterator<Item = &'a str>, fields: Fields) -> Option<BooleanQuery> {
    let clause = |(term, weight)| -> (Occur, Box<dyn Query>) {
        let query = TermQuery::new(term, IndexRecordOption::WithFreqs);
        (Occur::Should, Box::new(BoostQuery::new(Box::new(query), weight)))
    };
    let clauses: Vec<_> = words.flat_map(|word| fields.weighted_terms(word)).map(clause).collect();
    (!clauses.is_empty()).then(|| BooleanQuery::new(clauses))
}

fn degradation(skipped: &[&str]) -> Option<Degradation> {
    let (named, more) = skipped.split_at(skipped.len().min(NAMED));
    let names = named.join(", ");
    let detail = match (named, more) {
        ([], _) => return None,
        (_, []) => format!("the question is long; left out: {names}"),
        (_, more) => format!("the question is long; left out: {names} and {} more words", more.len()),
    };
    Some(Degradation::new(LEXICAL_TERMS_SKIPPED, detail))
}
