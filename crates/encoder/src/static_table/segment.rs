//! The cheapest way to cut a run into pieces: a Unigram model (Kudo 2018) with whole-numbered costs, so that every
//! machine finds the same. Of equally cheap ways the one with the longer last piece is taken.

use std::ops::Range;

use super::lexicon::{Key, Lexicon, MAX_BYTES, beginning_length, is_continuation, unit};

/// Cost of a character that is no piece.
const UNKNOWN_COST: u64 = 1 << 20;
/// Stands for such a character.
const UNKNOWN: u32 = u32::MAX;
/// A power of two past the longest piece.
const RING: usize = (MAX_BYTES + 1).next_power_of_two();

/// Working memory, kept from run to run.
pub(super) struct Segmenter {
    /// Cheapest way to each of the next bytes; a piece reaches no further.
    costs: [u64; RING],
    /// Last piece of the cheapest way to each byte.
    last: Vec<u32>,
    /// The pieces of the cheapest way, from the end.
    path: Vec<(u32, Range<usize>)>,
}

impl Segmenter {
    pub(super) fn new() -> Self {
        Self {
            costs: [u64::MAX; RING],
            last: Vec::new(),
            path: Vec::new(),
        }
    }

    /// Visits the known pieces of a run in order, each with its bytes.
    pub(super) fn visit(&mut self, lexicon: &Lexicon, run: &[u8], mut visit: impl FnMut(u32, Range<usize>)) {
        self.forward(lexicon, run);
        self.backward(lexicon, run);
        self.path.drain(..).rev().for_each(|(piece, range)| visit(piece, range));
    }

    fn forward(&mut self, lexicon: &Lexicon, run: &[u8]) {
        self.last.clear();
        self.last.resize(run.len() + 1, UNKNOWN);
        self.costs[0] = 0;
        let mut start = 0;
        while start < run.len() {
            let cost = self.leave(start);
            let (mut key, mut end) = (Key::EMPTY, start);
            let beginning = beginning_length(run[start]);
            // Bit `n`: a piece of `n` characters is possible.
            let mut lengths = u32::MAX >> (31 - beginning);
            let mut next = run.len();
            let mut characters = 0;
            while end < run.len() && lengths >> characters > 1 {
                let (unit, length) = unit(run, end);
                key = key.push(unit);
                end += length;
                characters += 1;
                let piece = if lengths >> characters & 1 == 1 {
                    lexicon.find_key(key, &run[start..end])
                } else {
                    None
                };
                if let Some(piece) = piece {
                    self.reach(end, cost + lexicon.cost(piece), piece);
                }
                if characters == 1 {
                    next = end;
                    if piece.is_none() {
                        self.reach(end, cost + UNKNOWN_COST, UNKNOWN);
                    }
                }
                if characters == beginning {
                    lengths |= lexicon.lengths_after(key);
                }
            }
            start = next;
        }
        self.leave(run.len());
    }

    /// Returns the cost of a place and makes room for one that is [`RING`] bytes on.
    fn leave(&mut self, at: usize) -> u64 {
        std::mem::replace(&mut self.costs[at % RING], u64::MAX)
    }

    fn reach(&mut self, at: usize, cost: u64, piece: u32) {
        let known = &mut self.costs[at % RING];
        if cost < *known {
            *known = cost;
            self.last[at] = piece;
        }
    }

    fn backward(&mut self, lexicon: &Lexicon, run: &[u8]) {
        let mut end = run.len();
        while end > 0 {
            let piece = self.last[end];
            let start = if piece == UNKNOWN {
                (0..end).rfind(|&at| !is_continuation(run[at])).unwrap_or(0)
            } else {
                end - lexicon.length(piece)
            };
            if piece != UNKNOWN {
                self.path.push((piece, start..end));
            }
            end = start;
        }
    }
}
