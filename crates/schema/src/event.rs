//! The catalogue of events: what can happen to a session, as durable facts and as live fragments.
//!
//! A payload on the wire is `{timestamp, sessionID, ...}` followed by the fields declared here, in
//! this order. The stored type of a durable event is its name, a dot and its version.

mod notice;
mod values;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Record;
use crate::clock::Millis;
use crate::id::{EventID, MessageID, SessionID};
use crate::location::LocationRef;
use crate::message::{CompactionReason, ProviderMetadata, SessionErrorUnknown, ToolContent};
use crate::model::ModelRef;
use crate::prompt::{Delivery, Prompt};
use crate::session::{RevertState, Tokens};

pub use notice::{NOTICES, Nothing, Notice, NoticeSpec};
pub use values::{
    EventProvider, NamedError, NamedErrorData, NamedErrorTag, PrunedCall, RetryError, SessionError,
    SessionRecord,
};

/// One kind of event of the catalogue.
pub struct EventSpec {
    /// Name on the wire.
    pub name: &'static str,
    /// Version of its payload.
    pub version: u32,
    /// Number that stands for name and version in the database. Never reused.
    pub number: u32,
    /// The name of its Rust payload type, which generated types keep.
    pub type_name: &'static str,
    /// The schema of its payload without `timestamp` and `sessionID`.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
}

/// Why an event could not be understood.
#[derive(Debug, thiserror::Error)]
pub enum EventError {
    /// Nobody knows the type.
    #[error("unknown event type {0}")]
    UnknownType(String),
    /// The payload does not fit the type.
    #[error("the payload of {name} does not fit its type: {source}")]
    Payload {
        /// The event's name.
        name: &'static str,
        /// What does not fit.
        source: serde_json::Error,
    },
}

macro_rules! events {
    (
        $(#[$enum_doc:meta])* $enum:ident, $specs:ident;
        $( $(#[$doc:meta])* $number:literal $name:literal $version:literal $variant:ident {
            $( $(#[$attr:meta])* $field:ident: $type:ty, )*
        } )*
    ) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
            #[allow(missing_docs, reason = "the fields are those of the catalogue")]
            #[allow(clippy::empty_structs_with_brackets, reason = "some payloads have no fields of their own")]
            pub struct $variant { $( $(#[$attr])* pub $field: $type, )* }

            impl From<$variant> for $enum {
                fn from(payload: $variant) -> Self {
                    Self::$variant(payload)
                }
            }
        )*

        $(#[$enum_doc])*
        #[derive(Debug, Clone, PartialEq, Serialize)]
        #[serde(untagged)]
        #[expect(missing_docs, reason = "each payload type has its own text")]
        pub enum $enum { $( $variant($variant), )* }

        /// Every kind, in the order of its number.
        pub const $specs: &[EventSpec] = &[$(
            EventSpec {
                name: $name,
                version: $version,
                number: $number,
                type_name: stringify!($variant),
                schema: <$variant as JsonSchema>::json_schema,
            },
        )*];

        impl $enum {
            /// Name on the wire.
            pub fn name(&self) -> &'static str {
                match self { $( Self::$variant(_) => $name, )* }
            }

            /// Version of the payload.
            pub fn version(&self) -> u32 {
                match self { $( Self::$variant(_) => $version, )* }
            }

            /// Number in the database.
            pub fn number(&self) -> u32 {
                match self { $( Self::$variant(_) => $number, )* }
            }

            /// Reads a payload of the kind with this number; members it does not know are dropped.
            pub fn read(number: u32, data: &str) -> Result<Self, EventError> {
                match number {
                    $( $number => serde_json::from_str::<$variant>(data)
                        .map(Self::$variant)
                        .map_err(|source| EventError::Payload { name: $name, source }), )*
                    other => Err(EventError::UnknownType(format!("number {other}"))),
                }
            }
        }
    };
}

events! {
    /// The payload of a durable event.
    SessionEvent, DURABLE_EVENTS;

    /// A session came to be; always sequence 0.
    1 "session.created" 1 SessionCreated { info: SessionRecord, }
    /// Title or other metadata changed.
    2 "session.updated" 1 SessionUpdated { info: SessionRecord, }
    /// The session was deleted.
    3 "session.deleted" 1 SessionDeleted { info: SessionRecord, }
    /// Another agent was chosen, from the next Provider Turn on.
    10 "session.next.agent.switched" 1 AgentSwitched {
        #[serde(rename = "messageID")] message_id: MessageID,
        agent: String,
    }
    /// Another model was chosen, from the next Provider Turn on.
    11 "session.next.model.switched" 1 ModelSwitched {
        #[serde(rename = "messageID")] message_id: MessageID,
        model: ModelRef,
    }
    /// The session lives at another Location now.
    12 "session.next.moved" 1 Moved {
        location: LocationRef,
        #[serde(skip_serializing_if = "Option::is_none", default)] subdirectory: Option<String>,
    }
    /// A prompt was admitted to the inbox.
    13 "session.next.prompt.admitted" 1 PromptAdmitted {
        #[serde(rename = "messageID")] message_id: MessageID,
        prompt: Prompt,
        delivery: Delivery,
    }
    /// Prompt Promotion: the prompt is a visible user message now.
    14 "session.next.prompted" 1 Prompted {
        #[serde(rename = "messageID")] message_id: MessageID,
        prompt: Prompt,
        delivery: Delivery,
    }
    /// A pending prompt was withdrawn.
    15 "session.next.prompt.withdrawn" 1 PromptWithdrawn {
        #[serde(rename = "messageID")] message_id: MessageID,
    }
    /// The delivery of a pending prompt was changed.
    16 "session.next.prompt.redelivered" 1 PromptRedelivered {
        #[serde(rename = "messageID")] message_id: MessageID,
        delivery: Delivery,
    }
    /// The outputs of old tool calls leave later requests.
    17 "session.next.pruned" 1 Pruned { calls: Vec<PrunedCall>, }
    /// A Mid-Conversation System Message was admitted.
    18 "session.next.context.updated" 1 ContextUpdated {
        #[serde(rename = "messageID")] message_id: MessageID,
        text: String,
    }
    /// User-role text made by the runtime.
    19 "session.next.synthetic" 1 Synthetic {
        #[serde(rename = "messageID")] message_id: MessageID,
        text: String,
    }
    /// A shell command began.
    20 "session.next.shell.started" 1 ShellStarted {
        #[serde(rename = "messageID")] message_id: MessageID,
        #[serde(rename = "callID")] call_id: String,
        command: String,
    }
    /// A shell command ended.
    21 "session.next.shell.ended" 1 ShellEnded {
        #[serde(rename = "callID")] call_id: String,
        output: String,
    }
    /// The first output of a Provider Turn.
    22 "session.next.step.started" 1 StepStarted {
        #[serde(rename = "assistantMessageID")] assistant_message_id: MessageID,
        agent: String,
        model: ModelRef,
        #[serde(skip_serializing_if = "Option::is_none", default)] snapshot: Option<String>,
    }
    /// A Provider Turn ended and its tools settled.
    23 "session.next.step.ended" 2 StepEnded {
        #[serde(rename = "assistantMessageID")] assistant_message_id: MessageID,
        finish: String,
        cost: f64,
        tokens: Tokens,
        #[serde(skip_serializing_if = "Option::is_none", default)] snapshot: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none", default)] files: Option<Vec<String>>,
    }
    /// A Provider Turn failed or was interrupted.
    24 "session.next.step.failed" 2 StepFailed {
        #[serde(rename = "assistantMessageID")] assistant_message_id: MessageID,
        error: SessionErrorUnknown,
    }
    /// A text block began.
    25 "session.next.text.started" 1 TextStarted {
        #[serde(rename = "assistantMessageID")] assistant_message_id: MessageID,
        #[serde(rename = "textID")] text_id: String,
    }
    /// A text block ended.
    26 "session.next.text.ended" 1 TextEnded {
        #[serde(rename = "assistantMessageID")] assistant_message_id: MessageID,
        #[serde(rename = "textID")] text_id: String,
        text: String,
    }
    /// A reasoning block began.
    27 "session.next.reasoning.started" 1 ReasoningStarted {
        #[serde(rename = "assistantMessageID")] assistant_message_id: MessageID,
        #[serde(rename = "reasoningID")] reasoning_id: String,
        #[serde(rename = "providerMetadata", skip_serializing_if = "Option::is_none", default)]
        provider_metadata: Option<ProviderMetadata>,
    }
    /// A reasoning block ended.
    28 "session.next.reasoning.ended" 1 ReasoningEnded {
        #[serde(rename = "assistantMessageID")] assistant_message_id: MessageID,
        #[serde(rename = "reasoningID")] reasoning_id: String,
        text: String,
        #[serde(rename = "providerMetadata", skip_serializing_if = "Option::is_none", default)]
        provider_metadata: Option<ProviderMetadata>,
    }
    /// The provider begins to write a tool call.
    29 "session.next.tool.input.started" 1 ToolInputStarted {
        #[serde(rename = "assistantMessageID")] assistant_message_id: MessageID,
        #[serde(rename = "callID")] call_id: String,
        name: String,
    }
    /// The arguments are complete, as the provider wrote them.
    30 "session.next.tool.input.ended" 1 ToolInputEnded {
        #[serde(rename = "assistantMessageID")] assistant_message_id: MessageID,
        #[serde(rename = "callID")] call_id: String,
        text: String,
    }
    /// The call is recorded; only now may it run.
    31 "session.next.tool.called" 1 ToolCalled {
        #[serde(rename = "assistantMessageID")] assistant_message_id: MessageID,
        #[serde(rename = "callID")] call_id: String,
        tool: String,
        input: Record,
        provider: EventProvider,
    }
    /// What a running tool has so far.
    32 "session.next.tool.progress" 1 ToolProgress {
        #[serde(rename = "assistantMessageID")] assistant_message_id: MessageID,
        #[serde(rename = "callID")] call_id: String,
        structured: Record,
        content: Vec<ToolContent>,
    }
    /// The call settled with a result.
    33 "session.next.tool.success" 1 ToolSuccess {
        #[serde(rename = "assistantMessageID")] assistant_message_id: MessageID,
        #[serde(rename = "callID")] call_id: String,
        structured: Record,
        content: Vec<ToolContent>,
        #[serde(rename = "outputPaths", skip_serializing_if = "Option::is_none", default)]
        output_paths: Option<Vec<String>>,
        #[serde(skip_serializing_if = "Option::is_none", default)] result: Option<Value>,
        provider: EventProvider,
    }
    /// The call settled with a failure.
    34 "session.next.tool.failed" 1 ToolFailed {
        #[serde(rename = "assistantMessageID")] assistant_message_id: MessageID,
        #[serde(rename = "callID")] call_id: String,
        error: SessionErrorUnknown,
        #[serde(skip_serializing_if = "Option::is_none", default)] result: Option<Value>,
        provider: EventProvider,
    }
    /// The host went on with a session that a crash had cut.
    35 "session.next.retried" 1 Retried {
        attempt: u32,
        error: RetryError,
    }
    /// A compaction began.
    36 "session.next.compaction.started" 1 CompactionStarted {
        #[serde(rename = "messageID")] message_id: MessageID,
        reason: CompactionReason,
    }
    /// A checkpoint stands for what came before it.
    37 "session.next.compaction.ended" 2 CompactionEnded {
        #[serde(rename = "messageID")] message_id: MessageID,
        reason: CompactionReason,
        text: String,
        recent: String,
    }
    /// A revert was staged.
    38 "session.next.revert.staged" 1 RevertStaged { revert: RevertState, }
    /// A staged revert was dropped.
    39 "session.next.revert.cleared" 1 RevertCleared {}
    /// A staged revert was carried out.
    40 "session.next.revert.committed" 1 RevertCommitted {
        #[serde(rename = "messageID")] message_id: MessageID,
    }
}

events! {
    /// The payload of an event that is announced and never stored.
    LiveEvent, LIVE_EVENTS;

    /// More of a text block.
    1 "session.next.text.delta" 1 TextDelta {
        #[serde(rename = "assistantMessageID")] assistant_message_id: MessageID,
        #[serde(rename = "textID")] text_id: String,
        delta: String,
    }
    /// More of a reasoning block.
    2 "session.next.reasoning.delta" 1 ReasoningDelta {
        #[serde(rename = "assistantMessageID")] assistant_message_id: MessageID,
        #[serde(rename = "reasoningID")] reasoning_id: String,
        delta: String,
    }
    /// More of a tool call's arguments.
    3 "session.next.tool.input.delta" 1 ToolInputDelta {
        #[serde(rename = "assistantMessageID")] assistant_message_id: MessageID,
        #[serde(rename = "callID")] call_id: String,
        delta: String,
    }
    /// More of a compaction's summary.
    4 "session.next.compaction.delta" 1 CompactionDelta {
        #[serde(rename = "messageID")] message_id: MessageID,
        text: String,
    }
}

/// Where a durable event stands in its log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DurablePosition {
    /// The session.
    #[serde(rename = "aggregateID")]
    pub aggregate_id: SessionID,
    /// Gapless position in the session's log.
    pub seq: u64,
    /// Version of the payload.
    pub version: u32,
}

/// A durable event with its envelope.
#[derive(Debug, Clone, PartialEq)]
pub struct DurableEvent {
    /// Its id.
    pub id: EventID,
    /// The session.
    pub session_id: SessionID,
    /// Its sequence.
    pub seq: u64,
    /// When, epoch milliseconds; of a Prompt Promotion, the time of its admission.
    pub timestamp: Millis,
    /// What happened.
    pub payload: SessionEvent,
    /// Additive values the publisher set, stored with the event.
    pub metadata: Option<Record>,
}

impl DurableEvent {
    /// Whether the event belongs to the session's durable stream. Records of the older shape, such
    /// as `session.created`, occupy a sequence but are not part of it.
    pub fn is_streamed(&self) -> bool {
        is_streamed(self.payload.number())
    }
}

/// Whether events with this database number belong to the durable stream.
pub const fn is_streamed(number: u32) -> bool {
    number >= 10
}

/// The database number of a stored type such as `session.next.step.ended.2`.
pub fn number_of(versioned: &str) -> Result<u32, EventError> {
    // Version 1 of the checkpoint has the payload of version 2; logs of other programs carry it.
    let current = if versioned == "session.next.compaction.ended.1" {
        "session.next.compaction.ended.2"
    } else {
        versioned
    };
    DURABLE_EVENTS
        .iter()
        .find(|spec| {
            current
                .strip_prefix(spec.name)
                .and_then(|rest| rest.strip_prefix('.'))
                .is_some_and(|version| version == spec.version.to_string())
        })
        .map(|spec| spec.number)
        .ok_or_else(|| EventError::UnknownType(versioned.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_unique_and_ascending() {
        for specs in [DURABLE_EVENTS, LIVE_EVENTS] {
            assert!(specs.windows(2).all(|pair| pair[0].number < pair[1].number));
        }
    }

    #[test]
    fn every_stored_type_is_found_by_its_name_and_version() {
        for spec in DURABLE_EVENTS {
            assert_eq!(
                number_of(&format!("{}.{}", spec.name, spec.version)).unwrap(),
                spec.number
            );
        }
        assert_eq!(number_of("session.next.compaction.ended.1").unwrap(), 37);
        assert!(number_of("session.next.compaction.ended.3").is_err());
        assert!(number_of("session.next.text").is_err());
    }

    #[test]
    fn payloads_keep_their_key_order_and_drop_unknown_members() {
        let text = r#"{"assistantMessageID":"msg_a","textID":"text-0","text":"hi"}"#;
        let with_more = r#"{"text":"hi","more":1,"assistantMessageID":"msg_a","textID":"text-0"}"#;
        let event = SessionEvent::read(26, with_more).unwrap();
        assert_eq!(serde_json::to_string(&event).unwrap(), text);
        assert_eq!(SessionEvent::read(26, text).unwrap(), event);
    }
}
