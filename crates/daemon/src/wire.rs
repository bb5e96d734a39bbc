//! Puts concrete types together: the only place that picks them.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use casebook_api::{History, Parts, Service};
use casebook_encoder::{
    CrossEncoder, LazyTransformer, StaticEncoder, StaticLateInteraction, TransformerError, TransformerOptions,
    embedded_table,
};
use casebook_index::TextEncoder;
use casebook_recorder::{InstanceId, RunId};
use etcetera::BaseStrategy;

use crate::cli::Common;
use crate::clock::{SystemClock, new_id};
use crate::failure::Failure;
use crate::settings::{self, Layers, PROJECT_FILE};

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

    /// Opens the project.
    pub(crate) fn service(&self) -> Result<Service, Failure> {
        self.service_with(None)
    }

    /// Opens the project with an encoder that uses so many threads; `None` leaves that to the encoder.
    pub(crate) fn service_with(&self, threads: Option<NonZeroUsize>) -> Result<Service, Failure> {
        let project = settings::project(self.root.clone(), &self.data_dir, &self.layers)?;
        let parts = self.parts(threads)?;
        Ok(Service::open(project, self.history(), parts)?)
    }

    /// Returns the parts with the model packs that the settings choose. The encoder's weights are read when it is first
    /// asked for a vector, a reranker's at once.
    pub(crate) fn parts(&self, threads: Option<NonZeroUsize>) -> Result<Parts, Failure> {
        let chosen = settings::encoder(&self.layers, &settings::store(&self.data_dir))?;
        let mut options = TransformerOptions::default();
        if let Some(threads) = threads.map(NonZeroUsize::get).or(chosen.threads) {
            options.threads = threads;
        }
        let mut parts = parts();
        if let Some((dir, manifest)) = chosen.reranker {
            let scorer = CrossEncoder::open_with(&dir, &manifest, &options);
            parts.scorer = Arc::new(scorer.map_err(|error| pack_unusable(&manifest.name, &error))?);
        }
        if let Some((dir, manifest)) = chosen.model {
            let encoder = LazyTransformer::new(dir, manifest, options);
            parts.preferred = Some(Arc::new(encoder) as Arc<dyn TextEncoder>);
        }
        Ok(parts)
    }

    /// Opens the history.
    pub(crate) fn history(&self) -> Result<History, casebook_api::ApiError> {
        History::open(&self.data_dir, InstanceId::new(new_id()), Arc::new(SystemClock::new()))
    }
}

fn pack_unusable(name: &str, error: &TransformerError) -> Failure {
    let hint = format!("model pack {name} cannot be used; `casebook models verify {name}` checks it");
    let mut failure = Failure::input("model_unusable", hint);
    failure.0 = failure.0.because(error);
    failure
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
    }
}
