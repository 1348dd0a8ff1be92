//! To-do lists that models keep for sessions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::SessionID;

/// One item of a to-do list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Todo {
    /// Description of the task.
    pub content: String,
    /// State: `pending`, `in_progress`, `completed` or `cancelled`. Models also write other words.
    pub status: String,
    /// Importance: `high`, `medium` or `low`. Models also write other words.
    pub priority: String,
}

/// The payload of the event that announces a new to-do list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct TodoUpdated {
    /// Id of the session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// All items, in order.
    pub todos: Vec<Todo>,
}
