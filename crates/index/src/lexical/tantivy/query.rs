//! A question becomes a union of terms. Its text is never query syntax.

use casebook_corpus::Degradation;
use tantivy::{
    Searcher,
    query::{BooleanQuery, BoostQuery, Occur, Query, TermQuery},
    schema::IndexRecordOption,
};

use super::schema::Fields;
use crate::lexical::analyzer::{self, AskedTerm};
use crate::lexical::bounds::{LOOKED_UP, SEARCHED, left_out};

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
    for (order, term) in asked.iter().take(LOOKED_UP).enumerate() {
        let frequency = searcher.doc_freq(&fields.word_term(&term.text))?;
        if frequency > 0 {
            terms.push((frequency, order));
        }
    }
    terms.sort_unstable();
    let frequent = terms.split_off(terms.len().min(SEARCHED));
    let skipped = frequent.into_iter().map(|(_, order)| order).collect();
    Ok(Question {
        query: union(terms.into_iter().map(|(_, order)| &asked[order]), fields),
        degradations: left_out(&asked, skipped).into_iter().collect(),
    })
}

/// Returns a union of nothing but boosted term queries, which Tantivy can prune; `None` of no word.
fn union<'a>(asked: impl Iterator<Item = &'a AskedTerm>, fields: Fields) -> Option<BooleanQuery> {
    let clause = |(term, weight)| -> (Occur, Box<dyn Query>) {
        let query = TermQuery::new(term, IndexRecordOption::WithFreqs);
        (Occur::Should, Box::new(BoostQuery::new(Box::new(query), weight)))
    };
    let weighted = |asked: &'a AskedTerm| {
        let terms = fields.weighted_terms(&asked.text);
        terms.map(|(term, weight)| (term, weight * asked.weight))
    };
    let clauses: Vec<_> = asked.flat_map(weighted).map(clause).collect();
    (!clauses.is_empty()).then(|| BooleanQuery::new(clauses))
}
