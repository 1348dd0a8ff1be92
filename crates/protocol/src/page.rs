//! Pages of a list: the request for one, and its bounds.

use opencode_schema::clock::Millis;
use opencode_schema::id::{SessionID, WorkspaceID};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Number of items of a page if the request has no limit.
pub const DEFAULT_LIMIT: u32 = 50;

/// Maximum number of sessions of a page. A greater limit is lowered, not refused.
pub const MAX_SESSIONS: u32 = 1000;

/// Maximum number of messages of a page. A greater limit is refused.
pub const MAX_MESSAGES: u32 = 200;

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageRequest<Scope, Anchor> {
    /// The filter of the items.
    pub scope: Scope,
    /// Their order.
    pub order: Order,
    /// Maximum number of items.
    pub limit: u32,
    /// The position of the Page. Default: the beginning.
    pub from: Option<PageAnchor<Anchor>>,
}

/// A position right before or right after an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageAnchor<Anchor> {
    /// The position of that item. The item itself may have been removed.
    pub anchor: Anchor,
    /// The side of the item.
    pub direction: Direction,
}

/// The side of an item in the order of the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Before the item.
    Previous,
    /// After the item.
    Next,
}

/// The filter of a list of sessions. `directory` overrides `project` and `subpath`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionFilters {
    /// Only this workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<WorkspaceID>,
    /// Only titles that contain this text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<String>,
    /// Only this directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// Only this project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Only this directory of the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subpath: Option<String>,
    /// Only archived sessions, or only others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
    /// Only sessions without a parent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub roots: bool,
    /// Only sessions with this parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<SessionID>,
}

/// The position of a session among all sessions: creation time, then id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionAnchor {
    /// Creation time.
    pub time: Millis,
    /// Id of the session.
    pub id: SessionID,
}

/// A page of sessions.
pub type SessionsPage = PageRequest<SessionFilters, SessionAnchor>;

/// A page of the messages of a session. The position of a message is its sequence.
pub type MessagesPage = PageRequest<SessionID, u64>;

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
