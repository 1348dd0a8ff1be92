//! What the model crate says, in the vocabulary of events.

use opencode_llm::{LlmError, ToolResultValue, Usage};
use opencode_schema::message::{ErrorCause, ErrorKind, SessionErrorUnknown, ToolContent};
use opencode_schema::session::{CacheTokens, Tokens};

use super::calls::Hosted;

pub(super) fn tokens_of(usage: Option<&Usage>) -> Tokens {
    let counts = usage.map(Usage::counts).unwrap_or_default();
    Tokens {
        input: counts.input,
        output: counts.output,
        reasoning: counts.reasoning,
        cache: CacheTokens {
            read: counts.cache_read,
            write: counts.cache_write,
        },
    }
}

pub(super) fn hosted(
    result: ToolResultValue,
    output: Option<Box<opencode_llm::ToolOutput>>,
    metadata: Option<opencode_schema::message::ProviderMetadata>,
) -> Hosted {
    match result {
        ToolResultValue::Error(value) => {
            let message = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            Hosted::Failed {
                message,
                result: Some(value),
                metadata,
            }
        }
        native => {
            let native = serde_json::to_value(native).unwrap_or_default();
            let (structured, content) = output
                .map(|output| (output.structured, output.content))
                .unwrap_or_default();
            let content = content.into_iter().map(content_of).collect();
            let result = native.get("value").cloned();
            Hosted::Success {
                structured,
                content,
                result,
                metadata,
            }
        }
    }
}

fn content_of(content: opencode_llm::ToolContent) -> ToolContent {
    match content {
        opencode_llm::ToolContent::Text { text } => ToolContent::Text { text },
        opencode_llm::ToolContent::File { uri, mime, name } => {
            ToolContent::File { uri, mime, name }
        }
    }
}

pub(super) fn step_error(error: &LlmError) -> SessionErrorUnknown {
    SessionErrorUnknown {
        cause: Some(cause_of(error)),
        ..SessionErrorUnknown::new(error.to_string())
    }
}

pub(super) fn cause_of(error: &LlmError) -> ErrorCause {
    ErrorCause {
        kind: kind_of(error.kind()),
        status: error.status(),
        retryable: error.retryable(),
        retry_after_ms: error.retry_after_ms(),
        provider_id: None,
    }
}

pub(super) fn kind_of(kind: opencode_llm::ErrorKind) -> ErrorKind {
    match kind {
        opencode_llm::ErrorKind::Auth => ErrorKind::Auth,
        opencode_llm::ErrorKind::RateLimit => ErrorKind::RateLimit,
        opencode_llm::ErrorKind::Quota => ErrorKind::Quota,
        opencode_llm::ErrorKind::Overloaded => ErrorKind::Overloaded,
        opencode_llm::ErrorKind::InvalidRequest => ErrorKind::InvalidRequest,
        opencode_llm::ErrorKind::ContextOverflow => ErrorKind::ContextOverflow,
        opencode_llm::ErrorKind::ContentPolicy => ErrorKind::ContentPolicy,
        opencode_llm::ErrorKind::Transport => ErrorKind::Transport,
        opencode_llm::ErrorKind::Timeout => ErrorKind::Timeout,
        opencode_llm::ErrorKind::InvalidOutput => ErrorKind::InvalidOutput,
        opencode_llm::ErrorKind::Unknown => ErrorKind::Unknown,
    }
}
