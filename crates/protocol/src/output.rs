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

/// The envelope of what belongs to a Location.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Located<T> {
    /// The Location the request selects.
    pub location: LocationInfo,
    /// The value.
    pub data: T,
}

/// The host is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Health {
    /// Always true: a host that is not healthy does not answer.
    #[schemars(extend("const" = true))]
    pub healthy: bool,
}

/// Sessions with a Session Drain under way, by id.
pub type ActiveSessions = BTreeMap<SessionID, SessionActive>;

/// A session whose last activity was cut before it settled, as the death of its process does.
///
/// It is derived from what is stored. A session with a Session Drain under way in this host is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct InterruptedSession {
    /// The session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// Progress of the activity.
    pub state: InterruptedState,
    /// The message that shows it: the input that has no answer, or the assistant's message.
    #[serde(rename = "messageID")]
    pub message_id: MessageID,
    /// Sequence of that message.
    pub seq: u64,
    /// When that message was created, epoch milliseconds.
    pub time: Millis,
}

/// The progress of the last activity of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum InterruptedState {
    /// The newest promoted input has no assistant message after it. Whether a request was sent is
    /// unknown.
    InputUnanswered,
    /// A step began and neither ended nor failed.
    StepOpen,
    /// A step ended with tool calls whose results the model waits for, and no step followed.
    ContinuationDue,
}

/// The result of an import.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ImportedSession {
    /// The session as it is now.
    pub session: SessionInfo,
    /// Events that were not there before.
    pub applied: u64,
    /// Events that were there already, exactly so.
    pub skipped: u64,
}

/// The way to the pages before and after. Both keys are always there; both are null exactly on an
/// empty page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "{C}s")]
pub struct PageCursors<C> {
    /// Leads to the items before the first one.
    pub previous: Option<C>,
    /// Leads to the items after the last one.
    pub next: Option<C>,
}

/// A page of sessions.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SessionsResponse {
    /// The sessions.
    pub data: Vec<SessionInfo>,
    /// The way on.
    pub cursor: PageCursors<SessionsCursor>,
}

/// A page of messages.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "SessionMessagesResponse")]
pub struct MessagesResponse {
    /// The messages.
    pub data: Vec<SessionMessage>,
    /// The way on.
    pub cursor: PageCursors<MessagesCursor>,
}

/// A part of a session's log.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SessionHistory {
    /// Durable events, in order.
    pub data: Vec<SessionDurableEvent>,
    /// True if more entries follow.
    #[serde(rename = "hasMore")]
    pub has_more: bool,
}

/// Something wrong with the configuration of a Location.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConfigurationDiagnostic {
    /// The document, or what else speaks for the Location.
    pub path: String,
    /// Kind of the problem.
    pub kind: ConfigurationProblem,
    /// The problem and its effect.
    pub message: String,
    /// The line of the document, from 1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub line: Option<u32>,
    /// The character of the line, from 1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub column: Option<u32>,
}

/// The kinds of problems of a configuration, by the part that has no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ConfigurationProblem {
    /// The document cannot be read. Nothing of it has an effect.
    Io,
    /// Something the document refers to cannot be had. Nothing of the document has an effect.
    Substitution,
    /// The document is no JSON, comments and trailing commas aside. Nothing of it has an effect.
    Syntax,
    /// A value in the document is not what its key takes. Nothing of the document has an effect.
    Invalid,
    /// One value has no effect; the rest of the document has.
    Ignored,
}

/// The immediate decision about a permission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PermissionDecision {
    /// The request. It waits for an answer if the effect is `ask`.
    pub id: PermissionID,
    /// The effect that holds now.
    pub effect: PermissionEffect,
}
