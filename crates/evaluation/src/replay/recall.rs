//! From the ranks of lanes to the fused list.

use std::collections::{BTreeMap, BTreeSet};

use casebook_ranker::{
    Candidate, DenseSource, Disposition, Fusion, RankedScore, Stage, UnitKey, dense_shares, fuse, fuse_weighted,
    merge_words, shares,
};

use super::{Check, Trace, difference, near, same, same_total};

impl Trace<'_> {
    /// Recomputes the lexical list from the lanes, and fusion from the two lists.
    pub(super) fn check_recall(&self) -> Check {
        falling(&self.ranked(Stage::Lexical, "impact rank", |scores| scores.impact)?)?;
        falling(&self.ranked(Stage::Lexical, "fts5 rank", |scores| scores.fts5)?)?;
        falling(&self.ranked(Stage::Lexical, "tantivy rank", |scores| scores.tantivy)?)?;
        self.ranked(Stage::Lexical, "sparse rank", |scores| scores.sparse)?;
        self.check_lexical()?;
        self.check_rrf()?;
        self.check_weighted()?;
        self.activation
            .candidates
            .iter()
            .try_for_each(|candidate| self.check_fused(candidate))
    }

    /// Identity hits lead in their order; the words follow by the weighted sum of their shares. Ties may stand in any
    /// order, since the order of units within a resource is not recorded.
    fn check_lexical(&self) -> Check {
        let identity = self.ranked(Stage::Lexical, "exact rank", |scores| scores.exact)?;
        let lexical = self.ranked(Stage::Lexical, "lexical rank", |scores| scores.lexical)?;
        let merged = merge_words(&self.word_lists());
        let named: BTreeSet<_> = identity.iter().map(|(candidate, _)| &candidate.unit_key).collect();
        let merged: Vec<_> = merged.into_iter().filter(|(key, _)| !named.contains(key)).collect();
        let length = (identity.len() + merged.len()).min(self.config.lexical_limit);
        same_total(Stage::Lexical, "length of the lexical list", lexical.len(), length)?;

        let (leading, words) = lexical.split_at(identity.len().min(length));
        for ((candidate, _), (expected, _)) in leading.iter().zip(&identity) {
            same(
                Stage::Lexical,
                candidate,
                "unit at its lexical rank",
                &candidate.unit_key,
                &expected.unit_key,
            )?;
        }
        let scores: BTreeMap<_, _> = merged.iter().map(|(key, score)| (*key, *score)).collect();
        for ((candidate, ranked), (_, expected)) in words.iter().zip(&merged) {
            let own = scores.get(&candidate.unit_key).copied().unwrap_or(0.0);
            for (what, found) in [
                ("merged score at its lexical rank", own),
                ("lexical score at its rank", ranked.score),
            ] {
                if named.contains(&candidate.unit_key) || !near(found, *expected) {
                    return Err(difference(Stage::Lexical, Some(candidate), what, &found, expected));
                }
            }
        }
        Ok(())
    }

    /// Returns each word lane's list as shares, with its weight.
    fn word_lists(&self) -> Vec<(f32, Vec<(&UnitKey, f32)>)> {
        let mut lanes = BTreeMap::<&str, Vec<(&UnitKey, RankedScore)>>::new();
        for Candidate { unit_key, scores, .. } in &self.activation.candidates {
            let known = [
                ("impact", scores.impact),
                ("fts5", scores.fts5),
                ("tantivy", scores.tantivy),
                ("sparse", scores.sparse),
            ];
            let known = known.into_iter().filter_map(|(lane, ranked)| Some((lane, ranked?)));
            let other = scores.other.iter().map(|(lane, ranked)| (lane.as_str(), *ranked));
            for (lane, ranked) in known.chain(other) {
                lanes.entry(lane).or_default().push((unit_key, ranked));
            }
        }
        let limit = self.config.lexical_limit;
        let weighted = |(lane, hits): (&str, Vec<(_, RankedScore)>)| {
            let hits: Vec<_> = hits.into_iter().map(|(key, ranked)| (key, ranked.score)).collect();
            (self.config.lexical_weights.of(lane), shares(&hits, limit))
        };
        lanes.into_iter().map(weighted).collect()
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

    fn check_weighted(&self) -> Check {
        let lexical = self.ranked(Stage::Lexical, "lexical rank", |scores| scores.lexical)?;
        let dense = self.ranked(Stage::Dense, "dense rank", |scores| scores.dense)?;
        let recorded = self.ranked(Stage::Fusion, "weighted rank", |scores| scores.weighted)?;
        // A key begins with the recorded rank, so that ties fall as they were recorded, and tells whether it is foreign.
        let keys = |list: &[(&Candidate, RankedScore)]| -> Vec<_> {
            let key = |candidate: &Candidate| {
                let rank = candidate.scores.weighted.map_or(u32::MAX, |ranked| ranked.rank);
                let foreign = candidate.language.is_foreign_to(self.activation.query_language);
                (rank, foreign, candidate.unit_key.clone())
            };
            list.iter()
                .map(|(candidate, ranked)| (key(candidate), ranked.score))
                .collect()
        };
        let is_foreign = |key: &(u32, bool, _)| key.1;
        let (weights, source) = (&self.config.fusion_weights, self.activation.dense_source.as_ref());
        let dense = dense_shares(&keys(&dense), is_foreign, DenseSource::is_contextual(source));
        let dense_share = weights.dense_share(source);
        let fused = fuse_weighted(&keys(&lexical), &dense, is_foreign, dense_share, weights);
        same_total(
            Stage::Fusion,
            "length of the weighted list",
            recorded.len(),
            fused.len(),
        )?;
        for ((candidate, ranked), ((_, _, unit_key), score)) in recorded.iter().zip(fused) {
            same(
                Stage::Fusion,
                candidate,
                "unit at its weighted rank",
                &candidate.unit_key,
                &unit_key,
            )?;
            same(Stage::Fusion, candidate, "weighted score", ranked.score, score)?;
        }
        Ok(())
    }

    /// The best of the fused list are kept; a successor stands where the one that it replaced was.
    fn check_fused(&self, candidate: &Candidate) -> Check {
        let kept = |ranked: &RankedScore| ranked.rank as usize <= self.config.fused_keep;
        let scores = &candidate.scores;
        let own = match self.config.fusion {
            Fusion::Rrf => scores.rrf,
            Fusion::Weighted => scores.weighted,
        };
        let own = own.filter(kept);
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

/// The index's own lanes list the best first.
fn falling(list: &[(&Candidate, RankedScore)]) -> Check {
    for pair in list.windows(2) {
        let [(_, before), (candidate, after)] = pair else {
            continue;
        };
        if after.score > before.score {
            let expected = format!("at most {}", before.score);
            return Err(difference(
                Stage::Lexical,
                Some(candidate),
                "score in its lane",
                &after.score,
                &expected,
            ));
        }
    }
    Ok(())
}

fn shown(ranked: Option<RankedScore>) -> String {
    ranked.map_or_else(|| "none".into(), |ranked| format!("{} ({})", ranked.rank, ranked.score))
}
