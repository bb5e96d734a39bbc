//! A query and a passage become a score: both through one network, which sees each word beside all the others.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use casebook_index::{Cancel, EncodeError, Passage};
use casebook_ranker::{PairScore, PairScorer, ScoreError};

use super::activation::sigmoid;
use super::config::{Config, FILE};
use super::matrix::{Matrix, Then};
use super::network::{Input, Network};
use super::tokens::{Pair, Tokens};
use super::weights::Name;
use super::workers::{Workers, guarded};
use super::{TransformerError, TransformerOptions, WeightPrecision, Weights, open, qwen};
use crate::packs::{Architecture, PackManifest, PackTask};
use crate::passage_text::context;
use crate::vector::dot;

/// What Qwen3-Reranker is told before the pair and after it.
const BEGIN: &str = "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the \
                     Instruct provided. Note that the answer can only be \"yes\" or \"no\".<|im_end|>\n<|im_start|>user\n";
const END: &str = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n";
/// The task that it is given where the pack names none.
const INSTRUCTION: &str = "Given a web search query, retrieve relevant passages that answer the query";

/// Pairs become scores from 0 to 1 by a transformer.
///
/// A pair that is longer than the network's input loses the end of its passage; [`CrossEncoder::cut_passages`] counts them.
pub struct CrossEncoder {
    network: Network,
    tokens: Tokens,
    workers: Workers,
    head: Head,
    hidden: usize,
    revision: String,
    passage_prefix: String,
    query_prefix: String,
    cut: AtomicU64,
}

enum Head {
    /// The first token's row through a layer with a hyperbolic tangent, then one output: BERT and XLM-RoBERTa differ only in
    /// the names.
    First { dense: Matrix, out: Matrix },
    /// The last token's row with the rows of two words: how likely yes is, of yes and no.
    Words {
        yes: Vec<f32>,
        no: Vec<f32>,
        begin: Vec<u32>,
        end: Vec<u32>,
    },
}

impl std::fmt::Debug for CrossEncoder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("CrossEncoder")
            .field("revision", &self.revision)
            .finish_non_exhaustive()
    }
}

impl CrossEncoder {
    /// Opens the pack in a folder, with one thread per processor and weights in half precision.
    ///
    /// # Errors
    /// When a file is missing, malformed or does not fit the manifest; the error names it.
    pub fn open(dir: &Path, manifest: &PackManifest) -> Result<Self, TransformerError> {
        Self::open_with(dir, manifest, &TransformerOptions::default())
    }

    /// Opens the pack in a folder.
    ///
    /// # Errors
    /// When a file is missing, malformed or does not fit the manifest; the error names it.
    pub fn open_with(
        dir: &Path,
        manifest: &PackManifest,
        options: &TransformerOptions,
    ) -> Result<Self, TransformerError> {
        open::check(dir, manifest, PackTask::Rerank)?;
        let (network, config, mut weights) = Network::read(dir, manifest, options.precision)?;
        let tokens = Tokens::read(dir, manifest, network.words().rows())?;
        let head = match manifest.architecture {
            Architecture::Qwen3 => Head::words(&mut weights, &config, &tokens)?,
            Architecture::Bert => {
                let names = [Name::new("pooler.dense", "cls"), Name::new("classifier", "cls.output")];
                Head::first(&mut weights, &config, &names, options.precision)?
            }
            Architecture::XlmRoberta => {
                let names = [
                    Name::new("classifier.dense", "cls"),
                    Name::new("classifier.out_proj", "cls.output"),
                ];
                Head::first(&mut weights, &config, &names, options.precision)?
            }
        };
        Ok(Self {
            network,
            tokens,
            workers: Workers::start(options.threads)?,
            head,
            hidden: config.hidden_size,
            revision: open::revision(manifest, options.precision),
            passage_prefix: manifest.passage_prefix.clone(),
            query_prefix: manifest.query_prefix.clone(),
            cut: AtomicU64::new(0),
        })
    }

    /// Returns how many passages were too long for the network since it was opened, so that their ends had no say.
    pub fn cut_passages(&self) -> u64 {
        self.cut.load(Ordering::Relaxed)
    }

    /// Returns the bytes of weights in memory.
    pub fn weight_bytes(&self) -> usize {
        self.network.bytes()
    }

    fn pair(&self, query: &Query, passage: &Passage<'_>) -> Result<Pair, String> {
        let context = open::context_of(passage, context);
        let passage = format!("{}{context}{}", self.passage_prefix, passage.text);
        match (&self.head, query) {
            (Head::Words { begin, end, .. }, Query::Text(query)) => self.tokens.prompted(begin, query, &passage, end),
            (_, Query::Tokens(query)) => self.tokens.pair(query, &passage),
            (Head::First { .. }, Query::Text(_)) => unreachable!("the head says what a query becomes"),
        }
    }

    fn score_pair(&self, pair: &Pair) -> Result<PairScore, String> {
        if pair.cut {
            self.cut.fetch_add(1, Ordering::Relaxed);
        }
        if pair.tokens.is_empty() {
            return Ok(PairScore::new(0.0));
        }
        let input = Input {
            tokens: &pair.tokens,
            second_part: pair.second_part,
        };
        let logit = self.network.run(&input, |rows| match &self.head {
            Head::First { dense, out } => {
                let mut inner = vec![0.0; self.hidden];
                dense.apply(&rows[..self.hidden], &mut inner, Then::Stop);
                inner.iter_mut().for_each(|number| *number = number.tanh());
                let mut logit = [0.0];
                out.apply(&inner, &mut logit, Then::Stop);
                logit[0]
            }
            Head::Words { yes, no, .. } => {
                let last = &rows[rows.len() - self.hidden..];
                dot(last, yes) - dot(last, no)
            }
        });
        if logit.is_nan() {
            return Err("the model's numbers overflow on it".to_owned());
        }
        Ok(PairScore::new(sigmoid(logit)))
    }
}

/// A query as each head needs it.
enum Query {
    Tokens(Vec<u32>),
    Text(String),
}

impl PairScorer for CrossEncoder {
    fn revision(&self) -> &str {
        &self.revision
    }

    fn score(&self, query: &str, passages: &[Passage<'_>], cancel: &dyn Cancel) -> Result<Vec<PairScore>, ScoreError> {
        let query = match &self.head {
            Head::Words { .. } => {
                let instruction = match self.query_prefix.as_str() {
                    "" => INSTRUCTION,
                    given => given,
                };
                Ok(Query::Text(format!(
                    "<Instruct>: {instruction}\n<Query>: {query}\n<Document>: "
                )))
            }
            Head::First { .. } => guarded(0, || {
                self.tokens
                    .encode_input(&format!("{}{query}", self.query_prefix))
                    .map(Query::Tokens)
            }),
        };
        let query = query.map_err(refused)?;
        let scores = self.workers.run(
            passages.len(),
            cancel,
            |index| index,
            |index| self.score_pair(&self.pair(&query, &passages[index])?),
        );
        scores.map_err(refused)
    }
}

fn refused(error: EncodeError) -> ScoreError {
    match error {
        EncodeError::Cancelled => ScoreError::Cancelled,
        other => ScoreError::Other(Box::new(other)),
    }
}

impl Head {
    fn first(
        weights: &mut Weights,
        config: &Config,
        names: &[Name; 2],
        precision: WeightPrecision,
    ) -> Result<Self, TransformerError> {
        let [dense, out] = names;
        let hidden = config.hidden_size;
        Ok(Self::First {
            dense: Matrix::read(weights, &[(dense, hidden)], hidden, true, precision)?,
            out: Matrix::read(weights, &[(out, 1)], hidden, true, precision)?,
        })
    }

    fn words(weights: &mut Weights, config: &Config, tokens: &Tokens) -> Result<Self, TransformerError> {
        const TOKENIZER: &str = "tokenizer.json";
        let separate = Name::new("lm_head.weight", "output.weight");
        let tied = config.tie_word_embeddings.unwrap_or(true);
        let name = if weights.has(&separate) {
            separate.clone()
        } else {
            qwen::words()
        };
        if !tied && !weights.has(&separate) {
            return Err(TransformerError::MissingTensor {
                file: weights.file().to_owned(),
                tensor: separate.plain,
            });
        }
        let (count, hidden) = (config.vocab_size, config.hidden_size);
        let stored = weights.stored(&name, &[count, hidden])?;
        let row = |word: &str| {
            let number = tokens.number(word);
            number
                .map(|number| stored.row(number as usize, hidden))
                .ok_or_else(|| TransformerError::setting(TOKENIZER, "vocab", "a vocabulary without it", word))
        };
        let prompt = |text: &str| {
            tokens
                .encode_prompt(text)
                .map_err(|problem| TransformerError::Tokenizer(problem.into()))
        };
        let (begin, end) = (prompt(BEGIN)?, prompt(END)?);
        if begin.len() + end.len() >= config.max_position_embeddings {
            return Err(TransformerError::setting(
                FILE,
                "max_position_embeddings",
                config.max_position_embeddings,
                "room for the prompt",
            ));
        }
        Ok(Self::Words {
            yes: row("yes")?,
            no: row("no")?,
            begin,
            end,
        })
    }
}
