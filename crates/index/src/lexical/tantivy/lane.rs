//! One revision of the word index, as it was when the lane was taken.

use std::path::PathBuf;

use casebook_chunker::UnitKey;
use casebook_storage::create_private_file;
use tantivy::Searcher;

use super::{
    collector::{BestUnits, FoundUnit},
    guarded,
    query::{Question, question},
    schema::Fields,
};
use crate::{LaneAnswer, LaneError, LaneHit, LexicalLane, RevisionId};

const NAME: &str = "tantivy";

/// Recalls units by stemmed words and bigrams, by BM25 over path, title, headings and text together.
///
/// Scores count units that were removed until a merge drops them, so they move a little between a build from nothing and
/// the same memory built step by step. Hits never do: a removed unit is not found.
pub(crate) struct TantivyLane {
    revision: RevisionId,
    searcher: Searcher,
    fields: Fields,
    suspicion: PathBuf,
}

impl TantivyLane {
    /// Where a search fails, the file `suspicion` tells the next build.
    pub(super) fn new(revision: RevisionId, searcher: Searcher, fields: Fields, suspicion: PathBuf) -> Self {
        Self {
            revision,
            searcher,
            fields,
            suspicion,
        }
    }

    fn answer(&self, text: &str, limit: usize) -> tantivy::Result<LaneAnswer> {
        let Question { query, degradations } = question(text, &self.searcher, self.fields)?;
        let found = match query {
            Some(query) => self.searcher.search(&query, &BestUnits { limit })?,
            None => Vec::new(),
        };
        let hit = |unit: &FoundUnit| LaneHit {
            unit_key: UnitKey::from(unit.unit_key()),
            score: unit.score(),
        };
        Ok(LaneAnswer {
            hits: found.iter().map(hit).collect(),
            degradations,
        })
    }
}

impl LexicalLane for TantivyLane {
    fn name(&self) -> &'static str {
        NAME
    }

    fn revision(&self) -> &RevisionId {
        &self.revision
    }

    fn search(&self, query: &str, limit: usize) -> Result<LaneAnswer, LaneError> {
        guarded(|| self.answer(query, limit)).map_err(|error| {
            // Where no file can be made, nothing can be written anew either.
            let _ = create_private_file(&self.suspicion);
            LaneError::Other {
                lane: NAME,
                source: error.into(),
            }
        })
    }
}
