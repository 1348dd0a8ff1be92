//! What is announced to whoever listens, is never stored, and is no fragment of a Provider Turn.
//!
//! A payload on the wire is exactly what is declared here.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use super::{SessionError, SessionIdle, SessionStatusChanged};
use crate::file_system::FileWatcherUpdated;
use crate::integration::IntegrationConnectionUpdated;
use crate::mcp::{McpBrowserOpenFailed, McpToolsChanged};
use crate::permission::{PermissionReplied, PermissionRequest};
use crate::pty::{PtyChanged, PtyDeleted, PtyExited};
use crate::question::{QuestionRejected, QuestionReplied, QuestionRequest};
use crate::todo::TodoUpdated;

/// One kind of announcement.
pub struct NoticeSpec {
    /// Name on the wire.
    pub name: &'static str,
    /// The name that generated types give it.
    pub type_name: &'static str,
    /// What it means.
    pub doc: &'static str,
    /// The schema of its payload.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
}

/// A payload without members: the name says all.
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

        /// Every kind of announcement.
        pub const NOTICES: &[NoticeSpec] = &[$(
            NoticeSpec {
                name: $name,
                type_name: stringify!($variant),
                doc: $doc,
                schema: SchemaGenerator::subschema_for::<$payload>,
            },
        )*];

        impl Notice {
            /// Name on the wire.
            pub fn name(&self) -> &'static str {
                match self { $( Self::$variant(_) => $name, )* }
            }

            /// The payload as JSON text.
            pub(crate) fn data(&self) -> String {
                match self { $( Self::$variant(payload) => crate::json::json(payload), )* }
            }
        }
    };
}

notices! {
    /// A Session Drain could not do something before its request.
    "session.error" SessionError(SessionError),
    /// The session began to work, or has nothing more to do.
    "session.status" SessionStatusChanged(SessionStatusChanged),
    /// The session has nothing more to do.
    "session.idle" SessionIdle(SessionIdle),
    /// A permission is asked for.
    "permission.v2.asked" PermissionAsked(PermissionRequest),
    /// A permission request is answered.
    "permission.v2.replied" PermissionReplied(PermissionReplied),
    /// A model asks questions.
    "question.v2.asked" QuestionAsked(QuestionRequest),
    /// Questions are answered.
    "question.v2.replied" QuestionReplied(QuestionReplied),
    /// Questions are not going to be answered.
    "question.v2.rejected" QuestionRejected(QuestionRejected),
    /// What is to be done in a session changed.
    "todo.updated" TodoUpdated(TodoUpdated),
    /// A terminal came to be.
    "pty.created" PtyCreated(PtyChanged),
    /// A terminal changed.
    "pty.updated" PtyUpdated(PtyChanged),
    /// The program of a terminal ended.
    "pty.exited" PtyExited(PtyExited),
    /// A terminal is gone.
    "pty.deleted" PtyDeleted(PtyDeleted),
    /// A watched file changed.
    "file.watcher.updated" FileWatcherUpdated(FileWatcherUpdated),
    /// The providers and models of a Location changed.
    "catalog.updated" CatalogUpdated(Nothing),
    /// The list of models that everybody uses was fetched again.
    "models-dev.refreshed" ModelsDevRefreshed(Nothing),
    /// The connections to a service changed.
    "integration.connection.updated" IntegrationConnectionUpdated(IntegrationConnectionUpdated),
    /// A server offers other tools than before.
    "mcp.tools.changed" McpToolsChanged(McpToolsChanged),
    /// A page for consent could not be opened in a browser.
    "mcp.browser.open.failed" McpBrowserOpenFailed(McpBrowserOpenFailed),
}
