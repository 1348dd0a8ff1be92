//! The canonical model request and event stream, and one adapter per wire protocol.
//!
//! The runner builds an [`LlmRequest`], hands it to a [`ModelClient`] and reads [`LlmEvent`]s. What a provider
//! expects on the wire, how its stream is cut into frames and how its failures are named is known here and
//! nowhere else.
//!
//! This crate must not know about sessions, storage, tools that run, configuration files or the HTTP interface
//! of OpenCode. It reads no environment and no files except the certificate store of the platform; the clock and
//! randomness come from [`Sources`].
//!
//! How to read it:
//!
//! - [`request`] and [`model`]: what goes in. [`event`] and [`usage`]: what comes out.
//! - [`lifecycle`]: the grammar of the event stream. Every adapter emits through it, so the consumer can rely on
//!   order and pairing whoever speaks on the other side.
//! - [`protocol`]: the adapters, pure state machines from bytes to events. A further protocol is one more folder
//!   there and one more arm in [`protocol::adapter`].
//! - [`sse`]: framing shared by the adapters.
//! - [`error`] and [`redact`]: what a failure says, and what it must never say.
//! - [`transport`]: the only part with a network: request, retry, body, cancellation by drop.

pub mod client;
pub mod error;
pub mod event;
mod json;
pub mod lifecycle;
pub mod model;
pub mod protocol;
pub mod redact;
pub mod request;
pub mod secret;
pub mod sources;
pub mod sse;
pub mod transport;
pub mod usage;

pub use client::{EventStream, ModelClient};
pub use error::{ErrorKind, LlmError, LlmErrorReason};
pub use event::{BlockId, FinishReason, LlmEvent, ProviderMetadata, ToolOutput};
pub use lifecycle::Lifecycle;
pub use model::{
    Auth, Capabilities, Compatibility, Endpoint, Limits, ProtocolId, ResolvedModel, SystemRole,
    Timeouts, ToolSchema,
};
pub use request::{
    GenerationControls, HttpOverlay, JsonMap, LlmRequest, Media, Message, Part, PrefixCache,
    ReasoningPart, Role, SystemPart, TextPart, ToolCallPart, ToolChoice, ToolContent,
    ToolDefinition, ToolResultPart, ToolResultValue,
};
pub use secret::Secret;
pub use sources::Sources;
pub use transport::{HttpModelClient, HttpOptions, RetryPolicy};
pub use usage::{TokenCounts, Usage};
