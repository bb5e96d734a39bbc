//! Puts concrete types together: the only place that picks them.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use casebook_api::{History, Parts, Service};
use casebook_encoder::{StaticEncoder, StaticLateInteraction, embedded_table};
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
        let parts = Parts {
            preferred: self.chosen_encoder(threads)?,
            ..parts()
        };
        Ok(Service::open(project, self.history(), parts)?)
    }

    /// Returns the encoder of the model pack that the settings choose, where they choose one.
    #[expect(
        clippy::unnecessary_wraps,
        clippy::unused_self,
        reason = "no setting chooses a pack yet"
    )]
    fn chosen_encoder(&self, _threads: Option<NonZeroUsize>) -> Result<Option<Arc<dyn TextEncoder>>, Failure> {
        Ok(None)
    }

    /// Opens the history.
    pub(crate) fn history(&self) -> Result<History, casebook_api::ApiError> {
        History::open(&self.data_dir, InstanceId::new(new_id()), Arc::new(SystemClock::new()))
    }
}

/// Returns the environment's readable variables.
fn environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

/// Returns the parts that every service is made of; what a project chooses is not among them.
pub(crate) fn parts() -> Parts {
    let table = embedded_table();
    Parts {
        scorer: Arc::new(StaticLateInteraction::new(Arc::clone(&table))),
        encoder: Arc::new(StaticEncoder::new(table)),
        preferred: None,
        clock: Arc::new(SystemClock::new()),
        run_ids: Arc::new(|| RunId::new(new_id())),
    }
}
