//! Values in event payloads that messages and sessions do not share.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::Millis;
use crate::id::{MessageID, SessionID, WorkspaceID};
use crate::message::{ErrorCause, ProviderMetadata};
use crate::model::ModelRef;
use crate::permission::{PermissionEffect, PermissionRule};
use crate::session::{
    RevertState, SessionBudget, SessionShare, SessionSummary, SessionTime, Tokens,
};

/// The failure before a retry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RetryError {
    /// Description of the failure.
    pub message: String,
    /// HTTP status, if the failure has one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub status_code: Option<u16>,
    /// True if a retry may succeed.
    pub is_retryable: bool,
    /// Response headers with the provider's limits, without secrets.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub response_headers: Option<BTreeMap<String, String>>,
    /// Beginning of the provider's response body, without secrets.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub response_body: Option<String>,
    /// For a wait: `next`, the time of the next request in epoch milliseconds, and `reason`, the
    /// kind of the failure.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub metadata: Option<BTreeMap<String, String>>,
}

impl RetryError {
    /// Key in `metadata` that only the wait of a running Provider Turn has.
    pub const NEXT: &str = "next";

    /// True if a running Provider Turn waits, false if the host recovers from a crash.
    #[must_use]
    pub fn is_wait(&self) -> bool {
        let metadata = self.metadata.as_ref();
        metadata.is_some_and(|metadata| metadata.contains_key(Self::NEXT))
    }
}

/// A tool call of an assistant message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PrunedCall {
    /// Id of the message.
    #[serde(rename = "assistantMessageID")]
    pub assistant_message_id: MessageID,
    /// Id of the call.
    #[serde(rename = "callID")]
    pub call_id: String,
}

/// The executor of a call, with the provider metadata of the call or of its settlement.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct EventProvider {
    /// True if the provider runs the call itself.
    pub executed: bool,
    /// Provider metadata.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub metadata: Option<ProviderMetadata>,
}

/// The session record in `session.created` and `session.updated`, in the older shape that these two
/// events keep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionRecord {
    /// Id of the session.
    pub id: SessionID,
    /// Readable name of two words.
    pub slug: String,
    /// Id of the project that contains its directory.
    #[serde(rename = "projectID")]
    pub project_id: String,
    /// Reserved for placement.
    #[serde(
        rename = "workspaceID",
        skip_serializing_if = "Option::is_none",
        default
    )]
    pub workspace_id: Option<WorkspaceID>,
    /// Directory of the session.
    pub directory: String,
    /// Directory relative to the project.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path: Option<String>,
    /// Id of the session that created it.
    #[serde(rename = "parentID", skip_serializing_if = "Option::is_none", default)]
    pub parent_id: Option<SessionID>,
    /// Title of the session.
    pub title: String,
    /// Chosen agent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub agent: Option<String>,
    /// Chosen model.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<ModelRef>,
    /// Version of the program that created it.
    pub version: String,
    /// Times of the session.
    pub time: SessionTime,
    /// Permission rules of the session, which follow the rules of its agent. A session that runs a
    /// task also contains the denials of the session that gave the task.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub permission: Option<Vec<RecordedRule>>,
    /// Limits on the work of the session. Empty in the record that removes them, absent without limits.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub budget: Option<Box<SessionBudget>>,
    /// Cost of all turns, in the currency of the catalogue's prices. This and the following members
    /// are present only in records that are derived from another event.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cost: Option<f64>,
    /// Token usage of all turns.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tokens: Option<Box<Tokens>>,
    /// Staged revert, if any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub revert: Option<Box<RecordedRevert>>,
    /// The shared copy, if any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub share: Option<Box<SessionShare>>,
    /// Sums of the changed files, if any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub summary: Option<Box<SessionSummary>>,
}

/// A staged revert in the older shape, which the session record keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedRevert {
    /// Id of the message at the boundary. The message itself stays.
    #[serde(rename = "messageID")]
    pub message_id: MessageID,
    /// Id of the part at the boundary within that message.
    #[serde(rename = "partID", skip_serializing_if = "Option::is_none", default)]
    pub part_id: Option<String>,
    /// Snapshot of the files before the stage.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub snapshot: Option<String>,
    /// All file changes as one unified diff.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub diff: Option<String>,
}

impl From<RevertState> for RecordedRevert {
    fn from(revert: RevertState) -> Self {
        Self {
            message_id: revert.message_id,
            part_id: revert.part_id,
            snapshot: revert.snapshot,
            diff: revert.diff,
        }
    }
}

/// A permission rule in the older shape, which the session record keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedRule {
    /// Pattern of actions. `*` matches any text.
    pub permission: String,
    /// Pattern of resources. `*` matches any text.
    pub pattern: String,
    /// Effect of the rule.
    pub action: PermissionEffect,
}

impl From<PermissionRule> for RecordedRule {
    fn from(rule: PermissionRule) -> Self {
        Self {
            permission: rule.action,
            pattern: rule.resource,
            action: rule.effect,
        }
    }
}

impl From<RecordedRule> for PermissionRule {
    fn from(rule: RecordedRule) -> Self {
        Self {
            action: rule.permission,
            resource: rule.pattern,
            effect: rule.action,
        }
    }
}

/// The payload of the live event that announces the status of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct SessionStatusChanged {
    /// Id of the session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// New status of the session.
    pub status: SessionStatus,
}

/// The status of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum SessionStatus {
    /// The session has no work.
    Idle,
    /// A Session Drain, a compaction or a revert is running.
    Busy {
        /// Time since the provider sent its last data, in milliseconds. Present from 30 seconds on.
        #[serde(rename = "silentMs", skip_serializing_if = "Option::is_none", default)]
        silent_ms: Option<u64>,
    },
    /// The provider refused a request temporarily. The host waits and sends it again.
    Retry {
        /// Number of the wait in the Provider Turn, from 1 on.
        attempt: u32,
        /// Reason of the provider's refusal.
        message: String,
        /// Time of the next request, in epoch milliseconds.
        next: Millis,
    },
}

/// The payload of the live event that announces an idle session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct SessionIdle {
    /// Id of the session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
}

/// The payload of the live event that announces a failure of a Session Drain before its request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct SessionError {
    /// Id of the session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// Description of the failure.
    pub error: NamedError,
}

/// The older error shape, which the live `session.error` keeps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NamedError {
    /// Always `UnknownError`.
    pub name: NamedErrorTag,
    /// Content of the error.
    pub data: NamedErrorData,
    /// Kind of the failure, and if a retry can succeed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cause: Option<ErrorCause>,
}

/// The only name of [`NamedError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum NamedErrorTag {
    /// `UnknownError`.
    UnknownError,
}

/// The content of [`NamedError`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamedErrorData {
    /// Description of the failure.
    pub message: String,
}
