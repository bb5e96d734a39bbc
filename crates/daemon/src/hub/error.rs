//! Why a model could not be had, and what to do about it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use casebook_api::{ApiError, ErrorKind};
use casebook_encoder::PackError;

use crate::failure::Failure;

/// Why a model could not be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HubError {
    /// The source is no `hf:owner/name@rev`.
    #[error("{text:?} is no `hf:owner/name` or `hf:owner/name@revision`: {why}")]
    Spec {
        /// What was typed.
        text: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// `HF_ENDPOINT` cannot be used.
    #[error("the hub's address {text:?} cannot be used: {why}; correct HF_ENDPOINT or unset it")]
    Endpoint {
        /// The address.
        text: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The environment forbids the network.
    #[error("HF_HUB_OFFLINE is set: nothing is asked of the hub; unset it, or add the model from a folder")]
    Offline,
    /// The token cannot be sent. It is not shown.
    #[error("the token of {place} has characters that no token has; correct it or unset it")]
    Token {
        /// Where it came from.
        place: String,
    },
    /// There is no such repository, or it is private.
    #[error("{repository} is not on the hub at revision {revision:?}: check owner, name and revision{hint}")]
    NotFound {
        /// `owner/name`.
        repository: String,
        /// What was asked for.
        revision: String,
        /// What else it may be.
        hint: &'static str,
    },
    /// The hub knows the repository and does not let this caller have it.
    #[error("{repository} is not open to everyone: {advice}")]
    Denied {
        /// `owner/name`.
        repository: String,
        /// What to do.
        advice: String,
    },
    /// The hub asks for a pause longer than anyone wants to wait, or asked too often.
    #[error("the hub allows no more requests for now; try again in {}{hint}", wait.map_or("some minutes".to_owned(), |wait| format!("{} s", wait.as_secs())))]
    Limited {
        /// The pause that it asked for.
        wait: Option<Duration>,
        /// What raises the limit.
        hint: &'static str,
    },
    /// No connection, or it was lost too often.
    #[error("no working connection to {host}: {why}; what has come is kept, run the command again")]
    Unreachable {
        /// The host.
        host: String,
        /// What the connection said.
        why: String,
    },
    /// The server failed, or answered with a status that has no meaning here.
    #[error("{host} answers with status {status}; try again later")]
    Status {
        /// The host.
        host: String,
        /// The status.
        status: u16,
    },
    /// A redirect that is not followed.
    #[error("{host} leads elsewhere in a way that is not followed: {why}")]
    Redirect {
        /// Who redirected.
        host: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// What the hub says about the repository cannot be understood. A mirror or a login page may have answered.
    #[error("{host} does not answer as the hub does: {why}; check HF_ENDPOINT and any proxy")]
    Answer {
        /// The host.
        host: String,
        /// What is wrong with it.
        why: String,
    },
    /// What the hub sends of a file contradicts what it said.
    #[error("{host} does not send {file} as it should: {why}")]
    Transfer {
        /// The host.
        host: String,
        /// The file.
        file: String,
        /// What is wrong with it.
        why: String,
    },
    /// A complete file is not what the hub said, twice.
    #[error("{file} is not the file that the hub lists: {why}; what came was discarded")]
    Differs {
        /// The file.
        file: String,
        /// What differs.
        why: &'static str,
    },
    /// The repository holds nothing that a pack can be made from.
    #[error("no model pack can be made of this repository: {why}")]
    Unusable {
        /// What is missing and what to do.
        why: String,
    },
    /// It is larger than allowed.
    #[error("the model has {} and {} are allowed", megabytes(*bytes), megabytes(*limit))]
    TooLarge {
        /// Its size.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// Another process downloads the same.
    #[error("another process downloads this model; wait for it")]
    Busy,
    /// The disk refuses.
    #[error("{path:?} cannot be written; check its permissions and free space")]
    Disk {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The model is not wanted, for what is known before its weights are here.
    #[error(transparent)]
    Refused(#[from] PackError),
    /// The caller wants no more.
    #[error("the download was stopped; what has come is kept, run the command again to go on")]
    Cancelled,
}

impl HubError {
    /// Returns the stable code.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Spec { .. } => "hub_spec_invalid",
            Self::Endpoint { .. } => "hub_endpoint_invalid",
            Self::Offline => "hub_offline",
            Self::Token { .. } => "hub_token_invalid",
            Self::NotFound { .. } => "hub_not_found",
            Self::Denied { .. } => "hub_access_denied",
            Self::Limited { .. } => "hub_rate_limited",
            Self::Unreachable { .. } => "hub_unreachable",
            Self::Status { .. } => "hub_failed",
            Self::Redirect { .. } => "hub_redirect_refused",
            Self::Answer { .. } => "hub_answer_invalid",
            Self::Transfer { .. } => "hub_transfer_invalid",
            Self::Differs { .. } => "hub_file_differs",
            Self::Unusable { .. } => "hub_model_unusable",
            Self::TooLarge { .. } => "hub_model_too_large",
            Self::Busy => "hub_busy",
            Self::Disk { .. } => "hub_unwritable",
            Self::Refused(error) => error.code(),
            Self::Cancelled => "cancelled",
        }
    }

    /// Returns who can help.
    pub(crate) fn kind(&self) -> ErrorKind {
        match self {
            Self::Spec { .. }
            | Self::Endpoint { .. }
            | Self::Offline
            | Self::Token { .. }
            | Self::NotFound { .. }
            | Self::Denied { .. }
            | Self::Unusable { .. }
            | Self::TooLarge { .. }
            | Self::Refused(_) => ErrorKind::Input,
            Self::Limited { .. } | Self::Unreachable { .. } | Self::Status { .. } | Self::Cancelled => {
                ErrorKind::NotReady
            }
            Self::Differs { .. } => ErrorKind::CheckFailed,
            Self::Busy => ErrorKind::Conflict,
            Self::Redirect { .. } | Self::Answer { .. } | Self::Transfer { .. } | Self::Disk { .. } => {
                ErrorKind::Internal
            }
        }
    }

    /// Returns a conversion from a failure of the disk at this path.
    pub(super) fn disk<E: std::error::Error + Send + Sync + 'static>(path: &Path) -> impl FnOnce(E) -> Self {
        move |source| Self::Disk {
            path: path.to_owned(),
            source: Box::new(source),
        }
    }
}

impl From<HubError> for Failure {
    fn from(error: HubError) -> Self {
        let error = match error {
            HubError::Refused(error) => return error.into(),
            error => error,
        };
        let message = error.to_string();
        let made = ApiError::new(error.code(), error.kind(), message);
        Self(match std::error::Error::source(&error) {
            Some(source) => made.because(source),
            None => made,
        })
    }
}

/// Returns a size for people.
pub(crate) fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes.div_ceil(1_000_000))
}
