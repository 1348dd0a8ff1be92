//! The durable events.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{EventError, EventProvider, EventSpec, PrunedCall, RetryError, SessionRecord};
use crate::id::MessageID;
use crate::location::LocationRef;
use crate::message::{CompactionReason, ProviderMetadata, SessionErrorUnknown, ToolContent};
use crate::model::ModelRef;
use crate::prompt::{Delivery, Prompt};
use crate::record::Record;
use crate::session::{RevertState, Tokens};

events! {
    /// The payload of a durable event.
    SessionEvent, DURABLE_EVENTS;

    /// A session came to be; always sequence 0.
    1 "session.created" 1 SessionCreated {
        /// The session as it is recorded.
        info: SessionRecord,
    }
    /// What a session reads as changed: agent, model, Location, staged revert, permission rules or
    /// title. Cost and tokens change with each turn; `session.next.step.ended` has those of the turn.
    2 "session.updated" 1 SessionUpdated {
        /// The session as it is recorded.
        info: SessionRecord,
    }
    /// The session was deleted.
    3 "session.deleted" 1 SessionDeleted {
        /// The session as it is recorded.
        info: SessionRecord,
    }
    /// Another agent was chosen, from the next Provider Turn on.
    10 "session.next.agent.switched" 1 AgentSwitched {
        /// The message that says so.
        #[serde(rename = "messageID")]
        message_id: MessageID,
        /// The agent from here on.
        agent: String,
    }
    /// Another model was chosen, from the next Provider Turn on.
    11 "session.next.model.switched" 1 ModelSwitched {
        /// The message that says so.
        #[serde(rename = "messageID")]
        message_id: MessageID,
        /// The model from here on.
        model: ModelRef,
    }
    /// The session lives at another Location now.
    12 "session.next.moved" 1 Moved {
        /// Where it lives from here on.
        location: LocationRef,
        /// The directory relative to its project; absent at the project's root.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        subdirectory: Option<String>,
    }
    /// A prompt was admitted to the inbox.
    13 "session.next.prompt.admitted" 1 PromptAdmitted {
        /// The id of the prompt, which will be that of its message.
        #[serde(rename = "messageID")]
        message_id: MessageID,
        /// What was said.
        prompt: Prompt,
        /// How it enters the session.
        delivery: Delivery,
    }
    /// Prompt Promotion: the prompt is a visible user message now.
    14 "session.next.prompted" 1 Prompted {
        /// The id of the prompt, which is now that of its message.
        #[serde(rename = "messageID")]
        message_id: MessageID,
        /// What was said.
        prompt: Prompt,
        /// How it enters the session.
        delivery: Delivery,
    }
    /// A pending prompt was withdrawn.
    15 "session.next.prompt.withdrawn" 1 PromptWithdrawn {
        /// The prompt.
        #[serde(rename = "messageID")]
        message_id: MessageID,
    }
    /// The delivery of a pending prompt was changed.
    16 "session.next.prompt.redelivered" 1 PromptRedelivered {
        /// The prompt.
        #[serde(rename = "messageID")]
        message_id: MessageID,
        /// How it enters the session from here on.
        delivery: Delivery,
    }
    /// The outputs of old tool calls leave later requests.
    17 "session.next.pruned" 1 Pruned {
        /// The calls whose outputs are left out.
        calls: Vec<PrunedCall>,
    }
    /// A Mid-Conversation System Message was admitted.
    18 "session.next.context.updated" 1 ContextUpdated {
        /// The message that says so.
        #[serde(rename = "messageID")]
        message_id: MessageID,
        /// What the model is told.
        text: String,
    }
    /// User-role text made by the runtime.
    19 "session.next.synthetic" 1 Synthetic {
        /// The message that says so.
        #[serde(rename = "messageID")]
        message_id: MessageID,
        /// The text.
        text: String,
    }
    /// A shell command began.
    20 "session.next.shell.started" 1 ShellStarted {
        /// The message that says so.
        #[serde(rename = "messageID")]
        message_id: MessageID,
        /// Names the command until it has ended.
        #[serde(rename = "callID")]
        call_id: String,
        /// The command line.
        command: String,
    }
    /// A shell command ended.
    21 "session.next.shell.ended" 1 ShellEnded {
        /// The command.
        #[serde(rename = "callID")]
        call_id: String,
        /// What it printed.
        output: String,
    }
    /// The first output of a Provider Turn.
    22 "session.next.step.started" 1 StepStarted {
        /// The assistant message of the Provider Turn.
        #[serde(rename = "assistantMessageID")]
        assistant_message_id: MessageID,
        /// The agent that works.
        agent: String,
        /// The model that is asked.
        model: ModelRef,
        /// The state of the files before it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        snapshot: Option<String>,
    }
    /// A Provider Turn ended and its tools settled.
    23 "session.next.step.ended" 2 StepEnded {
        /// The assistant message of the Provider Turn.
        #[serde(rename = "assistantMessageID")]
        assistant_message_id: MessageID,
        /// Why it ended: `stop`, `length`, `tool-calls`, `content-filter`, `unknown` or `error`.
        finish: String,
        /// What it cost, in the currency of the catalogue's prices.
        #[serde(deserialize_with = "crate::bounded::cost")]
        cost: f64,
        /// What it used.
        tokens: Tokens,
        /// The state of the files after it.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        snapshot: Option<String>,
        /// The files that changed meanwhile.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        files: Option<Vec<String>>,
    }
    /// A Provider Turn failed or was interrupted.
    24 "session.next.step.failed" 2 StepFailed {
        /// The assistant message of the Provider Turn.
        #[serde(rename = "assistantMessageID")]
        assistant_message_id: MessageID,
        /// What went wrong.
        error: SessionErrorUnknown,
    }
    /// A text block began.
    25 "session.next.text.started" 1 TextStarted {
        /// The assistant message of the Provider Turn.
        #[serde(rename = "assistantMessageID")]
        assistant_message_id: MessageID,
        /// The block, within its message.
        #[serde(rename = "textID")]
        text_id: String,
    }
    /// A text block ended.
    26 "session.next.text.ended" 1 TextEnded {
        /// The assistant message of the Provider Turn.
        #[serde(rename = "assistantMessageID")]
        assistant_message_id: MessageID,
        /// The block, within its message.
        #[serde(rename = "textID")]
        text_id: String,
        /// The whole text.
        text: String,
    }
    /// A reasoning block began.
    27 "session.next.reasoning.started" 1 ReasoningStarted {
        /// The assistant message of the Provider Turn.
        #[serde(rename = "assistantMessageID")]
        assistant_message_id: MessageID,
        /// The block, within its message.
        #[serde(rename = "reasoningID")]
        reasoning_id: String,
        /// What the provider attached; later requests give it back.
        #[serde(rename = "providerMetadata", skip_serializing_if = "Option::is_none", default)]
        provider_metadata: Option<ProviderMetadata>,
    }
    /// A reasoning block ended.
    28 "session.next.reasoning.ended" 1 ReasoningEnded {
        /// The assistant message of the Provider Turn.
        #[serde(rename = "assistantMessageID")]
        assistant_message_id: MessageID,
        /// The block, within its message.
        #[serde(rename = "reasoningID")]
        reasoning_id: String,
        /// The whole text.
        text: String,
        /// What the provider attached; later requests give it back.
        #[serde(rename = "providerMetadata", skip_serializing_if = "Option::is_none", default)]
        provider_metadata: Option<ProviderMetadata>,
    }
    /// The provider begins to write a tool call.
    29 "session.next.tool.input.started" 1 ToolInputStarted {
        /// The assistant message of the Provider Turn.
        #[serde(rename = "assistantMessageID")]
        assistant_message_id: MessageID,
        /// The tool call.
        #[serde(rename = "callID")]
        call_id: String,
        /// The name of the tool.
        name: String,
    }
    /// The arguments are complete, as the provider wrote them.
    30 "session.next.tool.input.ended" 1 ToolInputEnded {
        /// The assistant message of the Provider Turn.
        #[serde(rename = "assistantMessageID")]
        assistant_message_id: MessageID,
        /// The tool call.
        #[serde(rename = "callID")]
        call_id: String,
        /// The arguments as text.
        text: String,
    }
    /// The call is recorded; only now may it run.
    31 "session.next.tool.called" 1 ToolCalled {
        /// The assistant message of the Provider Turn.
        #[serde(rename = "assistantMessageID")]
        assistant_message_id: MessageID,
        /// The tool call.
        #[serde(rename = "callID")]
        call_id: String,
        /// The name of the tool.
        tool: String,
        /// The decoded arguments.
        input: Record,
        /// Who runs the call, and what the provider attached.
        provider: EventProvider,
    }
    /// What a running tool has so far.
    32 "session.next.tool.progress" 1 ToolProgress {
        /// The assistant message of the Provider Turn.
        #[serde(rename = "assistantMessageID")]
        assistant_message_id: MessageID,
        /// The tool call.
        #[serde(rename = "callID")]
        call_id: String,
        /// The value for programs.
        structured: Record,
        /// What the model sees; empty means `structured`.
        content: Vec<ToolContent>,
    }
    /// The call settled with a result.
    33 "session.next.tool.success" 1 ToolSuccess {
        /// The assistant message of the Provider Turn.
        #[serde(rename = "assistantMessageID")]
        assistant_message_id: MessageID,
        /// The tool call.
        #[serde(rename = "callID")]
        call_id: String,
        /// The value for programs.
        structured: Record,
        /// What the model sees; empty means `structured`.
        content: Vec<ToolContent>,
        /// Managed Tool Output Files with what was cut.
        #[serde(rename = "outputPaths", skip_serializing_if = "Option::is_none", default)]
        output_paths: Option<Vec<String>>,
        /// What the provider attached, where it ran the call itself.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        result: Option<Value>,
        /// Who ran the call, and what the provider attached.
        provider: EventProvider,
    }
    /// The call settled with a failure.
    34 "session.next.tool.failed" 1 ToolFailed {
        /// The assistant message of the Provider Turn.
        #[serde(rename = "assistantMessageID")]
        assistant_message_id: MessageID,
        /// The tool call.
        #[serde(rename = "callID")]
        call_id: String,
        /// What went wrong.
        error: SessionErrorUnknown,
        /// What the provider attached, where it ran the call itself.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        result: Option<Value>,
        /// Who ran the call, and what the provider attached.
        provider: EventProvider,
    }
    /// The host goes on with a session that a crash had cut, or a Provider Turn waits until it may
    /// send its request again.
    35 "session.next.retried" 1 Retried {
        /// Counts the recoveries without progress, or the waits of the Provider Turn, from 1 on.
        attempt: u32,
        /// What went wrong.
        error: RetryError,
    }
    /// A compaction began.
    36 "session.next.compaction.started" 1 CompactionStarted {
        /// The message of the compaction.
        #[serde(rename = "messageID")]
        message_id: MessageID,
        /// Why.
        reason: CompactionReason,
    }
    /// A checkpoint stands for what came before it.
    37 "session.next.compaction.ended" 2 CompactionEnded {
        /// The message of the compaction.
        #[serde(rename = "messageID")]
        message_id: MessageID,
        /// Why.
        reason: CompactionReason,
        /// The rolling summary.
        text: String,
        /// The newest messages as text.
        recent: String,
    }
    /// A revert was staged.
    38 "session.next.revert.staged" 1 RevertStaged {
        /// The stage.
        revert: RevertState,
    }
    /// A staged revert was dropped.
    39 "session.next.revert.cleared" 1 RevertCleared {}
    /// A staged revert was carried out.
    40 "session.next.revert.committed" 1 RevertCommitted {
        /// The boundary, which is the last message that stays.
        #[serde(rename = "messageID")]
        message_id: MessageID,
    }
    /// A user stopped the work before its first output. Where output was on record, the failed step
    /// or the failed calls say it.
    41 "session.next.interrupted" 1 Interrupted {
        /// The prompt without an answer, or the answer whose results the model has not seen.
        #[serde(rename = "messageID", skip_serializing_if = "Option::is_none", default)]
        message_id: Option<MessageID>,
    }
}
