//! The input of operations that create, change, copy and remove whole sessions.
//!
//! A bound or a rule may be absent, but not null: JavaScript writes null for a number that is NaN. The attribute `with`
//! removes null from the schema of such a field.

use opencode_schema::Record;
use opencode_schema::clock::Millis;
use opencode_schema::id::{MessageID, SessionID};
use opencode_schema::location::LocationRef;
use opencode_schema::model::ModelRef;
use opencode_schema::permission::PermissionRule;
use opencode_schema::session::SessionBudget;
use schemars::JsonSchema;
use serde::Deserialize;

/// The properties of a new session.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
pub struct SessionCreatePayload {
    /// Id that the caller chooses for the session. It begins with `ses`.
    pub id: Option<SessionID>,
    /// The agent. Default: the default agent.
    pub agent: Option<String>,
    /// The model. Default: the model of the agent, else the default model.
    pub model: Option<ModelRef>,
    /// The Location of the session. Default: the Location of the host.
    pub location: Option<LocationRef>,
    /// Title of the session, at most 1,024 bytes. Default: a text with the time of the creation.
    pub title: Option<String>,
    /// The parent session. It must exist. Removing the parent removes this session, too.
    #[serde(rename = "parentID")]
    pub parent_id: Option<SessionID>,
    /// Permission rules of the session, at most 256. They follow the rules of the agent, and the last rule that matches
    /// decides. They loosen neither the ceiling of the host nor other restrictions.
    #[serde(default)]
    #[schemars(with = "Vec<PermissionRule>")]
    pub permission: Option<Vec<PermissionRule>>,
    /// Limits on the work of the session and its child sessions. Default: those of the host.
    #[serde(default)]
    #[schemars(with = "SessionBudget")]
    pub budget: Option<SessionBudget>,
}

/// Changes of a session. Absent fields stay.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
pub struct SessionUpdatePayload {
    /// New title, at most 1,024 bytes. The host never replaces it.
    pub title: Option<String>,
    /// `true` archives the session, `false` takes it back. An archived session still works.
    pub archived: Option<bool>,
    /// The new permission rules of the session, at most 256. They replace the former ones. Limits that a task of another
    /// session set stay.
    #[serde(default)]
    #[schemars(with = "Vec<PermissionRule>")]
    pub permission: Option<Vec<PermissionRule>>,
    /// The new limits on the work of the session. They replace the former ones. `{}` removes them, and those of the host
    /// apply.
    #[serde(default)]
    #[schemars(with = "SessionBudget")]
    pub budget: Option<SessionBudget>,
}

/// The choices of the caller of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct ImportQuery {
    /// The directory of the session. The session moves there if the import names another one. Default: the directory of
    /// the import, which the session works in only if it is that of the host, or once a caller confirms it.
    pub directory: Option<String>,
    /// The agent of the session. Default: that of the import, which works only if it is the default agent, or once a
    /// caller confirms it.
    pub agent: Option<String>,
    /// The model of the session. Default: that of the import, which is used only if it is the default model, or once a
    /// caller confirms it.
    pub model: Option<ModelRef>,
    /// `true` confirms the directory, the agent and the model that the import names. Give it for your own exports only.
    /// Default: `false`.
    pub confirm: Option<bool>,
}

/// A session in the older form.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
pub struct SessionDocumentPayload {
    /// The record of the session. It has an `id`, a `directory` and `time.created` at least.
    pub info: Record,
    /// The messages, oldest first.
    pub messages: Vec<SessionDocumentMessage>,
    /// The directory of the session. The session moves there if the document names another one. Default: that of the
    /// document, which the session works in only if it is that of the host, or once a caller confirms it.
    pub directory: Option<String>,
    /// The agent of the session. Default: that of the document, which works only if it is the default agent, or once a
    /// caller confirms it.
    pub agent: Option<String>,
    /// The model of the session. Default: that of the document, which is used only if it is the default model, or once a
    /// caller confirms it.
    pub model: Option<ModelRef>,
    /// `true` confirms the directory, the agent and the model that the document names. Give it for your own sessions only.
    /// Default: `false`.
    pub confirm: Option<bool>,
}

/// A message of a session in the older form.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
pub struct SessionDocumentMessage {
    /// The message without its content: `id`, `role`, `time` and more.
    pub info: Record,
    /// The parts of the message, oldest first.
    pub parts: Vec<Record>,
}

/// The treatment of a session that works.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct SessionRemoveQuery {
    /// `true` stops the work of the session and its descendants first. Default: `false`, and a session that works is not
    /// removed.
    pub interrupt: Option<bool>,
}

/// The boundary of a fork.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct SessionForkPayload {
    /// The first message that the fork does not get. Default: the fork gets all messages.
    #[serde(rename = "messageID")]
    pub message_id: Option<MessageID>,
    /// A part of this message, if it is an assistant message. The fork gets the message with the parts before this part.
    #[serde(rename = "partID")]
    pub part_id: Option<String>,
}

/// The conditions of a prune. A session must satisfy all given conditions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct SessionPrunePayload {
    /// Only sessions without an event since this time, in epoch milliseconds.
    #[serde(rename = "olderThan", default)]
    #[schemars(with = "Millis")]
    pub older_than: Option<Millis>,
    /// Keeps this number of sessions, those with the newest events.
    #[serde(rename = "keepLast", default)]
    #[schemars(with = "u64")]
    pub keep_last: Option<u64>,
    /// `true` selects archived sessions, `false` all others. Default: both.
    #[serde(default)]
    #[schemars(with = "bool")]
    pub archived: Option<bool>,
}

/// The size of a list of sessions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct StorageQuery {
    /// Maximum number of sessions in `largest`. Default: 20.
    #[schemars(range(max = 1000))]
    pub limit: Option<u32>,
}
