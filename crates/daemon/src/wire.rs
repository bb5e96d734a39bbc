//! Puts concrete types together: the only place that picks them.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use casebook_api::{History, Parts, Service};
use casebook_corpus::Degradation;
use casebook_encoder::{
    CrossEncoder, LazyTransformer, StaticEncoder, StaticLateInteraction, TransformerError, TransformerOptions,
    check_pack, embedded_table,
};
use casebook_index::{EncoderRevision, TextEncoder};
use casebook_ranker::{CHOSEN_ENCODER_FAILED, PairScorer};
use casebook_recorder::{InstanceId, RunId};
use etcetera::BaseStrategy;

use crate::cli::Common;
use crate::clock::{SystemClock, new_id};
use crate::failure::Failure;
use crate::settings::{self, ChosenPack, EncoderSettings, Layers, PROJECT_FILE};

/// The chosen reranker cannot be used; the embedded one scored.
const CHOSEN_RERANKER_FAILED: &str = "chosen_reranker_failed";

/// A command's surroundings: places and settings, before anything is opened.
pub(crate) struct Setup {
    pub(crate) root: PathBuf,
    pub(crate) data_dir: PathBuf,
    pub(crate) user_file: PathBuf,
    pub(crate) layers: Layers,
}

impl Setup {
    /// Finds the places and reads the settings.
    pub(crate) fn new(common: &Common) -> Result<Self, Failure> {
        let root = settings::find_root(common.root.as_deref())?;
        let base = etcetera::choose_base_strategy().map_err(|error| {
            Failure::internal(
                "home_missing",
                "the home folder is unknown; set HOME and CASEBOOK_DATA_DIR",
                &error,
            )
        });
        let data_dir = match std::env::var_os("CASEBOOK_DATA_DIR").filter(|dir| !dir.is_empty()) {
            Some(dir) => PathBuf::from(dir),
            None => base
                .as_ref()
                .map_err(|failure| Failure(failure.0.clone()))?
                .data_dir()
                .join("casebook"),
        };
        let user_file = base.map_or_else(
            |_| data_dir.join("config.toml"),
            |base| base.config_dir().join("casebook/config.toml"),
        );
        let layers = Layers::read(Some(&user_file), &root.join(PROJECT_FILE), environment())?;
        Ok(Self {
            root,
            data_dir,
            user_file,
            layers,
        })
    }

    /// Opens the project for a command that asks nothing: the chosen reranker stays closed, and an encoder that cannot be
    /// used is among the problems.
    pub(crate) fn service(&self) -> Result<Service, Failure> {
        let chosen = self.chosen()?;
        let (mut parts, options) = (parts(), options(&chosen, None));
        if let Some(pack) = &chosen.model {
            match lazy_encoder(pack, options) {
                Ok(encoder) => parts.preferred = Some(encoder),
                Err(failure) => parts.problems.push(encoder_failed(&failure)),
            }
        }
        self.open(parts)
    }

    /// Opens the project to tell how its encoders stand: as [`service`](Self::service), and a chosen pack whose files are not
    /// those of its manifest is among the problems.
    pub(crate) fn service_for_status(&self) -> Result<Service, Failure> {
        let chosen = self.chosen()?;
        let (mut parts, options) = (parts(), options(&chosen, None));
        if let Some(pack) = &chosen.model {
            parts
                .problems
                .extend(check(pack).err().map(|failure| encoder_failed(&failure)));
            parts.preferred = lazy_encoder(pack, options).ok();
        }
        self.open(parts)
    }

    /// Opens the project for questions. What was chosen and cannot be used is among the problems, and what is compiled in
    /// answers for it.
    pub(crate) fn service_for_answers(&self) -> Result<Service, Failure> {
        let chosen = self.chosen()?;
        let (mut parts, options) = (parts(), options(&chosen, None));
        if let Some(pack) = &chosen.reranker {
            match reranker(pack, &options) {
                Ok(scorer) => parts.scorer = scorer,
                Err(failure) => parts.problems.push(reranker_failed(&failure)),
            }
        }
        if let Some(pack) = &chosen.model {
            match lazy_encoder(pack, options) {
                Ok(encoder) => parts.preferred = Some(encoder),
                Err(failure) => parts.problems.push(encoder_failed(&failure)),
            }
        }
        self.open(parts)
    }

    /// Opens the project for a fill with an encoder that uses so many threads; `None` leaves that to the settings. A fill
    /// is for the chosen pack alone, so one that cannot be used is an error.
    pub(crate) fn service_for_fill(&self, threads: Option<NonZeroUsize>) -> Result<Service, Failure> {
        let chosen = self.chosen()?;
        let (mut parts, options) = (parts(), options(&chosen, threads));
        if let Some(pack) = &chosen.model {
            check(pack)?;
            parts.preferred = Some(lazy_encoder(pack, options)?);
        }
        self.open(parts)
    }

    /// Returns the parts for a measurement, which must not be of something else than what was chosen.
    pub(crate) fn parts_to_measure(&self) -> Result<Parts, Failure> {
        let chosen = self.chosen()?;
        let (mut parts, options) = (parts(), options(&chosen, None));
        if let Some(pack) = &chosen.reranker {
            parts.scorer = reranker(pack, &options)?;
        }
        if let Some(pack) = &chosen.model {
            parts.preferred = Some(lazy_encoder(pack, options)?);
        }
        Ok(parts)
    }

    /// Returns whether the settings choose the encoder of this revision, and its pack is there.
    pub(crate) fn chooses(&self, revision: &EncoderRevision) -> bool {
        let Ok(Some(pack)) = self.chosen().map(|chosen| chosen.model) else {
            return false;
        };
        lazy_encoder(&pack, TransformerOptions::default()).is_ok_and(|encoder| encoder.revision() == revision)
    }

    fn chosen(&self) -> Result<EncoderSettings, Failure> {
        settings::encoder(&self.layers, &settings::store(&self.data_dir))
    }

    fn open(&self, parts: Parts) -> Result<Service, Failure> {
        let project = settings::project(self.root.clone(), &self.data_dir, &self.layers)?;
        Ok(Service::open(project, self.history(), parts)?)
    }

    /// Opens the history.
    pub(crate) fn history(&self) -> Result<History, casebook_api::ApiError> {
        History::open(&self.data_dir, InstanceId::new(new_id()), Arc::new(SystemClock::new()))
    }
}

/// More threads than the machine can run at once would only wait for each other.
fn options(chosen: &EncoderSettings, threads: Option<NonZeroUsize>) -> TransformerOptions {
    let mut options = TransformerOptions::default();
    if let Some(threads) = threads.map(NonZeroUsize::get).or(chosen.threads) {
        options.threads = threads.min(options.threads);
    }
    options
}

/// Returns the chosen encoder. Its weights are read when it is first asked for a vector.
fn lazy_encoder(pack: &ChosenPack, options: TransformerOptions) -> Result<Arc<dyn TextEncoder>, Failure> {
    let (dir, manifest) = pack.usable()?;
    let encoder = LazyTransformer::new(dir.clone(), manifest.clone(), options);
    Ok(Arc::new(encoder.with_advice(pack.advice())))
}

/// Opens the chosen reranker: within an answer its weights would be read on the time of that answer.
fn reranker(pack: &ChosenPack, options: &TransformerOptions) -> Result<Arc<dyn PairScorer>, Failure> {
    let (dir, manifest) = pack.usable()?;
    let scorer = CrossEncoder::open_with(dir, manifest, options);
    let scorer = scorer.map_err(|error| pack_unusable(&manifest.name, &pack.advice(), &error))?;
    Ok(Arc::new(scorer))
}

/// Compares the files of a pack with its manifest.
fn check(pack: &ChosenPack) -> Result<(), Failure> {
    let (dir, manifest) = pack.usable()?;
    check_pack(dir, manifest).map_err(|error| pack_unusable(&manifest.name, &pack.advice(), &error))
}

/// Says that a pack is there and cannot be used.
pub(crate) fn pack_unusable(name: &str, advice: &str, error: &TransformerError) -> Failure {
    let message = format!("model pack {name} cannot be used; `casebook models verify {name}` checks it{advice}");
    let mut failure = Failure::input("model_unusable", message);
    failure.0 = failure.0.because(error);
    failure
}

fn encoder_failed(failure: &Failure) -> Degradation {
    let detail = format!("{}; the embedded encoder answers", failure.0.summary());
    Degradation::new(CHOSEN_ENCODER_FAILED, detail)
}

fn reranker_failed(failure: &Failure) -> Degradation {
    let detail = format!("{}; the embedded reranker scored", failure.0.summary());
    Degradation::new(CHOSEN_RERANKER_FAILED, detail)
}

/// Returns the environment's readable variables.
fn environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

/// Returns the parts that every service is made of; what a project chooses is not among them.
fn parts() -> Parts {
    let table = embedded_table();
    Parts {
        scorer: Arc::new(StaticLateInteraction::new(Arc::clone(&table))),
        encoder: Arc::new(StaticEncoder::new(table)),
        preferred: None,
        clock: Arc::new(SystemClock::new()),
        run_ids: Arc::new(|| RunId::new(new_id())),
        problems: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_no_more_than_the_machine_runs_at_once() {
        let at_once = TransformerOptions::default().threads;
        let threads = |setting, flag| {
            let chosen = EncoderSettings {
                model: None,
                reranker: None,
                threads: setting,
            };
            options(&chosen, NonZeroUsize::new(flag)).threads
        };
        assert_eq!(threads(None, 0), at_once);
        assert_eq!(threads(Some(99_999), 0), at_once);
        assert_eq!(threads(None, 99_999), at_once);
        assert_eq!(threads(Some(99_999), 1), 1);
        assert_eq!(threads(Some(1), 0), 1);
    }
}
