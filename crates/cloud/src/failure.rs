//! Failures of the libraries of credentials, as failures of a request to a model.

use std::error::Error;

use opencode_llm::error::AuthenticationKind;
use opencode_llm::{LlmError, LlmErrorReason};

/// Returns the failure of a request without a credential. `advice` names the places of credentials.
pub(crate) fn unauthorized(service: &str, advice: &str, error: &reqsign_core::Error) -> LlmError {
    let kind = AuthenticationKind::Missing;
    let mut problem = error.to_string();
    if let Some(cause) = error.source() {
        problem.push_str(": ");
        problem.push_str(&cause.to_string());
    }
    let message = format!("There is no credential for {service}: {problem}. {advice}");
    LlmError::new(LlmErrorReason::Authentication { kind }, message)
}
