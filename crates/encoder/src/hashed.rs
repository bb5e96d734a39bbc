//! The embedded default encoder: a text is the normalised sum of its tokens' rows.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};

use casebook_index::{
    Cancel, EncodeError, EncoderRevision, Passage, PassageVector, TextEncoder, TextSide, TokenVector,
};

use crate::hashed_rows::{DIMENSION, Row, identity, row, weight};
use crate::tokens::{Token, for_each_token};
use crate::vector::{add_scaled, normalise};

/// Tokens in one window. Pairs and joined identifiers are not counted: they repeat what is.
const WINDOW: usize = 512;
/// Passages between two questions whether to stop.
const BATCH: usize = 64;
/// Rows kept while a batch is encoded; the texts of a batch share most of their tokens.
const MEMO: usize = 8192;
/// How much the headings count beside the text.
const HEADING_SHARE: f32 = 0.35;
/// How much the path counts beside the text.
const PATH_SHARE: f32 = 0.2;
/// Bytes of the headings that are looked at, from the end: the innermost say most.
const HEADING_BYTES: usize = 512;
/// Bytes of the path that are looked at, from the end.
const PATH_BYTES: usize = 256;

/// The embedded default: 256 numbers computed from the letters of a text. No download, no file, no start-up cost.
///
/// Queries and passages are treated alike; a passage also takes in its path and headings with a smaller share.
#[derive(Debug)]
pub struct HashedEncoder {
    revision: EncoderRevision,
}

impl HashedEncoder {
    /// Makes the encoder.
    pub fn new() -> Self {
        Self {
            revision: EncoderRevision::new("hashed-256.1"),
        }
    }
}

impl Default for HashedEncoder {
    fn default() -> Self {
        Self::new()
    }
}

impl TextEncoder for HashedEncoder {
    fn revision(&self) -> &EncoderRevision {
        &self.revision
    }

    fn dimension(&self) -> usize {
        DIMENSION
    }

    fn max_input_tokens(&self) -> usize {
        WINDOW
    }

    fn encode_query(&self, query: &str) -> Result<Vec<f32>, EncodeError> {
        Ok(Pool::default().encode(query).vector)
    }

    fn encode_passages(
        &self,
        passages: &[Passage<'_>],
        cancel: &dyn Cancel,
    ) -> Result<Vec<PassageVector>, EncodeError> {
        let mut pool = Pool::default();
        let mut vectors = Vec::with_capacity(passages.len());
        for batch in passages.chunks(BATCH) {
            if cancel.cancelled() {
                return Err(EncodeError::Cancelled);
            }
            vectors.extend(batch.iter().map(|passage| pool.encode_passage(passage)));
        }
        Ok(vectors)
    }

    fn token_vectors(&self, text: &str, _side: TextSide) -> Result<Option<Vec<TokenVector>>, EncodeError> {
        let mut seen = IdentityMap::default();
        let mut vectors = Vec::new();
        for_each_token(text, |token| {
            if let Entry::Vacant(place) = seen.entry(identity(&token)) {
                place.insert(());
                vectors.push(TokenVector {
                    weight: weight(&token),
                    vector: row(&token).to_vec(),
                    span: token.span,
                });
            }
        });
        Ok(Some(vectors))
    }
}

/// Keys are mixed already.
type IdentityMap<T> = HashMap<u64, T, BuildHasherDefault<AsIs>>;

#[derive(Default)]
struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = (self.0 << 8) | u64::from(*byte));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

/// Sums up texts and remembers the rows that it computed.
#[derive(Default)]
struct Pool {
    /// Position in `rows`, by identity.
    places: IdentityMap<usize>,
    /// Row, scaled by the token's weight.
    rows: Vec<Row>,
    /// Distinct tokens of the window under way, in order of first appearance, and how often each came.
    counts: Vec<(usize, u32)>,
    /// Position in `counts`, by identity.
    counted: IdentityMap<usize>,
}

impl Pool {
    fn encode_passage(&mut self, passage: &Passage<'_>) -> PassageVector {
        let mut encoded = self.encode(passage.text);
        let headings = passage.heading_path.join("\n");
        for (context, share) in [
            (tail(&headings, HEADING_BYTES), HEADING_SHARE),
            (tail(passage.path, PATH_BYTES), PATH_SHARE),
        ] {
            if !context.is_empty() {
                add_scaled(&mut encoded.vector, share, &self.encode(context).vector);
            }
        }
        normalise(&mut encoded.vector);
        encoded
    }

    /// Encodes a text: one window where it fits, else the mean of its windows, each by its tokens.
    fn encode(&mut self, text: &str) -> PassageVector {
        let mut vector = vec![0.0; DIMENSION];
        let mut input_windows = 0;
        let mut tokens = 0;
        for_each_token(text, |token| {
            if token.fresh && tokens == WINDOW {
                self.end_window(&mut vector, tokens);
                input_windows += 1;
                tokens = 0;
            }
            tokens += usize::from(token.fresh);
            self.count(&token);
        });
        self.end_window(&mut vector, tokens);
        normalise(&mut vector);
        PassageVector {
            vector,
            input_windows: input_windows + 1,
        }
    }

    fn count(&mut self, token: &Token<'_>) {
        let identity = identity(token);
        match self.counted.entry(identity) {
            Entry::Occupied(place) => self.counts[*place.get()].1 += 1,
            Entry::Vacant(vacant) => {
                vacant.insert(self.counts.len());
                let place = *self.places.entry(identity).or_insert_with(|| {
                    let mut scaled = row(token);
                    let weight = weight(token);
                    scaled.iter_mut().for_each(|number| *number *= weight);
                    self.rows.push(scaled);
                    self.rows.len() - 1
                });
                self.counts.push((place, 1));
            }
        }
    }

    fn end_window(&mut self, text: &mut [f32], tokens: usize) {
        let mut window = [0.0; DIMENSION];
        for (place, count) in self.counts.drain(..) {
            add_scaled(&mut window, (count as f32).sqrt(), &self.rows[place]);
        }
        normalise(&mut window);
        add_scaled(text, tokens as f32, &window);
        self.counted.clear();
        if self.rows.len() >= MEMO {
            self.places.clear();
            self.rows.clear();
        }
    }
}

/// Returns at most the last `bytes` bytes, from the start of a character.
pub(crate) fn tail(text: &str, bytes: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(bytes))..]
}
