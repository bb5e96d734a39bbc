//! The best units of a question, ties settled by what a unit is and not by where it lies.

use std::{cmp::Reverse, collections::BinaryHeap};

use tantivy::{
    DocId, Score, SegmentReader,
    collector::{Collector, SegmentCollector},
    columnar::{Column, StrColumn},
    query::Weight,
};

use super::schema;

/// Low bits of a score that are left out of comparisons. The sum over a unit's words depends on the order in which they
/// are added, which is the layout's; without its last bits the order of equal units is theirs.
const NOISE_BITS: u32 = 6;

/// Collects the best units: by falling score, then resource id, then order.
pub(super) struct BestUnits {
    /// How many.
    pub(super) limit: usize,
}

/// A unit found. It sorts from worst to best within any set of segments.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FoundUnit {
    score: CoarseScore,
    resource_and_order: Reverse<(String, u64)>,
    unit: Reverse<String>,
}

impl FoundUnit {
    /// Returns the score.
    pub(super) fn score(&self) -> Score {
        Score::from_bits(self.score.0)
    }

    /// Returns the unit's key.
    pub(super) fn unit_key(&self) -> &str {
        &self.unit.0
    }
}

/// A positive score without its noise. The bits of positive floats sort as the floats do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct CoarseScore(u32);

impl CoarseScore {
    fn of(score: Score) -> Self {
        Self(score.max(0.0).to_bits() >> NOISE_BITS << NOISE_BITS)
    }

    /// Returns the greatest score that is worse than this one.
    fn just_below(self) -> Score {
        Score::from_bits(self.0.saturating_sub(1))
    }
}

/// A candidate of one segment, whose resource ordinals sort as the ids do.
type Candidate = (CoarseScore, Reverse<(u64, u64)>, Reverse<DocId>);

/// The best of one segment.
pub(super) struct BestOfSegment {
    limit: usize,
    units: StrColumn,
    resources: StrColumn,
    orders: Column<u64>,
    /// The worst is on top.
    best: BinaryHeap<Reverse<Candidate>>,
}

impl Collector for BestUnits {
    type Fruit = Vec<FoundUnit>;
    type Child = BestOfSegment;

    fn for_segment(&self, _segment: u32, reader: &SegmentReader) -> tantivy::Result<BestOfSegment> {
        let columns = reader.fast_fields();
        let text = |name: &'static str| {
            let missing = || tantivy::TantivyError::SchemaError(format!("column {name} is missing"));
            columns.str(name)?.ok_or_else(missing)
        };
        Ok(BestOfSegment {
            limit: self.limit,
            units: text(schema::UNIT)?,
            resources: text(schema::RESOURCE)?,
            orders: columns.u64(schema::ORDER)?,
            best: BinaryHeap::new(),
        })
    }

    fn requires_scoring(&self) -> bool {
        true
    }

    /// Skips blocks that cannot reach the worst unit kept; one that ties with it is still looked at.
    fn collect_segment(
        &self,
        weight: &dyn Weight,
        segment: u32,
        reader: &SegmentReader,
    ) -> tantivy::Result<tantivy::Result<Vec<FoundUnit>>> {
        let mut best = self.for_segment(segment, reader)?;
        let alive = reader.alive_bitset();
        weight.for_each_pruning(Score::MIN, reader, &mut |doc, score| {
            if alive.is_none_or(|alive| alive.is_alive(doc)) {
                best.collect(doc, score);
            }
            best.threshold()
        })?;
        Ok(best.harvest())
    }

    fn merge_fruits(&self, segments: Vec<tantivy::Result<Vec<FoundUnit>>>) -> tantivy::Result<Vec<FoundUnit>> {
        let segments = segments.into_iter().collect::<tantivy::Result<Vec<_>>>()?;
        let mut found = segments.concat();
        found.sort_unstable_by(|a, b| b.cmp(a));
        found.truncate(self.limit);
        Ok(found)
    }
}

impl BestOfSegment {
    /// Returns the score above which a unit may be among the best.
    fn threshold(&self) -> Score {
        match self.best.peek() {
            Some(Reverse((worst, ..))) if self.best.len() == self.limit => worst.just_below(),
            _ => Score::MIN,
        }
    }

    fn found(&self, (score, Reverse((resource, order)), Reverse(doc)): Candidate) -> tantivy::Result<FoundUnit> {
        let unit = self.units.ords().first(doc).unwrap_or_default();
        Ok(FoundUnit {
            score,
            resource_and_order: Reverse((text_of(&self.resources, resource)?, order)),
            unit: Reverse(text_of(&self.units, unit)?),
        })
    }
}

impl SegmentCollector for BestOfSegment {
    type Fruit = tantivy::Result<Vec<FoundUnit>>;

    fn collect(&mut self, doc: DocId, score: Score) {
        let resource = self.resources.ords().first(doc).unwrap_or_default();
        let order = self.orders.first(doc).unwrap_or_default();
        let candidate = (CoarseScore::of(score), Reverse((resource, order)), Reverse(doc));
        self.best.push(Reverse(candidate));
        if self.best.len() > self.limit {
            self.best.pop();
        }
    }

    fn harvest(self) -> Self::Fruit {
        self.best
            .iter()
            .map(|Reverse(candidate)| self.found(*candidate))
            .collect()
    }
}

fn text_of(column: &StrColumn, ordinal: u64) -> tantivy::Result<String> {
    let mut text = String::new();
    column.ord_to_str(ordinal, &mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_does_not_order_units() {
        let score: Score = 12.75;
        let noisy = Score::from_bits(score.to_bits() + 3);
        assert_eq!(CoarseScore::of(score), CoarseScore::of(noisy));
        assert!(CoarseScore::of(score) > CoarseScore::of(score - 0.001));
        assert!(CoarseScore::of(noisy).just_below() < score);
        assert!(CoarseScore::of(score).just_below() >= score - 0.001);
    }
}
