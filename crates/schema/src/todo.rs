//! What a model notes that is still to be done in a session.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::SessionID;

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Todo {
    /// What.
    pub content: String,
    /// Where it stands: `pending`, `in_progress`, `completed` or `cancelled`. Models write other words
    /// as well.
    pub status: String,
    /// How important it is: `high`, `medium` or `low`. Models write other words as well.
    pub priority: String,
}

/// The new list of a session, as everybody is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct TodoUpdated {
    /// The session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// All there is to do, in order.
    pub todos: Vec<Todo>,
}
