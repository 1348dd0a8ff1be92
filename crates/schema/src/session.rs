//! Session records.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::{Millis, iso8601};
use crate::id::{MessageID, SessionID};
use crate::location::LocationRef;
use crate::model::ModelRef;
use crate::permission::PermissionRule;

/// Token usage of one Provider Turn or of a session. The five counts do not overlap.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Tokens {
    /// Input tokens that no cache served.
    #[serde(deserialize_with = "crate::bounded::count")]
    pub input: u64,
    /// Visible output tokens.
    #[serde(deserialize_with = "crate::bounded::count")]
    pub output: u64,
    /// Reasoning tokens.
    #[serde(deserialize_with = "crate::bounded::count")]
    pub reasoning: u64,
    /// Input tokens that the provider's prompt cache read or wrote.
    pub cache: CacheTokens,
}

/// Tokens read from and written to the provider's prompt cache.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct CacheTokens {
    /// Tokens read from the cache.
    #[serde(deserialize_with = "crate::bounded::count")]
    pub read: u64,
    /// Tokens written to the cache.
    #[serde(deserialize_with = "crate::bounded::count")]
    pub write: u64,
}

/// The usage of the requests for a summary or a title. Stored as `usage` in the metadata of the event.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct RequestUsage {
    /// Cost of the requests, in the currency of the catalogue's prices.
    #[serde(deserialize_with = "crate::bounded::cost")]
    pub cost: f64,
    /// Token usage of the requests.
    pub tokens: Tokens,
}

/// Times of a session, in epoch milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionTime {
    /// Creation time.
    pub created: Millis,
    /// Time of the last update, switch, move or revert. Prompts and turns do not change it.
    pub updated: Millis,
    /// Time at which the session was archived.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub archived: Option<Millis>,
}

/// The difference of a file from a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileStatus {
    /// The file is not in the snapshot.
    Added,
    /// The file is only in the snapshot.
    Deleted,
    /// The file is in both, with different content.
    Modified,
}

/// One changed file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FileDiff {
    /// Path relative to the root of the worktree.
    pub path: String,
    /// Kind of the change.
    pub status: FileStatus,
    /// Number of added lines.
    pub additions: u64,
    /// Number of deleted lines.
    pub deletions: u64,
    /// Unified diff in the format of Git. Empty for a binary file, and if all changes together are
    /// too large to show.
    pub patch: String,
}

/// A staged revert.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RevertState {
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
    /// The changed files.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub files: Option<Vec<FileDiff>>,
    /// Paths that the revert left unchanged because another program changed or obstructed them in
    /// the meantime.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub conflicts: Option<Vec<String>>,
}

/// A session, as read operations return it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionInfo {
    /// Id of the session.
    pub id: SessionID,
    /// Id of the session that created it.
    #[serde(rename = "parentID", skip_serializing_if = "Option::is_none", default)]
    pub parent_id: Option<SessionID>,
    /// Id of the project that contains its directory.
    #[serde(rename = "projectID")]
    pub project_id: String,
    /// Chosen agent. Absent until an agent is chosen.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub agent: Option<String>,
    /// Chosen model. Absent until a model is chosen.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<ModelRef>,
    /// Cost of all turns, in the currency of the catalogue's prices.
    pub cost: f64,
    /// Token usage of all turns.
    pub tokens: Tokens,
    /// Times of the session.
    pub time: SessionTime,
    /// Title of the session.
    pub title: String,
    /// Location of the session.
    pub location: LocationRef,
    /// Directory relative to its project. Absent at the root of the project.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub subpath: Option<String>,
    /// The staged revert, if any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub revert: Option<RevertState>,
    /// The shared copy, if the session is shared.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub share: Option<SessionShare>,
    /// Sums of the changes that the steps of the session made. Absent until a step changed files, and
    /// while a revert is staged.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub summary: Option<SessionSummary>,
    /// Limits on the work of the session. Absent without limits.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub budget: Option<SessionBudget>,
    /// Permission rules of the session, without the limits of tasks: those that callers of this host set, then those
    /// that came with an import. Absent without rules.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub permission: Vec<PermissionRule>,
    /// Present if events, rules or choices of the session came with an import.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub imported: Option<SessionImport>,
}

/// The part of a session that came with an import.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct SessionImport {
    /// Number of rules at the end of `permission` that came with an import. They can only restrict.
    pub rules: u64,
    /// The choices of an import that no caller of this host has confirmed. The session does not work in an unconfirmed
    /// directory, and it uses an unconfirmed agent or model only if it would use the same without a choice.
    pub unconfirmed: Vec<SessionChoice>,
}

/// A choice of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SessionChoice {
    /// The directory of its Location.
    Directory,
    /// Its agent.
    Agent,
    /// Its model.
    Model,
}

/// Limits on the work of a session together with its child sessions. An absent limit does not apply. A session that has
/// used up a limit pauses before its next Provider Turn.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct SessionBudget {
    /// Number of tokens of all kinds, including those that a provider read from its cache.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schemars(with = "u64")]
    pub tokens: Option<u64>,
    /// Cost, in the currency of the catalogue's prices. The model must have prices.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schemars(with = "f64")]
    pub cost: Option<f64>,
    /// Number of Provider Turns.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schemars(with = "u64")]
    pub turns: Option<u64>,
    /// Time of the Provider Turns with their tools, in milliseconds.
    #[serde(
        rename = "durationMs",
        skip_serializing_if = "Option::is_none",
        default
    )]
    #[schemars(with = "u64")]
    pub duration_ms: Option<u64>,
}

impl SessionBudget {
    /// True without any limit.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A limit of a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "each name says what it is")]
pub enum BudgetLimit {
    Tokens,
    Cost,
    Turns,
    Duration,
}

/// The owner of a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BudgetScope {
    /// The session, or a session whose task it works on.
    Session,
    /// The host.
    Host,
}

/// The shared copy of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionShare {
    /// Address of the copy.
    pub url: String,
}

/// Sums of the changes of files from the first to the newest step of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionSummary {
    /// Number of added lines.
    #[serde(deserialize_with = "crate::bounded::count")]
    pub additions: u64,
    /// Number of deleted lines.
    #[serde(deserialize_with = "crate::bounded::count")]
    pub deletions: u64,
    /// Number of files that differ.
    #[serde(deserialize_with = "crate::bounded::count")]
    pub files: u64,
}

/// The activity of a session that runs in this host now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum SessionActive {
    /// A Session Drain is running.
    Running {},
}

/// The beginnings of initial titles: of a session, and of a session with a parent.
const DEFAULT_TITLES: [&str; 2] = ["New session - ", "Child session - "];

/// Returns the initial title of a session.
pub fn default_title(created: Millis) -> String {
    format!("{}{}", DEFAULT_TITLES[0], iso8601(created))
}

/// Returns the initial title of a session that another session created.
pub fn default_child_title(created: Millis) -> String {
    format!("{}{}", DEFAULT_TITLES[1], iso8601(created))
}

/// True if a title has the form of an initial title: no user and no model has chosen it.
///
/// ```
/// # use opencode_schema::session::{default_title, is_default_title};
/// assert!(is_default_title(&default_title(0)));
/// assert!(is_default_title("Child session - 2026-11-20T12:55:02.007Z"));
/// assert!(!is_default_title("New session - tomorrow"));
/// ```
pub fn is_default_title(title: &str) -> bool {
    let mut times = DEFAULT_TITLES
        .iter()
        .filter_map(|it| title.strip_prefix(it));
    times.any(is_time)
}

/// True if a text has the form of a time in UTC with milliseconds.
fn is_time(text: &str) -> bool {
    const FORM: &[u8] = b"0000-00-00T00:00:00.000Z";
    let matches = |(found, form): (u8, &u8)| match form {
        b'0' => found.is_ascii_digit(),
        _ => found == *form,
    };
    text.len() == FORM.len() && text.bytes().zip(FORM).all(matches)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_initial_titles_are_default_titles() {
        let created = 1_795_179_302_007;
        for (title, is_default) in [
            (&*default_title(created), true),
            (&default_child_title(created), true),
            ("New session - 2026-11-20T12:55:02.007Z", true),
            ("New session - 2026-11-20T12:55:02Z", false),
            ("New session - 2026-11-20 12:55:02.007Z", false),
            ("New session - 2026-11-20T12:55:02.007Z!", false),
            (" New session - 2026-11-20T12:55:02.007Z", false),
            ("new session - 2026-11-20T12:55:02.007Z", false),
            ("New session - 2026-11-2\u{0660}T12:55:02.07Z", false),
            ("New session", false),
            ("New session - ", false),
            ("Fix the parser", false),
            ("", false),
        ] {
            assert_eq!(is_default_title(title), is_default, "{title:?}");
        }
    }
}
