//! The durable events.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{EventError, EventProvider, EventSpec, PrunedCall, RetryError, SessionRecord};
use crate::id::{MessageID, SessionID};
use crate::location::LocationRef;
use crate::message::{CompactionReason, ProviderMetadata, SessionErrorUnknown, ToolContent};
use crate::model::ModelRef;
use crate::prompt::{Delivery, Prompt, PromptFileAttachment};
use crate::record::Record;
use crate::session::{BudgetLimit, BudgetScope, RevertState, Tokens};
use crate::todo::Todo;

events! {
    /// The payload of a durable event.
    SessionEvent, DURABLE_EVENTS;

    /// A session was created. Always sequence 0.
    1 "session.created" 1 SessionCreated {
        /// Session record after the event.
        info: SessionRecord,
    }
    /// The public state of a session changed: agent, model, Location, staged revert, permission
    /// rules or title. Cost and tokens change with each turn and are in `session.next.step.ended`.
    2 "session.updated" 1 SessionUpdated {
        /// Session record after the event.
        info: SessionRecord,
    }
    /// The session was deleted.
    3 "session.deleted" 1 SessionDeleted {
        /// Session record at the deletion.
        info: SessionRecord,
    }
    /// Another agent was chosen. Applies from the next Provider Turn on.
    10 "session.next.agent.switched" 1 AgentSwitched {
        /// Id of the message for this event.
        #[serde(rename = "messageID")]
        message_id: MessageID,
        /// Agent from this event on.
        agent: String,
    }
    /// Another model was chosen. Applies from the next Provider Turn on.
    11 "session.next.model.switched" 1 ModelSwitched {
        /// Id of the message for this event.
        #[serde(rename = "messageID")]
        message_id: MessageID,
        /// Model from this event on.
        model: ModelRef,
    }
    /// The session moved to another Location.
    12 "session.next.moved" 1 Moved {
        /// Location from this event on.
        location: LocationRef,
        /// Directory relative to its project. Absent at the root of the project.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        subdirectory: Option<String>,
    }
    /// A prompt was admitted to the inbox.
    13 "session.next.prompt.admitted" 1 PromptAdmitted {
        /// Id of the prompt, which becomes the id of its message.
        #[serde(rename = "messageID")]
        message_id: MessageID,
        /// The prompt.
        prompt: Prompt,
        /// Delivery of the prompt.
        delivery: Delivery,
    }
    /// Prompt Promotion: the prompt is now a visible user message.
    14 "session.next.prompted" 1 Prompted {
        /// Id of the prompt, which is now the id of its message.
        #[serde(rename = "messageID")]
        message_id: MessageID,
        /// The prompt.
        prompt: Prompt,
        /// Delivery of the prompt.
        delivery: Delivery,
    }
    /// A pending prompt was withdrawn.
    15 "session.next.prompt.withdrawn" 1 PromptWithdrawn {
        /// Id of the prompt.
        #[serde(rename = "messageID")]
        message_id: MessageID,
    }
    /// The delivery of a pending prompt was changed.
    16 "session.next.prompt.redelivered" 1 PromptRedelivered {
        /// Id of the prompt.
        #[serde(rename = "messageID")]
        message_id: MessageID,
        /// Delivery from this event on.
        delivery: Delivery,
    }
    /// Later requests omit the outputs of old tool calls.
    17 "session.next.pruned" 1 Pruned {
        /// Calls with omitted outputs.
        calls: Vec<PrunedCall>,
    }
    /// A Mid-Conversation System Message was admitted.
    18 "session.next.context.updated" 1 ContextUpdated {
        /// Id of the message for this event.
        #[serde(rename = "messageID")]
        message_id: MessageID,
        /// Text that the model receives.
        text: String,
    }
    /// The runtime added a text with the role of the user.
    19 "session.next.synthetic" 1 Synthetic {
        /// Id of the message for this event.
        #[serde(rename = "messageID")]
        message_id: MessageID,
        /// Text of the message.
        text: String,
        /// Media that belong to the text.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        files: Option<Vec<PromptFileAttachment>>,
    }
    /// A shell command of a user started. Only other hosts of OpenCode record it.
    20 "session.next.shell.started" 1 ShellStarted {
        /// Id of the message for this event.
        #[serde(rename = "messageID")]
        message_id: MessageID,
        /// Id of the run.
        #[serde(rename = "callID")]
        call_id: String,
        /// The command line.
        command: String,
    }
    /// A shell command of a user ended. Only other hosts of OpenCode record it.
    21 "session.next.shell.ended" 1 ShellEnded {
        /// Id of the run.
        #[serde(rename = "callID")]
        call_id: String,
        /// Output of the command.
        output: String,
    }
    /// A Provider Turn produced its first output.
    22 "session.next.step.started" 1 StepStarted {
        /// Id of the turn's assistant message.
        #[serde(rename = "assistantMessageID")]
        assistant_message_id: MessageID,
        /// Agent of the turn.
        agent: String,
        /// Model of the turn.
        model: ModelRef,
        /// Snapshot of the files before the turn.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        snapshot: Option<String>,
    }
    /// A Provider Turn ended and its tools settled.
    23 "session.next.step.ended" 2 StepEnded {
        /// Id of the turn's assistant message.
        #[serde(rename = "assistantMessageID")]
        assistant_message_id: MessageID,
        /// Reason of the end: `stop`, `length`, `tool-calls`, `content-filter`, `unknown` or
        /// `error`.
        finish: String,
        /// Cost of the turn, in the currency of the catalogue's prices.
        #[serde(serialize_with = "crate::bounded::finite", deserialize_with = "crate::bounded::cost")]
        cost: f64,
        /// Token usage of the turn.
        tokens: Tokens,
        /// Snapshot of the files after the turn.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        snapshot: Option<String>,
        /// Paths of the files that changed during the turn.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        files: Option<Vec<String>>,
    }
    /// A Provider Turn failed or was interrupted.
    24 "session.next.step.failed" 2 StepFailed {
        /// Id of the turn's assistant message.
        #[serde(rename = "assistantMessageID")]
        assistant_message_id: MessageID,
        /// Description of the failure.
        error: SessionErrorUnknown,
    }
    /// A text block started.
    25 "session.next.text.started" 1 TextStarted {
        /// Id of the turn's assistant message.
        #[serde(rename = "assistantMessageID")]
        assistant_message_id: MessageID,
        /// Id of the block within its message.
        #[serde(rename = "textID")]
        text_id: String,
    }
    /// A text block ended.
    26 "session.next.text.ended" 1 TextEnded {
        /// Id of the turn's assistant message.
        #[serde(rename = "assistantMessageID")]
        assistant_message_id: MessageID,
        /// Id of the block within its message.
        #[serde(rename = "textID")]
        text_id: String,
        /// Complete text.
        text: String,
    }
    /// A reasoning block started.
    27 "session.next.reasoning.started" 1 ReasoningStarted {
        /// Id of the turn's assistant message.
        #[serde(rename = "assistantMessageID")]
        assistant_message_id: MessageID,
        /// Id of the block within its message.
        #[serde(rename = "reasoningID")]
        reasoning_id: String,
        /// Provider metadata. Later requests return it to the provider.
        #[serde(rename = "providerMetadata", skip_serializing_if = "Option::is_none", default)]
        provider_metadata: Option<ProviderMetadata>,
    }
    /// A reasoning block ended.
    28 "session.next.reasoning.ended" 1 ReasoningEnded {
        /// Id of the turn's assistant message.
        #[serde(rename = "assistantMessageID")]
        assistant_message_id: MessageID,
        /// Id of the block within its message.
        #[serde(rename = "reasoningID")]
        reasoning_id: String,
        /// Complete text.
        text: String,
        /// Provider metadata. Later requests return it to the provider.
        #[serde(rename = "providerMetadata", skip_serializing_if = "Option::is_none", default)]
        provider_metadata: Option<ProviderMetadata>,
    }
    /// The provider began to write a tool call.
    29 "session.next.tool.input.started" 1 ToolInputStarted {
        /// Id of the turn's assistant message.
        #[serde(rename = "assistantMessageID")]
        assistant_message_id: MessageID,
        /// Id of the tool call.
        #[serde(rename = "callID")]
        call_id: String,
        /// Name of the tool.
        name: String,
    }
    /// The provider completed the arguments of a tool call.
    30 "session.next.tool.input.ended" 1 ToolInputEnded {
        /// Id of the turn's assistant message.
        #[serde(rename = "assistantMessageID")]
        assistant_message_id: MessageID,
        /// Id of the tool call.
        #[serde(rename = "callID")]
        call_id: String,
        /// Arguments as the provider wrote them.
        text: String,
    }
    /// A tool call was recorded. The host runs it only after this event.
    31 "session.next.tool.called" 1 ToolCalled {
        /// Id of the turn's assistant message.
        #[serde(rename = "assistantMessageID")]
        assistant_message_id: MessageID,
        /// Id of the tool call.
        #[serde(rename = "callID")]
        call_id: String,
        /// Name of the tool.
        tool: String,
        /// Decoded arguments.
        input: Record,
        /// Executor of the call, and the provider metadata.
        provider: EventProvider,
    }
    /// A running tool reported progress. Only other hosts of OpenCode record it: this host sends the live event
    /// `session.next.tool.reported`.
    32 "session.next.tool.progress" 1 ToolProgress {
        /// Id of the turn's assistant message.
        #[serde(rename = "assistantMessageID")]
        assistant_message_id: MessageID,
        /// Id of the tool call.
        #[serde(rename = "callID")]
        call_id: String,
        /// Progress for programs.
        structured: Record,
        /// Content that the model receives. If empty, the model receives `structured`.
        content: Vec<ToolContent>,
    }
    /// A tool call settled with a result.
    33 "session.next.tool.success" 1 ToolSuccess {
        /// Id of the turn's assistant message.
        #[serde(rename = "assistantMessageID")]
        assistant_message_id: MessageID,
        /// Id of the tool call.
        #[serde(rename = "callID")]
        call_id: String,
        /// Result for programs.
        structured: Record,
        /// Content that the model receives. If empty, the model receives `structured`.
        content: Vec<ToolContent>,
        /// Paths of the Managed Tool Output Files that hold the output that was cut.
        #[serde(rename = "outputPaths", skip_serializing_if = "Option::is_none", default)]
        output_paths: Option<Vec<String>>,
        /// Result in the provider's own form, if the provider ran the call.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        result: Option<Value>,
        /// Executor of the call, and the provider metadata.
        provider: EventProvider,
    }
    /// A tool call settled with a failure.
    34 "session.next.tool.failed" 1 ToolFailed {
        /// Id of the turn's assistant message.
        #[serde(rename = "assistantMessageID")]
        assistant_message_id: MessageID,
        /// Id of the tool call.
        #[serde(rename = "callID")]
        call_id: String,
        /// Description of the failure.
        error: SessionErrorUnknown,
        /// Result in the provider's own form, if the provider ran the call.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        result: Option<Value>,
        /// Executor of the call, and the provider metadata.
        provider: EventProvider,
    }
    /// The host continues a session that a crash interrupted, or a Provider Turn waits before it
    /// sends its request again.
    35 "session.next.retried" 1 Retried {
        /// Number of the recovery without progress, or of the wait in the Provider Turn, from 1 on.
        attempt: u32,
        /// Description of the failure.
        error: RetryError,
    }
    /// A compaction started.
    36 "session.next.compaction.started" 1 CompactionStarted {
        /// Id of the compaction's message.
        #[serde(rename = "messageID")]
        message_id: MessageID,
        /// Reason of the compaction.
        reason: CompactionReason,
    }
    /// A compaction ended. Its checkpoint replaces the earlier history in later requests.
    37 "session.next.compaction.ended" 2 CompactionEnded {
        /// Id of the compaction's message.
        #[serde(rename = "messageID")]
        message_id: MessageID,
        /// Reason of the compaction.
        reason: CompactionReason,
        /// Rolling summary.
        text: String,
        /// The newest messages as text.
        recent: String,
    }
    /// A revert was staged.
    38 "session.next.revert.staged" 1 RevertStaged {
        /// The staged revert.
        revert: RevertState,
    }
    /// A staged revert was discarded.
    39 "session.next.revert.cleared" 1 RevertCleared {}
    /// A staged revert was committed.
    40 "session.next.revert.committed" 1 RevertCommitted {
        /// Id of the message at the boundary, which is the last message that stays.
        #[serde(rename = "messageID")]
        message_id: MessageID,
    }
    /// A user stopped the work before its first output. If output was already recorded, the failed
    /// step or the failed calls record the stop instead.
    41 "session.next.interrupted" 1 Interrupted {
        /// The prompt without an answer, or the answer with tool results that the model has not
        /// received.
        #[serde(rename = "messageID", skip_serializing_if = "Option::is_none", default)]
        message_id: Option<MessageID>,
    }
    /// The model produced the structured output of the activity. It is valid.
    45 "session.next.output.produced" 1 OutputProduced {
        /// Id of the assistant message.
        #[serde(rename = "assistantMessageID")]
        assistant_message_id: MessageID,
        /// Name of the output.
        name: String,
        /// The output.
        output: Record,
    }
    /// The model did not produce the structured output in all its attempts.
    46 "session.next.output.failed" 1 OutputFailed {
        /// Id of the assistant message of the last attempt.
        #[serde(rename = "assistantMessageID")]
        assistant_message_id: MessageID,
        /// The problem of the last attempt.
        error: SessionErrorUnknown,
    }
    /// An attempt of the structured output was missing or invalid. The model makes another one.
    47 "session.next.output.rejected" 1 OutputRejected {
        /// Id of the assistant message of the attempt.
        #[serde(rename = "assistantMessageID")]
        assistant_message_id: MessageID,
        /// Id of the message that tells the model the problem. Absent if a failed call of the attempt tells it.
        #[serde(rename = "messageID", skip_serializing_if = "Option::is_none", default)]
        message_id: Option<MessageID>,
        /// The problem, as the model reads it.
        text: String,
    }
    /// The work paused before a Provider Turn, because a budget is used up. A run of the session with a larger budget
    /// continues it.
    48 "session.next.paused" 1 Paused {
        /// Owner of the budget.
        scope: BudgetScope,
        /// The session with the budget: this session, or one whose task it works on. Absent for the budget of the host.
        #[serde(rename = "budgetID", skip_serializing_if = "Option::is_none", default)]
        budget_id: Option<SessionID>,
        /// The limit that is reached.
        limit: BudgetLimit,
        /// The value that is used.
        #[serde(serialize_with = "crate::bounded::finite")]
        used: f64,
        /// The value that the budget allows.
        #[serde(serialize_with = "crate::bounded::finite")]
        allowed: f64,
        /// The reason, for users.
        message: String,
    }
    /// The provider refused a Provider Turn before any output, and the next one uses another model of the option
    /// `fallback`. The model of the session stays; its next activity begins with it.
    49 "session.next.model.fallback" 1 ModelFallback {
        /// The refused model.
        from: ModelRef,
        /// The model of the next turn.
        to: ModelRef,
        /// The refusal.
        error: SessionErrorUnknown,
    }
    /// The model changed its list of things to do.
    50 "session.next.todos.updated" 1 TodosUpdated {
        /// The whole list.
        todos: Vec<Todo>,
    }
}
