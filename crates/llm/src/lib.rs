//! The canonical model request and event stream, and one adapter per wire protocol.
//!
//! The runner builds an [`LlmRequest`], passes it to a [`ModelClient`] and reads [`LlmEvent`]s. Only this
//! crate knows the wire format of each provider, the framing of its stream and the names of its failures.
//!
//! This crate must not depend on sessions, storage, running tools, configuration files or the HTTP
//! interface of OpenCode. It reads the certificate store and the proxy settings when the first
//! request needs them. The clock and randomness come from [`Sources`].
//!
//! Overview:
//!
//! - [`request`] and [`model`]: the input. [`event`] and [`usage`]: the output.
//! - [`lifecycle`]: the grammar of the event stream. Every adapter emits events through it, so the
//!   consumer can rely on their order and pairing for every provider.
//! - [`protocol`]: the adapters, pure state machines from bytes to events. To add a protocol, add a
//!   folder there and an arm in [`protocol::adapter`].
//! - [`surrogates`]: the repair of JSON texts, also those of other servers than models.
//! - `sse`: framing shared by the adapters.
//! - [`error`] and [`redact`]: the content of failures, and the removal of secrets from them.
//! - [`net`]: HTTP clients, their proxies, and downloads of documents.
//! - [`transport`]: one request to a model: address, credential, body, and cancellation by drop.
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
pub mod net;
pub mod protocol;
pub mod redact;
pub mod retry;
pub mod secret;
pub mod sources;
mod sse;
pub mod surrogates;
pub mod transport;

pub use authorizer::{Authorizer, OutgoingRequest};
pub use canonical::media_type::{HEAD_BYTES, media_type};
pub use canonical::{authorizer, cited_source, error, event, model, request, usage};
pub use cited_source::{CitedSource, is_web_address};
pub use client::{EventStream, ModelClient};
pub use error::{ErrorKind, LlmError, LlmErrorReason};
pub use event::{BlockId, CallProblem, FinishReason, LlmEvent, ProviderMetadata, ToolOutput};
pub use lifecycle::Lifecycle;
pub use model::{
    Auth, Capabilities, Compatibility, CompatibleServer, Endpoint, Limits, ProtocolId,
    ResolvedModel, SystemRole, Timeouts, ToolSchema,
};
pub use net::{DownloadError, HttpClients, HttpDownloads, HttpRequest, HttpResponse, Proxies};
pub use protocol::{
    HostedResults, NormalSchema, Prefix, PrefixReport, escape_markup, short_hash,
    wrap_system_message,
};
pub use request::{
    GenerationControls, HttpOverlay, InputSchema, JsonMap, LlmRequest, Media, Message,
    OutputFormat, Part, PrefixCache, ReasoningPart, Role, SystemPart, TextPart, ToolCallPart,
    ToolChoice, ToolContent, ToolDefinition, ToolResultPart, ToolResultValue,
};
pub use retry::{Retry, RetryPolicy};
pub use secret::Secret;
pub use sources::Sources;
pub use transport::{HttpModelClient, HttpOptions};
pub use usage::{TokenCounts, Usage};
