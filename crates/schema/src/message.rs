//! What durable events project to: the messages of the Session History.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::clock::Millis;
use crate::id::{MessageID, SessionID};
use crate::model::ModelRef;
use crate::prompt::{PromptAgentAttachment, PromptFileAttachment};
use crate::record::Record;
use crate::session::Tokens;

/// When a message came to be, epoch milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CreatedTime {
    /// Creation; of a user message, its admission.
    pub created: Millis,
}

/// When something began and ended, epoch milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SpanTime {
    /// Beginning.
    pub created: Millis,
    /// End; absent while it goes on.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub completed: Option<Millis>,
}

/// Times of a tool call, epoch milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolTime {
    /// The provider began to write the call.
    pub created: Millis,
    /// The call was complete and recorded.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ran: Option<Millis>,
    /// It settled.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub completed: Option<Millis>,
    /// Its output was dropped from later requests.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pruned: Option<Millis>,
}

/// Why a step, a tool call or a session failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionErrorUnknown {
    /// Always `unknown`: the contract has one type.
    pub r#type: UnknownTag,
    /// What went wrong.
    pub message: String,
    /// What kind of failure it was and whether a retry may help.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cause: Option<ErrorCause>,
}

/// The one error type of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum UnknownTag {
    /// `unknown`.
    Unknown,
}

impl SessionErrorUnknown {
    /// An error without a classified cause.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            r#type: UnknownTag::Unknown,
            message: message.into(),
            cause: None,
        }
    }

    /// An error of a known kind that a retry does not mend.
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

/// The machine-readable side of an error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorCause {
    /// What kind of failure.
    pub kind: ErrorKind,
    /// HTTP status of the provider's answer.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub status: Option<u16>,
    /// Whether the same request may succeed later.
    pub retryable: bool,
    /// How long the provider asks to wait, milliseconds.
    #[serde(
        rename = "retryAfterMs",
        deserialize_with = "crate::bounded::optional_count",
        skip_serializing_if = "Option::is_none",
        default
    )]
    pub retry_after_ms: Option<u64>,
    /// The provider that failed.
    #[serde(
        rename = "providerID",
        skip_serializing_if = "Option::is_none",
        default
    )]
    pub provider_id: Option<String>,
}

/// Kinds of failures.
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
    Tool,
    Permission,
    Unknown,
}

/// One piece of a tool's output as the model sees it.
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
        /// Where its bytes are.
        uri: String,
        /// Its media type.
        mime: String,
        /// Its name.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        name: Option<String>,
    },
}

/// Who runs a tool call, and what the provider attached to the call and to its result.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ToolProvider {
    /// Whether the provider runs it itself.
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

/// Provider name to whatever that provider wants back.
pub type ProviderMetadata = std::collections::BTreeMap<String, Record>;

/// Where a tool call stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum ToolState {
    /// The provider writes its arguments.
    Pending {
        /// The raw argument text, once complete.
        input: String,
    },
    /// Recorded and running.
    Running {
        /// Decoded arguments.
        input: Record,
        /// Latest progress.
        structured: Record,
        /// Latest progress, for the model.
        content: Vec<ToolContent>,
    },
    /// Settled with a result.
    Completed {
        /// Decoded arguments.
        input: Record,
        /// What the model sees; empty means `structured`.
        content: Vec<ToolContent>,
        /// Managed Tool Output Files that hold what was cut.
        #[serde(
            rename = "outputPaths",
            skip_serializing_if = "Option::is_none",
            default
        )]
        output_paths: Option<Vec<String>>,
        /// The value for programs.
        structured: Record,
        /// The provider's own result, where it ran the tool.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        result: Option<Value>,
    },
    /// Settled with a failure.
    Error {
        /// Decoded arguments; empty when they never were complete.
        input: Record,
        /// Progress before the failure.
        content: Vec<ToolContent>,
        /// Progress before the failure.
        structured: Record,
        /// What went wrong.
        error: SessionErrorUnknown,
        /// The failure as the model sees it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        result: Option<Value>,
    },
}

/// One part of an assistant message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum AssistantPart {
    /// Visible text.
    Text {
        /// The provider's name of the block.
        id: String,
        /// The text.
        text: String,
    },
    /// Reasoning.
    Reasoning {
        /// The provider's name of the block.
        id: String,
        /// The visible reasoning.
        text: String,
        /// What the provider wants back with it.
        #[serde(
            rename = "providerMetadata",
            skip_serializing_if = "Option::is_none",
            default
        )]
        provider_metadata: Option<ProviderMetadata>,
        /// When.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        time: Option<SpanTime>,
    },
    /// A tool call.
    Tool {
        /// The provider's call ID; unique within its message only.
        id: String,
        /// The tool.
        name: String,
        /// Who runs it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        provider: Option<ToolProvider>,
        /// Where it stands.
        state: Box<ToolState>,
        /// When.
        time: ToolTime,
    },
}

/// Snapshots around a step.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct StepSnapshot {
    /// Before the request.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub start: Option<String>,
    /// After the last tool settled.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub end: Option<String>,
    /// Paths that changed between the two.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub files: Option<Vec<String>>,
}

/// Why a compaction ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CompactionReason {
    /// The request grew too large.
    Auto,
    /// Somebody asked for it.
    Manual,
}

/// The member of a text end's additive values that holds what the provider attached to the text.
pub const PROVIDER_METADATA: &str = "providerMetadata";

/// The member of an answer's additive values that holds what the provider attached to its texts, by
/// their ids.
pub const TEXT_PROVIDER_METADATA: &str = "textProviderMetadata";

/// The member of an answer's additive values that is `true` where the provider paused it over a tool
/// of its own, and the Session Drain goes on with the next turn.
pub const PAUSED_TURN: &str = "pauseTurn";

/// One Provider Turn's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AssistantMessage {
    /// Its id.
    pub id: MessageID,
    /// Additive values the runtime set.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub metadata: Option<Record>,
    /// When.
    pub time: SpanTime,
    /// The turn's agent.
    pub agent: String,
    /// The turn's model.
    pub model: ModelRef,
    /// What it said and did.
    pub content: Vec<AssistantPart>,
    /// Snapshots around it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub snapshot: Option<StepSnapshot>,
    /// Why it ended: `stop`, `length`, `tool-calls`, `content-filter`, `unknown` or `error`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub finish: Option<String>,
    /// What it cost.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cost: Option<f64>,
    /// What it used.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tokens: Option<Tokens>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<SessionErrorUnknown>,
}

/// A message of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum SessionMessage {
    /// Another agent was chosen.
    AgentSwitched {
        /// Its id.
        id: MessageID,
        /// Additive values the runtime set.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        metadata: Option<Record>,
        /// When.
        time: CreatedTime,
        /// The agent from here on.
        agent: String,
    },
    /// Another model was chosen.
    ModelSwitched {
        /// Its id.
        id: MessageID,
        /// Additive values the runtime set.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        metadata: Option<Record>,
        /// When.
        time: CreatedTime,
        /// The model from here on.
        model: ModelRef,
    },
    /// A promoted prompt.
    User {
        /// The prompt's id.
        id: MessageID,
        /// Additive values the runtime set.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        metadata: Option<Record>,
        /// Its admission.
        time: CreatedTime,
        /// The text.
        text: String,
        /// Attached files.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        files: Option<Vec<PromptFileAttachment>>,
        /// Mentioned agents.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        agents: Option<Vec<PromptAgentAttachment>>,
    },
    /// User-role text made by the runtime.
    Synthetic {
        /// Its id.
        id: MessageID,
        /// Additive values the runtime set.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        metadata: Option<Record>,
        /// When.
        time: CreatedTime,
        /// The session.
        #[serde(rename = "sessionID")]
        session_id: SessionID,
        /// The text.
        text: String,
    },
    /// A Mid-Conversation System Message.
    System {
        /// Its id.
        id: MessageID,
        /// When.
        time: CreatedTime,
        /// The text.
        text: String,
    },
    /// A shell command somebody ran in the session.
    Shell {
        /// Its id.
        id: MessageID,
        /// Additive values the runtime set.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        metadata: Option<Record>,
        /// When.
        time: SpanTime,
        /// Names the run.
        #[serde(rename = "callID")]
        call_id: String,
        /// The command.
        command: String,
        /// What it printed.
        output: String,
    },
    /// One Provider Turn's answer.
    Assistant(Box<AssistantMessage>),
    /// A checkpoint that stands for everything before it.
    Compaction {
        /// Its id.
        id: MessageID,
        /// Additive values the runtime set.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        metadata: Option<Record>,
        /// When.
        time: CreatedTime,
        /// Why it was made.
        reason: CompactionReason,
        /// The rolling summary.
        summary: String,
        /// The newest messages as text.
        recent: String,
    },
}
