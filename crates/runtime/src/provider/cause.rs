//! Failures of the provider as causes of a failed turn.

use opencode_llm::LlmError;
use opencode_schema::bounded::MAX_SAFE_INTEGER;
use opencode_schema::message::{ErrorCause, ErrorKind};

/// The cause of a failed request, with the catalogue's id of its provider.
pub(crate) fn cause_of(error: &LlmError, provider_id: &str) -> ErrorCause {
    ErrorCause {
        kind: kind_of(error.kind()),
        status: error.status(),
        retryable: error.retryable(),
        retry_after_ms: error
            .retry_after_ms()
            .filter(|wait| *wait <= MAX_SAFE_INTEGER),
        provider_id: Some(provider_id.to_owned()),
    }
}

pub(crate) fn kind_of(kind: opencode_llm::ErrorKind) -> ErrorKind {
    match kind {
        opencode_llm::ErrorKind::Auth => ErrorKind::Auth,
        opencode_llm::ErrorKind::RateLimit => ErrorKind::RateLimit,
        opencode_llm::ErrorKind::Quota => ErrorKind::Quota,
        opencode_llm::ErrorKind::Overloaded => ErrorKind::Overloaded,
        opencode_llm::ErrorKind::InvalidRequest => ErrorKind::InvalidRequest,
        opencode_llm::ErrorKind::ContextOverflow => ErrorKind::ContextOverflow,
        opencode_llm::ErrorKind::ContentPolicy => ErrorKind::ContentPolicy,
        opencode_llm::ErrorKind::OutputLength => ErrorKind::OutputLength,
        opencode_llm::ErrorKind::Transport => ErrorKind::Transport,
        opencode_llm::ErrorKind::Timeout => ErrorKind::Timeout,
        opencode_llm::ErrorKind::InvalidOutput => ErrorKind::InvalidOutput,
        opencode_llm::ErrorKind::Unknown => ErrorKind::Unknown,
    }
}
