//! Late interaction over a static table: the scores of [`LateInteraction`](crate::LateInteraction), computed on the
//! rows where they lie.
//!
//! A piece has one row wherever it stands, so its cosines to the query are computed once for all passages, and a passage
//! is only a set of pieces.

use std::ops::Range;
use std::sync::Arc;

use casebook_index::{Cancel, Passage};
use casebook_ranker::{PairScore, PairScorer, ScoreError, WordMatch};

use crate::late_interaction::{LateInteractionConfig, Met};
use crate::passage_text::{context, sentences};
use crate::static_encoder::{Pool, revision};
use crate::static_table::{Rows, StaticTable};

/// Cosines that are kept at most, give or take those of one sentence.
const MEMO: usize = 1 << 20;

/// Scores passages by a static table: 0 where nothing matches, 1 where all of the query is there.
#[derive(Clone, Debug)]
pub struct StaticLateInteraction {
    table: Arc<StaticTable>,
    config: LateInteractionConfig,
    revision: String,
}

impl StaticLateInteraction {
    /// Makes a scorer with the usual constants. See [`with_config`](Self::with_config).
    pub fn new(table: Arc<StaticTable>) -> Self {
        Self::with_config(table, LateInteractionConfig::default())
    }

    /// Makes a scorer.
    pub fn with_config(table: Arc<StaticTable>, config: LateInteractionConfig) -> Self {
        Self {
            revision: config.revision(&revision(&table)),
            table,
            config,
        }
    }

    /// Cuts all passages before the first is scored: the look-up of pieces and the rows do not fit the cache together.
    fn cut(&self, passages: &[Passage<'_>], cancel: &dyn Cancel) -> Result<Vec<CutPassage>, ScoreError> {
        let mut tokenizer = self.table.tokenizer();
        let mut cut = Vec::with_capacity(passages.len());
        for passage in passages {
            if cancel.cancelled() {
                return Err(ScoreError::Cancelled);
            }
            let mut pieces = CutPassage::default();
            tokenizer.visit(&context(passage), |piece, _| pieces.context.push(piece));
            for sentence in sentences(passage.text) {
                tokenizer.visit(sentence, |piece, _| pieces.text.push(piece));
                pieces.ends.push(pieces.text.len());
            }
            cut.push(pieces);
        }
        Ok(cut)
    }
}

impl PairScorer for StaticLateInteraction {
    fn revision(&self) -> &str {
        &self.revision
    }

    fn score(&self, query: &str, passages: &[Passage<'_>], cancel: &dyn Cancel) -> Result<Vec<PairScore>, ScoreError> {
        let mut pool = Pool::new(self.table.rows());
        self.table.tokenizer().visit(query, |piece, _| pool.push(piece));
        let whole = pool.vector().vector;
        let mut words = QueryWords::new(&self.table, query);
        let mut met = Vec::with_capacity(passages.len());
        for passage in self.cut(passages, cancel)? {
            if cancel.cancelled() {
                return Err(ScoreError::Cancelled);
            }
            words.begin_passage();
            words.meet(&passage.context);
            let mut nearest = 0.0_f32;
            for sentence in passage.sentences() {
                words.meet(sentence);
                sentence.iter().for_each(|&piece| pool.push(piece));
                nearest = nearest.max(pool.cosine(&whole));
            }
            let words = words.best.iter().map(|&best| self.config.above_chance(best)).collect();
            met.push(Met {
                words,
                sentence: nearest,
            });
        }
        let weights: Vec<f32> = words.words.iter().map(|word| word.weight).collect();
        Ok(self.config.scores(&weights, &met))
    }

    /// Each distinct word of the query that the text has a match above chance for, with the best one.
    fn matches(&self, query: &str, texts: &[&str]) -> Vec<Vec<WordMatch>> {
        let mut query = QueryWords::new(&self.table, query);
        let mut tokenizer = self.table.tokenizer();
        let mut matches = Vec::with_capacity(texts.len());
        for text in texts {
            let mut best = vec![(self.config.chance_cosine, None); query.words.len()];
            tokenizer.visit(text, |piece, span| {
                for (best, &cosine) in best.iter_mut().zip(query.cosines(piece)) {
                    if cosine > best.0 {
                        *best = (cosine, Some(span.clone()));
                    }
                }
            });
            let found = query.words.iter().zip(best).filter_map(|(word, (nearness, text))| {
                Some(WordMatch {
                    query: word.span.clone(),
                    text: text?,
                    nearness,
                    share: word.weight / query.total_weight,
                })
            });
            matches.push(found.collect());
        }
        matches
    }
}

/// A passage as pieces.
#[derive(Default)]
struct CutPassage {
    context: Vec<u32>,
    text: Vec<u32>,
    /// Where in the text each sentence ends.
    ends: Vec<usize>,
}

impl CutPassage {
    fn sentences(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.text[start..end])
    }
}

/// A distinct piece of the query.
struct QueryWord {
    piece: u32,
    span: Range<usize>,
    /// Norm of its row.
    weight: f32,
    /// Norm of its row before scaling.
    length: f32,
}

/// The pieces of a query and what has been met of the passages.
struct QueryWords<'t> {
    rows: &'t Rows,
    words: Vec<QueryWord>,
    total_weight: f32,
    /// The words' rows, one after another.
    wide: Vec<i16>,
    /// By piece: where its cosines are, if it was met.
    met: Vec<MetPiece>,
    /// Cosines to each word, of the pieces met so far.
    cosines: Vec<f32>,
    /// Number of the passage under way.
    passage: u32,
    /// Highest cosine to each word in the passage under way.
    best: Vec<f32>,
    /// Pieces that were not met before, their widened rows, and the dot products of one with each word.
    fresh: Vec<u32>,
    fresh_rows: Vec<i16>,
    dots: Vec<i32>,
}

#[derive(Clone, Copy, Default)]
struct MetPiece {
    /// Passage that it was last met in.
    passage: u32,
    /// Position in the cosines plus 1.
    place: u32,
}

impl<'t> QueryWords<'t> {
    fn new(table: &'t StaticTable, query: &str) -> Self {
        let rows = table.rows();
        let mut words: Vec<QueryWord> = Vec::new();
        let mut seen = vec![false; rows.len()];
        table.tokenizer().visit(query, |piece, span| {
            let length = rows.length(piece);
            let weight = length * rows.scale(piece);
            if !std::mem::replace(&mut seen[piece as usize], true) && weight > 0.0 {
                words.push(QueryWord {
                    piece,
                    span,
                    weight,
                    length,
                });
            }
        });
        let wide = words.iter().flat_map(|word| rows.widened(word.piece)).collect();
        Self {
            rows,
            total_weight: words.iter().map(|word| word.weight).sum(),
            wide,
            met: vec![MetPiece::default(); rows.len()],
            cosines: Vec::new(),
            passage: 0,
            best: vec![0.0; words.len()],
            fresh: Vec::new(),
            fresh_rows: Vec::new(),
            dots: vec![0; words.len()],
            words,
        }
    }

    fn begin_passage(&mut self) {
        self.passage += 1;
        self.best.fill(0.0);
    }

    /// Takes in pieces of the passage under way.
    fn meet(&mut self, pieces: &[u32]) {
        self.compare(pieces);
        for &piece in pieces {
            let met = &mut self.met[piece as usize];
            if std::mem::replace(&mut met.passage, self.passage) != self.passage {
                let place = met.place as usize - 1;
                for (best, &cosine) in self.best.iter_mut().zip(&self.cosines[place..]) {
                    *best = if cosine > *best { cosine } else { *best };
                }
            }
        }
    }

    /// Returns the cosines of a piece to each word of the query.
    fn cosines(&mut self, piece: u32) -> &[f32] {
        self.compare(&[piece]);
        let place = self.met[piece as usize].place as usize - 1;
        &self.cosines[place..place + self.words.len()]
    }

    /// Computes the cosines of those pieces that were not met before.
    fn compare(&mut self, pieces: &[u32]) {
        if self.cosines.len() >= MEMO {
            self.cosines.clear();
            self.met.iter_mut().for_each(|met| met.place = 0);
        }
        let mut place = self.cosines.len();
        self.fresh.clear();
        for &piece in pieces {
            let met = &mut self.met[piece as usize];
            if met.place == 0 {
                met.place = place as u32 + 1;
                place += self.words.len();
                self.fresh.push(piece);
            }
        }
        // All rows first: that many wait for memory at once.
        let dimension = self.rows.dimension();
        self.fresh_rows.resize(self.fresh.len() * dimension, 0);
        for (&piece, row) in self.fresh.iter().zip(self.fresh_rows.chunks_exact_mut(dimension)) {
            self.rows.widen(piece, row);
        }
        for (&piece, row) in self.fresh.iter().zip(self.fresh_rows.chunks_exact(dimension)) {
            let mut square = [0];
            self.rows.dots(row, row, &mut square);
            self.rows.dots(row, &self.wide, &mut self.dots);
            let length = (square[0] as f32).sqrt();
            self.cosines
                .extend(self.words.iter().zip(&self.dots).map(|(word, &dot)| {
                    if word.piece == piece {
                        1.0
                    } else if length > 0.0 {
                        dot as f32 / (length * word.length)
                    } else {
                        0.0
                    }
                }));
        }
    }
}
