//! How much of a question the word lanes look at, and how they tell what they leave out.

use casebook_corpus::Degradation;

use super::analyzer::AskedTerm;
use crate::degradation::LEXICAL_TERMS_SKIPPED;

/// Most distinct terms of a question that are looked up at all.
pub(super) const LOOKED_UP: usize = 1024;

/// Most terms that are searched; of more, the rarest.
pub(super) const SEARCHED: usize = 64;

/// Most terms that the degradation names.
const NAMED: usize = 8;

/// Returns what tells of the terms that are left out, given by their places in the question, besides all from
/// [`LOOKED_UP`] on.
pub(super) fn left_out(asked: &[AskedTerm], mut places: Vec<usize>) -> Option<Degradation> {
    places.sort_unstable();
    places.dedup();
    places.extend(LOOKED_UP..asked.len());
    let names: Vec<&str> = places
        .iter()
        .take(NAMED)
        .map(|place| asked[*place].text.as_str())
        .collect();
    let names = names.join(", ");
    let detail = match places.len() {
        0 => return None,
        1..=NAMED => format!("the question is long; left out: {names}"),
        all => format!("the question is long; left out: {names} and {} more words", all - NAMED),
    };
    Some(Degradation::new(LEXICAL_TERMS_SKIPPED, detail))
}
