//! What callers send: the fields of paths, queries and bodies.

use opencode_schema::id::{MessageID, SessionID, WorkspaceID};
use opencode_schema::location::LocationRef;
use opencode_schema::model::ModelRef;
use opencode_schema::prompt::{Delivery, PromptInput};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cursor::{MessagesCursor, SessionsCursor};

/// No fields at all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct Nothing {}

/// The path of everything that belongs to one session.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct SessionParams {
    /// The session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
}

/// The path of one message.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct MessageParams {
    /// The session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// The message.
    #[serde(rename = "messageID")]
    pub message_id: MessageID,
}

/// The path of one prompt in a session's inbox.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct InputParams {
    /// The session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// The prompt: its id is that of the message it becomes.
    #[serde(rename = "messageID")]
    pub message_id: MessageID,
}

/// Selects a Location for one request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct LocationSelection {
    /// The Location; absent means the host's default one.
    pub location: Option<LocationQuery>,
}

/// A Location as queries name it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct LocationQuery {
    /// Absolute path of the directory.
    pub directory: Option<String>,
    /// Reserved for placement.
    pub workspace: Option<WorkspaceID>,
}

/// What a session is created with.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
pub struct SessionCreatePayload {
    /// The caller's own id for the session; begins with `ses`.
    pub id: Option<SessionID>,
    /// The agent; absent means the default one.
    pub agent: Option<String>,
    /// The model; absent means the agent's or the default one.
    pub model: Option<ModelRef>,
    /// Where the session lives; absent means the host's default Location.
    pub location: Option<LocationRef>,
}

/// The order of a Page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Oldest first.
    Asc,
    /// Newest first.
    #[default]
    Desc,
}

/// Which sessions are listed, and how.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct SessionsQuery {
    /// Only sessions of this workspace.
    pub workspace: Option<WorkspaceID>,
    /// Items of a page, 50 by default; more than 1000 are never served at once.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub limit: Option<u64>,
    /// By time of creation, `desc` by default.
    pub order: Option<Order>,
    /// Only sessions whose title contains this text, ASCII case ignored.
    pub search: Option<String>,
    /// Only sessions of this directory. Wins over `project`.
    pub directory: Option<String>,
    /// Only sessions of this project.
    pub project: Option<String>,
    /// Only sessions at this directory of the project, relative to its root.
    pub subpath: Option<String>,
    /// Continues where a page ended.
    pub cursor: Option<SessionsCursor>,
}

/// How the messages of a session are listed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct MessagesQuery {
    /// Items of a page, 50 by default.
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<u32>,
    /// By sequence, `desc` by default.
    pub order: Option<Order>,
    /// Continues where a page ended.
    pub cursor: Option<MessagesCursor>,
}

/// Which part of a session's log is read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct HistoryQuery {
    /// At most so many events, 50 by default.
    #[schemars(range(max = 100), extend("exclusiveMinimum" = 0))]
    pub limit: Option<u32>,
    /// Only events with a greater sequence; absent means from the beginning.
    pub after: Option<u64>,
}

/// Where a session's stream of durable events begins.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct EventsQuery {
    /// Only events with a greater sequence; absent means from the beginning.
    pub after: Option<u64>,
}

/// What is admitted.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
pub struct PromptPayload {
    /// The caller's own id for the prompt and its message; begins with `msg_`.
    pub id: Option<MessageID>,
    /// The prompt.
    pub prompt: PromptInput,
    /// How it enters the session, `steer` by default.
    pub delivery: Option<Delivery>,
    /// `false` admits it without waking the session.
    pub resume: Option<bool>,
}

/// Another delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct SetDeliveryPayload {
    /// How the prompt is to enter the session.
    pub delivery: Delivery,
}

/// Another place.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct MovePayload {
    /// Where the session is to live. It must be a place of the session's project.
    pub location: LocationRef,
}

/// Another agent.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct SwitchAgentPayload {
    /// Its name. Whether there is such an agent is seen when it is used.
    pub agent: String,
}

/// Another model.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct SwitchModelPayload {
    /// The model. Whether there is such a model is seen when it is used.
    pub model: ModelRef,
}
