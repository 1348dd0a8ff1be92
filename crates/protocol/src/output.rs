//! The answers of operations: the envelopes around the values of the vocabulary.

use std::collections::BTreeMap;

use opencode_schema::clock::Millis;
use opencode_schema::id::{MessageID, PermissionID, SessionID};
use opencode_schema::location::LocationInfo;
use opencode_schema::message::SessionMessage;
use opencode_schema::permission::PermissionEffect;
use opencode_schema::session::{SessionActive, SessionInfo};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cursor::{MessagesCursor, SessionsCursor};
use crate::event::SessionDurableEvent;

/// The envelope of a single value. Clients never see it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Data<T> {
    /// The value.
    pub data: T,
}

/// The envelope of a value that belongs to a Location.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Located<T> {
    /// The Location that the request selects.
    pub location: LocationInfo,
    /// The value.
    pub data: T,
}

/// The host is alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Health {
    /// Always true, because a host that is not healthy does not answer.
    #[schemars(extend("const" = true))]
    pub healthy: bool,
}

/// Sessions with a running Session Drain, by id.
pub type ActiveSessions = BTreeMap<SessionID, SessionActive>;

/// A session whose last activity was interrupted before it settled, for example by the end of its process.
///
/// The host derives it from the stored events. A session with a running Session Drain in this host is not included.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct InterruptedSession {
    /// The session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// Progress of the activity.
    pub state: InterruptedState,
    /// The input without an answer, or the assistant message with the open step.
    #[serde(rename = "messageID")]
    pub message_id: MessageID,
    /// Sequence of that message.
    pub seq: u64,
    /// Time of the creation of that message, in milliseconds since 1970.
    pub time: Millis,
}

/// The progress of the last activity of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InterruptedState {
    /// The newest promoted input has no assistant message after it. A request may have been
    /// sent.
    InputUnanswered,
    /// A step began, and it neither ended nor failed.
    StepOpen,
    /// A step ended with tool calls, and no step with their results followed.
    ContinuationDue,
}

/// The result of an import.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ImportedSession {
    /// The session as it is now.
    pub session: SessionInfo,
    /// Number of new events.
    pub applied: u64,
    /// Number of events that the session already had in the same form.
    pub skipped: u64,
}

/// The result of the import of a session in the older form.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ImportedDocument {
    /// The session as it is now.
    pub session: SessionInfo,
    /// Number of new events.
    pub applied: u64,
    /// Number of events that the session already had in the same form.
    pub skipped: u64,
    /// The values that were not carried over, in the order of the document.
    pub omitted: Vec<OmittedItem>,
}

/// A value of a session in the older form that an import did not carry over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OmittedItem {
    /// Id of the message that contains the value. Absent for a value of the session.
    #[serde(rename = "messageID", skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// Id of the part that contains the value.
    #[serde(rename = "partID", skip_serializing_if = "Option::is_none")]
    pub part_id: Option<String>,
    /// The type of the part, or the name of the member.
    pub kind: String,
    /// The reason, as a sentence.
    pub reason: String,
}

/// The cursors of the neighbouring Pages. Both keys are always present. Both are null only on an empty Page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "{C}s")]
pub struct PageCursors<C> {
    /// The cursor of the items before the first one.
    pub previous: Option<C>,
    /// The cursor of the items after the last one.
    pub next: Option<C>,
}

/// A page of sessions.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SessionsResponse {
    /// The sessions.
    pub data: Vec<SessionInfo>,
    /// The cursors of the neighbouring Pages.
    pub cursor: PageCursors<SessionsCursor>,
}

/// A page of messages.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "SessionMessagesResponse")]
pub struct MessagesResponse {
    /// The messages.
    pub data: Vec<SessionMessage>,
    /// The cursors of the neighbouring Pages.
    pub cursor: PageCursors<MessagesCursor>,
}

/// A part of the log of a session.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SessionHistory {
    /// Durable events, in order.
    pub data: Vec<SessionDurableEvent>,
    /// True if more entries follow.
    #[serde(rename = "hasMore")]
    pub has_more: bool,
}

/// A problem of the configuration of a Location.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConfigurationDiagnostic {
    /// The document, or another source of configuration.
    pub path: String,
    /// Kind of the problem.
    pub kind: ConfigurationProblem,
    /// The problem and its effect.
    pub message: String,
    /// Line in the document, from 1 on.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub line: Option<u32>,
    /// Character in the line, from 1 on.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub column: Option<u32>,
}

/// The kinds of problems of a configuration, by the part that has no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ConfigurationProblem {
    /// The document cannot be read. It has no effect.
    Io,
    /// A reference in the document cannot be resolved. The whole document has no effect.
    Substitution,
    /// The document is not JSON (comments and trailing commas are allowed). It has no effect.
    Syntax,
    /// A value has the wrong form for its key. The whole document has no effect.
    Invalid,
    /// One value has no effect. The rest of the document has.
    Ignored,
}

/// The immediate decision about a permission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PermissionDecision {
    /// Id of the request. It waits for an answer if the effect is `ask`.
    pub id: PermissionID,
    /// The current effect.
    pub effect: PermissionEffect,
}
