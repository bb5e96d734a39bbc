//! What ended a command, and the exit code it ends with.

use std::io::Write;
use std::process::ExitCode;

use casebook_api::wire::ErrorBody;
use casebook_api::{ApiError, ErrorKind};

use crate::{interrupt, render};

/// What ended a command.
#[derive(Debug)]
pub(crate) struct Failure(pub(crate) ApiError);

impl Failure {
    /// Wrong input or configuration.
    pub(crate) fn input(code: &'static str, message: impl Into<String>) -> Self {
        Self(ApiError::new(code, ErrorKind::Input, message))
    }

    /// Nobody's fault but ours or the machine's.
    pub(crate) fn internal(
        code: &'static str,
        message: impl Into<String>,
        error: &(dyn std::error::Error + 'static),
    ) -> Self {
        Self(ApiError::new(code, ErrorKind::Internal, message).because(error))
    }

    /// Says what happened: for scripts as JSON on standard output, else on standard error.
    pub(crate) fn report(&self, json: bool) -> ExitCode {
        let body = ErrorBody::from(&self.0);
        // A closed pipe leaves nobody to tell.
        let _ = if json {
            let document = serde_json::json!({ "error": body });
            writeln!(std::io::stdout(), "{document:#}")
        } else {
            writeln!(std::io::stderr(), "{}", render::error(&body))
        };
        self.exit_code()
    }

    /// The one table of exit codes; 0 and 2 (wrong use) come from elsewhere.
    fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self.0.kind {
            _ if self.0.code == "cancelled" && interrupt::is_asked() => interrupt::EXIT_CODE,
            ErrorKind::CheckFailed => 1,
            ErrorKind::Input => 3,
            ErrorKind::NotReady => 4,
            ErrorKind::Conflict => 5,
            ErrorKind::Internal => 70,
        })
    }
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self(error)
    }
}
