//! From lists of lanes to candidates: broken hits are dropped, ranks noted, the lists merged and fused.

use std::collections::{BTreeSet, HashMap};

use casebook_corpus::Degradation;
use casebook_index::{Language, UnitKey, UnitRecord, UnitSource, UnitSourceError};

use crate::fusion::{dense_shares, fuse, fuse_weighted, merge_words, shares};
use crate::hit::Hit;
use crate::recall::{LaneList, Recall};
use crate::{DenseSource, Disposition, Fusion, RankedScore, RankerConfig, StageScores};

/// A lane returned units that the revision lacks, one unit twice, scores that are no numbers or more than it was asked
/// for; those hits were dropped.
pub const LANE_BROKEN_HIT: &str = "lane_broken_hit";

/// The score of an identity hit in the lexical list; a merged word hit has at most this.
const IDENTITY_SCORE: f32 = 1.0;

/// A lane's sound hits: positions in the pool, with the lane's scores.
type SoundList = Vec<(usize, f32)>;

/// Candidates in order of resource and unit, so that a lower position wins a tie.
struct Pool {
    hits: Vec<Hit>,
    positions: HashMap<UnitKey, usize>,
    /// How many times its limit each lane was asked for.
    reach: usize,
    starved: bool,
}

/// What the lanes found, put together.
pub(crate) struct Gathered {
    /// Every candidate: by fused rank, then those that fusion cut, then those that did not fit the lexical list, then those
    /// that were not admitted.
    pub(crate) hits: Vec<Hit>,
    /// Whether a lane was cut short while what was not admitted took places in its answer: there may be more to find.
    pub(crate) starved: bool,
}

/// Puts the lists together. What `admit` refuses takes no place in any list, so that it cannot keep others out, and has
/// no rank or score, so that nobody learns from it.
pub(crate) fn gather(
    recall: &Recall,
    query_language: Language,
    units: &dyn UnitSource,
    admit: &dyn Fn(&UnitRecord) -> Option<Disposition>,
    config: &RankerConfig,
    degradations: &mut Vec<Degradation>,
) -> Result<Gathered, UnitSourceError> {
    let mut pool = Pool::read(recall, units, admit, config)?;
    let identity = pool.take(recall.identity.as_ref(), config.lexical_limit, degradations);
    pool.note(&identity, |scores| &mut scores.exact);
    for (position, _) in &identity {
        pool.hits[*position].named = true;
    }
    let mut words = Vec::with_capacity(recall.words.len());
    for list in &recall.words {
        let sound = pool.take(Some(list), config.lexical_limit, degradations);
        pool.note_words(list.name, &sound);
        words.push((
            config.lexical_weights.of(list.name),
            shares(&sound, config.lexical_limit),
        ));
    }
    let dense = pool.take(recall.dense.as_ref(), recall.dense_limit, degradations);
    pool.note(&dense, |scores| &mut scores.dense);
    let lexical = lexical_list(&identity, &words, config);
    pool.note(&lexical, |scores| &mut scores.lexical);
    let starved = pool.starved;
    let hits = pool.fused(&lexical, &dense, recall.dense_source.as_ref(), query_language, config);
    Ok(Gathered { hits, starved })
}

/// Identity hits in their order, then the merge of the word lanes. One word lane alone keeps its own order.
fn lexical_list(identity: &SoundList, words: &[(f32, SoundList)], config: &RankerConfig) -> SoundList {
    let named: BTreeSet<_> = positions(identity).into_iter().collect();
    let merged = merge_words(words);
    let merged = merged.into_iter().filter(|(position, _)| !named.contains(position));
    let led = identity.iter().map(|(position, _)| (*position, IDENTITY_SCORE));
    led.chain(merged).take(config.lexical_limit).collect()
}

fn positions(list: &SoundList) -> Vec<usize> {
    list.iter().map(|(position, _)| *position).collect()
}

impl Pool {
    fn read(
        recall: &Recall,
        units: &dyn UnitSource,
        admit: &dyn Fn(&UnitRecord) -> Option<Disposition>,
        config: &RankerConfig,
    ) -> Result<Self, UnitSourceError> {
        let words = recall.identity.iter().chain(&recall.words);
        let lists = words.map(|list| (list, config.lexical_limit));
        let lists = lists.chain(recall.dense.iter().map(|list| (list, recall.dense_limit)));
        let keys: BTreeSet<_> = lists
            .flat_map(|(list, limit)| list.hits.iter().take(limit * recall.reach))
            .map(|hit| hit.unit_key.clone())
            .collect();
        let mut records = units.units(&keys.into_iter().collect::<Vec<_>>())?;
        records.sort_by(|one, other| place(one).cmp(&place(other)));
        records.dedup_by(|one, other| one.unit.unit_key == other.unit.unit_key);
        let keys = records.iter().map(|record| record.unit.unit_key.clone());
        Ok(Self {
            positions: keys.zip(0..).collect(),
            hits: records.into_iter().map(|record| Hit::admitted(record, admit)).collect(),
            reach: recall.reach,
            starved: false,
        })
    }

    /// Returns a lane's sound hits that were admitted, in its order, and tells about those that are not sound.
    fn take(&mut self, list: Option<&LaneList>, limit: usize, degradations: &mut Vec<Degradation>) -> SoundList {
        let Some(list) = list else { return Vec::new() };
        let mut seen = BTreeSet::new();
        let asked = limit * self.reach;
        let asked_for = list.hits.iter().take(asked).filter(|hit| hit.score.is_finite());
        let known = asked_for.filter_map(|hit| Some((*self.positions.get(&hit.unit_key)?, hit.score)));
        let mut sound: SoundList = known.filter(|(position, _)| seen.insert(*position)).collect();
        let broken = list.hits.len() - sound.len();
        if broken > 0 {
            let detail = format!("{}: {broken} of {} hits were dropped", list.name, list.hits.len());
            degradations.push(Degradation::new(LANE_BROKEN_HIT, detail));
        }
        let before = sound.len();
        sound.retain(|(position, _)| self.hits[*position].disposition.is_none());
        self.starved |= sound.len() < before.min(limit) && list.hits.len() >= asked;
        sound.truncate(limit);
        sound
    }

    fn note(&mut self, list: &SoundList, slot: impl Fn(&mut StageScores) -> &mut Option<RankedScore>) {
        for (rank, (position, score)) in list.iter().enumerate() {
            *slot(&mut self.hits[*position].scores) = Some(RankedScore::at(rank, *score));
        }
    }

    fn note_words(&mut self, lane: &str, list: &SoundList) {
        match lane {
            "impact" => self.note(list, |scores| &mut scores.impact),
            "fts5" => self.note(list, |scores| &mut scores.fts5),
            "tantivy" => self.note(list, |scores| &mut scores.tantivy),
            "sparse" => self.note(list, |scores| &mut scores.sparse),
            _ => {
                for (rank, (position, score)) in list.iter().enumerate() {
                    let own = (lane.to_owned(), RankedScore::at(rank, *score));
                    self.hits[*position].scores.other.push(own);
                }
            }
        }
    }

    fn fused(
        mut self,
        lexical: &SoundList,
        dense: &SoundList,
        dense_source: Option<&DenseSource>,
        query_language: Language,
        config: &RankerConfig,
    ) -> Vec<Hit> {
        let rrf = fuse(&positions(lexical), &positions(dense), config.rrf_k, usize::MAX);
        let is_foreign = |position: &usize| self.hits[*position].language.is_foreign_to(query_language);
        let weights = &config.fusion_weights;
        let dense_share = weights.dense_share(dense_source);
        let dense = dense_shares(dense, is_foreign, DenseSource::is_contextual(dense_source));
        let weighted = fuse_weighted(lexical, &dense, is_foreign, dense_share, weights);
        self.note(&rrf, |scores| &mut scores.rrf);
        self.note(&weighted, |scores| &mut scores.weighted);
        let chosen = match config.fusion {
            Fusion::Rrf => rrf,
            Fusion::Weighted => weighted,
        };
        let mut waiting: Vec<_> = self.hits.into_iter().map(Some).collect();
        let mut hits = Vec::with_capacity(waiting.len());
        for (rank, (position, score)) in chosen.into_iter().enumerate() {
            let Some(mut hit) = waiting[position].take() else {
                continue;
            };
            hit.scores.fused = (rank < config.fused_keep).then_some(RankedScore::at(rank, score));
            hits.push(hit);
        }
        // A unit whose every hit was broken, or that no limit had room for, has no rank at all: no lane found it.
        let (refused, unfused): (Vec<_>, Vec<_>) =
            waiting.into_iter().flatten().partition(|hit| hit.disposition.is_some());
        hits.extend(unfused.into_iter().filter(|hit| hit.scores != StageScores::default()));
        hits.extend(refused.into_iter().take(config.lexical_limit + config.dense_limit));
        hits
    }
}

/// The order that ties are broken by.
fn place(record: &UnitRecord) -> (&str, u32, &str) {
    let unit = &record.unit;
    (record.resource.id.as_str(), record.order, unit.unit_key.as_str())
}
