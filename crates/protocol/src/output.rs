//! What operations answer: the envelopes around the vocabulary's values.

use std::collections::BTreeMap;

use opencode_schema::id::SessionID;
use opencode_schema::message::SessionMessage;
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

/// The host is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Health {
    /// Always true: a host that is not healthy does not answer.
    #[schemars(extend("const" = true))]
    pub healthy: bool,
}

/// Sessions with a Session Drain under way, by id.
pub type ActiveSessions = BTreeMap<SessionID, SessionActive>;

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
    /// Whether more follow.
    #[serde(rename = "hasMore")]
    pub has_more: bool,
}
