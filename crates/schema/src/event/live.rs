//! The live events: fragments of incomplete output.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use super::{EventError, EventSpec};
use crate::id::MessageID;
use crate::message::ToolContent;
use crate::record::Record;

events! {
    /// The payload of a live event. The host sends it to subscribers and never stores it.
    LiveEvent, LIVE_EVENTS;

    /// A fragment of a text block.
    1 "session.next.text.delta" 1 TextDelta {
        /// Id of the turn's assistant message.
        #[serde(rename = "assistantMessageID")]
        assistant_message_id: MessageID,
        /// Id of the block within its message.
        #[serde(rename = "textID")]
        text_id: String,
        /// Text to append.
        delta: String,
    }
    /// A fragment of a reasoning block.
    2 "session.next.reasoning.delta" 1 ReasoningDelta {
        /// Id of the turn's assistant message.
        #[serde(rename = "assistantMessageID")]
        assistant_message_id: MessageID,
        /// Id of the block within its message.
        #[serde(rename = "reasoningID")]
        reasoning_id: String,
        /// Text to append.
        delta: String,
    }
    /// A fragment of the arguments of a tool call.
    3 "session.next.tool.input.delta" 1 ToolInputDelta {
        /// Id of the turn's assistant message.
        #[serde(rename = "assistantMessageID")]
        assistant_message_id: MessageID,
        /// Id of the tool call.
        #[serde(rename = "callID")]
        call_id: String,
        /// Text to append.
        delta: String,
    }
    /// A fragment of the summary of a compaction.
    4 "session.next.compaction.delta" 1 CompactionDelta {
        /// Id of the compaction's message.
        #[serde(rename = "messageID")]
        message_id: MessageID,
        /// Text to append.
        text: String,
    }
    /// The progress of a running tool call. It replaces the progress before.
    5 "session.next.tool.reported" 1 ToolReported {
        /// Id of the turn's assistant message.
        #[serde(rename = "assistantMessageID")]
        assistant_message_id: MessageID,
        /// Id of the tool call.
        #[serde(rename = "callID")]
        call_id: String,
        /// The progress for programs.
        structured: Record,
        /// The progress as text and files.
        content: Vec<ToolContent>,
    }
}
