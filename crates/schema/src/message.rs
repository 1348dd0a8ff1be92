//! Messages of the Session History, which durable events project to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::clock::Millis;
use crate::id::{MessageID, SessionID};
use crate::model::ModelRef;
use crate::prompt::{PromptAgentAttachment, PromptFileAttachment};
use crate::record::Record;
use crate::session::Tokens;

/// Creation time of a message, in epoch milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CreatedTime {
    /// Creation time. For a user message: the time of its admission.
    pub created: Millis,
}

/// Start and end time, in epoch milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SpanTime {
    /// Start time.
    pub created: Millis,
    /// End time. Absent while in progress.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub completed: Option<Millis>,
}

/// Times of a tool call, in epoch milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolTime {
    /// Time at which the provider began to write the call.
    pub created: Millis,
    /// Time at which the call was complete and recorded.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ran: Option<Millis>,
    /// Time at which the call settled.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub completed: Option<Millis>,
    /// Time from which later requests omit the output of the call.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pruned: Option<Millis>,
}

/// The failure of a step, a tool call or a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionErrorUnknown {
    /// Always `unknown`: the contract has one error type.
    pub r#type: UnknownTag,
    /// Description of the failure.
    pub message: String,
    /// Kind of the failure, and if a retry can succeed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cause: Option<ErrorCause>,
}

/// The only error type of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum UnknownTag {
    /// `unknown`.
    Unknown,
}

impl SessionErrorUnknown {
    /// Creates an error without a classified cause.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            r#type: UnknownTag::Unknown,
            message: message.into(),
            cause: None,
        }
    }

    /// Creates an error of a known kind that is not retryable.
    pub fn of(kind: ErrorKind, message: impl Into<String>) -> Self {
        let cause = ErrorCause {
            kind,
            status: None,
            retryable: false,
            retry_after_ms: None,
            provider_id: None,
        };
        Self {
            cause: Some(cause),
            ..Self::new(message)
        }
    }
}

/// The machine-readable cause of an error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorCause {
    /// Kind of the failure.
    pub kind: ErrorKind,
    /// HTTP status of the provider's response.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub status: Option<u16>,
    /// True if the same request may succeed later.
    pub retryable: bool,
    /// Delay that the provider asks for, in milliseconds.
    #[serde(
        rename = "retryAfterMs",
        deserialize_with = "crate::bounded::optional_count",
        skip_serializing_if = "Option::is_none",
        default
    )]
    pub retry_after_ms: Option<u64>,
    /// Id of the provider that failed.
    #[serde(
        rename = "providerID",
        skip_serializing_if = "Option::is_none",
        default
    )]
    pub provider_id: Option<String>,
}

/// The kind of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "each name says what it is")]
pub enum ErrorKind {
    Auth,
    RateLimit,
    Quota,
    Overloaded,
    InvalidRequest,
    ContextOverflow,
    ContentPolicy,
    OutputLength,
    Transport,
    Timeout,
    InvalidOutput,
    Interrupted,
    Declined,
    StepLimit,
    Budget,
    Tool,
    Permission,
    Unknown,
}

/// One piece of a tool's output, as the model receives it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum ToolContent {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// A file, usually as a `data:` URI.
    File {
        /// URI of the content.
        uri: String,
        /// Media type.
        mime: String,
        /// Name of the file.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        name: Option<String>,
    },
}

/// The executor of a tool call, and the provider metadata of the call and of its result.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ToolProvider {
    /// True if the provider runs the tool itself.
    pub executed: bool,
    /// Provider metadata of the call.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub metadata: Option<ProviderMetadata>,
    /// Provider metadata of the result.
    #[serde(
        rename = "resultMetadata",
        skip_serializing_if = "Option::is_none",
        default
    )]
    pub result_metadata: Option<ProviderMetadata>,
}

/// Metadata by provider name. Later requests return it to the provider unchanged.
pub type ProviderMetadata = std::collections::BTreeMap<String, Record>;

/// The state of a tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum ToolState {
    /// The provider is writing the arguments.
    Pending {
        /// Raw text of the arguments, once complete.
        input: String,
    },
    /// The call is recorded and running.
    Running {
        /// Decoded arguments.
        input: Record,
        /// Latest progress, for programs.
        structured: Record,
        /// Latest progress, for the model.
        content: Vec<ToolContent>,
    },
    /// The call settled with a result.
    Completed {
        /// Decoded arguments.
        input: Record,
        /// Content that the model receives. If empty, the model receives `structured`.
        content: Vec<ToolContent>,
        /// Paths of the Managed Tool Output Files that hold the output that was cut.
        #[serde(
            rename = "outputPaths",
            skip_serializing_if = "Option::is_none",
            default
        )]
        output_paths: Option<Vec<String>>,
        /// Result for programs.
        structured: Record,
        /// Result in the provider's own form, if the provider ran the tool.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        result: Option<Value>,
    },
    /// The call settled with a failure.
    Error {
        /// Decoded arguments. Empty if the arguments were never complete.
        input: Record,
        /// Progress before the failure, for the model.
        content: Vec<ToolContent>,
        /// Progress before the failure, for programs.
        structured: Record,
        /// Description of the failure.
        error: SessionErrorUnknown,
        /// The failure as the model receives it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        result: Option<Value>,
    },
}

/// A part of an assistant message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum AssistantPart {
    /// Visible text.
    Text {
        /// Provider's id of the block.
        id: String,
        /// The text.
        text: String,
    },
    /// Reasoning of the model.
    Reasoning {
        /// Provider's id of the block.
        id: String,
        /// Visible text of the reasoning.
        text: String,
        /// Provider metadata that later requests return with the block.
        #[serde(
            rename = "providerMetadata",
            skip_serializing_if = "Option::is_none",
            default
        )]
        provider_metadata: Option<ProviderMetadata>,
        /// Start and end of the block.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        time: Option<SpanTime>,
    },
    /// A tool call.
    Tool {
        /// The provider's call ID. Unique only within its message.
        id: String,
        /// Name of the tool.
        name: String,
        /// Executor of the call, and its provider metadata.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        provider: Option<ToolProvider>,
        /// State of the call.
        state: Box<ToolState>,
        /// Times of the call.
        time: ToolTime,
    },
}

/// Snapshots before and after a step.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct StepSnapshot {
    /// Snapshot before the request.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub start: Option<String>,
    /// Snapshot after the last tool settled.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub end: Option<String>,
    /// Paths of the files that changed between the two snapshots.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub files: Option<Vec<String>>,
}

/// The reason of a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CompactionReason {
    /// The request became too large for the model.
    Auto,
    /// A caller requested it.
    Manual,
}

/// Key of the additive value of a text end that holds the provider metadata of the text.
pub const PROVIDER_METADATA: &str = "providerMetadata";

/// Key of the additive value of an assistant message that holds the provider metadata of its texts,
/// by text id.
pub const TEXT_PROVIDER_METADATA: &str = "textProviderMetadata";

/// Key of the additive value of an assistant message that is `true` if the provider paused the
/// answer during a call of its own tool. The Session Drain then continues with the next turn.
pub const PAUSED_TURN: &str = "pauseTurn";

/// Key of the additive value of an assistant message whose turn was the last one that its prompt may take, although the
/// model called tools: the number of turns that it may take. Nothing continues after it.
pub const TURN_LIMIT: &str = "turnLimit";

/// Key of the additive value of an assistant message that explains why the provider refused to answer:
/// an object with the texts `category` and `explanation`, as far as the provider gives them.
pub const REFUSAL: &str = "refusal";

/// Key of the additive value of an assistant message that lists the sources which the answer cites, each once:
/// objects with `type`, which is `url` (`url`, `title`) or `document` (`id`, `title`, `filename`, `mediaType`).
pub const CITED_SOURCES: &str = "sources";

/// The answer of one Provider Turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AssistantMessage {
    /// Id of the message.
    pub id: MessageID,
    /// Additive values from the runtime.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub metadata: Option<Record>,
    /// Start and end of the answer.
    pub time: SpanTime,
    /// Agent of the turn.
    pub agent: String,
    /// Model of the turn.
    pub model: ModelRef,
    /// Text, reasoning and tool calls of the answer.
    pub content: Vec<AssistantPart>,
    /// Snapshots before and after the turn.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub snapshot: Option<StepSnapshot>,
    /// Reason of the end: `stop`, `length`, `tool-calls`, `content-filter`, `unknown` or `error`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub finish: Option<String>,
    /// Cost, in the currency of the catalogue's prices.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cost: Option<f64>,
    /// Token usage.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tokens: Option<Tokens>,
    /// Failure of the turn, if any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<SessionErrorUnknown>,
    /// The structured output that the prompt asked for, if this turn produced it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub output: Option<Record>,
}

/// A message of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum SessionMessage {
    /// A change of the agent.
    AgentSwitched {
        /// Id of the message.
        id: MessageID,
        /// Additive values from the runtime.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        metadata: Option<Record>,
        /// Creation time.
        time: CreatedTime,
        /// Agent from this message on.
        agent: String,
    },
    /// A change of the model.
    ModelSwitched {
        /// Id of the message.
        id: MessageID,
        /// Additive values from the runtime.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        metadata: Option<Record>,
        /// Creation time.
        time: CreatedTime,
        /// Model from this message on.
        model: ModelRef,
    },
    /// A promoted prompt.
    User {
        /// Id of the prompt.
        id: MessageID,
        /// Additive values from the runtime.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        metadata: Option<Record>,
        /// Time of the admission.
        time: CreatedTime,
        /// Text of the prompt.
        text: String,
        /// Attached files.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        files: Option<Vec<PromptFileAttachment>>,
        /// Mentioned agents.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        agents: Option<Vec<PromptAgentAttachment>>,
    },
    /// Text with the role of the user that the runtime created.
    Synthetic {
        /// Id of the message.
        id: MessageID,
        /// Additive values from the runtime.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        metadata: Option<Record>,
        /// Creation time.
        time: CreatedTime,
        /// Id of the session.
        #[serde(rename = "sessionID")]
        session_id: SessionID,
        /// Text of the message.
        text: String,
        /// Media that belong to the text.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        files: Option<Vec<PromptFileAttachment>>,
    },
    /// A Mid-Conversation System Message.
    System {
        /// Id of the message.
        id: MessageID,
        /// Creation time.
        time: CreatedTime,
        /// Text of the message.
        text: String,
    },
    /// A shell command that a caller ran in the session.
    Shell {
        /// Id of the message.
        id: MessageID,
        /// Additive values from the runtime.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        metadata: Option<Record>,
        /// Start and end of the command.
        time: SpanTime,
        /// Id of the run.
        #[serde(rename = "callID")]
        call_id: String,
        /// Command line.
        command: String,
        /// Output of the command.
        output: String,
    },
    /// The answer of one Provider Turn.
    Assistant(Box<AssistantMessage>),
    /// A checkpoint that replaces all earlier messages in later requests.
    Compaction {
        /// Id of the message.
        id: MessageID,
        /// Additive values from the runtime.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        metadata: Option<Record>,
        /// Creation time.
        time: CreatedTime,
        /// Reason of the compaction.
        reason: CompactionReason,
        /// Rolling summary.
        summary: String,
        /// The newest messages as text.
        recent: String,
    },
}
