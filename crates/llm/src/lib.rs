//! The canonical model request and event stream, and one adapter per wire protocol.
//!
//! The runner builds an [`LlmRequest`], hands it to a [`ModelClient`] and reads [`LlmEvent`]s. What
//! a provider expects on the wire, how its stream is cut into frames and how its failures are named
//! is known here and nowhere else.
//!
//! This crate must not know about sessions, storage, tools that run, configuration files or the
//! HTTP interface of OpenCode. Of the machine it reads the certificate store and the proxy
//! settings, both when the first request needs them; the clock and randomness come from
//! [`Sources`].
//!
//! How to read it:
//!
//! - [`request`] and [`model`]: what goes in. [`event`] and [`usage`]: what comes out.
//! - [`lifecycle`]: the grammar of the event stream. Every adapter emits through it, so the
//!   consumer can rely on order and pairing whoever speaks on the other side.
//! - [`protocol`]: the adapters, pure state machines from bytes to events. A further protocol is
//!   one more folder there and one more arm in [`protocol::adapter`].
//! - `sse`: framing shared by the adapters.
//! - [`error`] and [`redact`]: what a failure says, and what it must never say.
//! - [`transport`]: the only part with a network: request, body, cancellation by drop; and
//!   documents that are had the same way.
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use futures::StreamExt;
//! use opencode_llm::{
//!     HttpModelClient, LlmEvent, LlmRequest, Message, ModelClient, Part, ProtocolId, ResolvedModel,
//! };
//!
//! # async fn ask() -> Result<String, opencode_llm::LlmError> {
//! let base_url = "http://localhost:11434/v1";
//! let model = ResolvedModel::new("ollama", "qwen3", ProtocolId::OpenAiChat, base_url);
//! let mut request = LlmRequest::new(Arc::new(model));
//! request.messages = vec![Message::user([Part::text("What is a lifetime?")])].into();
//!
//! let mut answer = String::new();
//! let mut stream = HttpModelClient::default().stream(request);
//! while let Some(batch) = stream.next().await {
//!     for event in batch? {
//!         if let LlmEvent::TextDelta { text, .. } = event {
//!             answer.push_str(&text);
//!         }
//!     }
//! }
//! # Ok(answer)
//! # }
//! ```

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod canonical;
pub mod client;
pub mod lifecycle;
pub mod protocol;
pub mod redact;
pub mod retry;
pub mod secret;
pub mod sources;
mod sse;
pub mod transport;

pub use canonical::{error, event, model, request, usage};
pub use client::{EventStream, ModelClient};
pub use error::{ErrorKind, LlmError, LlmErrorReason};
pub use event::{BlockId, FinishReason, LlmEvent, ProviderMetadata, ToolOutput};
pub use lifecycle::Lifecycle;
pub use model::{
    Auth, Capabilities, Compatibility, Endpoint, Limits, ProtocolId, ResolvedModel, SystemRole,
    Timeouts, ToolSchema,
};
pub use protocol::{Prefix, PrefixReport, escape_markup, short_hash, wrap_system_message};
pub use request::{
    GenerationControls, HttpOverlay, JsonMap, LlmRequest, Media, Message, Part, PrefixCache,
    ReasoningPart, Role, SystemPart, TextPart, ToolCallPart, ToolChoice, ToolContent,
    ToolDefinition, ToolResultPart, ToolResultValue,
};
pub use retry::{Retry, RetryPolicy};
pub use secret::Secret;
pub use sources::Sources;
pub use transport::{
    DownloadError, HttpDownloads, HttpModelClient, HttpOptions, HttpRequest, HttpResponse, Proxies,
};
pub use usage::{TokenCounts, Usage};
