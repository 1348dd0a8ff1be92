//! The session record.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::{Millis, iso8601};
use crate::id::{MessageID, SessionID};
use crate::location::LocationRef;
use crate::model::ModelRef;

/// Tokens of one Provider Turn or of a session; the five counts are disjoint.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Tokens {
    /// Input that no cache served.
    #[serde(deserialize_with = "crate::bounded::count")]
    pub input: u64,
    /// Visible output.
    #[serde(deserialize_with = "crate::bounded::count")]
    pub output: u64,
    /// Reasoning output.
    #[serde(deserialize_with = "crate::bounded::count")]
    pub reasoning: u64,
    /// Input that went through the provider's prompt cache.
    pub cache: CacheTokens,
}

/// Tokens read from and written to the provider's prompt cache.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct CacheTokens {
    /// Read.
    #[serde(deserialize_with = "crate::bounded::count")]
    pub read: u64,
    /// Written.
    #[serde(deserialize_with = "crate::bounded::count")]
    pub write: u64,
}

/// Times of a session, epoch milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionTime {
    /// Creation.
    pub created: Millis,
    /// Last switch, move or revert; prompts and turns do not count.
    pub updated: Millis,
    /// When it was archived.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub archived: Option<Millis>,
}

/// How a file differs from a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileStatus {
    /// Not in the snapshot.
    Added,
    /// Only in the snapshot.
    Deleted,
    /// In both, with other content.
    Modified,
}

/// One changed file of a staged revert.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FileDiff {
    /// Path relative to the root of the worktree.
    pub path: String,
    /// What happened to it.
    pub status: FileStatus,
    /// Added lines.
    pub additions: u64,
    /// Deleted lines.
    pub deletions: u64,
    /// Unified diff, as Git writes it. Empty for a binary file, and where the revert changes too much
    /// to show all of it.
    pub patch: String,
}

/// A staged revert.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RevertState {
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
    /// The changed files.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub files: Option<Vec<FileDiff>>,
    /// Paths that were left alone, because somebody else changed them meanwhile or stands in the way.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub conflicts: Option<Vec<String>>,
}

/// A session as every read shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionInfo {
    /// Its id.
    pub id: SessionID,
    /// The session that created it.
    #[serde(rename = "parentID", skip_serializing_if = "Option::is_none", default)]
    pub parent_id: Option<SessionID>,
    /// The project around its directory.
    #[serde(rename = "projectID")]
    pub project_id: String,
    /// The chosen agent; absent until one is chosen.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub agent: Option<String>,
    /// The chosen model; absent until one is chosen.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<ModelRef>,
    /// What its turns cost so far, in the currency of the catalogue's prices.
    pub cost: f64,
    /// What its turns used so far.
    pub tokens: Tokens,
    /// Times.
    pub time: SessionTime,
    /// Title.
    pub title: String,
    /// Where it lives.
    pub location: LocationRef,
    /// The directory relative to its project; absent at the project's root.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub subpath: Option<String>,
    /// The staged revert, if any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub revert: Option<RevertState>,
}

/// A session that runs at this moment in this host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum SessionActive {
    /// A Session Drain is under way.
    Running {},
}

/// The title a session has until somebody gives it another.
pub fn default_title(created: Millis) -> String {
    format!("New session - {}", iso8601(created))
}

/// The same for a session that another one made.
pub fn default_child_title(created: Millis) -> String {
    format!("Child session - {}", iso8601(created))
}
