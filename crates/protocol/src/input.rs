//! The input of callers: the fields of paths, queries and bodies.

use std::collections::BTreeMap;

use opencode_schema::Record;
use opencode_schema::file_system::FileSystemEntryType;
use opencode_schema::id::{MessageID, PermissionID, PtyID, QuestionID, SessionID, WorkspaceID};
use opencode_schema::location::LocationRef;
use opencode_schema::model::ModelRef;
use opencode_schema::permission::{PermissionReply, PermissionSource};
use opencode_schema::prompt::{Delivery, PromptInput};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::cursor::{MessagesCursor, SessionsCursor};
pub use crate::page::Order;

/// No fields at all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct Nothing {}

/// The path of everything that belongs to one session.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct SessionParams {
    /// The session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
}

/// The path of one message.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct MessageParams {
    /// The session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// The message.
    #[serde(rename = "messageID")]
    pub message_id: MessageID,
}

/// The path of one prompt in a session's inbox.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct InputParams {
    /// The session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// The prompt: its id is that of the message it becomes.
    #[serde(rename = "messageID")]
    pub message_id: MessageID,
}

/// Selects a Location for one request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct LocationSelection {
    /// The Location; absent means the host's default one.
    pub location: Option<LocationQuery>,
}

/// A Location as queries name it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct LocationQuery {
    /// Absolute path of the directory.
    pub directory: Option<String>,
    /// Reserved for placement.
    pub workspace: Option<WorkspaceID>,
}

/// The properties of a new session.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
pub struct SessionCreatePayload {
    /// The caller's own id for the session; begins with `ses`.
    pub id: Option<SessionID>,
    /// The agent; absent means the default one.
    pub agent: Option<String>,
    /// The model; absent means the agent's or the default one.
    pub model: Option<ModelRef>,
    /// Where the session lives; absent means the host's default Location.
    pub location: Option<LocationRef>,
}

/// Which sessions are listed, and how.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct SessionsQuery {
    /// Only sessions of this workspace.
    pub workspace: Option<WorkspaceID>,
    /// Items of a page, 50 by default; more than 1000 are never served at once.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub limit: Option<u64>,
    /// By time of creation, `desc` by default.
    pub order: Option<Order>,
    /// Only sessions whose title contains this text, ASCII case ignored.
    pub search: Option<String>,
    /// Only sessions of this directory. Wins over `project`.
    pub directory: Option<String>,
    /// Only sessions of this project.
    pub project: Option<String>,
    /// Only sessions at this directory of the project, relative to its root.
    pub subpath: Option<String>,
    /// Continues where a page ended.
    pub cursor: Option<SessionsCursor>,
}

/// The query of a list of messages.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct MessagesQuery {
    /// Items of a page, 50 by default.
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<u32>,
    /// By sequence, `desc` by default.
    pub order: Option<Order>,
    /// Continues where a page ended.
    pub cursor: Option<MessagesCursor>,
}

/// Which part of a session's log is read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct HistoryQuery {
    /// At most so many events, 50 by default.
    #[schemars(range(max = 100), extend("exclusiveMinimum" = 0))]
    pub limit: Option<u32>,
    /// Only events with a greater sequence; absent means from the beginning.
    pub after: Option<u64>,
}

/// Where a session's stream of durable events begins.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct EventsQuery {
    /// Only events with a greater sequence; absent means from the beginning.
    pub after: Option<u64>,
}

/// The prompt to admit.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
pub struct PromptPayload {
    /// The caller's own id for the prompt and its message; begins with `msg_`.
    pub id: Option<MessageID>,
    /// The prompt.
    pub prompt: PromptInput,
    /// Delivery of the prompt. Default: `steer`.
    pub delivery: Option<Delivery>,
    /// `false` admits it without waking the session.
    pub resume: Option<bool>,
}

/// Another delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct SetDeliveryPayload {
    /// New delivery of the prompt.
    pub delivery: Delivery,
}

/// Another place.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct MovePayload {
    /// Where the session is to live. It must be a place of the session's project.
    pub location: LocationRef,
}

/// Another agent.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct SwitchAgentPayload {
    /// Its name. Whether there is such an agent is seen when it is used.
    pub agent: String,
}

/// Another model.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct SwitchModelPayload {
    /// The model. Whether there is such a model is seen when it is used.
    pub model: ModelRef,
}

/// The boundary of a revert.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct RevertStagePayload {
    /// The message to go back to. It stays; what comes after it goes.
    #[serde(rename = "messageID")]
    pub message_id: MessageID,
    /// A part of that message, if it is an assistant's: the part and what comes after it go as well.
    #[serde(rename = "partID")]
    pub part_id: Option<String>,
    /// `false` leaves files alone.
    pub files: Option<bool>,
}

/// The path of one permission request.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct PermissionParams {
    /// The session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// The request.
    #[serde(rename = "requestID")]
    pub request_id: PermissionID,
}

/// A request for a permission.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
pub struct PermissionCreatePayload {
    /// The caller's own id for the request; begins with `per`.
    pub id: Option<PermissionID>,
    /// The action to allow.
    pub action: String,
    /// On what.
    pub resources: Vec<String>,
    /// The patterns that are stored when the answer is `always`.
    pub save: Option<Vec<String>>,
    /// Details that help the user to decide.
    pub metadata: Option<Record>,
    /// Origin of the request.
    pub source: Option<PermissionSource>,
    /// The agent whose rules hold; absent means the session's.
    pub agent: Option<String>,
}

/// An answer to a permission request.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct PermissionReplyPayload {
    /// The answer.
    pub reply: PermissionReply,
    /// Text for the model if the answer is `reject`. Without it the activity ends.
    pub message: Option<String>,
}

/// Whose saved permissions are listed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct SavedPermissionsQuery {
    /// The project; absent means that of the Location.
    #[serde(rename = "projectID")]
    pub project_id: Option<String>,
}

/// The path of one saved permission.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct SavedPermissionParams {
    /// The saved permission.
    pub id: String,
}

/// The path of one request with questions.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct QuestionParams {
    /// The session.
    #[serde(rename = "sessionID")]
    pub session_id: SessionID,
    /// The request.
    #[serde(rename = "requestID")]
    pub request_id: QuestionID,
}

/// The path of one provider.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct ProviderParams {
    /// The provider.
    #[serde(rename = "providerID")]
    pub provider_id: String,
}

/// The path of one file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct FilesReadParams {
    /// Path relative to the Location.
    pub path: String,
}

/// Which directory is listed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct FilesListQuery {
    /// The Location; absent means the host's default one.
    pub location: Option<LocationQuery>,
    /// Path of the directory relative to the Location; absent means the Location itself.
    pub path: Option<String>,
}

/// The query of a file search.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct FilesFindQuery {
    /// The Location; absent means the host's default one.
    pub location: Option<LocationQuery>,
    /// Text that the paths resemble; may be empty.
    pub query: String,
    /// Only entries of this type.
    pub r#type: Option<FileSystemEntryType>,
    /// At most so many entries, 50 by default. More than 1000 are never found.
    #[schemars(range(min = 1))]
    pub limit: Option<u32>,
}

/// The path of one terminal.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct PtyParams {
    /// The terminal.
    #[serde(rename = "ptyID")]
    pub pty_id: PtyID,
}

/// The program that begins in a terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct PtyCreatePayload {
    /// The program; absent means the shell.
    pub command: Option<String>,
    /// Its arguments.
    pub args: Option<Vec<String>>,
    /// The directory it begins in; absent means that of the Location.
    pub cwd: Option<String>,
    /// Title of the terminal.
    pub title: Option<String>,
    /// Variables of its environment, beside those of the host.
    pub env: Option<BTreeMap<String, String>>,
}

/// Changes of a terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct PtyUpdatePayload {
    /// Another title.
    pub title: Option<String>,
    /// Another size.
    pub size: Option<PtySize>,
}

/// The size of a terminal, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct PtySize {
    /// Lines.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub rows: u16,
    /// Characters of a line.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub cols: u16,
}

/// The query of a connection to a terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct PtyConnectQuery {
    /// The Location; absent means the host's default one.
    pub location: Option<LocationQuery>,
    /// From which character of the output on: absent means all that is kept, `-1` only what is new.
    pub cursor: Option<String>,
    /// A ticket, which stands for credentials.
    pub ticket: Option<String>,
}

/// The path of one service that needs credentials.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct IntegrationParams {
    /// The service.
    #[serde(rename = "integrationID")]
    pub integration_id: String,
}

/// A key for a service.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct ConnectKeyPayload {
    /// The key.
    pub key: String,
    /// Name of the credential, for people.
    pub label: Option<String>,
}

/// The input of a connection to a service in a browser.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct ConnectOauthPayload {
    /// The method of the service.
    #[serde(rename = "methodID")]
    pub method_id: String,
    /// Values that the method needs first.
    pub inputs: BTreeMap<String, String>,
    /// Name of the credential, for people.
    pub label: Option<String>,
}

/// The path of one attempt to connect.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct AttemptParams {
    /// The attempt.
    #[serde(rename = "attemptID")]
    pub attempt_id: String,
}

/// The end of an attempt to connect.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct CompleteAttemptPayload {
    /// The code that the page has shown.
    pub code: Option<String>,
}

/// The path of one credential.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct CredentialParams {
    /// The credential.
    #[serde(rename = "credentialID")]
    pub credential_id: String,
}

/// Changes of a credential.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct CredentialUpdatePayload {
    /// Another name, for people.
    pub label: String,
}
