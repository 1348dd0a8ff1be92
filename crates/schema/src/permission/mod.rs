//! Permissions: the rules, and the requests that wait for a reply.

mod evaluate;
#[cfg(test)]
mod fuzz;
mod tools;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::{PermissionID, SessionID};
use crate::record::Record;

pub use evaluate::{
    NamedResource, Restriction, Ruleset, decide, decide_by_tool, denying_rule, evaluate,
    evaluate_names, folded, is_denied_everywhere, matches, restricting,
};
pub use tools::{TOOL_ACTIONS, ToolAction, action_of_tool, known_names};

/// A permission rule. The last rule that matches an action and a resource decides.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct PermissionRule {
    /// Pattern of actions. `*` matches any text.
    pub action: String,
    /// Pattern of resources. `*` matches any text.
    pub resource: String,
    /// Effect of the rule.
    pub effect: PermissionEffect,
}

/// The effect of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PermissionEffect {
    /// Allows the action.
    Allow,
    /// Denies the action.
    Deny,
    /// Asks the user.
    Ask,
}

/// A permission request that waits for a reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PermissionRequest {
    /// Id of the request.
    pub id: PermissionID,
    /// Id of the session that needs the permission.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// Action that needs permission.
    pub action: String,
    /// Resources of the action.
    pub resources: Vec<String>,
    /// Patterns that the host saves if the reply is `always`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub save: Option<Vec<String>>,
    /// Details for the decision, such as the command or the change of a file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub metadata: Option<Record>,
    /// Origin of the request.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub source: Option<PermissionSource>,
}

/// The origin of a permission request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum PermissionSource {
    /// A tool call.
    Tool {
        /// Id of the message that contains the call. A caller outside a turn may choose any value.
        #[serde(rename = "messageID")]
        message_id: String,
        /// Id of the call within the message.
        #[serde(rename = "callID")]
        call_id: String,
    },
}

/// A reply to a permission request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PermissionReply {
    /// Allows the action this time.
    Once,
    /// Allows the action now and later in the whole project.
    Always,
    /// Denies the action.
    Reject,
}

/// The payload of the event that announces the reply to a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct PermissionReplied {
    /// Id of the session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// Id of the request.
    #[serde(rename = "requestID")]
    pub request_id: PermissionID,
    /// The reply.
    pub reply: PermissionReply,
}

/// A permission that a reply of `always` saved, as the host stores it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedPermission {
    /// Id of the saved permission.
    pub id: String,
    /// Name of the directories for which it counts.
    pub project_id: String,
    /// Allowed action.
    pub action: String,
    /// Pattern of allowed resources.
    pub resource: String,
}

/// A permission that a reply of `always` saved for a project, or for one directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "SavedPermission")]
pub struct SavedPermissionInfo {
    /// Id of the saved permission.
    pub id: String,
    /// Id of the project.
    #[serde(rename = "projectID")]
    pub project_id: String,
    /// Allowed action.
    pub action: String,
    /// Pattern of allowed resources.
    pub resource: String,
    /// The directory for which it counts: the root of a worktree, or a directory outside of repositories. Absent if it
    /// counts in all clones and worktrees of the project. Only the embedding program reads it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// True if it counts while the host trusts the project, false if it counts while the host does not. Only the embedding
    /// program reads it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trusted: Option<bool>,
}
