//! A second encoder, as a model pack is one: of another dimension than [`FakeEncoder`](crate::FakeEncoder), and able to
//! refuse, fail, panic, weigh terms, and let a test in between two batches.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use casebook_index::{
    Cancel, EncodeError, EncoderRevision, Passage, PassageVector, TextEncoder, TextSide, TokenWeight,
};

/// Numbers in its vectors.
const DIMENSION: usize = 12;

type Hook = Box<dyn Fn(usize) + Send + Sync>;

/// An encoder that keeps a record of what it was given.
pub struct FakePack {
    revision: EncoderRevision,
    sparse: bool,
    /// Inputs after which it fails.
    fails_after: AtomicU64,
    query_fails: bool,
    /// Text at which the sparse head refuses.
    weighs_not: Option<&'static str>,
    hook: Option<Hook>,
    encoded: Mutex<Vec<String>>,
    calls: AtomicU64,
}

impl FakePack {
    /// Text that makes it refuse the input it stands in.
    pub const REFUSED: &str = "REFUSE";
    /// Text that makes it panic at the input it stands in.
    pub const PANICS: &str = "PANIC";

    /// Makes a pack of this revision.
    pub fn new(revision: &str) -> Self {
        Self {
            revision: revision.into(),
            sparse: false,
            fails_after: AtomicU64::new(u64::MAX),
            query_fails: false,
            weighs_not: None,
            hook: None,
            encoded: Mutex::default(),
            calls: AtomicU64::new(0),
        }
    }

    /// Makes it offer term weights: one term per character that is no space, weighed by how often it stands there.
    #[must_use]
    pub fn sparse(mut self) -> Self {
        self.sparse = true;
        self
    }

    /// Makes it offer term weights, and refuse every text that holds these words.
    #[must_use]
    pub fn sparse_but_for(mut self, words: &'static str) -> Self {
        self.weighs_not = Some(words);
        self.sparse()
    }

    /// Makes it return an error once it has encoded so many inputs.
    #[must_use]
    pub fn failing_after(self, inputs: u64) -> Self {
        self.fail_after(inputs);
        self
    }

    /// Makes it return an error for every question.
    #[must_use]
    pub fn deaf(mut self) -> Self {
        self.query_fails = true;
        self
    }

    /// Calls `hook` with the number of inputs before every batch.
    #[must_use]
    pub fn before_batch(mut self, hook: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.hook = Some(Box::new(hook));
        self
    }

    /// Makes it return an error once it has encoded so many inputs; `u64::MAX` makes it work again.
    pub fn fail_after(&self, inputs: u64) {
        self.fails_after.store(inputs, Ordering::Relaxed);
    }

    /// Returns the texts that it encoded, in order.
    pub fn encoded(&self) -> Vec<String> {
        self.encoded.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns how often it was called.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Returns its vector of a text.
    pub fn vector(text: &str) -> Vec<f32> {
        let mut vector = vec![0.0_f32; DIMENSION];
        for character in text.chars() {
            vector[character as usize % DIMENSION] += 1.0;
        }
        let norm = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
        if norm > 0.0 {
            vector.iter_mut().for_each(|number| *number /= norm);
        }
        vector
    }
}

impl TextEncoder for FakePack {
    fn revision(&self) -> &EncoderRevision {
        &self.revision
    }

    fn dimension(&self) -> usize {
        DIMENSION
    }

    fn max_input_tokens(&self) -> usize {
        512
    }

    fn is_contextual(&self) -> bool {
        true
    }

    fn encode_query(&self, query: &str) -> Result<Vec<f32>, EncodeError> {
        if self.query_fails {
            return Err(EncodeError::Other("the pack hears nothing".into()));
        }
        Ok(Self::vector(query))
    }

    fn encode_passages(
        &self,
        passages: &[Passage<'_>],
        cancel: &dyn Cancel,
    ) -> Result<Vec<PassageVector>, EncodeError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        if let Some(hook) = &self.hook {
            hook(passages.len());
        }
        if cancel.cancelled() {
            return Err(EncodeError::Cancelled);
        }
        if passages.iter().any(|passage| passage.text.contains(Self::PANICS)) {
            panic!("the pack panics as told");
        }
        let refused = |passage: &Passage<'_>| passage.text.contains(Self::REFUSED);
        if let Some(index) = passages.iter().position(refused) {
            let reason = "told to".to_owned();
            return Err(EncodeError::Input { index, reason });
        }
        let mut encoded = self.encoded.lock().unwrap_or_else(PoisonError::into_inner);
        if encoded.len() as u64 >= self.fails_after.load(Ordering::Relaxed) {
            return Err(EncodeError::Other("the pack is gone".into()));
        }
        encoded.extend(passages.iter().map(|passage| passage.text.to_owned()));
        let vectors = passages.iter().map(|passage| PassageVector {
            vector: Self::vector(passage.text),
            input_windows: 1,
        });
        Ok(vectors.collect())
    }

    fn sparse_weights(&self, text: &str, _: TextSide) -> Result<Option<Vec<TokenWeight>>, EncodeError> {
        if !self.sparse {
            return Ok(None);
        }
        if self.weighs_not.is_some_and(|words| text.contains(words)) {
            let reason = "told to".to_owned();
            return Err(EncodeError::Input { index: 0, reason });
        }
        let mut counts = std::collections::BTreeMap::<u32, f32>::new();
        for character in text.chars().filter(|character| !character.is_whitespace()) {
            *counts.entry(u32::from(character)).or_default() += 1.0;
        }
        let weights = counts.into_iter().map(|(token, weight)| TokenWeight { token, weight });
        Ok(Some(weights.collect()))
    }
}
