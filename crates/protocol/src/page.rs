//! Pages of a list: the request for one, and its bounds.

use opencode_schema::clock::Millis;
use opencode_schema::id::{SessionID, WorkspaceID};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Items of a page without a limit in the request.
pub const DEFAULT_LIMIT: u32 = 50;

/// Most sessions of a page; a greater limit is lowered, not refused.
pub const MAX_SESSIONS: u32 = 1000;

/// Most messages of a page; a greater limit is refused.
pub const MAX_MESSAGES: u32 = 200;

/// One page of something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageRequest<Scope, Anchor> {
    /// Which items there are.
    pub scope: Scope,
    /// Their order.
    pub order: Order,
    /// Maximum number of items.
    pub limit: u32,
    /// The position of the Page. Default: the beginning.
    pub from: Option<PageAnchor<Anchor>>,
}

/// A place right before or right after an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageAnchor<Anchor> {
    /// The place of that item. The item itself may be gone.
    pub anchor: Anchor,
    /// The side of it.
    pub direction: Direction,
}

/// The side of an item, seen in the order of the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Before it.
    Previous,
    /// After it.
    Next,
}

/// Which sessions are listed. `directory` wins over `project` and `subpath`.
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
}

/// The place of a session among all: time of creation, then id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionAnchor {
    /// When it was created.
    pub time: Millis,
    /// Its id.
    pub id: SessionID,
}

/// A page of sessions.
pub type SessionsPage = PageRequest<SessionFilters, SessionAnchor>;

/// A page of the messages of one session; the place of a message is its sequence.
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
