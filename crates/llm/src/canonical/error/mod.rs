//! Failures of a model request.
//!
//! A failure that the provider reports inside a running stream is an event
//! ([`LlmEvent::ProviderError`](crate::LlmEvent)); everything that breaks the exchange itself ends
//! the stream with an [`LlmError`].

mod classify;
mod http;
mod overflow;
mod place;
mod rate_limit;

pub use classify::in_stream_kind;
pub use http::{HttpContext, HttpFailure};
pub use overflow::is_overflow_text;
pub use rate_limit::RateLimits;

pub(crate) use place::{BEGINNING, is_page, page_message, place};

use crate::canonical::event::FinishReason;
use crate::redact::Redactor;

/// The longest piece of provider output a failure keeps, in characters.
pub(crate) const CONTEXT_CHARS: usize = 16_384;

/// Why a model request failed. `Display` is the text stored with the failed step; it never contains
/// a secret of the request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct LlmError {
    reason: LlmErrorReason,
    message: String,
    http: Option<Box<HttpContext>>,
    /// Whether it is known that the provider produced nothing before.
    without_output: bool,
}

/// The kinds of failure, with what is known beyond the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LlmErrorReason {
    /// The provider, or the adapter before any traffic, refused the request as it is.
    InvalidRequest {
        /// The offending parameter, if the provider names one.
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
        /// In which way.
        kind: AuthenticationKind,
    },
    /// Too many requests for now.
    RateLimit {
        /// How long the provider asks to wait.
        retry_after_ms: Option<u64>,
    },
    /// The account has nothing left; waiting does not help.
    QuotaExceeded,
    /// The provider refuses the content.
    ContentPolicy,
    /// The provider broke.
    ProviderInternal {
        /// The HTTP status.
        status: u16,
        /// How long the provider asks to wait.
        retry_after_ms: Option<u64>,
    },
    /// The exchange broke before a response, or a configured time limit passed.
    Transport {
        /// In which way.
        kind: TransportKind,
        /// The address, redacted.
        url: Option<String>,
    },
    /// The provider answered with something that is not its protocol, or stopped in the middle.
    InvalidProviderOutput {
        /// Provider and protocol.
        route: String,
        /// The piece that could not be understood, bounded and redacted.
        raw: Option<String>,
    },
    /// The answer reached its limit of output tokens inside a tool call.
    OutputLimit,
    /// A status nobody assigned a meaning to.
    UnknownProvider {
        /// The HTTP status.
        status: Option<u16>,
    },
}

/// What is wrong with a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthenticationKind {
    /// There is none.
    Missing,
    /// The provider does not know it.
    Invalid,
    /// It was valid once.
    Expired,
    /// It does not allow this.
    InsufficientPermissions,
    /// The provider does not say.
    Unknown,
}

/// How an exchange broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportKind {
    /// A time limit passed.
    Timeout,
    /// No connection: name, address or TLS.
    Connect,
    /// The connection was lost before the response headers.
    Exchange,
}

/// One word per failure, for consumers that only need to tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The credential.
    Auth,
    /// Too many requests.
    RateLimit,
    /// Nothing left to spend.
    Quota,
    /// The provider broke or is overloaded.
    Overloaded,
    /// The request is wrong.
    InvalidRequest,
    /// The request does not fit the context window.
    ContextOverflow,
    /// The content is refused.
    ContentPolicy,
    /// The answer reached its limit of output tokens.
    OutputLength,
    /// The network.
    Transport,
    /// A time limit.
    Timeout,
    /// The answer is not in the protocol.
    InvalidOutput,
    /// None of these.
    Unknown,
}

impl ErrorKind {
    /// The word stored with the failure.
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

    /// Whether asking again later may help.
    #[must_use]
    pub const fn is_retryable(self) -> bool {
        matches!(self, Self::RateLimit | Self::Overloaded)
    }
}

impl LlmError {
    /// A failure of the given kind.
    #[must_use]
    pub fn new(reason: LlmErrorReason, message: impl Into<String>) -> Self {
        Self {
            reason,
            message: message.into(),
            http: None,
            without_output: false,
        }
    }

    /// A request the adapter refuses before any traffic.
    #[must_use]
    pub fn invalid_request(message: impl Into<String>) -> Self {
        let reason = LlmErrorReason::InvalidRequest {
            parameter: None,
            context_overflow: false,
        };
        Self::new(reason, message)
    }

    /// Provider output that is not its protocol.
    #[must_use]
    pub fn invalid_output(route: &str, message: impl Into<String>) -> Self {
        let reason = LlmErrorReason::InvalidProviderOutput {
            route: route.to_owned(),
            raw: None,
        };
        Self::new(reason, message)
    }

    /// Provider output that is not its protocol, with the offending piece.
    #[must_use]
    pub fn undecodable(route: &str, message: impl Into<String>, raw: &[u8]) -> Self {
        let reason = LlmErrorReason::InvalidProviderOutput {
            route: route.to_owned(),
            raw: Some(bounded(&String::from_utf8_lossy(head(raw)))),
        };
        Self::new(reason, message)
    }

    /// An exchange that broke.
    #[must_use]
    pub fn transport(kind: TransportKind, url: Option<String>, message: impl Into<String>) -> Self {
        Self::new(LlmErrorReason::Transport { kind, url }, message)
    }

    pub(crate) fn with_http(mut self, context: HttpContext) -> Self {
        self.http = Some(Box::new(context));
        self
    }

    /// The same failure, of an answer that ended for this reason: output that the limit cut is not
    /// the provider's mistake.
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

    /// Adds a sentence to the message.
    #[must_use]
    pub fn explained(mut self, sentence: &str) -> Self {
        self.message.push_str(". ");
        self.message.push_str(sentence);
        self
    }

    /// Removes the request's secrets from what the provider sent back.
    pub(crate) fn redacted(mut self, redactor: &Redactor) -> Self {
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

    /// The reason with its details.
    #[must_use]
    pub const fn reason(&self) -> &LlmErrorReason {
        &self.reason
    }

    /// The exchange the failure belongs to, redacted, when there was a response.
    #[must_use]
    pub fn http(&self) -> Option<&HttpContext> {
        self.http.as_deref()
    }

    /// One word for the failure.
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

    /// Whether asking again later may help. A time limit that passed may have cut an answer off, so it
    /// counts only [without output](Self::without_output).
    #[must_use]
    pub const fn retryable(&self) -> bool {
        let kind = self.kind();
        kind.is_retryable() || (self.without_output && matches!(kind, ErrorKind::Timeout))
    }

    /// The same failure, of a request that produced nothing before.
    #[must_use]
    pub fn without_output(mut self) -> Self {
        self.without_output = true;
        self
    }

    /// The HTTP status, when there was a response.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        match &self.reason {
            LlmErrorReason::ProviderInternal { status, .. } => Some(*status),
            LlmErrorReason::UnknownProvider { status } => *status,
            _ => self.http.as_ref().map(|http| http.status),
        }
    }

    /// How long the provider asks to wait.
    #[must_use]
    pub const fn retry_after_ms(&self) -> Option<u64> {
        match &self.reason {
            LlmErrorReason::RateLimit { retry_after_ms }
            | LlmErrorReason::ProviderInternal { retry_after_ms, .. } => *retry_after_ms,
            _ => None,
        }
    }

    /// Whether the request did not fit the context window.
    #[must_use]
    pub fn is_context_overflow(&self) -> bool {
        self.kind() == ErrorKind::ContextOverflow
    }
}

/// The first [`CONTEXT_CHARS`] characters.
pub(crate) fn bounded(text: &str) -> String {
    match text.char_indices().nth(CONTEXT_CHARS) {
        None => text.to_owned(),
        Some((end, _)) => text[..end].to_owned(),
    }
}

/// Enough bytes for [`CONTEXT_CHARS`] characters, so that a huge frame is not copied to show its
/// beginning.
fn head(raw: &[u8]) -> &[u8] {
    &raw[..raw.len().min(CONTEXT_CHARS * 4)]
}
