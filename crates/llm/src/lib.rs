//! The canonical model request and event stream: what the engine sees of models.
//!
//! The runner builds an [`LlmRequest`], passes it to a [`ModelClient`] and reads [`LlmEvent`]s. `opencode-protocols`
//! speaks the wire protocols of the providers.
//!
//! This crate must not depend on sessions, storage, running tools, configuration files or the HTTP interface of
//! OpenCode. The clock and randomness come from [`Sources`].
//!
//! Overview:
//!
//! - [`request`] and [`model`]: the input. [`event`] and [`usage`]: the output.
//! - [`lifecycle`]: the grammar of the event stream. Every adapter emits events through it, so the consumer can rely on
//!   their order and pairing for every provider.
//! - [`normal_schema`]: the form of input schemas of tools.
//! - [`surrogates`]: the repair of JSON texts, also those of other servers than models.
//! - [`error`]: the content of failures.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod canonical;
pub mod client;
pub mod lifecycle;
pub mod normal_schema;
pub mod retry;
pub mod sources;
pub mod surrogates;

pub use authorizer::{Authorizer, OutgoingRequest};
pub use canonical::media_type::{HEAD_BYTES, media_type};
pub use canonical::{
    authorizer, cited_source, error, event, hosted_results, mid_conversation, model, prefix,
    request, usage,
};
pub use cited_source::{CitedSource, is_web_address};
pub use client::{EventStream, ModelClient};
pub use error::{ErrorKind, LlmError, LlmErrorReason};
pub use event::{BlockId, CallProblem, FinishReason, LlmEvent, ProviderMetadata, ToolOutput};
pub use hosted_results::HostedResults;
pub use lifecycle::Lifecycle;
pub use mid_conversation::{escape_markup, wrap_system_message};
pub use model::{
    Auth, Capabilities, Compatibility, CompatibleServer, Endpoint, Limits, ProtocolId,
    ResolvedModel, SystemRole, Timeouts, ToolSchema,
};
pub use normal_schema::NormalSchema;
pub use prefix::{Prefix, PrefixReport, short_hash};
pub use request::{
    GenerationControls, HttpOverlay, InputSchema, JsonMap, LlmRequest, Media, Message,
    OutputFormat, Part, PrefixCache, ReasoningPart, Role, SystemPart, TextPart, ToolCallPart,
    ToolChoice, ToolContent, ToolDefinition, ToolResultPart, ToolResultValue,
};
pub use retry::{Retry, RetryPolicy};
pub use sources::Sources;
pub use usage::{TokenCounts, Usage};
