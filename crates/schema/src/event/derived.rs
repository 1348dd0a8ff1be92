//! Announcements of changed messages and parts. The host derives them from committed events.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::Millis;
use crate::id::{MessageID, SessionID};
use crate::message::{AssistantPart, SessionMessage};
use crate::session::FileDiff;

/// The payload of the announcement of a new or changed message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct MessageUpdated {
    /// Id of the session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// The message without its parts: the `content` of an assistant message is empty, and its
    /// metadata lacks `textProviderMetadata`. `message.part.updated` has the parts.
    pub info: SessionMessage,
}

/// The payload of the announcement of a removed message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct MessageRemoved {
    /// Id of the session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// Id of the message. Its parts are removed with it.
    #[serde(rename = "messageID")]
    pub message_id: MessageID,
}

/// The payload of the announcement of a new or changed part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct MessagePartUpdated {
    /// Id of the session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// Id of the assistant message with the part.
    #[serde(rename = "messageID")]
    pub message_id: MessageID,
    /// Position of the part in the `content` of its message, from 0 on. Ids of parts may repeat.
    pub index: u32,
    /// The part after the change.
    pub part: AssistantPart,
    /// Time of the change.
    pub time: Millis,
}

/// The payload of the announcement of a removed part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct MessagePartRemoved {
    /// Id of the session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// Id of the assistant message that had the part.
    #[serde(rename = "messageID")]
    pub message_id: MessageID,
    /// Id of the part.
    #[serde(rename = "partID")]
    pub part_id: String,
    /// Position that the part had in the `content` of its message.
    pub index: u32,
}

/// The payload of the announcement of the files that the steps of a session changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct SessionDiffed {
    /// Id of the session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// Differences from the first to the newest step that changed files.
    pub diff: Vec<FileDiff>,
}

impl SessionDiffed {
    /// Name of the announcement.
    pub const NAME: &str = "session.diff";
}

/// The payload of the announcement of a compaction that ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct SessionCompacted {
    /// Id of the session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
}
