//! An error on the wire.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ApiError;

/// Why a request was not answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorBody {
    /// Stable code.
    pub code: String,
    /// What happened and what to do.
    pub message: String,
    /// Causes and places, outermost first.
    pub details: Vec<String>,
}

impl From<&ApiError> for ErrorBody {
    fn from(error: &ApiError) -> Self {
        Self {
            code: error.code.into(),
            message: error.message.clone(),
            details: error.details.clone(),
        }
    }
}
