//! What is stored of a unit, and where.

use casebook_chunker::UnitKey;
use tantivy::{
    Score, TantivyDocument, Term,
    schema::{Field, IndexRecordOption, NumericOptions, STRING, Schema, TextFieldIndexing, TextOptions},
};

use super::LaneDocument;
use crate::lexical::analyzer;

/// Unit key, in a column, and a term by which the unit is removed. The chunker bounds its length.
pub(super) const UNIT: &str = "unit";
/// Resource id, in a column.
pub(super) const RESOURCE: &str = "resource";
/// Position among the resource's units, in a column.
pub(super) const ORDER: &str = "order";
/// All words of a unit: path, title, headings and text.
const WORDS: &str = "words";
/// Title and headings once more.
const NAMES: &str = "names";
/// The path once more.
const PATH: &str = "path";

/// What a match in each field adds. That a field of its own holds all words gives a question spread over title and text
/// one score; the others lift what is named so. Measured; the weights of the FTS5 lane mean something else.
const WEIGHTS: [(&str, Score); 3] = [(WORDS, 1.0), (NAMES, 0.3), (PATH, 0.3)];

/// Returns the schema; a change needs another `LEXICAL_REVISION`.
pub(super) fn schema() -> Schema {
    let words = TextFieldIndexing::default()
        .set_tokenizer(analyzer::NAME)
        .set_index_option(IndexRecordOption::WithFreqs);
    let mut schema = Schema::builder();
    schema.add_text_field(UNIT, STRING.set_fast("raw"));
    schema.add_text_field(RESOURCE, TextOptions::default().set_fast("raw"));
    schema.add_u64_field(ORDER, NumericOptions::default().set_fast());
    for (field, _) in WEIGHTS {
        schema.add_text_field(field, TextOptions::default().set_indexing_options(words.clone()));
    }
    schema.build()
}

/// The fields that are written and asked.
#[derive(Clone, Copy)]
pub(super) struct Fields {
    unit: Field,
    resource: Field,
    order: Field,
    weighted: [(Field, Score); WEIGHTS.len()],
}

impl Fields {
    /// Returns the fields of a schema that is ours.
    pub(super) fn of(schema: &Schema) -> tantivy::Result<Self> {
        let field = |(name, weight)| Ok::<_, tantivy::TantivyError>((schema.get_field(name)?, weight));
        Ok(Self {
            unit: schema.get_field(UNIT)?,
            resource: schema.get_field(RESOURCE)?,
            order: schema.get_field(ORDER)?,
            weighted: [field(WEIGHTS[0])?, field(WEIGHTS[1])?, field(WEIGHTS[2])?],
        })
    }

    /// Returns what is stored of a unit.
    pub(super) fn document(self, unit: &LaneDocument<'_>) -> TantivyDocument {
        let mut document = TantivyDocument::new();
        document.add_text(self.unit, unit.unit_key);
        document.add_text(self.resource, unit.resource_id);
        document.add_u64(self.order, u64::from(unit.order));
        let texts: [&[&str]; WEIGHTS.len()] = [
            &[unit.path, unit.title, unit.headings, unit.text],
            &[unit.title, unit.headings],
            &[unit.path],
        ];
        for ((field, _), texts) in self.weighted.into_iter().zip(texts) {
            texts.iter().for_each(|text| document.add_text(field, text));
        }
        document
    }

    /// Returns the term that exactly one unit has.
    pub(super) fn unit_term(self, unit: &UnitKey) -> Term {
        Term::from_field_text(self.unit, unit.as_str())
    }

    /// Returns the term of a stemmed word in the field that holds all words.
    pub(super) fn word_term(self, word: &str) -> Term {
        Term::from_field_text(self.weighted[0].0, word)
    }

    /// Returns the term of a stemmed word in each field, with what a match adds.
    pub(super) fn weighted_terms(self, word: &str) -> impl Iterator<Item = (Term, Score)> {
        self.weighted
            .into_iter()
            .map(move |(field, weight)| (Term::from_field_text(field, word), weight))
    }
}
