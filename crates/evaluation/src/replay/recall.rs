//! From the ranks of lanes to the fused list.

use casebook_ranker::{Candidate, Disposition, RankedScore, Stage, StageScores, fuse};

use super::{Check, Trace, difference, near, same, same_total};

impl Trace<'_> {
    /// Recomputes the lexical list from the lanes, and fusion from the two lists.
    pub(super) fn check_recall(&self) -> Check {
        self.ranked(Stage::Lexical, "fts5 rank", |scores| scores.fts5)?;
        self.ranked(Stage::Lexical, "tantivy rank", |scores| scores.tantivy)?;
        self.ranked(Stage::Lexical, "sparse rank", |scores| scores.sparse)?;
        self.check_lexical()?;
        self.check_rrf()?;
        self.activation
            .candidates
            .iter()
            .try_for_each(|candidate| self.check_fused(candidate))
    }

    /// Identity hits lead in their order; the words follow by the weighted sum of their reciprocal ranks. Ties may stand
    /// in any order, since the order of units within a resource is not recorded.
    fn check_lexical(&self) -> Check {
        let identity = self.ranked(Stage::Lexical, "exact rank", |scores| scores.exact)?;
        let lexical = self.ranked(Stage::Lexical, "lexical rank", |scores| scores.lexical)?;
        let by_words = self
            .activation
            .candidates
            .iter()
            .filter(|candidate| candidate.scores.exact.is_none());
        let mut words: Vec<f32> = by_words
            .map(|candidate| self.word_score(&candidate.scores))
            .filter(|score| *score > 0.0)
            .collect();
        words.sort_by(|one, other| other.total_cmp(one));
        let length = (identity.len() + words.len()).min(self.config.lexical_limit);
        same_total(Stage::Lexical, "length of the lexical list", lexical.len(), length)?;

        let (named, merged) = lexical.split_at(identity.len().min(length));
        for ((candidate, _), (expected, _)) in named.iter().zip(&identity) {
            same(
                Stage::Lexical,
                candidate,
                "unit at its lexical rank",
                &candidate.unit_key,
                &expected.unit_key,
            )?;
        }
        for ((candidate, _), expected) in merged.iter().zip(words) {
            let found = self.word_score(&candidate.scores);
            if candidate.scores.exact.is_some() || !near(found, expected) {
                return Err(difference(
                    Stage::Lexical,
                    Some(candidate),
                    "merged score at its lexical rank",
                    &found,
                    &expected,
                ));
            }
        }
        Ok(())
    }

    fn word_score(&self, scores: &StageScores) -> f32 {
        let weights = &self.config.lexical_weights;
        let reciprocal = |ranked: RankedScore| 1.0 / (self.config.rrf_k + ranked.rank as f32);
        let known = [
            ("fts5", scores.fts5),
            ("tantivy", scores.tantivy),
            ("sparse", scores.sparse),
        ];
        let known = known.into_iter().filter_map(|(lane, ranked)| Some((lane, ranked?)));
        let other = scores.other.iter().map(|(lane, ranked)| (lane.as_str(), *ranked));
        known
            .chain(other)
            .map(|(lane, ranked)| weights.of(lane) * reciprocal(ranked))
            .sum()
    }

    fn check_rrf(&self) -> Check {
        let lexical = self.ranked(Stage::Lexical, "lexical rank", |scores| scores.lexical)?;
        let dense = self.ranked(Stage::Dense, "dense rank", |scores| scores.dense)?;
        let recorded = self.ranked(Stage::Fusion, "rrf rank", |scores| scores.rrf)?;
        // A key begins with the recorded rank, so that ties fall as they were recorded.
        let keys = |list: &[(&Candidate, RankedScore)]| -> Vec<_> {
            let rank = |candidate: &Candidate| candidate.scores.rrf.map_or(u32::MAX, |ranked| ranked.rank);
            list.iter()
                .map(|(candidate, _)| (rank(candidate), candidate.unit_key.clone()))
                .collect()
        };
        let fused = fuse(&keys(&lexical), &keys(&dense), self.config.rrf_k, usize::MAX);
        same_total(Stage::Fusion, "length of the fused list", recorded.len(), fused.len())?;
        for ((candidate, ranked), ((_, unit_key), score)) in recorded.iter().zip(fused) {
            same(
                Stage::Fusion,
                candidate,
                "unit at its rrf rank",
                &candidate.unit_key,
                &unit_key,
            )?;
            same(Stage::Fusion, candidate, "rrf score", ranked.score, score)?;
        }
        Ok(())
    }

    /// The best of the fused list are kept; a successor stands where the one that it replaced was.
    fn check_fused(&self, candidate: &Candidate) -> Check {
        let kept = |ranked: &RankedScore| ranked.rank as usize <= self.config.fused_keep;
        let own = candidate.scores.rrf.filter(kept);
        let Some((from, _)) = &candidate.redirected_from else {
            return same(
                Stage::Fusion,
                candidate,
                "fused rank",
                shown(candidate.scores.fused),
                shown(own),
            );
        };
        let replaced = self.activation.candidates.iter().filter(|other| {
            other.resource_id == *from && matches!(other.disposition, Disposition::Superseded | Disposition::Selected)
        });
        if replaced
            .into_iter()
            .any(|other| other.scores.fused == candidate.scores.fused)
        {
            return Ok(());
        }
        Err(difference(
            Stage::Guard,
            Some(candidate),
            "fused rank",
            &shown(candidate.scores.fused),
            &"that of a replaced unit",
        ))
    }
}

fn shown(ranked: Option<RankedScore>) -> String {
    ranked.map_or_else(|| "none".into(), |ranked| format!("{} ({})", ranked.rank, ranked.score))
}
