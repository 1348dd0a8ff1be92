//! Announcements: events for all subscribers that are never stored and are not fragments of a
//! Provider Turn.
//!
//! A payload on the wire has exactly the members declared here.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use super::derived::{
    MessagePartRemoved, MessagePartUpdated, MessageRemoved, MessageUpdated, SessionCompacted,
    SessionDiffed,
};
use super::{SessionError, SessionIdle, SessionStatusChanged};
use crate::file_system::FileWatcherUpdated;
use crate::id::SessionID;
use crate::integration::IntegrationConnectionUpdated;
use crate::mcp::{McpBrowserOpenFailed, McpRemoved, McpToolsChanged, McpUpdated};
use crate::permission::{PermissionReplied, PermissionRequest};
use crate::pty::{PtyChanged, PtyDeleted, PtyExited};
use crate::question::{QuestionRejected, QuestionReplied, QuestionRequest};
use crate::todo::TodoUpdated;

/// A kind of announcement.
pub struct NoticeSpec {
    /// Name on the wire.
    pub name: &'static str,
    /// Name in generated types.
    pub type_name: &'static str,
    /// Description of the announcement.
    pub doc: &'static str,
}

/// A payload without members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Nothing {}

macro_rules! notices {
    ($( #[doc = $doc:literal] $name:literal $variant:ident($payload:ty), )*) => {
        /// An announcement with its payload.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "type", content = "data")]
        pub enum Notice {
            $( #[doc = $doc] #[serde(rename = $name)] $variant($payload), )*
        }

        /// All kinds of announcements.
        pub const NOTICES: &[NoticeSpec] = &[$(
            NoticeSpec {
                name: $name,
                type_name: stringify!($variant),
                doc: $doc,
            },
        )*];

        impl Notice {
            /// Returns the schema of the payload of the announcement with this name in generated types.
            pub fn schema(type_name: &str, generator: &mut SchemaGenerator) -> Option<Schema> {
                match type_name {
                    $( stringify!($variant) => Some(generator.subschema_for::<$payload>()), )*
                    _ => None,
                }
            }

            /// Returns the name on the wire.
            pub fn name(&self) -> &'static str {
                match self { $( Self::$variant(_) => $name, )* }
            }

            /// Returns the payload as JSON text.
            pub fn data(&self) -> String {
                match self { $( Self::$variant(payload) => crate::json::json(payload), )* }
            }
        }
    };
}

notices! {
    /// The work of a session failed or reached a limit, a summary failed, or configuration cannot be read.
    "session.error" SessionError(SessionError),
    /// A session became busy or idle.
    "session.status" SessionStatusChanged(SessionStatusChanged),
    /// A session became idle.
    "session.idle" SessionIdle(SessionIdle),
    /// A compaction of the session ended.
    "session.compacted" SessionCompacted(SessionCompacted),
    /// The files that the steps of the session changed were compared again.
    "session.diff" SessionDiff(SessionDiffed),
    /// A message was added or changed.
    "message.updated" MessageUpdated(MessageUpdated),
    /// A committed revert removed a message.
    "message.removed" MessageRemoved(MessageRemoved),
    /// A part of an assistant message was added or changed.
    "message.part.updated" MessagePartUpdated(MessagePartUpdated),
    /// A committed revert removed a part of an assistant message.
    "message.part.removed" MessagePartRemoved(MessagePartRemoved),
    /// A permission request waits for a reply.
    "permission.v2.asked" PermissionAsked(PermissionRequest),
    /// A permission request received its reply.
    "permission.v2.replied" PermissionReplied(PermissionReplied),
    /// A model asks questions.
    "question.v2.asked" QuestionAsked(QuestionRequest),
    /// Questions received their answers.
    "question.v2.replied" QuestionReplied(QuestionReplied),
    /// Questions were rejected and stay unanswered.
    "question.v2.rejected" QuestionRejected(QuestionRejected),
    /// The to-do list of a session changed.
    "todo.updated" TodoUpdated(TodoUpdated),
    /// A terminal was created.
    "pty.created" PtyCreated(PtyChanged),
    /// A terminal changed.
    "pty.updated" PtyUpdated(PtyChanged),
    /// The program of a terminal ended.
    "pty.exited" PtyExited(PtyExited),
    /// A terminal was removed.
    "pty.deleted" PtyDeleted(PtyDeleted),
    /// A watched file changed. This host watches files for itself and never sends it.
    "file.watcher.updated" FileWatcherUpdated(FileWatcherUpdated),
    /// The providers and models of a Location changed.
    "catalog.updated" CatalogUpdated(Nothing),
    /// The host cloned or updated a Git repository that is a reference.
    "reference.updated" ReferenceUpdated(Nothing),
    /// The host fetched the models.dev catalogue again.
    "models-dev.refreshed" ModelsDevRefreshed(Nothing),
    /// The connections to a service changed.
    "integration.connection.updated" IntegrationConnectionUpdated(IntegrationConnectionUpdated),
    /// The tool list of an MCP server changed.
    "mcp.tools.changed" McpToolsChanged(McpToolsChanged),
    /// The state of an MCP server changed.
    "mcp.updated" McpUpdated(McpUpdated),
    /// An MCP server was removed.
    "mcp.removed" McpRemoved(McpRemoved),
    /// A consent page could not be opened in a browser. This host opens no browser and never sends it.
    "mcp.browser.open.failed" McpBrowserOpenFailed(McpBrowserOpenFailed),
}

/// Names of the announcements that the host derives from committed events.
pub const DERIVED: &[&str] = &[
    "session.compacted",
    "message.updated",
    "message.removed",
    "message.part.updated",
    "message.part.removed",
];

/// Names of the announcements that a subscriber receives only if it selects them by their type.
pub const SELECTED_ONLY: &[&str] = &[
    "session.compacted",
    SessionDiffed::NAME,
    "message.updated",
    "message.removed",
    "message.part.updated",
    "message.part.removed",
];

impl Notice {
    /// Returns the session that the announcement is about.
    pub fn session_id(&self) -> Option<&SessionID> {
        match self {
            Self::SessionError(it) => Some(&it.session_id),
            Self::SessionStatusChanged(it) => Some(&it.session_id),
            Self::SessionIdle(it) => Some(&it.session_id),
            Self::SessionCompacted(it) => Some(&it.session_id),
            Self::SessionDiff(it) => Some(&it.session_id),
            Self::MessageUpdated(it) => Some(&it.session_id),
            Self::MessageRemoved(it) => Some(&it.session_id),
            Self::MessagePartUpdated(it) => Some(&it.session_id),
            Self::MessagePartRemoved(it) => Some(&it.session_id),
            Self::PermissionAsked(it) => Some(&it.session_id),
            Self::PermissionReplied(it) => Some(&it.session_id),
            Self::QuestionAsked(it) => Some(&it.session_id),
            Self::QuestionReplied(it) => Some(&it.session_id),
            Self::QuestionRejected(it) => Some(&it.session_id),
            Self::TodoUpdated(it) => Some(&it.session_id),
            Self::PtyCreated(_)
            | Self::PtyUpdated(_)
            | Self::PtyExited(_)
            | Self::PtyDeleted(_)
            | Self::FileWatcherUpdated(_)
            | Self::CatalogUpdated(_)
            | Self::ReferenceUpdated(_)
            | Self::ModelsDevRefreshed(_)
            | Self::IntegrationConnectionUpdated(_)
            | Self::McpToolsChanged(_)
            | Self::McpUpdated(_)
            | Self::McpRemoved(_)
            | Self::McpBrowserOpenFailed(_) => None,
        }
    }
}
