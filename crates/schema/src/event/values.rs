//! Values inside payloads that belong to no message and no session.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::Millis;
use crate::id::{MessageID, SessionID, WorkspaceID};
use crate::message::{ErrorCause, ProviderMetadata};
use crate::model::ModelRef;
use crate::permission::{PermissionEffect, PermissionRule};
use crate::session::{RevertState, SessionTime, Tokens};

/// The failure that a retry follows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RetryError {
    /// What went wrong.
    pub message: String,
    /// HTTP status, where there was one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub status_code: Option<u16>,
    /// Whether trying again may help.
    pub is_retryable: bool,
    /// What the provider's headers say about its limits, without secrets.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub response_headers: Option<BTreeMap<String, String>>,
    /// The beginning of the provider's answer, without secrets.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub response_body: Option<String>,
    /// Of a wait: `next`, the time of the next request in milliseconds since 1970, and `reason`,
    /// the kind of the failure.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub metadata: Option<BTreeMap<String, String>>,
}

impl RetryError {
    /// The member of `metadata` that only the wait of a running Provider Turn has.
    pub const NEXT: &str = "next";

    /// Whether a running Provider Turn waits, as opposed to a recovery after a crash.
    #[must_use]
    pub fn is_wait(&self) -> bool {
        let metadata = self.metadata.as_ref();
        metadata.is_some_and(|metadata| metadata.contains_key(Self::NEXT))
    }
}

/// One tool call of one assistant message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PrunedCall {
    /// The message.
    #[serde(rename = "assistantMessageID")]
    pub assistant_message_id: MessageID,
    /// The call.
    #[serde(rename = "callID")]
    pub call_id: String,
}

/// Who runs a call, with the provider metadata of the call or of its settlement.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct EventProvider {
    /// Whether the provider runs it itself.
    pub executed: bool,
    /// What the provider attached.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub metadata: Option<ProviderMetadata>,
}

/// The session record inside `session.created` and `session.updated`, in the older shape that
/// these two events keep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionRecord {
    /// Its id.
    pub id: SessionID,
    /// Two words, for people.
    pub slug: String,
    /// The project around its directory.
    #[serde(rename = "projectID")]
    pub project_id: String,
    /// Reserved for placement.
    #[serde(
        rename = "workspaceID",
        skip_serializing_if = "Option::is_none",
        default
    )]
    pub workspace_id: Option<WorkspaceID>,
    /// Its directory.
    pub directory: String,
    /// The directory relative to the project.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path: Option<String>,
    /// The session that created it.
    #[serde(rename = "parentID", skip_serializing_if = "Option::is_none", default)]
    pub parent_id: Option<SessionID>,
    /// Title.
    pub title: String,
    /// The chosen agent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub agent: Option<String>,
    /// The chosen model.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<ModelRef>,
    /// Version of the program that created it.
    pub version: String,
    /// Times.
    pub time: SessionTime,
    /// Its own permission rules, which count after those of its agent. A session that carries out a
    /// task has what was denied to the one that gave it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub permission: Option<Vec<RecordedRule>>,
    /// What its turns cost so far, in the currency of the catalogue's prices. Only what is derived
    /// from another event has this and the following members.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cost: Option<f64>,
    /// What its turns used so far.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tokens: Option<Box<Tokens>>,
    /// The staged revert, if any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub revert: Option<Box<RecordedRevert>>,
}

/// A staged revert in the older shape, which the session record keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedRevert {
    /// The boundary; it stays.
    #[serde(rename = "messageID")]
    pub message_id: MessageID,
    /// The boundary within that message.
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
    /// Which actions; `*` stands for any text.
    pub permission: String,
    /// On which resources; `*` stands for any text.
    pub pattern: String,
    /// What then holds.
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

/// Whether a session works: a live event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct SessionStatusChanged {
    /// The session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// Its status from now on.
    pub status: SessionStatus,
}

/// Whether a session works.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum SessionStatus {
    /// It has nothing to do.
    Idle,
    /// It has a Session Drain, a compaction or a revert under way.
    Busy {
        /// How long the provider has sent nothing, in milliseconds. Present from 30 seconds on.
        #[serde(rename = "silentMs", skip_serializing_if = "Option::is_none", default)]
        silent_ms: Option<u64>,
    },
    /// The provider refused a request for now; the host waits and sends it again.
    Retry {
        /// Counts the waits of the Provider Turn, from 1 on.
        attempt: u32,
        /// Why the provider refused.
        message: String,
        /// When the next request goes out, in milliseconds since 1970.
        next: Millis,
    },
}

/// A session that has nothing more to do: a live event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct SessionIdle {
    /// The session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
}

/// What a Session Drain could not do before its request, and why: a live event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct SessionError {
    /// The session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// What went wrong.
    pub error: NamedError,
}

/// The older error shape, which the live `session.error` keeps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NamedError {
    /// Always `UnknownError`.
    pub name: NamedErrorTag,
    /// The message.
    pub data: NamedErrorData,
    /// What kind of failure it was and whether a retry may help.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cause: Option<ErrorCause>,
}

/// The one name of [`NamedError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum NamedErrorTag {
    /// `UnknownError`.
    UnknownError,
}

/// The content of [`NamedError`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamedErrorData {
    /// What went wrong.
    pub message: String,
}
