//! The canonical event stream: the actions of a model, independent of the provider.

use std::sync::Arc;

use serde_json::Value;

use crate::canonical::cited_source::CitedSource;
use crate::canonical::error::{ErrorKind, event_may_be_overflow, window_in};
use crate::canonical::request::{JsonMap, ToolContent, ToolResultValue};
use crate::canonical::usage::Usage;

/// Identifies a block or a tool call within one step. Shared, because every delta repeats it.
pub type BlockId = Arc<str>;

/// Data that a provider attached and expects back later: namespaces with members of unknown JSON.
/// Boxed because almost no event has any.
pub type ProviderMetadata = Box<JsonMap>;

/// The reason for the end of a step. An answer that failed has none: it ends with
/// [`LlmEvent::ProviderError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinishReason {
    /// The model finished its answer.
    Stop,
    /// The output limit was reached.
    Length,
    /// The model waits for tool results.
    ToolCalls,
    /// The provider withheld the rest of the answer.
    ContentFilter,
    /// The provider gave no reason.
    Unknown,
}

impl FinishReason {
    /// Returns the name that is stored with a finished step.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::ToolCalls => "tool-calls",
            Self::ContentFilter => "content-filter",
            Self::Unknown => "unknown",
        }
    }
}

/// The reason that a call of the model cannot run. It concerns this call only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallProblem {
    /// The call has no usable name of a tool. Contains a sentence.
    Name(String),
    /// The input is not readable.
    Input {
        /// The problem, and its place. It repeats nothing of the input.
        reason: String,
        /// The input as the model wrote it.
        written: String,
    },
}

/// The output of a provider-executed tool, in the stored form of local tool output.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutput {
    /// The structured value.
    pub structured: Value,
    /// The pieces that the model sees.
    pub content: Vec<ToolContent>,
}

/// One event of a step. [`Lifecycle`](crate::Lifecycle) describes the order of events.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields mean the same in every variant")]
pub enum LlmEvent {
    /// The reply begins.
    StepStart { index: u32 },
    /// A text block begins.
    TextStart {
        id: BlockId,
        provider_metadata: Option<ProviderMetadata>,
    },
    /// More text.
    TextDelta {
        id: BlockId,
        text: String,
        provider_metadata: Option<ProviderMetadata>,
    },
    /// A text block is complete. Carries the metadata of the whole block.
    TextEnd {
        id: BlockId,
        provider_metadata: Option<ProviderMetadata>,
    },
    /// A reasoning block begins.
    ReasoningStart {
        id: BlockId,
        provider_metadata: Option<ProviderMetadata>,
    },
    /// More reasoning.
    ReasoningDelta {
        id: BlockId,
        text: String,
        provider_metadata: Option<ProviderMetadata>,
    },
    /// A reasoning block is complete. Carries the metadata of the whole block.
    ReasoningEnd {
        id: BlockId,
        provider_metadata: Option<ProviderMetadata>,
    },
    /// The model begins to write the input of a tool call.
    ToolInputStart {
        id: BlockId,
        name: BlockId,
        provider_metadata: Option<ProviderMetadata>,
    },
    /// More of the tool input, as raw text.
    ToolInputDelta {
        id: BlockId,
        name: BlockId,
        text: String,
    },
    /// The tool input is complete.
    ToolInputEnd {
        id: BlockId,
        name: BlockId,
        provider_metadata: Option<ProviderMetadata>,
    },
    /// The tool call, with parsed input.
    ToolCall {
        id: BlockId,
        name: BlockId,
        input: Value,
        provider_executed: bool,
        provider_metadata: Option<ProviderMetadata>,
    },
    /// A call of a local tool that must not run, in place of `ToolCall`. It has no result.
    InvalidToolCall {
        id: BlockId,
        name: BlockId,
        problem: CallProblem,
        provider_metadata: Option<ProviderMetadata>,
    },
    /// The result of a provider-executed call.
    ToolResult {
        id: BlockId,
        name: BlockId,
        result: ToolResultValue,
        output: Option<Box<ToolOutput>>,
        provider_executed: bool,
        provider_metadata: Option<ProviderMetadata>,
    },
    /// A call that failed before it had a result.
    ToolError {
        id: BlockId,
        name: BlockId,
        message: String,
        error: Option<Value>,
        provider_metadata: Option<ProviderMetadata>,
    },
    /// The answer cites a source. The same source may come several times.
    Cited(Box<CitedSource>),
    /// The step is complete.
    StepFinish {
        index: u32,
        reason: FinishReason,
        usage: Option<Usage>,
        provider_metadata: Option<ProviderMetadata>,
    },
    /// The reply is complete. Terminal.
    Finish {
        reason: FinishReason,
        usage: Option<Usage>,
        provider_metadata: Option<ProviderMetadata>,
    },
    /// The provider reported a failure inside the stream. Terminal.
    ProviderError {
        message: String,
        kind: ErrorKind,
        retryable: bool,
        provider_metadata: Option<ProviderMetadata>,
    },
}

impl LlmEvent {
    /// True if no event follows this event.
    #[must_use]
    pub const fn is_terminal(&self) -> bool {
        matches!(self, Self::Finish { .. } | Self::ProviderError { .. })
    }

    /// True if the provider reports a failure in words that are not known, and the size of the request may be its cause.
    #[must_use]
    pub fn may_be_overflow(&self) -> bool {
        match self {
            Self::ProviderError { message, kind, .. } => event_may_be_overflow(*kind, message),
            _ => false,
        }
    }

    /// Returns the window of the model in tokens, if the provider refused the request because of its size and named
    /// the window.
    #[must_use]
    pub fn told_window(&self) -> Option<u64> {
        match self {
            Self::ProviderError { message, kind, .. } if *kind == ErrorKind::ContextOverflow => {
                window_in(message)
            }
            _ => None,
        }
    }

    /// True if the provider reports that the request did not fit the context window.
    #[must_use]
    pub const fn is_context_overflow(&self) -> bool {
        matches!(
            self,
            Self::ProviderError {
                kind: ErrorKind::ContextOverflow,
                ..
            }
        )
    }
}
