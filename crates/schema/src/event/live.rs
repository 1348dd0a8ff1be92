//! The live events: fragments of what is not complete yet.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{EventError, EventSpec};
use crate::id::MessageID;

events! {
    /// The payload of an event that is announced and never stored.
    LiveEvent, LIVE_EVENTS;

    /// More of a text block.
    1 "session.next.text.delta" 1 TextDelta {
        /// The assistant message of the Provider Turn.
        #[serde(rename = "assistantMessageID")]
        assistant_message_id: MessageID,
        /// The block, within its message.
        #[serde(rename = "textID")]
        text_id: String,
        /// What follows.
        delta: String,
    }
    /// More of a reasoning block.
    2 "session.next.reasoning.delta" 1 ReasoningDelta {
        /// The assistant message of the Provider Turn.
        #[serde(rename = "assistantMessageID")]
        assistant_message_id: MessageID,
        /// The block, within its message.
        #[serde(rename = "reasoningID")]
        reasoning_id: String,
        /// What follows.
        delta: String,
    }
    /// More of a tool call's arguments.
    3 "session.next.tool.input.delta" 1 ToolInputDelta {
        /// The assistant message of the Provider Turn.
        #[serde(rename = "assistantMessageID")]
        assistant_message_id: MessageID,
        /// The tool call.
        #[serde(rename = "callID")]
        call_id: String,
        /// What follows.
        delta: String,
    }
    /// More of a compaction's summary.
    4 "session.next.compaction.delta" 1 CompactionDelta {
        /// The message of the compaction.
        #[serde(rename = "messageID")]
        message_id: MessageID,
        /// What follows.
        text: String,
    }
}
