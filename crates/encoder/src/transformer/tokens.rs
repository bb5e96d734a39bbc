//! Text becomes the tokens of windows, and a pair of texts those of one input.
//!
//! What a text says is never taken for a special token, even where it spells one: `</s>` in a document about tokenizers is
//! four characters, and no document can end the prompt that it stands in.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use tokenizers::Tokenizer;

use super::TransformerError;
use crate::packs::{Architecture, PackManifest};

const FILE: &str = "tokenizer.json";
/// What a Qwen embedding model reads its vector from, where the tokenizer does not put it there.
const END_OF_TEXT: &str = "<|endoftext|>";
/// Least tokens of a window beside the special ones.
const LEAST_ROOM: usize = 8;
/// The part of a window that a prefix may take: one of so many.
const PREFIX_PART: usize = 2;
/// Characters that the tokenizer is given at once. It may make many of one, and keeps some twenty bytes for each.
const PIECE: usize = 16 * 1024;
/// Characters at the end of a piece that are searched for a blank to end it at.
const PIECE_END: usize = 1024;
/// Windows of one text at most; what comes after them is not read.
const MOST_WINDOWS: usize = 256;
/// The part of a window that path and headings may take where it is too short for all.
const CONTEXT_PART: usize = 4;

/// One input of the network.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Window {
    pub(super) tokens: Vec<u32>,
    /// Tokens of the text itself, which say how much the window counts.
    pub(super) own: usize,
}

/// A pair as one input.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pair {
    pub(super) tokens: Vec<u32>,
    pub(super) second_part: usize,
    /// Whether the end of the passage was left out.
    pub(super) cut: bool,
}

/// A pack's tokenizer.
pub(super) struct Tokens {
    tokenizer: Tokenizer,
    before: Vec<u32>,
    between: Vec<u32>,
    after: Vec<u32>,
    after_pair: Vec<u32>,
    /// Whether the second text of a pair is marked as such.
    marked: bool,
    /// Numbers of special tokens, rising.
    special: Vec<u32>,
    most: usize,
}

impl Tokens {
    /// Reads `tokenizer.json` for a table of so many words.
    pub(super) fn read(dir: &Path, manifest: &PackManifest, words: usize) -> Result<Self, TransformerError> {
        let bytes = std::fs::read(dir.join(FILE)).map_err(|source| TransformerError::read(FILE, source))?;
        // The parser of a foreign crate on a foreign file: a panic there is one more way of being malformed.
        let parsed = catch_unwind(AssertUnwindSafe(|| Self::parse(&bytes)));
        let (mut tokenizer, single, pair) = parsed
            .unwrap_or_else(|_| Err("its parser panicked".into()))
            .map_err(TransformerError::Tokenizer)?;
        let found = tokenizer
            .get_vocab(true)
            .into_values()
            .max()
            .map_or(0, |most| most as usize + 1);
        if found > words {
            return Err(TransformerError::setting(
                FILE,
                "vocab",
                found,
                format!("{words} tokens at most"),
            ));
        }
        tokenizer.set_encode_special_tokens(true);
        let mut special: Vec<u32> = tokenizer
            .get_added_tokens_decoder()
            .into_iter()
            .filter(|(_, token)| token.special)
            .map(|(number, _)| number)
            .collect();
        special.sort_unstable();
        let [before, after] = single;
        let ([_, between, after_pair], marked) = pair;
        let mut tokens = Self {
            tokenizer,
            before,
            between,
            after,
            after_pair,
            marked,
            special,
            most: manifest.max_tokens,
        };
        if manifest.architecture == Architecture::Qwen3 && tokens.after.is_empty() {
            let end = tokens.tokenizer.token_to_id(END_OF_TEXT);
            tokens.after.push(
                end.ok_or_else(|| TransformerError::setting(FILE, "added_tokens", "no end of text", END_OF_TEXT))?,
            );
        }
        let longest = tokens.encode(&manifest.query_prefix).map(|prefix| prefix.len());
        let longest = longest.and_then(|query| Ok(query.max(tokens.encode(&manifest.passage_prefix)?.len())));
        let longest = longest.map_err(|problem| TransformerError::Tokenizer(problem.into()))?;
        let least = tokens.before.len() + tokens.after.len() + LEAST_ROOM.max(longest * PREFIX_PART);
        if tokens.most < least {
            return Err(TransformerError::setting(
                "pack.json",
                "max_tokens",
                tokens.most,
                format!("{least} or more"),
            ));
        }
        Ok(tokens)
    }

    /// Returns the tokenizer, what it puts around one text, and what around and between two.
    #[expect(clippy::type_complexity, reason = "it is taken apart at its one caller")]
    fn parse(
        bytes: &[u8],
    ) -> Result<(Tokenizer, [Vec<u32>; 2], ([Vec<u32>; 3], bool)), Box<dyn std::error::Error + Send + Sync>> {
        /// A text that any tokenizer makes at least one token of, which is not special.
        const PROBE: &str = "a";
        let mut tokenizer = Tokenizer::from_bytes(bytes)?;
        tokenizer.with_truncation(None)?;
        tokenizer.with_padding(None);
        let parts = |encoding: &tokenizers::Encoding| -> Vec<Vec<u32>> {
            let mut parts = vec![Vec::new()];
            let mut text = false;
            for (number, special) in encoding.get_ids().iter().zip(encoding.get_special_tokens_mask()) {
                if *special == 1 {
                    if std::mem::take(&mut text) {
                        parts.push(Vec::new());
                    }
                    parts.last_mut().expect("there is a first part").push(*number);
                } else {
                    text = true;
                }
            }
            parts
        };
        let mut single = parts(&tokenizer.encode(PROBE, true)?);
        single.resize(2, Vec::new());
        let encoding = tokenizer.encode((PROBE, PROBE), true)?;
        let mut pair = parts(&encoding);
        pair.resize(3, Vec::new());
        let marked = encoding.get_type_ids().contains(&1);
        let [before, after] = <[_; 2]>::try_from(single).expect("two parts");
        let pair = <[_; 3]>::try_from(pair).expect("three parts");
        Ok((tokenizer, [before, after], (pair, marked)))
    }

    /// Returns whether a token is special.
    pub(super) fn is_special(&self, token: u32) -> bool {
        self.special.binary_search(&token).is_ok()
    }

    /// Returns the number of a word.
    pub(super) fn number(&self, word: &str) -> Option<u32> {
        self.tokenizer.token_to_id(word)
    }

    /// Returns a text's tokens without special ones.
    pub(super) fn encode(&self, text: &str) -> Result<Vec<u32>, String> {
        self.encode_most(text, usize::MAX)
    }

    /// Returns as many of a text's tokens as one input can have, and some more where there are more.
    pub(super) fn encode_input(&self, text: &str) -> Result<Vec<u32>, String> {
        self.encode_most(text, self.most)
    }

    /// Returns a text's tokens piece by piece, until there are more than `enough`.
    fn encode_most(&self, text: &str, enough: usize) -> Result<Vec<u32>, String> {
        let mut tokens = Vec::new();
        let mut rest = text;
        loop {
            let (piece, behind) = rest.split_at(piece_end(rest));
            let encoding = self.tokenizer.encode_fast(piece, false);
            tokens.extend_from_slice(encoding.map_err(|error| error.to_string())?.get_ids());
            if behind.is_empty() || tokens.len() > enough {
                return Ok(tokens);
            }
            rest = behind;
        }
    }

    /// Returns the tokens of text whose special tokens are meant: a prompt of ours.
    pub(super) fn encode_prompt(&self, prompt: &str) -> Result<Vec<u32>, String> {
        let mut tokenizer = self.tokenizer.clone();
        tokenizer.set_encode_special_tokens(false);
        let encoding = tokenizer.encode_fast(prompt, false);
        encoding
            .map(|encoding| encoding.get_ids().to_vec())
            .map_err(|error| error.to_string())
    }

    /// Returns the windows of a text that stands behind a prefix and a context. Where one window is too short, each begins
    /// with the prefix and the innermost of the context, and the text goes on where the last one ended, for 256 windows at
    /// most.
    pub(super) fn windows(&self, prefix: &str, context: &str, text: &str) -> Result<Vec<Window>, String> {
        let room = self.most - self.before.len() - self.after.len();
        let window = |front: &[u32], own: &[u32]| Window {
            tokens: [&self.before, front, own, &self.after].concat(),
            own: own.len(),
        };
        let all = self.encode_most(&format!("{prefix}{context}{text}"), room * MOST_WINDOWS)?;
        if all.len() <= room {
            return Ok(vec![window(&[], &all)]);
        }
        let prefix_length = self.encode(prefix)?.len();
        let front_length = self
            .encode_most(&format!("{prefix}{context}"), all.len())?
            .len()
            .clamp(prefix_length, all.len());
        let context_length = (front_length - prefix_length).min(room / CONTEXT_PART);
        let front = [&all[..prefix_length], &all[front_length - context_length..front_length]].concat();
        let own = &all[front_length..];
        if own.is_empty() {
            return Ok(vec![window(&front, own)]);
        }
        let windows = own.chunks(room - front.len()).take(MOST_WINDOWS);
        Ok(windows.map(|own| window(&front, own)).collect())
    }

    /// Returns a query and a passage as one input; only the passage is ever cut, at its end.
    pub(super) fn pair(&self, query: &[u32], passage: &str) -> Result<Pair, String> {
        let passage = self.encode_input(passage)?;
        let special = self.before.len() + self.between.len() + self.after_pair.len();
        let kept = self.kept(special + query.len(), passage.len())?;
        let second_part = self.before.len() + query.len() + self.between.len();
        Ok(Pair {
            tokens: [&self.before, query, &self.between, &passage[..kept], &self.after_pair].concat(),
            second_part: if self.marked { second_part } else { usize::MAX },
            cut: kept < passage.len(),
        })
    }

    /// Returns one input that begins and ends with a prompt; only the end of `passage` is ever cut.
    pub(super) fn prompted(&self, begin: &[u32], query: &str, passage: &str, end: &[u32]) -> Result<Pair, String> {
        let all = self.encode_input(&format!("{query}{passage}"))?;
        let mut kept = all.len();
        if begin.len() + all.len() + end.len() > self.most {
            let query = self.encode_input(query)?.len().min(all.len());
            kept = query + self.kept(begin.len() + query + end.len(), all.len() - query)?;
        }
        Ok(Pair {
            tokens: [begin, &all[..kept], end].concat(),
            second_part: usize::MAX,
            cut: kept < all.len(),
        })
    }

    /// Returns how many tokens of a passage are kept beside so many others.
    fn kept(&self, others: usize, passage: usize) -> Result<usize, String> {
        let room = self.most.saturating_sub(others);
        if room >= passage.min(self.most / CONTEXT_PART) {
            Ok(passage.min(room))
        } else {
            Err(format!("the query leaves {room} of {} tokens to a passage", self.most))
        }
    }
}

/// Returns where the first piece of a text ends: at a blank near its end where there is one, which begins the next piece.
fn piece_end(text: &str) -> usize {
    let Some((end, _)) = text.char_indices().nth(PIECE) else {
        return text.len();
    };
    let near = text[..end].char_indices().rev().take(PIECE_END);
    let mut blanks = near.filter(|(at, character)| *at > 0 && character.is_whitespace());
    blanks.next().map_or(end, |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_end_at_blanks_and_lose_nothing() {
        for (word, ends_at_blank) in [("lock ", true), ("锁 ", true), ("日志", false)] {
            let text = word.repeat(PIECE);
            let mut rest = text.as_str();
            let mut whole = String::new();
            while !rest.is_empty() {
                let (piece, behind) = rest.split_at(piece_end(rest));
                assert!(!piece.is_empty() && piece.chars().count() <= PIECE);
                assert!(behind.is_empty() || behind.starts_with(' ') == ends_at_blank);
                whole += piece;
                rest = behind;
            }
            assert_eq!(whole, text);
        }
        assert_eq!(piece_end(""), 0);
        assert_eq!(piece_end("lock the door"), 13);
    }
}
