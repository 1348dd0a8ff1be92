//! Failures of a model request.
//!
//! A failure that the provider reports inside a running stream is an event
//! ([`LlmEvent::ProviderError`](crate::LlmEvent)). Every other failure ends the stream with an [`LlmError`].

mod cause;
mod classify;
mod http;
mod overflow;
mod place;
mod rate_limit;
mod report;
#[cfg(test)]
mod wordings;
mod words;

pub use classify::in_stream_kind;
pub use http::{HttpContext, HttpFailure};
pub use overflow::is_overflow_text;
pub use rate_limit::RateLimits;

pub use classify::InStreamReport;
pub use place::{BEGINNING, is_page, page_message, place};

use crate::canonical::event::FinishReason;
use opencode_secrets::Redactor;

/// Maximum length, in characters, of provider output that a failure keeps.
pub const CONTEXT_CHARS: usize = 16_384;

/// A failed model request. `Display` is the text stored with the failed step. It never contains a
/// secret of the request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct LlmError {
    reason: LlmErrorReason,
    message: String,
    http: Option<Box<HttpContext>>,
    /// True if the provider is known to have produced no output before the failure.
    without_output: bool,
    /// True if the answer ended without an end that its protocol knows.
    unfinished: bool,
}

/// The kinds of failure, with details beyond the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LlmErrorReason {
    /// The provider refused the request as invalid, or the adapter refused it before any traffic.
    InvalidRequest {
        /// The refused parameter, if the provider names it.
        parameter: Option<String>,
        /// The request does not fit the context window.
        context_overflow: bool,
    },
    /// There is no usable address for the model.
    NoRoute {
        /// The provider in the catalogue.
        provider: String,
        /// The model in the catalogue.
        model: String,
    },
    /// The credential is missing or was refused.
    Authentication {
        /// The problem with the credential.
        kind: AuthenticationKind,
    },
    /// Too many requests at the moment.
    RateLimit {
        /// The wait that the provider asks for, in milliseconds.
        retry_after_ms: Option<u64>,
    },
    /// The account has no quota left. Waiting does not help.
    QuotaExceeded,
    /// The provider refuses the content.
    ContentPolicy,
    /// The provider has an internal failure.
    ProviderInternal {
        /// The HTTP status.
        status: u16,
        /// The wait that the provider asks for, in milliseconds.
        retry_after_ms: Option<u64>,
    },
    /// The exchange failed before a response, or a configured time limit passed.
    Transport {
        /// The kind of the failure.
        kind: TransportKind,
        /// The address, redacted.
        url: Option<String>,
    },
    /// The provider sent data that violates its protocol, or the response broke off.
    InvalidProviderOutput {
        /// Provider and protocol.
        route: String,
        /// The data that could not be decoded, shortened and redacted.
        raw: Option<String>,
    },
    /// The answer reached its limit of output tokens inside a tool call.
    OutputLimit,
    /// The status has no known meaning.
    UnknownProvider {
        /// The HTTP status.
        status: Option<u16>,
    },
}

/// The problem with a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthenticationKind {
    /// The credential is missing.
    Missing,
    /// The provider does not accept it.
    Invalid,
    /// It has expired.
    Expired,
    /// It does not permit this request.
    InsufficientPermissions,
    /// The provider does not name the problem.
    Unknown,
}

/// The kind of a failed exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportKind {
    /// A time limit passed.
    Timeout,
    /// No connection: a failure of name resolution, address or TLS.
    Connect,
    /// The connection was lost before the response headers.
    Exchange,
}

/// One word per failure, for consumers that only need to distinguish them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The credential is missing or refused.
    Auth,
    /// Too many requests.
    RateLimit,
    /// The quota is exhausted.
    Quota,
    /// The provider has an internal failure or is overloaded.
    Overloaded,
    /// The request is invalid.
    InvalidRequest,
    /// The request does not fit the context window.
    ContextOverflow,
    /// The provider refuses the content.
    ContentPolicy,
    /// The answer reached its limit of output tokens.
    OutputLength,
    /// The network exchange failed.
    Transport,
    /// A time limit passed.
    Timeout,
    /// The answer violates the protocol.
    InvalidOutput,
    /// None of the other kinds.
    Unknown,
}

impl ErrorKind {
    /// Returns the kind with this word.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        const ALL: [ErrorKind; 12] = [
            ErrorKind::Auth,
            ErrorKind::RateLimit,
            ErrorKind::Quota,
            ErrorKind::Overloaded,
            ErrorKind::InvalidRequest,
            ErrorKind::ContextOverflow,
            ErrorKind::ContentPolicy,
            ErrorKind::OutputLength,
            ErrorKind::Transport,
            ErrorKind::Timeout,
            ErrorKind::InvalidOutput,
            ErrorKind::Unknown,
        ];
        ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// Returns the word that is stored with the failure.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auth => "auth",
            Self::RateLimit => "rate-limit",
            Self::Quota => "quota",
            Self::Overloaded => "overloaded",
            Self::InvalidRequest => "invalid-request",
            Self::ContextOverflow => "context-overflow",
            Self::ContentPolicy => "content-policy",
            Self::OutputLength => "output-length",
            Self::Transport => "transport",
            Self::Timeout => "timeout",
            Self::InvalidOutput => "invalid-output",
            Self::Unknown => "unknown",
        }
    }

    /// True if a later retry may succeed.
    #[must_use]
    pub const fn is_retryable(self) -> bool {
        matches!(self, Self::RateLimit | Self::Overloaded)
    }
}

impl LlmError {
    /// Creates a failure of the given kind.
    #[must_use]
    pub fn new(reason: LlmErrorReason, message: impl Into<String>) -> Self {
        Self {
            reason,
            message: message.into(),
            http: None,
            without_output: false,
            unfinished: false,
        }
    }

    /// Creates the failure of a request that the adapter refuses before any traffic.
    #[must_use]
    pub fn invalid_request(message: impl Into<String>) -> Self {
        let reason = LlmErrorReason::InvalidRequest {
            parameter: None,
            context_overflow: false,
        };
        Self::new(reason, message)
    }

    /// Creates the failure of provider output that violates its protocol.
    #[must_use]
    pub fn invalid_output(route: &str, message: impl Into<String>) -> Self {
        let reason = LlmErrorReason::InvalidProviderOutput {
            route: route.to_owned(),
            raw: None,
        };
        Self::new(reason, message)
    }

    /// Creates the failure of an answer that ended, or broke off, without an end that its protocol knows.
    #[must_use]
    pub fn unfinished(route: &str, message: impl Into<String>) -> Self {
        Self {
            unfinished: true,
            ..Self::invalid_output(route, message)
        }
    }

    /// Creates the failure of provider output that violates its protocol, with the undecodable data.
    #[must_use]
    pub fn undecodable(route: &str, message: impl Into<String>, raw: &[u8]) -> Self {
        let reason = LlmErrorReason::InvalidProviderOutput {
            route: route.to_owned(),
            raw: Some(bounded(&String::from_utf8_lossy(head(raw)))),
        };
        Self::new(reason, message)
    }

    /// Creates the failure of an exchange.
    #[must_use]
    pub fn transport(kind: TransportKind, url: Option<String>, message: impl Into<String>) -> Self {
        Self::new(LlmErrorReason::Transport { kind, url }, message)
    }

    fn with_message(mut self, message: String) -> Self {
        self.message = message;
        self
    }

    /// Adds the HTTP exchange in which the failure arose.
    #[must_use]
    pub fn with_http(mut self, context: HttpContext) -> Self {
        self.http = Some(Box::new(context));
        self
    }

    /// Adapts the failure to the finish reason of the answer: invalid output that the output limit
    /// cut off is not an error of the provider.
    #[must_use]
    pub fn ended_by(mut self, reason: Option<FinishReason>) -> Self {
        if reason == Some(FinishReason::Length)
            && matches!(self.reason, LlmErrorReason::InvalidProviderOutput { .. })
        {
            self.reason = LlmErrorReason::OutputLimit;
            return self.explained("The answer reached its limit of output tokens");
        }
        self
    }

    /// Appends a sentence to the message.
    #[must_use]
    pub fn explained(mut self, sentence: &str) -> Self {
        let end = self.message.trim_end_matches('.').len();
        self.message.truncate(end);
        self.message.push_str(". ");
        self.message.push_str(sentence);
        self
    }

    /// Removes the secrets of the request from text that the provider returned.
    pub fn redacted(mut self, redactor: &Redactor) -> Self {
        self.message = redactor.text(&self.message);
        match &mut self.reason {
            LlmErrorReason::InvalidProviderOutput {
                raw: Some(text), ..
            }
            | LlmErrorReason::InvalidRequest {
                parameter: Some(text),
                ..
            } => *text = redactor.text(text),
            _ => {}
        }
        self
    }

    /// Returns the reason with its details.
    #[must_use]
    pub const fn reason(&self) -> &LlmErrorReason {
        &self.reason
    }

    /// Returns the redacted exchange of the failure, if there was a response.
    #[must_use]
    pub fn http(&self) -> Option<&HttpContext> {
        self.http.as_deref()
    }

    /// Returns the kind of the failure.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        match &self.reason {
            LlmErrorReason::InvalidRequest {
                context_overflow: true,
                ..
            } => ErrorKind::ContextOverflow,
            LlmErrorReason::InvalidRequest { .. } | LlmErrorReason::NoRoute { .. } => {
                ErrorKind::InvalidRequest
            }
            LlmErrorReason::Authentication { .. } => ErrorKind::Auth,
            LlmErrorReason::RateLimit { .. } => ErrorKind::RateLimit,
            LlmErrorReason::QuotaExceeded => ErrorKind::Quota,
            LlmErrorReason::ContentPolicy => ErrorKind::ContentPolicy,
            LlmErrorReason::ProviderInternal { .. } => ErrorKind::Overloaded,
            LlmErrorReason::Transport {
                kind: TransportKind::Timeout,
                ..
            } => ErrorKind::Timeout,
            LlmErrorReason::Transport { .. } => ErrorKind::Transport,
            LlmErrorReason::InvalidProviderOutput { .. } => ErrorKind::InvalidOutput,
            LlmErrorReason::OutputLimit => ErrorKind::OutputLength,
            LlmErrorReason::UnknownProvider { .. } => ErrorKind::Unknown,
        }
    }

    /// True if a later retry may succeed. A time limit may have cut an answer off, so a timeout is
    /// retryable only [without output](Self::without_output).
    #[must_use]
    pub const fn retryable(&self) -> bool {
        let kind = self.kind();
        kind.is_retryable() || (self.without_output && matches!(kind, ErrorKind::Timeout))
    }

    /// True if the answer ended without an end that its protocol knows, or the connection was lost before the answer:
    /// servers close connections that are not used for some seconds.
    #[must_use]
    pub const fn is_unfinished(&self) -> bool {
        let is_lost = matches!(
            self.reason,
            LlmErrorReason::Transport {
                kind: TransportKind::Exchange,
                ..
            }
        );
        self.unfinished || is_lost
    }

    /// Marks the failure as one of a request that produced no output before.
    #[must_use]
    pub fn without_output(mut self) -> Self {
        self.without_output = true;
        self
    }

    /// Returns the HTTP status, if there was a response.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        match &self.reason {
            LlmErrorReason::ProviderInternal { status, .. } => Some(*status),
            LlmErrorReason::UnknownProvider { status } => *status,
            _ => self.http.as_ref().map(|http| http.status),
        }
    }

    /// Returns the wait that the provider asks for, in milliseconds.
    #[must_use]
    pub const fn retry_after_ms(&self) -> Option<u64> {
        match &self.reason {
            LlmErrorReason::RateLimit { retry_after_ms }
            | LlmErrorReason::ProviderInternal { retry_after_ms, .. } => *retry_after_ms,
            _ => None,
        }
    }

    /// True if the words of the refusal are not known, and the size of the request may be its cause.
    #[must_use]
    pub fn may_be_overflow(&self) -> bool {
        self.http.as_ref().is_some_and(|http| {
            classify::may_be_overflow(self.kind(), Some(http.status)) && !names_other(&http.body)
        })
    }

    /// Returns the window of the model in tokens, if the provider refused the request because of its size and named
    /// the window.
    #[must_use]
    pub fn told_window(&self) -> Option<u64> {
        let told = self.http.as_ref().map_or(&self.message, |http| &http.body);
        self.is_context_overflow().then(|| window_in(told))?
    }

    /// True if the request did not fit the context window.
    #[must_use]
    pub fn is_context_overflow(&self) -> bool {
        self.kind() == ErrorKind::ContextOverflow
    }
}

/// Returns the window of a model in tokens, if the text of a provider names it.
pub fn window_in(text: &str) -> Option<u64> {
    overflow::window(&report::Report::of_body(text))
}

/// True if a failure inside a stream may have the size of the request as its cause, though its words are not known.
pub fn event_may_be_overflow(kind: ErrorKind, message: &str) -> bool {
    classify::may_be_overflow(kind, None) && !names_other(message)
}

/// True if the text of a provider names another cause than the size of the request.
fn names_other(text: &str) -> bool {
    overflow::names_other(&report::Report::of_body(text))
}

/// Returns the first [`CONTEXT_CHARS`] characters.
pub fn bounded(text: &str) -> String {
    match text.char_indices().nth(CONTEXT_CHARS) {
        None => text.to_owned(),
        Some((end, _)) => text[..end].to_owned(),
    }
}

/// Returns enough bytes for [`CONTEXT_CHARS`] characters, to avoid copying a huge frame.
fn head(raw: &[u8]) -> &[u8] {
    &raw[..raw.len().min(CONTEXT_CHARS * 4)]
}
