//! Permissions: the rules, and the requests that wait for somebody's answer.

mod evaluate;
#[cfg(test)]
mod fuzz;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::{PermissionID, SessionID};
use crate::record::Record;

pub use evaluate::{Restriction, Ruleset, decide, evaluate, is_denied_everywhere, matches};

/// One rule. Of the rules that match an action and a resource, the last one counts.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct PermissionRule {
    /// Which actions; `*` stands for any text.
    pub action: String,
    /// On which resources; `*` stands for any text.
    pub resource: String,
    /// What then holds.
    pub effect: PermissionEffect,
}

/// What a rule says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PermissionEffect {
    /// It may be done.
    Allow,
    /// It may not be done.
    Deny,
    /// Somebody is asked.
    Ask,
}

/// A question whether something may be done, which waits for an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PermissionRequest {
    /// Its id.
    pub id: PermissionID,
    /// The session it is asked for.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// What is to be done.
    pub action: String,
    /// On what.
    pub resources: Vec<String>,
    /// The patterns that are stored when the answer is `always`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub save: Option<Vec<String>>,
    /// What helps to decide, such as the command or the change of a file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub metadata: Option<Record>,
    /// What asks.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub source: Option<PermissionSource>,
}

/// What asks for a permission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum PermissionSource {
    /// A tool call.
    Tool {
        /// Its message; whoever asks from outside a turn may name it as they like.
        #[serde(rename = "messageID")]
        message_id: String,
        /// The call within the message.
        #[serde(rename = "callID")]
        call_id: String,
    },
}

/// An answer to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PermissionReply {
    /// Yes, this time.
    Once,
    /// Yes, and from now on in the whole project.
    Always,
    /// No.
    Reject,
}

/// The answer to a request, as everybody is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct PermissionReplied {
    /// The session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// The request.
    #[serde(rename = "requestID")]
    pub request_id: PermissionID,
    /// The answer.
    pub reply: PermissionReply,
}

/// A permission that an answer of `always` gave for a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SavedPermission {
    /// Its id.
    pub id: String,
    /// The project.
    #[serde(rename = "projectID")]
    pub project_id: String,
    /// What may be done.
    pub action: String,
    /// On what; a pattern.
    pub resource: String,
}
